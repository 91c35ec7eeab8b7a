"""What the studies of networks with inducing weights (F: FiD-GP) share: networks, methods, scores, tables.

Networks and budgets are what two cores reach; the pages say what was cut. A study's cells are in the order in which they should
run: every method at one seed before the next seed.
"""

import itertools

import judge
import paper_s
import studies
from judge import ordered
from pages import Page
from paper_s import DECIDED, MI, Measured, name_of, numbers_of, printed_numbers, shown, table_of
from protocol import SAME, SILENT, Line
from results import asked
from tables import grid

KEY_LAYERS = "--bayesian-layers layer2.1.conv1,layer2.1.conv2,layer4.1.conv1,layer4.1.conv2"
PLAIN = [("dnn", ""), ("batch-ensemble", "")]
INDUCING = [("ffg-u", ""), ("fid-gp-reparam", ""), ("fid-gp", "")]
SPECTRAL = "--flow spectral"  # equation 8: every matrix of the flow is divided by its spectral norm
CURVE = ("--network mlp --activation tanh --hidden 100 --blocks 3 --batch-norm true --batch 50 --epochs 400 --learning-rate 1e-3 "
         "--schedule constant --patience 0")
PANELS = {"left": "--inducing-rows 64 --inducing-columns 64 --most-noise 0.08 --prior-scale 0.5",
          "right": "--inducing-rows 32 --inducing-columns 32 --most-noise 0.05 --prior-scale 0.3"}
FASHION = "--network convnet --hidden 32 --batch 100 --epochs 2 --learning-rate 1e-3 --label-smoothing 0.05"
CIFAR = "--network resnet18 --hidden 8 --batch 100 --epochs 6 --learning-rate 1e-3 --label-smoothing 0.05 --crop 4 --flip true"
CAMVID = "--network fcn --blocks 4 --batch 8 --epochs 12 --crop 8 --flip true"

SMALL_SIZES = "half of a layer's smaller side, at least 32; at most the side"
SIZES = Line("inducing weights", "128 x 128, of the output 100 x 128 (Table 7)", SMALL_SIZES)
FLOW = Line("flow", "spectral norm of each matrix (3.3, Definition 1)", "`certified`: divided by a bound of its Lipschitz constant")
NOISE = Line("noise of the weights", "lambda from .001 to .03, sd of u at most .1, prior sd 1 (Table 7)", "the same", SAME)
BOUNDS = Line("for eq. 19", "lambda at most .01 with a penalty, spectral norms, orthogonal start (4.2)", "none of these")
KEPT = Line("epoch kept", "not said", "the best by the NLL of the validation rows, after the annealing", SILENT)
DRAWS = Line("draws", "1 to train, 8 to predict (Table 7)", "the same", SAME)
CIFAR_PROTOCOL = [
    Line("network", "ResNet-18, 64 channels at first, 11.2 M numbers (5.2)", "ResNet-18, 8 channels at first, 176,402 numbers"),
    Line("epochs", "200 (Table 7)", "6"),
    Line("optimiser", "Adam or SGD, 1e-3, a tenth of it after epoch 100 (Table 7)", "AdamW, up to 1e-3, one cycle"),
    Line("batch, label smoothing", "100, .05 (Table 7)", "the same", SAME),
    Line("augmentation", "crop and flip (Table 7)", "the same", SAME),
    Line("KL annealing", "\"during early training\" (E); its length is not said", "3 epochs without KL, all of it from epoch 4", SILENT),
    FLOW, NOISE, KEPT, DRAWS]

DNN, BATCH, FFG, SHARP = "dnn", "batch-ensemble", "ffg-u", "f-sgvb-lrt"
FID, REPARAM = "fid-gp", "fid-gp-reparam"
FOUR, OWN_FLOW = ", 4 layers", ", spectral norms"
METHODS = [DNN, BATCH, FFG, SHARP, REPARAM + FOUR, FID + FOUR, REPARAM, FID]
OTHERS = ["ensemble of dnn", "mc-dropout", "low-rank", "full-rank"]
PRINTED = {DNN: "deterministic", BATCH: "batchensemble", FFG: "ffg-u", SHARP: "f-sgvb-lrt",
           REPARAM + FOUR: "fid-gp-reparam-4layers", FID + FOUR: "fid-gp-matheron-4layers", FID: "fid-gp-matheron-all"}
OWN_OOD = "ood.auroc.own"  # by the score that we chose for the method; F does not say how it scores its rivals
OURS = "ours, after F"  # an ordering that F states of other data, or of a pair of data that ours reverse
# Title, ours, as it is printed, printed / ours.
IMAGES = [("accuracy", "accuracy", "accuracy_pct", 100), ("NLL", "nll", "nll", 1),
          ("ECE, equal width", "ece_width", "ece_pct", 100), ("ECE, equal mass", "ece", "", 1), ("AUROC, own score", OWN_OOD, "", 1),
          ("parameters", "parameters", "params_m", 1e-6), ("GFLOP a row", "gflops", "flops_g", 1)]
