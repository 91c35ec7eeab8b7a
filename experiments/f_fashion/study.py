"""Fashion-MNIST, MNIST foreign, with every baseline of F and of ours."""

import paper_f
from paper_f import BATCH, BOUNDS, DNN, DRAWS, FFG, FID, FLOW, INDUCING, KEPT, NOISE, OURS, OWN_OOD, PLAIN, SHARP, SIZES
from paper_s import Order
from protocol import SAME, SILENT, Line

TITLE = "Fashion-MNIST, MNIST foreign"
WHAT = "Fashion-MNIST, MNIST foreign, with every baseline of F and of ours"
PAPER = "F"
PROTOCOL = [
    Line("images", "CIFAR-100; CIFAR-10 and SVHN foreign (5.2)", "Fashion-MNIST, 49,999 to train; MNIST foreign"),
    Line("network", "ResNet-18 (5.2)", "a small `convnet` of 32 channels"),
    SIZES,
    Line("epochs", "200 (Table 7)", "2"),
    Line("optimiser", "Adam or SGD, 1e-3, a tenth of it after epoch 100 (Table 7)", "AdamW, up to 1e-3, one cycle"),
    Line("batch, label smoothing", "100, .05 (Table 7)", "the same", SAME),
    Line("augmentation", "crop and flip (Table 7)", "none"),
    Line("KL annealing", "\"during early training\" (E); its length is not said", "1 epoch without KL, 1 with all of it", SILENT),
    FLOW, NOISE, BOUNDS, KEPT, DRAWS]


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
