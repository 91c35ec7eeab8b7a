"""The pages of the studies of networks with inducing weights (F: FiD-GP), ours beside the printed numbers."""

import pages
import results
from claims_f import METHODS, OTHERS, OWN_OOD, PRINTED, claims_of, flags_value, measured_of, numbers_in, of_curve, of_sizes
from pages import verdicts
from report_s import printed_numbers, shown, state, table_of
from tables import grid

IMAGES = [("accuracy", "accuracy", "accuracy_pct", 100), ("NLL", "nll", "nll", 1), ("ECE, equal width", "ece_width", "ece_pct", 100),
          ("ECE, equal mass", "ece", "", 1), ("AUROC, own score", OWN_OOD, "", 1), ("parameters", "parameters", "params_m", 1e-6),
          ("GFLOP a row", "gflops", "flops_g", 1)]
SCORES = ["residual", "relative_residual", "projected_norm", "gradient_norm", "energy", "entropy", "max_softmax", "mutual_information", "distance"]

# study: title, what is run, columns of (title, ours, as it is printed, printed / ours)
STUDIES = {
    "f_fashion": ("Fashion-MNIST, MNIST foreign",
                  "The small network `convnet` of 32 channels, 2 epochs (so the KL counts in the second alone), label smoothing .05: a complete run with every baseline. F has no such table.", IMAGES),
    "f_table3": ("Table 3 of F: CIFAR-10, CIFAR-100 foreign",
                 "The reverse of F, which trains on CIFAR-100: F's AUROC stands in no column. 9,000 training images and 1,000 to validate, one seed, which decides nothing. ResNet-18 of an eighth of the "
                 "width (8 channels), 6 epochs of 200, label smoothing .05, crop and flip. The inducing sizes are the tool's defaults for this width.", IMAGES),
    "f_table4": ("Table 4 of F: CamVid",
                 "Images of 96 x 128, a small FCN in the place of FCN-ResNet50, 12 epochs, one seed, which decides nothing. No foreign scenes are at hand (F: CityScapes).",
                 [("accuracy", "accuracy", "", 1), ("mIoU", "miou", "miou_pct", 100), ("MPA", "mpa", "mpa_pct", 100), ("NLL", "nll", "nll", 1),
                  ("ECE, equal width", "ece_width", "ece_pct", 100), ("AUROC of errors", "errors.auroc.entropy", "", 1),
                  ("parameters", "parameters", "params_m", 1e-6), ("GFLOP a row", "gflops", "flops_g", 1)]),
}
NOTE = ("Ours: mean ± standard error over seeds (their number in brackets); F as printed. Own score: the projection residual of the methods with "
        "inducing weights, the largest probability of dnn, the mutual information of the others; F does not say how it scores its rivals. The methods with "
        "inducing weights take the whole KL (beta 1) and the certified flow, where F has its own; f-sgvb-lrt, low-rank and full-rank take a tenth of "
        "the KL, each the tool's default. GFLOP: two operations for each multiplication of a "
        "forward pass, times the networks that an answer averages; the draws of the weights, once for many rows, are not in it.")


def scores_of(measured):
    """The AUROC of every score that a method offers, and what the projectors were."""
    rows = []
    for name in [*METHODS, *OTHERS]:
        found = [shown(measured.by_seed(name, f"ood.auroc.{score}"), score) for score in SCORES]
        if any(found):
            ranks = [f"{value[0]:.1f} of {value[1]:.0f}" + (f", {value[2]:.0f} kept" if value[2] else "")
                     for value in projectors(measured, name)]
            rows.append([name, *found, "; ".join(ranks)])
    return ("## Scores\n\nAUROC of foreign images by each score. Projectors: the rank of each key layer's projector and its columns at seed 0; "
            "one of full rank is void, and the directions that keep 90 % of the energy take its place.\n\n"
            + grid(["method", *SCORES, "projectors"], rows)) if rows else ""


def projectors(measured, name):
    for i in range(8):
        found = [measured.by_seed(name, f"ood.projectors.{i}.{fact}").get("0") for fact in ("rank", "columns", "kept")]
        if found[0] is None:
            return
        yield found


def page(study, title, text, parts):
    """Writes the study's page."""
    folder = pages.HERE / study
    head = [f"# {title}", f"```\nexperiments/run.py experiments/{study}/cells.csv     # resumable cell by cell\nexperiments/report.py\n```",
            state(study, folder), text]
    (folder / "README.md").write_text("\n\n".join(part.rstrip() for part in [*head, *parts] if part) + "\n")


