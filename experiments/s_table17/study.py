"""S Tables 17 and 18: Fashion-MNIST, MNIST foreign."""

import paper_s
from judge import judged, lower
from paper_s import FULL, LAPLACE, LOW, RANK1, Order

TITLE = "Tables 17 and 18 of S: Fashion-MNIST"
WHAT = "S Tables 17 and 18: Fashion-MNIST, MNIST foreign"
PAPER = "S"
PROTOCOL = paper_s.IMAGES_PROTOCOL


def cells():
    return paper_s.of_images("fashion")


COLUMNS = paper_s.IMAGES
ORDERS = [
    Order("S I.2", "low-rank has the lowest ECE", "ece", False, LOW, (LAPLACE, FULL, RANK1)),
    Order("S I.2", "low-rank has the lowest NLL", "nll", False, LOW, (LAPLACE, FULL, RANK1)),
    Order("S I.2", "full-rank has the highest accuracy", "accuracy", True, FULL, (LOW, LAPLACE, RANK1)),
]


def claims(measured):
    yield judged("S I.2", "low-rank's accuracy is at most .005 below full-rank's (S: only 0.5 % less)",
                 [lower("full-rank and low-rank", *(measured.score(name, "accuracy") for name in (FULL, LOW)), margin=0.005)])


def page(now):
    return paper_s.page("s_table17", paper_s.IMAGES_TEXT.format(foreign="MNIST"), COLUMNS, ORDERS, claims=claims)
