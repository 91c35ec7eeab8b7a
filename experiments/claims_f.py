"""What F states (F: FiD-GP), judged on our rows by the rule of claims_s.py: paired differences, seed by seed."""

import paired
import results
from claims import FAILS, HOLDS, OPEN, Claim
from claims_s import MI, Measured, Order, judged, name_of, numbers_of

DNN, BATCH, FFG, SHARP = "dnn", "batch-ensemble", "ffg-u", "f-sgvb-lrt"
FID, REPARAM = "fid-gp", "fid-gp-reparam"
FOUR = ", 4 layers"
METHODS = [DNN, BATCH, FFG, SHARP, REPARAM + FOUR, FID + FOUR, REPARAM, FID]
OTHERS = ["ensemble of dnn", "mc-dropout", "low-rank", "full-rank"]
PRINTED = {DNN: "deterministic", BATCH: "batchensemble", FFG: "ffg-u", SHARP: "f-sgvb-lrt", REPARAM + FOUR: "fid-gp-reparam-4layers",
           FID + FOUR: "fid-gp-matheron-4layers", FID: "fid-gp-matheron-all"}
OWN_OOD = "ood.auroc.own"  # by the score that we chose for the method; F does not say how it scores its rivals

OURS = "ours, after F"  # an ordering that F states of other data, or of a pair of data that ours reverse

ORDERS = [
    *[Order(study, "F 5.2" if study == "f_table3" and metric != OWN_OOD else OURS, f"fid-gp's {title} than {other}'s", metric, up, FID, (other,))
      for study in ("f_table3", "f_fashion")
      for title, metric, up, other in (("accuracy is higher", "accuracy", True, DNN), ("accuracy is higher", "accuracy", True, FFG),
                                       ("ECE is lower", "ece_width", False, DNN), ("NLL is lower", "nll", False, DNN),
                                       ("score tells foreign images better", OWN_OOD, True, BATCH),
                                       ("score tells foreign images better", OWN_OOD, True, FFG))],
    Order("f_table4", "F 5.3", "fid-gp's mIoU is above dnn's", "miou", True, FID, (DNN,)),
    Order("f_table4", "F 5.3", "fid-gp's ECE is below dnn's", "ece_width", False, FID, (DNN,)),
    Order("f_table4", "F 5.3", "batch-ensemble's mIoU is above fid-gp's", "miou", True, BATCH, (FID,)),
]


def flags_value(row, flag):
    words = row["flags"].split()
    return words[words.index(flag) + 1] if flag in words else None


def name_in(row):
    """The method as METHODS and OTHERS have it."""
    return name_of(row) + (FOUR if flags_value(row, "--bayesian-layers") else "")


def passes(row):
    """The networks that an answer averages, from the options of the row's recipe."""
    options = results.recorded(row).get("options", {})
    return next((int(options[name]) for name in ("draws", "batch_members", "members") if name in options), 1)


def numbers_in(row):
    """The numbers of claims_s.py, the AUROC of the method's own score, and the operations of an answer."""
    found = numbers_of(row)
    score = "residual" if row["method"] in (FFG, FID, REPARAM) else "max_softmax" if row["method"] == DNN else MI
    if f"ood.auroc.{score}" in found:
        found[OWN_OOD] = found[f"ood.auroc.{score}"]
    if "multiply_adds" in found:
        found["gflops"] = 2e-9 * found["multiply_adds"] * passes(row)
    return found


def measured_of(rows, asked, part="main"):
    return Measured(rows, asked, part, name_in, numbers_in)


def above(source, text, one, other, up=True):
    """The claim that `one` is above `other` in the same fit, both by seed."""
    found = paired.difference(one, other)
    if found is None:
        return Claim(source, text, OPEN, "")
    sign = found.sign if up else -found.sign
    return Claim(source, text, {1: HOLDS, -1: FAILS, 0: OPEN}[sign], str(found))


def of_scores(study, measured):
    """Whether the projection adds to the norm of the vector that it projects."""
    if study not in ("f_fashion", "f_table3"):
        return []
    by = lambda score: measured.by_seed(FID, f"ood.auroc.{score}")
    return [above(OURS, f"{study}: the residual of fid-gp tells foreign images better than the vector's norm alone", by("residual"), by("gradient_norm")),
            above(OURS, f"{study}: the residual of fid-gp tells foreign images better than the norm that it projects", by("residual"), by("projected_norm")),
            above(OURS, f"{study}: the residual of fid-gp tells foreign images better than the energy", by("residual"), by("energy"))]


def claims_of(study, measured):
    return [judged(order, measured)._replace(text=f"{study}: {order.text}") for order in ORDERS if order.study == study] + of_scores(study, measured)


def of_curve(panels):
    """The bands of F Figure 3; `panels` has a Measured for left and right."""
    found = []
    for panel, measured in panels.items():
        for metric, text, least in (("within_3_sd", "three sds hold 95 % of the rows of the clusters", 0.95),
                                    ("band_ratio", "the band of the whole sd is wider in the gap than in the clusters", 1),
                                    ("gap_ratio", "so is the epistemic sd alone", 1)):
            values = measured.by_seed(FID, metric)
            verdict = OPEN if not values else HOLDS if min(values.values()) > least else FAILS
            listed = ", ".join(f"{value:.3f}" for value in values.values())
            found.append(Claim("F 5.1", f"f_curve, {panel} panel: {text}, at each seed", verdict, f"fid-gp: {listed}"))
    return found + [above("F 5.1", "f_curve: the left panel's RMSE is below the right one's", panels["left"].by_seed(FID, "rmse"),
                           panels["right"].by_seed(FID, "rmse"), False)]


DENSE = 11220132  # numbers of the deterministic ResNet-18 with 100 classes, convolutions without biases (F Table 6)


def of_sizes(counts):
    """F's compression, from the numbers in the model files, by inducing size. A stated share holds within a point."""
    saved = {size: 1 - count / DENSE for size, count in counts.items()}
    listed = ", ".join(f"{size}: {100 * share:.1f} %" for size, share in sorted(saved.items()))
    verdict = lambda stated: OPEN if 128 not in saved else HOLDS if abs(saved[128] - stated) < 0.01 else FAILS
    return [Claim("F abstract", "f_table6: about 51 % fewer parameters, at 128 x 128", verdict(0.51), listed),
            Claim("F abstract", "f_table6: the model is about 75 % smaller, at 128 x 128", verdict(0.75), f"{listed}; a parameter has 4 bytes in both")]
