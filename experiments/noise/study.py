"""N's 1-D data: recovery of the noise."""

from judge import above, judged
from pages import Page
from paper_n import CURVE, HELD_OUT, KEPT, ONE_D, RANKED, RBF, RECIPE, SILU, TARGET, WEIGHTS, own_recipe
from protocol import SAME, SILENT, Line
from results import asked
from scores import load
from tables import cell, grid

TITLE = "Recovery of the noise"
WHAT = "N's 1-D data: recovery of the noise"
PAPER = "N"
PROTOCOL = [
    CURVE, Line("training rows", "20,000 (Figure 1)", "20,000", SAME), HELD_OUT, TARGET, RANKED, WEIGHTS, KEPT,
    *own_recipe("200; at most 2,000, patience 100 (B.1)", "256; at most 253 (20,000 steps), patience 40", of="defaults"),
    Line("recipe", "batch 200, at most 2,000 epochs, patience 100, AdamW at 1e-3, weight decay 1e-2 (B, B.1)",
         "batch 200, at most 2,000 epochs, patience 100, AdamW at 1e-3, weight decay 1e-2", SAME, "paper"),
    Line("noise variance", "starts at .01, at least 1e-6, rate 1e-3; its form is not said (B)",
         "starts at .01, at least 1e-6, rate 1e-3; form sd", SILENT, "paper"),
    Line("score", "none, a picture of the interval (Figure 1)", "correlation of the predicted sd with the true one", SILENT)]


def cells():
    """Does the predicted sd follow the true one, |A sin 10x|? dPPGP against the bounds that assume one noise; `paper` is N's recipe."""
    for seed in range(3):
        for method, own in [SILU, RBF, ("pp-dkl", ""), ("vbll", ""), ("sv-dkl", "")]:
            yield asked("noise", "steps:20000", method, seed, own)
    for seed in range(3):
        for method, own in [SILU, RBF, ("vbll", "")]:
            yield asked("paper", "steps:20000", method, seed, own, RECIPE)


def claims(scores):
    for part, name in ("noise", "defaults"), ("paper", "paper"):
        case = above("DBK-SiLU, correlation", scores.get(part, "steps:20000", "DBK-SiLU", "sd correlation"), 0.9)
        yield judged(f"N 4.1, {name}", "dPPGP recovers the noise: the predicted sd's correlation with the true one is above 0.9", [case])


def table(scores, part, names):
    columns = "sd correlation", "raw NLL", "oracle NLL", "coverage"
    return grid(["method", "correlation", "NLL", "oracle NLL", "95 % coverage"],
                [[name, *[cell(scores.get(part, "steps:20000", name, m)) for m in columns]] for name in names])


def page(now):
    scores = load("noise", runner=now)
    return Page(["Correlation of the predicted sd with the true one, .4 |sin 10x|, on 20,000 fresh x ~ U[-1, 1], after 20,000 training rows. " + ONE_D,
                 table(scores, "noise", ["DBK-SiLU", "DBK-RBF", "PP-DKL", "VBLL", "SV-DKL"]),
                 "By N's recipe (`paper`):", table(scores, "paper", ["DBK-SiLU", "DBK-RBF", "VBLL"])], list(claims(scores)), scores)
