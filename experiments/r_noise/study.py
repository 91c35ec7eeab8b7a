"""R's appendix C: the noise variance of the post-hoc methods."""

from judge import judged, lower
from pages import Page
from paper_r import (BLL, DATA, FULL, NAMES, POSTERIOR, POSTHOC, REGRESSION, SAME_NETWORK, SCORE, SUBSET, TABLES, TRAINED_ONCE, StandardErrors,
                     around, differences, in_rounds, pairs)
from protocol import SAME, SILENT, Line
from scores import Published, load
from tables import cell, grid

TITLE = "The noise variance of the post-hoc methods (R appendix C)"
WHAT = "R's appendix C: where the noise variance of the post-hoc methods comes from"
PAPER = "R"
PROTOCOL = [
    DATA, *REGRESSION, TRAINED_ONCE,
    Line("noise variance", "the best of a small grid by validation NLL, or the validation MSE (C.1)", "the best of 25, refined", SAME),
    Line("whose noise", "", "BLL's choice, which Rich-BLL takes too", SILENT),
    POSTERIOR, SUBSET, SCORE,
]


def cells():
    """R's two ways, on the networks of r_rivals: the validation MSE (`held out` there) and the least validation NLL (`grid`), which
    needs validation rows that the network has not learned."""
    for data, seed in in_rounds():
        for method, own in POSTHOC[:3]:
            yield around("grid", data, method, seed, f"{own} --noise select", refit=False)


def claims(scores):
    yield judged("R 4.2, grid", "Rich-BLL's NLL is below NNGP (BLL)'s on every table", pairs(scores, "grid", FULL, BLL))
    for name in FULL, BLL:
        yield judged("ours", f"{name}'s NLL is lower with the noise of the grid than with the validation MSE, on every table",
                     [lower(t, scores.get("grid", t, name, "raw NLL"), scores.get("held out", t, name, "raw NLL")) for t in TABLES])


NOISES = {"held out": "validation MSE", "grid": "grid", "paper": "validation MSE, trained again"}


def noise_table(errors, published):
    rows = []
    for name in [*NAMES[:3], "MAP"]:
        own = {"held out": "DNN", "paper": "DNN"} if name == "MAP" else {}
        for study, text in NOISES.items():
            found = [errors.get(study, t, own.get(study, name), "raw NLL") for t in TABLES]
            if any(found):
                rows.append([name, text, *map(cell, found)])
        rows.append([name, "R", *[cell(published.get(t, own.get("paper", name), "raw NLL"), digits=2) for t in TABLES]])
    return grid(["method", "noise", *TABLES], rows)


def page(now):
    """With the rows of r_rivals and r_table2 beside."""
    scores = load("r_noise", "r_rivals", "r_table2", runner=now)
    errors = StandardErrors(scores)
    parts = ["R takes the validation MSE \"or\" sweeps a small grid and picks the best validation NLL; it does not say where it "
             "did which. NLL of both on the networks of [r_rivals](../r_rivals/README.md), without the second training; `grid`: a "
             "grid of 25 variances from .001 to 2 times the validation MSE, whose best the tool refines. Rich-BLL takes the noise "
             "that BLL chooses, so that the two differ in the prior alone. With the validation MSE, which counts the network's "
             "error as noise, the epistemic variance comes on top of it. R: its Table 2.",
             noise_table(errors, Published("r_table2")),
             differences(errors, "grid", SAME_NETWORK[:2], "`grid`: differences of the NLL")]
    return Page(parts, list(claims(errors)), scores)
