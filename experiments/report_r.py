"""The pages of the Rich-BLL paper's tables (R)."""

import claims_r
import pages
import report_r_own
from claims_r import RATIOS, SHOWN, TABLES, StandardErrors
from pages import page, verdicts
from scores import Published, load
from tables import block, cell, grid

RIVALS = ["VBLL, linear", "Dropout", "ensemble of 5 DNN", "SWAG", "BBB", "BBB, beta .1"]
NAMES = ["Rich-BLL", "Rich-BLL (S)", "NNGP (BLL)", "VBLL, linear", "DNN", "GP", "Dropout", "ensemble of 5 DNN", "SWAG", "BBB", "BBB, beta .1"]
PROTOCOL = (
    "Ours are mean ± standard error over seeds (their number in brackets) on the test rows, NLL in the target's units; R: as "
    "printed, 20 seeds. Parts of 72, 18 and 10 %, a split of its own for each seed, row by row; inputs standardised, target centred "
    "(`--target-scale centred`); two layers of 50 ReLU units in mu-P, Adam at 1e-3, at most 3,000 epochs (energy 2,000, wine_red 1,000), "
    "batches of 32 (power_plant 256). R takes the epoch with the least validation RMSE of every tenth, ours of every one. ")
REFIT = (
    "`paper`: the network is then trained again on training and validation rows for that many epochs, and carries the rows "
    "Rich-BLL, Rich-BLL (S: 40 % of the rows), NNGP (BLL) and MAP, whose noise is the validation MSE. RBF GP: the same rows, hyperparameters "
    "by the evidence. The other rows of R's table are on [equal rows](../r_rivals/README.md).")
EQUAL = (
    "`held out`: no method is trained again, since ours but the post-hoc ones cannot be: all learn from the 72 %. Noise: the "
    "validation MSE for Rich-BLL, BLL, MAP, Dropout, SWAG and the ensemble's members; VBLL and BBB learn theirs. VBLL: a linear basis of 50 "
    "on the network, without mu-P. Dropout .1, 50 masks; SWAG: 40 epochs at 1e-3; BBB: prior sd .3; nothing is tuned, R does not "
    "say what it tuned. `BBB, beta .1` is no row of R: with a tenth of the KL term it shows how much of BBB's NLL that term makes. R's numbers are of its protocol with the second training.")


def renamed(rows):
    return [[SHOWN.get(row[0], row[0]), *row[1:]] for row in rows]


def nll_table(scores, study, published):
    rows = block(NAMES, TABLES, lambda t, n: scores.get(study, t, n, "raw NLL"), "ours")
    rows += block(NAMES, TABLES, lambda t, n: published.get(t, n, "raw NLL"), "R", 2)
    return grid(["method", "", *TABLES], renamed(rows))


def differences(scores, study, pairs):
    """Of mean NLLs, seed by seed on the same split: what the spread over splits hides."""
    rows = [[f"{SHOWN.get(a, a)} - {SHOWN.get(b, b)}", *[cell(scores.difference(study, t, a, b)) for t in TABLES]] for a, b in pairs]
    rows = [row for row in rows if any(row[1:])]
    return ("## Differences of the NLL, seed by seed\n\nMean ± standard error of the difference on one split and, of the post-hoc methods, one "
            "network, by which the claims are judged; the table above has the spread of the splits too.\n\n" + grid(["", *TABLES], rows)) if rows else ""


SAME_NETWORK = [("Rich-BLL", "NNGP (BLL)"), ("Rich-BLL (S)", "Rich-BLL"), ("Rich-BLL", "DNN")]


def r_table2(scores):
    found, published = list(claims_r.r_table2(StandardErrors(scores))), Published(pages.HERE / "r_table2" / "published.csv")
    page("r_table2", "Table 2 of the Rich-BLL paper (R)", scores,
         [PROTOCOL + REFIT, "## NLL\n\n" + nll_table(StandardErrors(scores), "paper", published),
          differences(StandardErrors(scores), "paper", [*SAME_NETWORK, ("Rich-BLL", "GP")]), "## Claims\n\n" + verdicts(found)])
    return found


def r_rivals(scores):
    found, published = list(claims_r.r_rivals(StandardErrors(scores))), Published(pages.HERE / "r_table2" / "published.csv")
    page("r_rivals", "The rows of R Table 2 on equal training rows", scores,
         [PROTOCOL + EQUAL, "## NLL\n\n" + nll_table(StandardErrors(scores), "held out", published),
          differences(StandardErrors(scores), "held out", [*SAME_NETWORK, *[("Rich-BLL", name) for name in NAMES if name in RIVALS]]), "## Claims\n\n" + verdicts(found)])
    return found


