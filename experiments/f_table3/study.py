"""F Table 3: CIFAR-10, CIFAR-100 foreign."""

import paper_f
from judge import not_measured
from paper_f import BATCH, BOUNDS, CIFAR, CIFAR_PROTOCOL, DNN, FFG, FID, INDUCING, KEY_LAYERS, OURS, OWN_OOD, PLAIN, SHARP, SIZES
from paper_s import Order
from protocol import Line

TITLE = "Table 3 of F: CIFAR-10, CIFAR-100 foreign"
WHAT = "F Table 3: CIFAR-10, CIFAR-100 foreign"
PAPER = "F"
PROTOCOL = [
    Line("images", "CIFAR-100; CIFAR-10 and SVHN foreign (5.2)", "CIFAR-10, 9,000 to train, 2,000 to test; 2,000 of CIFAR-100 foreign"),
    SIZES,
    *CIFAR_PROTOCOL, BOUNDS]


def cells():
    """In F's columns: 10,000 images, ResNet-18 of an eighth of the width, 6 epochs."""
    few = [(method, KEY_LAYERS) for method, _ in INDUCING[1:]]
    return paper_f.in_order("cifar10", 1, [*PLAIN, *INDUCING, *few, (SHARP, "")], CIFAR)


COLUMNS = paper_f.IMAGES
ORDERS = [
    Order(OURS, "fid-gp's accuracy is higher than dnn's", "accuracy", True, FID, (DNN,)),
    Order(OURS, "fid-gp's accuracy is higher than ffg-u's", "accuracy", True, FID, (FFG,)),
    Order(OURS, "fid-gp's ECE is lower than dnn's", "ece_width", False, FID, (DNN,)),
    Order(OURS, "fid-gp's NLL is lower than dnn's", "nll", False, FID, (DNN,)),
    Order(OURS, "fid-gp's score tells foreign images better than batch-ensemble's", OWN_OOD, True, FID, (BATCH,)),
    Order(OURS, "fid-gp's score tells foreign images better than ffg-u's", OWN_OOD, True, FID, (FFG,)),
]
TEXT = ("The reverse of F, which trains on CIFAR-100: F's AUROC stands in no column. 9,000 training images and 1,000 to validate, "
        "one seed, which decides nothing. ResNet-18 of an eighth of the width (8 channels), 6 epochs of 200, label smoothing .05, "
        "crop and flip. The inducing sizes are the tool's defaults for this width.")


NO_DATA = [
    not_measured("F 5.2", "f_table3: on ImageNet-1k 70.19 % accuracy with 51.6 % fewer parameters, AUROC 99.9 % for SVHN and CIFAR-10",
                 "ImageNet and SVHN are not at hand"),
    not_measured("F 5.2", "f_table3: of CIFAR-100, the highest accuracy (76.27 %), AUROC 99.9 % for SVHN and CIFAR-10",
                 "CIFAR-100 to train on and SVHN are not at hand"),
    not_measured("F abstract", 'f_table3: it "cuts Bayesian training cost by several orders of magnitude"',
                 "F prints no training times and does not say what it compares with")]


def page(now):
    return paper_f.page("f_table3", TEXT, COLUMNS, ORDERS, lambda study, measured: [*paper_f.of_projection(study, measured), *NO_DATA])
