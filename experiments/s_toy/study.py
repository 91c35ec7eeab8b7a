"""S Tables 19 and 20: a curve with a gap."""

import paper_s
from judge import alike, judged, lower
from paper_s import FULL, HE, LOW, TOY, Order
from protocol import SAME, SILENT, Line
from results import asked

TITLE = "Tables 19 and 20 of S: a curve with a gap"
WHAT = "S Tables 19 and 20: a curve with a gap"
PAPER = "S"
WIDTHS, ERRORS = "S I.3, Table 20", "S I.3, Table 19"
PROTOCOL = [
    Line("rows", "1,024 in [-.1, .6]; 2,048 to test in [-.25, .85] (I.3.1)", "the same, and 256 to validate", SAME),
    Line("scale", "not said", "input to [-1, 1], target less its mean", SILENT),
    Line("network", "1-100-100-1, tanh; rank 16 of the hidden matrix alone (I.3.1)", "the same", SAME),
    Line("start of the weights", "not said", "full-rank from both, U(-.2, .2) and U(±1 / sqrt(inputs)); low-rank not damped", SILENT),
    Line("prior", "0.5 N(0, 2.0^2) + 0.5 N(0, e^-6) (I.3.1)", "sds 2 and e^-3", SAME),
    Line("noise", "held at an sd of .02 (I.3.1)", "the same", SAME),
    Line("weight of the KL", ".0001 / rows, from zero over 760 epochs (I.3.1)", "the same", SAME),
    Line("optimiser", "Adam, 5e-4, batches of 128 (I.3.1)", "the same", SAME),
    Line("epochs", "800 (I.3.1)", "800", SAME),
    Line("epoch kept", "not said", "the best of the last 41 by the NLL of the 256 rows", SILENT),
    Line("draws", "200 for the RMSE, 100 for the widths (I.3.2)", "the same", SAME),
    Line("width", "5 to 95 % of the draws (Table 20)", "the same", SAME),
]


def cells():
    """In full."""
    for seed in range(5):
        for method, own in (("low-rank", ""), ("full-rank", ""), ("full-rank", "--start network"), ("low-rank-laplace", "")):
            yield asked("main", "toy", method, seed, own, TOY, "--noise-folds 0")


STARTS = {FULL: "full-rank with the uniform start", HE: "full-rank with the network's start"}  # S does not name one
ORDERS = [
    Order(WIDTHS, f"low-rank's epistemic range beyond the data is wider than that of {name}", "width_out", True, LOW, (start,))
    for start, name in STARTS.items()]
# Title, ours, as it is printed, printed / ours.
COLUMNS = [("RMSE", "rmse", "rmse_mc200", 1), ("width in", "width_in", "epistemic_width_in_domain", 1),
           ("width out", "width_out", "epistemic_width_out_of_domain", 1), ("ratio", "width_ratio", "epistemic_width_ratio", 1),
           ("parameters", "parameters", "params", 1)]
TEXT = ("In full: 800 epochs. The noise is held at an sd of .02, in the target's own units as in S; no folds raise it (`noise_folds` 0). The widths are "
        "of the 5-95 % range of 100 draws, medians over a grid.")


def claims(measured):
    """S: "comparable accuracy (0.5030 vs 0.4953)", and "nearly identical" ratios (2.01 vs 1.90)."""
    for start, name in STARTS.items():
        yield judged(ERRORS, f"low-rank's RMSE is comparable to that of {name}: at most .05 above",
                     [lower("RMSE", measured.score(LOW, "rmse"), measured.score(start, "rmse"), margin=0.05)])
        yield judged(WIDTHS, f"low-rank's ratio of widths is nearly that of {name}: within .2",
                     [alike("ratio", measured.score(LOW, "width_ratio"), measured.score(start, "width_ratio"), 0.2)])


def page(now):
    return paper_s.page("s_toy", TEXT, COLUMNS, ORDERS, claims=claims)