NOISES = {"held out": "validation MSE", "grid": "grid", "paper": "validation MSE, trained again", "learned": "`learned`, trained again"}


def r_noise(scores):
    """With the rows of r_rivals and r_table2 beside."""
    errors, published = StandardErrors(scores), Published(pages.HERE / "r_table2" / "published.csv")
    rows = []
    for name in [*NAMES[:3], "MAP"]:
        own = {"held out": "DNN", "paper": "DNN"} if name == "MAP" else {}
        for study, text in NOISES.items():
            found = [errors.get(study, t, own.get(study, name), "raw NLL") for t in TABLES]
            if any(found):
                rows.append([name, text, *map(cell, found)])
        rows.append([name, "R", *[cell(published.get(t, own.get("paper", name), "raw NLL"), digits=2) for t in TABLES]])
    found = list(claims_r.r_noise(errors))
    page("r_noise", "The noise variance of the post-hoc methods (R appendix C)", scores,
         ["R takes the validation MSE \"or\" sweeps a small grid and picks the best validation NLL; it does not say where it did which. NLL of "
          "both on the networks of [r_rivals](../r_rivals/README.md), without the second training; the grid: 25 variances from .001 to 2 times "
          "the validation MSE (the tool refines the best of them since). With the validation MSE, which counts the network's error as noise, the epistemic variance comes on top of it. "
          "`learned`: on the networks of [r_table2](../r_table2/README.md), after the second training, the noise of that grid with the largest "
          "evidence of the residuals of all the rows that trained them, which is the smaller error on rows that were seen; MAP there is `bll` with a prior sd of 1e-9. "
          "R: its Table 2.",
          grid(["method", "noise", *TABLES], rows), *[differences(errors, study, pairs).replace("## Differences of the NLL", f"## `{study}`: differences of the NLL")
            for study, pairs in (("grid", SAME_NETWORK[:2]), ("learned", [*SAME_NETWORK[:2], ("Rich-BLL", "MAP")]))], "## Claims\n\n" + verdicts(found)])
    return found


def r_table4(scores):
    errors, published = StandardErrors(scores), Published(pages.HERE / "r_table4" / "published.csv")
    rows = [[SHOWN.get(name, name), *[cell(errors.get(study, "wine_red", name, "AUROC")) for study in ("paper", "held out")],
             cell(published.get("wine_red", name, "AUROC"), digits=2)] for name in NAMES[:4]]
    found = list(claims_r.r_table4(errors))
    page("r_table4", "Table 4 of the Rich-BLL paper (R)", scores,
         ["Trained on red wine in R's protocol ([Table 2](../r_table2/README.md)); the AUROC by which the epistemic sd tells the rows of white "
          "wine, all of them, from the test rows. `held out`: without the second training, which our VBLL does not have.",
          grid(["method", "`paper`", "`held out`", "R"], rows), "## Claims\n\n" + verdicts(found)])
    return found


def r_table6(scores):
    errors, published = StandardErrors(scores), Published(pages.HERE / "r_table6" / "published.csv")
    rows = []
    for ratio, name in RATIOS.items():
        rows.append([ratio, "ours", *[cell(errors.get("paper", t, name, "raw NLL")) for t in TABLES]])
        rows.append([ratio, "R", *[cell(published.get(t, name, "raw NLL"), digits=2) for t in TABLES]])
    found = list(claims_r.r_table6(errors))
    page("r_table6", "Table 6 of the Rich-BLL paper (R)", scores,
         ["NLL of Rich-BLL (S) by the share of the rows that the transform and the posterior are computed from, on the networks of [Table "
          "2](../r_table2/README.md). R's level on boston, 2.79 at every ratio, contradicts its own Table 2 (2.61, and 2.62 at 40 %).",
          grid(["share", "", *TABLES], rows), "## Claims\n\n" + verdicts(found)])
    return found


def write(runner):
    """Every page of R but the wheel's; their claims."""
    found = []
    for study in r_table2, r_rivals, r_noise, r_table4, r_table6:
        beside = ["r_rivals", "r_table2"] if study is r_noise else []
        found += study(load(*[pages.HERE / name for name in (study.__name__, *beside)], runner=runner))
    return found + report_r_own.write()
