"""N's 1-D data: recovery of the noise."""

from judge import above, judged
from pages import Page
from paper_n import CURVE, HELD_OUT, KEPT, ONE_D, RANKED, RBF, SILU, TARGET, WEIGHTS, own_recipe
from protocol import SAME, SILENT, Line
from results import asked
from scores import load
from tables import cell, grid

TITLE = "Recovery of the noise"
WHAT = "N's 1-D data: recovery of the noise"
PAPER = "N"
PROTOCOL = [
    CURVE, Line("training rows", "20,000 (Figure 1)", "20,000", SAME), HELD_OUT, TARGET, RANKED, WEIGHTS, KEPT,
    *own_recipe("200; at most 2,000, patience 100 (B.1)", "256; at most 253 (20,000 steps), patience 40"),
    Line("score", "none, a picture of the interval (Figure 1)", "correlation of the predicted sd with the true one", SILENT)]


def cells():
    """Does the predicted sd follow the true one, |A sin 10x|? dPPGP against the bounds that assume one noise."""
    for seed in range(3):
        for method, own in [SILU, RBF, ("pp-dkl", ""), ("vbll", ""), ("sv-dkl", "")]:
            yield asked("noise", "steps:20000", method, seed, own)


def claims(scores):
    found = scores.get("noise", "steps:20000", "DBK-SiLU", "sd correlation")
    case = above("DBK-SiLU, correlation", found, 0.9)
    yield judged("N 4.1", "dPPGP recovers the noise: the predicted sd's correlation with the true one is above 0.9", [case])


def page(now):
    scores, rows = load("noise", runner=now), []
    for name in ["DBK-SiLU", "DBK-RBF", "PP-DKL", "VBLL", "SV-DKL"]:
        rows.append([name, *[cell(scores.get("noise", "steps:20000", name, m)) for m in ("sd correlation", "raw NLL", "oracle NLL", "coverage")]])
    return Page(["Correlation of the predicted sd with the true one, .4 |sin 10x|, on 20,000 fresh x ~ U[-1, 1], after 20,000 training rows. " + ONE_D,
          grid(["method", "correlation", "NLL", "oracle NLL", "95 % coverage"], rows)], list(claims(scores)), scores)
