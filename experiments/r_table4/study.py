"""R Table 4: white wine told from red."""

from judge import alike, higher, judged
from pages import Page
from paper_r import (BLL, FULL, NAMES, NOISE, POSTERIOR, POSTHOC, REGRESSION, SHOWN, SOME, SUBSET, TRAINED_AGAIN, TRAINED_ONCE, VBLL_CELL,
                     StandardErrors, around, budget, split)
from protocol import SAME, SILENT, Line
from results import asked
from scores import Published, load
from tables import cell, grid

TITLE = "Table 4 of the Rich-BLL paper (R)"
WHAT = "R Table 4: white wine told from red by the epistemic sd"
PAPER = "R"
PROTOCOL = [
    Line("data", "Wine Quality: red known, white foreign (4.1)", "the same: 1,599 and 4,898 rows", SAME),
    *REGRESSION, TRAINED_AGAIN._replace(of="paper"), TRAINED_ONCE._replace(of="held out"), NOISE, POSTERIOR, SUBSET,
    Line("score", "predictive uncertainty (Table 4)", "the epistemic sd: as all rows have one noise, the same order", SAME),
    Line("rows that are scored", "", "the red test rows, all white rows", SILENT),
]


def cells():
    """R Table 4: trained on red wine, the AUROC of white wine. VBLL, which has no second training, is of `held out`, and
    Rich-BLL is there too."""
    foreign, data = "--ood wine_white", "wine_red"
    for seed in range(10):
        for study, refit in ("paper", True), ("held out", False):
            for method, own in POSTHOC[:3]:
                found = around(study, data, method, seed, own, refit)
                yield found | {"flags": f"{foreign} {found['flags']}"}
        method, own = VBLL_CELL
        yield asked("held out", data, method, seed, foreign, own, split(seed), budget(data))


SAME_AUROC = 0.01  # R prints the same two digits for both


def claims(scores):
    for study in "paper", "held out":
        found = {name: scores.get(study, "wine_red", name, "AUROC") for name in (FULL, SOME, BLL)}
        yield judged(f"R 4.2, {study}", "Rich-BLL's AUROC for white wine is above NNGP (BLL)'s",
                     [higher("AUROC", found[FULL], found[BLL], FULL, BLL)])
        yield judged(f"R 4.2, {study}", f"Rich-BLL (S)'s AUROC is Rich-BLL's: they differ by less than {SAME_AUROC}",
                     [alike("AUROC", found[SOME], found[FULL], SAME_AUROC)])


def page(now):
    scores, published = load("r_table4", runner=now), Published("r_table4")
    errors = StandardErrors(scores)
    rows = [[SHOWN.get(name, name), *[cell(errors.get(study, "wine_red", name, "AUROC")) for study in ("paper", "held out")],
             cell(published.get("wine_red", name, "AUROC"), digits=2)] for name in NAMES[:4]]
    return Page(["Trained on red wine in R's protocol ([Table 2](../r_table2/README.md)); the AUROC by which the epistemic sd "
                 "tells the rows of white wine, all of them, from the test rows. `held out`: without the second training, which "
                 "our VBLL does not have.",
                 grid(["method", "`paper`", "`held out`", "R"], rows)], list(claims(errors)), scores)
