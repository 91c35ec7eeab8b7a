"""S Table 2: PM2.5 of Beijing, Guangzhou foreign."""

import paper_s
from paper_s import BEIJING, ENSEMBLE, FULL, LOW, RANK1, SD, SVD, Order

TITLE = "Table 2 of S: PM2.5 of Beijing, Guangzhou foreign"
WHAT = "S Table 2: air quality, another city foreign"
PAPER = "S"


def cells():
    """6 of at most 150 epochs, 3 seeds. The foreign city is its year 2014 alone (sources.py)."""
    yield from paper_s.of_paper("beijing", 3, "--epochs 6", "paper-beijing", f"{BEIJING} --patience 10")
    yield from paper_s.curve("beijing", "paper-beijing", f"{BEIJING} --patience 10", (12,))


BUDGET = "6 of 150 epochs"
AREA = "calibration_curve.area_epistemic"
ORDERS = [
    Order(f"S H.3, {BUDGET}", "low-rank has the least calibration area (here of the epistemic sd)", AREA, False, LOW,
          (FULL, SVD, RANK1, ENSEMBLE)),
    Order(f"S 4.3, {BUDGET}", "the ensemble has the lowest MAE", "mae", False, ENSEMBLE, (LOW, FULL, SVD, RANK1)),
    Order(f"S 4.3, {BUDGET}", "low-rank has the best coverage (PICP; here of the epistemic sd)", "coverage_epistemic", True, LOW,
          (FULL, SVD, RANK1, ENSEMBLE)),
    Order(f"S 4.3, {BUDGET}", "low-rank's AUROC for foreign windows is above full-rank's", f"ood.auroc.{SD}", True, LOW, (FULL,)),
    Order(f"S 4.3, {BUDGET}", "the ensemble's AUROC for foreign windows is above low-rank's", f"ood.auroc.{SD}", True, ENSEMBLE, (LOW,)),
    Order(f"S 4.3, {BUDGET}", "low-rank's MAE falls most when a fifth of the windows is left out", "retention_gain", True, LOW,
          (FULL, SVD, RANK1, ENSEMBLE)),
]
# Title, ours, as it is printed, printed / ours.
COLUMNS = [("MAE", "mae", "mae", 1), ("calibration area", AREA, "calibration_auc", 1),
           ("PICP", "coverage_epistemic", "picp", 1), ("coverage, total", "coverage", "", 1),
           ("AUROC-OOD", f"ood.auroc.{SD}", "auroc_ood", 1), ("AUPR-OOD", f"ood.aupr_ood.{SD}", "aupr_ood", 1),
           ("retention gain", "retention_gain", "mae_improvement_percent_at_retention_80", 100),
           ("parameters", "parameters", "params", 1)]
TEXT = ("Windows of 24 hours, split by time with a gap. 6 epochs of at most 150. Of Guangzhou the year 2014 alone. S's PICP stands "
        "beside the coverage of the epistemic sd, the area of its calibration curve (S Table 10) beside that of the epistemic "
        "sd's. This is our reading: S's appendix G.4 defines the interval as y ± z sigma and mentions a noise variance pooled from "
        "validation residuals, but S prints a coverage of .31 for the ensemble, which an interval with the noise variance would "
        f"hardly allow. {paper_s.PRIOR}")
# The total sd covers more than the nominal level, so that the best coverage is the nearest to it.
TOTAL = {AREA: ("calibration_curve.area", False), "coverage_epistemic": ("coverage_gap", False)}


def by_total_sd(rows):
    """The two claims on the epistemic sd, judged by the total sd."""
    measured = paper_s.Measured(rows)
    orders = [order._replace(metric=TOTAL[order.metric][0], up=TOTAL[order.metric][1]) for order in ORDERS if order.metric in TOTAL]
    found = [paper_s.judged(order, measured) for order in orders]
    covered = [value for name in (LOW, FULL, SVD, RANK1, ENSEMBLE) for value in measured.by_seed(name, "coverage").values()]
    if not covered:
        return ""
    return (f"## By the total sd\n\nIt covers {min(covered):.3f} to {max(covered):.3f} of the targets, above the nominal "
            f"{paper_s.LEVEL}: the best coverage is here the one nearest to that level. The two claims on the epistemic sd:\n\n"
            + "\n".join(f"- {claim.text.partition(' (')[0]}: **{claim.verdict}**, {claim.numbers}" for claim in found))


def page(now):
    return paper_s.page("s_table2", TEXT, COLUMNS, ORDERS, by_total_sd)
