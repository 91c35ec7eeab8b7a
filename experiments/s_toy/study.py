"""S Tables 19 and 20: a curve with a gap."""

import paper_s
from paper_s import FULL, LOW, TOY, Order
from results import asked

TITLE = "Tables 19 and 20 of S: a curve with a gap"
WHAT = "S Tables 19 and 20: a curve with a gap"
PAPER = "S"


def cells():
    """In full."""
    for seed in range(5):
        for method, own in (("low-rank", ""), ("full-rank", ""), ("full-rank", "--start network"), ("low-rank-laplace", "")):
            yield asked("main", "toy", method, seed, own, TOY)


ORDERS = [
    Order("S I.3", "full-rank's RMSE is below low-rank's", "rmse", False, FULL, (LOW,)),
    Order("S I.3", "low-rank's epistemic range beyond the data is wider than full-rank's", "width_out", True, LOW, (FULL,)),
    Order("S I.3", "it widens more, as a ratio", "width_ratio", True, LOW, (FULL,)),
]
# Title, ours, as it is printed, printed / ours.
COLUMNS = [("RMSE", "rmse", "rmse_mc200", 1), ("width in", "width_in", "epistemic_width_in_domain", 1),
           ("width out", "width_out", "epistemic_width_out_of_domain", 1), ("ratio", "width_ratio", "epistemic_width_ratio", 1),
           ("parameters", "parameters", "params", 1)]
TEXT = ("In full: 800 epochs, the noise held at .02. The widths are of the 5-95 % range of a Gaussian with the epistemic sd, "
        "medians over a grid.")


def page(now):
    return paper_s.page("s_toy", TEXT, COLUMNS, ORDERS)