SCORES = ["residual", "relative_residual", "projected_norm", "gradient_norm", "energy", "entropy", "max_softmax",
          "mutual_information", "distance"]
NOTE = ("Ours: mean ± standard error over seeds (their number in brackets); F as printed. Own score: the projection residual of "
        "the methods with inducing weights, the largest probability of dnn, the mutual information of the others; F does not say "
        "how it scores its rivals. The methods with inducing weights take the whole KL (beta 1) and the certified flow, where F "
        "has its own; f-sgvb-lrt, low-rank and full-rank take a tenth of the KL, each the tool's default. GFLOP: two operations "
        "for each multiplication of a forward pass, times the networks that an answer averages; the draws of the weights, once for "
        "many rows, are not in it.")


def in_order(data, seeds, methods, budget):
    for seed, (method, own) in itertools.product(range(seeds), methods):
        yield asked("main", data, method, seed, own, budget)


def flags_value(row, flag):
    words = row["flags"].split()
    return words[words.index(flag) + 1] if flag in words else None


def name_in(row):
    """The method as METHODS and OTHERS have it."""
    return name_of(row) + (FOUR if flags_value(row, "--bayesian-layers") else "") + (OWN_FLOW if SPECTRAL in row["flags"] else "")


def passes(row):
    """The networks that an answer averages, from the options of the row's recipe."""
    options = row["recipe"].get("options", {})
    return next((int(options[name]) for name in ("draws", "batch_members", "members") if name in options), 1)


def numbers_in(row):
    """The numbers of paper_s.py, the AUROC of the method's own score, and the operations of an answer."""
    found = numbers_of(row)
    score = "residual" if row["method"] in (FFG, FID, REPARAM) else "max_softmax" if row["method"] == DNN else MI
    if f"ood.auroc.{score}" in found:
        found[OWN_OOD] = found[f"ood.auroc.{score}"]
    if "multiply_adds" in found:
        found["gflops"] = 2e-9 * found["multiply_adds"] * passes(row)
    return found


def measured_of(rows, part="main"):
    return Measured(rows, part, name_in, numbers_in)


def above(source, text, name, one, other, up=True):
    """The claim that `one` is above `other` in the same fit, both by seed; below it, not `up`."""
    return judge.judged(source, text, [ordered(name, one, other, up)])


def of_projection(study, measured):
    """Whether the projection adds to the norm of the vector that it projects."""
    return [above(OURS, f"{study}: the residual of fid-gp tells foreign images better than {title}", f"residual - {score}",
                  *[measured.by_seed(FID, f"ood.auroc.{each}") for each in ("residual", score)])
            for score, title in (("gradient_norm", "the vector's norm alone"), ("projected_norm", "the norm that it projects"),
                                 ("energy", "the energy"))]


def projectors(measured, name):
    """Of each key layer at seed 0: (rank, columns, kept directions or None)."""
    for i in range(8):
        found = [measured.by_seed(name, f"ood.projectors.{i}.{fact}").get("0") for fact in ("rank", "columns", "kept")]
        if found[0] is None:
            return
        yield found


def scores_of(measured):
    """The AUROC of every score that a method offers, and what the projectors were."""
    rows = []
    for name in [*METHODS, *OTHERS]:
        found = [shown(measured.by_seed(name, f"ood.auroc.{score}"), score) for score in SCORES]
        if any(found):
            ranks = [f"{rank:.1f} of {columns:.0f}" + (f", {kept:.0f} kept" if kept else "")
                     for rank, columns, kept in projectors(measured, name)]
            rows.append([name, *found, "; ".join(ranks)])
    return ("## Scores\n\nAUROC of foreign images by each score. Projectors: the rank of each key layer's projector and its "
            "columns at seed 0; one of full rank is void, and the directions that keep 90 % of the energy take its place.\n\n"
            + grid(["method", *SCORES, "projectors"], rows)) if rows else ""


def page(study, text, columns, orders, more=lambda study, measured: []):
    """Of a table of F: ours beside the printed numbers. `more`: claims beyond the orderings."""
    measured = measured_of(studies.rows(studies.HERE / study))
    claims = [paper_s.judged(order._replace(text=f"{study}: {order.text}"), measured) for order in orders]
    table = table_of(measured, printed_numbers(study), columns, [*METHODS, *OTHERS], PRINTED, "F")
    return Page([f"{text} {NOTE} {DECIDED}", table, scores_of(measured)], claims + more(study, measured))
