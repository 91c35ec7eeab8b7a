"""S Tables 17 and 18: Fashion-MNIST, MNIST foreign."""

import paper_s
from paper_s import FULL, LAPLACE, LOW, RANK1, Order

TITLE = "Tables 17 and 18 of S: Fashion-MNIST"
WHAT = "S Tables 17 and 18: Fashion-MNIST, MNIST foreign"
PAPER = "S"


def cells():
    return paper_s.of_images("fashion")


COLUMNS = paper_s.IMAGES
ORDERS = [
    Order("S I.2", "low-rank has the lowest ECE", "ece", False, LOW, (LAPLACE, FULL, RANK1)),
    Order("S I.2", "low-rank has the lowest NLL", "nll", False, LOW, (LAPLACE, FULL, RANK1)),
    Order("S I.2", "full-rank's accuracy is above low-rank's", "accuracy", True, FULL, (LOW, LAPLACE)),
]


def page(now):
    return paper_s.page("s_table17", paper_s.IMAGES_TEXT.format(foreign="MNIST"), COLUMNS, ORDERS)
