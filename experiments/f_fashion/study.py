"""Fashion-MNIST, MNIST foreign, with every baseline of F and of ours."""

import paper_f
from paper_f import BATCH, DNN, FFG, FID, INDUCING, OURS, OWN_OOD, PLAIN, SHARP
from paper_s import Order

TITLE = "Fashion-MNIST, MNIST foreign"
WHAT = "Fashion-MNIST, MNIST foreign, with every baseline of F and of ours"
PAPER = "F"


def cells():
    """2 epochs, 3 seeds."""
    others = [("ensemble", "--of dnn --members 5"), ("mc-dropout", "--dropout 0.1"), ("low-rank", ""), ("full-rank", "")]
    return paper_f.in_order("fashion", 3, [*PLAIN, *INDUCING, (SHARP, ""), *others], paper_f.FASHION)


COLUMNS = paper_f.IMAGES
ORDERS = [
    Order(OURS, "fid-gp's accuracy is higher than dnn's", "accuracy", True, FID, (DNN,)),
    Order(OURS, "fid-gp's accuracy is higher than ffg-u's", "accuracy", True, FID, (FFG,)),
    Order(OURS, "fid-gp's ECE is lower than dnn's", "ece_width", False, FID, (DNN,)),
    Order(OURS, "fid-gp's NLL is lower than dnn's", "nll", False, FID, (DNN,)),
    Order(OURS, "fid-gp's score tells foreign images better than batch-ensemble's", OWN_OOD, True, FID, (BATCH,)),
    Order(OURS, "fid-gp's score tells foreign images better than ffg-u's", OWN_OOD, True, FID, (FFG,)),
]
TEXT = ("The small network `convnet` of 32 channels, 2 epochs (so the KL of the methods with inducing weights counts in the second "
        "alone), label smoothing .05: a complete run with every baseline. F has no such table.")


def page(now):
    return paper_f.page("f_fashion", TEXT, COLUMNS, ORDERS, paper_f.of_projection)
