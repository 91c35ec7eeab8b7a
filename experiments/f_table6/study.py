"""F Table 6: sizes of the inducing matrices."""

import studies
from judge import FAILS, HOLDS, OPEN, Claim
from pages import Page
from paper_f import CIFAR, CIFAR_PROTOCOL, flags_value
from paper_s import Measured, printed_numbers, shown
from protocol import SAME, Line
from results import asked
from tables import grid

TITLE = "Table 6 of F: sizes of the inducing matrices"
WHAT = "F Table 6: sizes of the inducing matrices"
PAPER = "F"
ACCURACIES = "F 5.4"  # of which there is no claim here
PROTOCOL = [
    Line("network counted", "ResNet-18 with 100 classes; linear layer 128 x classes (5.4)", "the same", SAME, "F abstract"),
    Line("inducing weights counted", "32 x 32 to 256 x 256 (Table 6)", "the same sizes; each row of Z has an sd", SAME, "F abstract"),
    Line("images", "CIFAR-100 (5.4)", "CIFAR-10, 9,000 to train, 2,000 to test", of=ACCURACIES),
    Line("inducing weights", "32 x 32 to 256 x 256 (Table 6)", "4 x 4 to 16 x 16, an eighth as the channels", of=ACCURACIES),
    *[line._replace(of=ACCURACIES) for line in CIFAR_PROTOCOL],
]

DENSE = 11220132  # numbers of the deterministic ResNet-18 with 100 classes, convolutions without biases


def cells():
    """The counts of ResNet-18 with 100 classes in full, from fits of one epoch (37 steps); accuracies at an eighth of the
    width, and of the inducing sizes."""
    def inducing(size):
        return f"--inducing-rows {size} --inducing-columns {size}"

    for size in (32, 64, 128, 256):
        yield asked("counts", "cifar100", "fid-gp", 0, "--preset paper --network resnet18 --hidden 64", inducing(size),
                    "--batch 8 --epochs 0 --steps 1")
    for size in (4, 8, 16, 32):
        yield asked("sizes", "cifar10", "fid-gp", 0, CIFAR, inducing(size))


def claims(counts):
    """F's compression, from the numbers in the model files, by inducing size. A stated share holds within a point."""
    saved = {size: 1 - count / DENSE for size, count in counts.items()}
    listed = ", ".join(f"{size}: {100 * share:.1f} %" for size, share in sorted(saved.items()))
    verdict = OPEN if 128 not in saved else HOLDS if abs(saved[128] - 0.51) < 0.01 else FAILS
    random = ", ".join(f"{size}: {100 * (1 - count / (2 * DENSE)):.1f} %" for size, count in sorted(counts.items()))
    both = listed and f"than the deterministic network: {listed}; than one with a mean and an sd a weight: {random}; F does not say of what"
    return [Claim("F abstract", "f_table6: about 51 % fewer parameters, at 128 x 128", verdict, listed),
            Claim("F abstract", "f_table6: the model is about 75 % smaller", OPEN, both)]


def size_of(row):
    return int(flags_value(row, "--inducing-rows"))


COLUMNS = [("accuracy", "accuracy"), ("NLL", "nll"), ("ECE, equal width", "ece_width"), ("parameters", "parameters")]


def largest(counts, published):
    """The size at which F's count is another one; "" until it is measured."""
    if 256 not in counts:
        return ""
    printed = published["fid-gp-conv-256x256", "params_m"]
    return (f"At 256 x 256 we count {counts[256]:,} numbers, F prints {printed:.2f} M; the other sizes agree to F's digits. Both are "
            f"more than the {DENSE:,} of the deterministic network, where F prints nothing saved.")


def page(now):
    rows, published = studies.rows(studies.HERE / "f_table6"), printed_numbers("f_table6")
    counts = {size_of(row): int(float(row["parameters"])) for row in rows if row["study"] == "counts" and not row["error"]}
    lines = []
    for size in sorted(counts):
        printed = f"fid-gp-conv-{size}x{size}"
        millions, saved, accuracy = (published[printed, metric] for metric in ("params_m", "compression_pct", "accuracy_pct"))
        lines.append([f"{size} x {size}", f"{counts[size]:,}", f"{millions:.2f} M", f"{saved:.1f} %", f"{accuracy:.2f} %"])
    ours = Measured(rows, "sizes", size_of)
    own = [[f"{size} x {size}", *[shown(ours.by_seed(size, metric), metric) for _, metric in COLUMNS]] for size in ours.names()]
    return Page(["Counts: a short fit of ResNet-18 with 100 classes, on three images of each, with the preset `paper`. F's "
                 "CIFAR-100 is not at hand to train on; accuracies are of CIFAR-10 and a ResNet-18 of an eighth of the width, "
                 "where a size of 4 stands for F's 32, 8 for 64, and so on. One seed.",
                 largest(counts, published),
                 grid(["size", "ours", "F", "F, saved", "F, accuracy"], lines),
                 "## Accuracy by size\n\n" + grid(["size", *[title for title, _ in COLUMNS]], own)],
                claims(counts))
