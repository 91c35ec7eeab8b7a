"""S Tables 14 to 16: MNIST, Fashion-MNIST foreign."""

import paper_s
from paper_s import FULL, LAPLACE, LOW, RANK1, Order

TITLE = "Tables 14 to 16 of S: MNIST"
WHAT = "S Tables 14 to 16: MNIST, Fashion-MNIST foreign"
PAPER = "S"
PROTOCOL = paper_s.IMAGES_PROTOCOL


def cells():
    return paper_s.of_images("mnist")


COLUMNS = paper_s.IMAGES
ORDERS = [
    Order("S I.1", "full-rank has the lowest ECE", "ece", False, FULL, (LOW, LAPLACE, RANK1)),
    Order("S I.1", "low-rank-laplace has the lowest NLL", "nll", False, LAPLACE, (LOW, FULL, RANK1)),
    Order("S I.1", "rank-1 has the highest accuracy", "accuracy", True, RANK1, (LOW, LAPLACE, FULL)),
]


def page(now):
    return paper_s.page("s_table15", paper_s.IMAGES_TEXT.format(foreign="Fashion-MNIST"), COLUMNS, ORDERS)
