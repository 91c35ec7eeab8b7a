"""R Table 6: the share of the rows that the variance is computed from."""

from judge import Case, judged, lower
from pages import Page
from paper_r import DATA, NOISE, POSTERIOR, REGRESSION, SCORE, TABLES, TRAINED_AGAIN, StandardErrors, around, in_rounds
from protocol import SAME, Line
from scores import Published, load
from tables import cell, grid

TITLE = "Table 6 of the Rich-BLL paper (R)"
WHAT = "R Table 6: the share of the rows that the variance is computed from"
PAPER = "R"
PROTOCOL = [DATA, *REGRESSION, TRAINED_AGAIN, NOISE, POSTERIOR,
            Line("shares", "30, 50, 60, 70, 80 and 90 %, for A and the posterior (Table 6)", "the same", SAME), SCORE]
SHARES = {f"{r} %": f"0.{r // 10}" for r in (30, 50, 60, 70, 80, 90)}
RATIOS = {text: f"rich-bll --subsample {share}" for text, share in SHARES.items()}


def cells():
    for data, seed in in_rounds():
        for share in SHARES.values():
            yield around("paper", data, "rich-bll", seed, f"--preset paper --subsample {share}")


FLAT = 0.05  # nats; R's own numbers differ by 0.04


def claims(scores):
    """Flat: the share with the highest mean is less than FLAT above the one with the lowest, seed by seed on one network."""
    cases = []
    for t in TABLES:
        found = [(ratio, scores.get("paper", t, name, "raw NLL")) for ratio, name in RATIOS.items()]
        if any(score is None for _, score in found):
            cases.append(Case(t, None, ""))
            continue
        (best, low), (worst, high) = (pick(found, key=lambda each: each[1].mean) for pick in (min, max))
        cases.append(lower(t, high, low, worst, best, FLAT))
    yield judged("R appendix D", f"the NLL is flat over the subsample's share, 30 to 90 %: less than {FLAT} nats between the "
                 f"best and the worst, "
                 "on every table", cases)


def page(now):
    scores, published = load("r_table6", runner=now), Published("r_table6")
    errors, rows = StandardErrors(scores), []
    for ratio, name in RATIOS.items():
        rows.append([ratio, "ours", *[cell(errors.get("paper", t, name, "raw NLL")) for t in TABLES]])
        rows.append([ratio, "R", *[cell(published.get(t, name, "raw NLL"), digits=2) for t in TABLES]])
    return Page(["NLL of Rich-BLL (S) by the share of the rows that the transform and the posterior are computed from, on the "
                 "networks of [Table 2](../r_table2/README.md). R's level on boston, 2.79 to 2.83, contradicts its own "
                 "Table 2 (2.61, and 2.62 at 40 %).",
                 grid(["share", "", *TABLES], rows)], list(claims(errors)), scores)