def read(study):
    folder = pages.HERE / study
    return results.read(folder / "results.csv"), results.read(folder / "cells.csv")


CLAIMS = "## Claims\n\nDecided where the mean difference, seed by seed, exceeds its 95 % bound by Student's t.\n\n"


def curve():
    rows, asked = read("f_curve")
    panels = {panel: measured_of(rows, asked, panel) for panel in ("left", "right")}
    columns = [("RMSE", "rmse"), ("NLL", "nll"), ("within 3 sds", "within_3_sd"), ("sd, clusters", "sd_clusters"), ("sd, gap", "sd_gap"), ("ratio", "gap_ratio"), ("whole sd, ratio", "band_ratio"),
               ("parameters", "parameters")]
    lines = [[panel, name, *found] for panel, measured in panels.items() for name in METHODS
             if any(found := [shown(measured.by_seed(name, metric), metric) for _, metric in columns])]
    claims = of_curve(panels)
    page("f_curve", "Figure 3 of F: a curve with a gap",
         "Rows in [.5, .8] and [1.2, 1.6], noise variance .01; three hidden layers of 100 units with batch norm and tanh, 400 epochs. Left: 64 x 64 inducing "
         "weights, noise limit .08, prior scale .5; right: 32 x 32, .05, .3. (The scale times 1 / sqrt(inputs) is the sd of a weight: our reading of F's "
         "prior_sd.) Within 3 sds: of 1,000 held-out rows of both clusters; a Gaussian holds "
         ".997. Sds: medians of the epistemic sd; the last ratio is that of the whole sd, the noise of the data included. Ours: mean ± standard error over seeds (their number in brackets).",
         [grid(["panel", "method", *[title for title, _ in columns]], lines),
          "## Claims\n\nThe bands must hold at every seed; the difference of the RMSE is decided by Student's t.\n\n" + verdicts(claims)])
    return claims


def sizes():
    rows, asked = read("f_table6")
    published = printed_numbers(pages.HERE / "f_table6")
    keys = {results.key(cell) for cell in asked}
    done = [row for row in results.latest(rows) if not row["error"] and results.key(row) in keys]
    counts = {int(flags_value(row, "--inducing-rows")): int(float(row["parameters"])) for row in done if row["study"] == "counts"}
    lines = []
    for size in sorted(counts):
        printed = {metric: published.get((f"fid-gp-conv-{size}x{size}", metric)) for metric in ("params_m", "accuracy_pct", "compression_pct")}
        lines.append([f"{size} x {size}", f"{counts[size]:,}", f"{printed['params_m']:.2f} M", f"{printed['compression_pct']:.1f} %", f"{printed['accuracy_pct']:.2f} %"])
    ours = {}
    for row in done:
        if row["study"] == "sizes":
            ours.setdefault(int(flags_value(row, "--inducing-rows")), {})[row["seed"]] = numbers_in(row)
    columns = [("accuracy", "accuracy"), ("NLL", "nll"), ("ECE, equal width", "ece_width"), ("parameters", "parameters")]
    own = [[f"{size} x {size}", *[shown({seed: n[metric] for seed, n in found.items() if metric in n}, metric) for _, metric in columns]]
           for size, found in sorted(ours.items())]
    claims = of_sizes(counts)
    page("f_table6", "Table 6 of F: sizes of the inducing matrices",
         "Counts: a short fit of ResNet-18 with 100 classes, on three images of each, with the preset `paper`. F's CIFAR-100 is not at hand to train on; accuracies are of CIFAR-10 "
         "and a ResNet-18 of an eighth of the width, where a size of 4 stands for F's 32, 8 for 64, and so on. One seed.",
         [grid(["size", "ours", "F", "F, saved", "F, accuracy"], lines), "## Accuracy by size\n\n" + grid(["size", *[title for title, _ in columns]], own),
          "## Claims\n\n" + verdicts(claims)])
    return claims


def write():
    """Every page; the claims."""
    found = curve()
    for study, (title, text, columns) in STUDIES.items():
        rows, asked = read(study)
        measured, folder = measured_of(rows, asked), pages.HERE / study
        published = printed_numbers(folder) if (folder / "published.csv").exists() else {}
        own = claims_of(study, measured)
        page(study, title, f"{text} {NOTE}", [table_of(measured, published, columns, [*METHODS, *OTHERS], PRINTED, "F"), scores_of(measured), CLAIMS + verdicts(own)])
        found += own
    return found + sizes()
