"""F Table 4: CamVid."""

import paper_f
from judge import not_measured
from paper_f import BATCH, CAMVID, DNN, DRAWS, FID, FLOW, INDUCING, PLAIN, SHARP, SMALL_SIZES
from paper_s import Order
from protocol import SAME, SILENT, Line

TITLE = "Table 4 of F: CamVid"
WHAT = "F Table 4: classes of pixels, CamVid"
PAPER = "F"
PROTOCOL = [
    Line("images", "CamVid; their number and size are not said", "367 to train, 101 to validate, 233 to test, 96 x 128 pixels", SILENT),
    Line("network", "FCN-ResNet50, 35.3 M numbers, 116 GFLOP (5.3, Table 4)", "a small FCN, 317,579 numbers, .35 GFLOP"),
    Line("inducing weights", "128 x 128 \"throughout\" (5.4)", SMALL_SIZES),
    Line("epochs", "200, stated of ResNet-18 alone (Table 7)", "12", SILENT),
    Line("optimiser", "not said for CamVid", "AdamW, up to 3e-3, one cycle, batches of 8", SILENT),
    Line("augmentation", "not said for CamVid", "crop and flip", SILENT),
    Line("KL annealing", "\"during early training\" (E); its length is not said", "6 epochs without KL, then 3 to all of it", SILENT),
    FLOW,
    Line("epoch kept", "not said", "the best by the NLL of the validation images, after the annealing", SILENT),
    DRAWS]


def cells():
    """In F's columns: images of 96 x 128, a small FCN, 12 epochs; no foreign scenes at hand."""
    return paper_f.in_order("camvid", 1, [*PLAIN, *INDUCING, ("mc-dropout", "--dropout 0.1"), (SHARP, "")], CAMVID)


COLUMNS = [("accuracy", "accuracy", "", 1), ("mIoU", "miou", "miou_pct", 100), ("MPA", "mpa", "mpa_pct", 100),
           ("NLL", "nll", "nll", 1), ("ECE, equal width", "ece_width", "ece_pct", 100),
           ("AUROC of errors", "errors.auroc.entropy", "", 1), ("parameters", "parameters", "params_m", 1e-6),
           ("GFLOP a row", "gflops", "flops_g", 1)]
ORDERS = [
    Order("F Table 4", "fid-gp's mIoU is above dnn's", "miou", True, FID, (DNN,)),
    Order("F Table 4", "fid-gp's ECE is below dnn's", "ece_width", False, FID, (DNN,)),
    Order("F Table 4", "batch-ensemble's mIoU is above fid-gp's", "miou", True, BATCH, (FID,)),
]
TEXT = ("Images of 96 x 128, a small FCN in the place of FCN-ResNet50, 12 epochs, one seed, which decides nothing. No foreign "
        "scenes are at hand (F: CityScapes).")


NO_DATA = [not_measured("F 5.3", f"f_table4: {text}", "CityScapes is not at hand") for text in (
    "AUROC 99.9 % for CityScapes in every configuration", "on CityScapes mIoU 80.9 %, ECE 1.2 %, AUROC 99.9 % for CamVid")]


def page(now):
    return paper_f.page("f_table4", TEXT, COLUMNS, ORDERS, lambda study, measured: NO_DATA)
