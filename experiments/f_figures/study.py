"""The figures of F in our numbers: fits the networks, and lets the tool draw.

scores_*: histograms of the scores of familiar and foreign images (`evaluate --ood --plots`). curve_*: mean and standard deviations
over the curve with a gap, as CSV. scenes_*: test images of CamVid with their labels, the predicted classes and the entropy (`predict
--maps`), joined by matplotlib (experiments/requirements.txt).
"""

import csv
import gzip

import drawing
import studies
from drawing import FIELDS, Figure  # noqa: F401
from pages import Page
from paper_f import CAMVID, CURVE, FASHION, FLOW, PANELS
from protocol import SAME, SILENT, Line

TITLE = "Figures 1, 3, 4, 5 and 6 of F"
WHAT = "F Figures 1, 3, 4, 5, 6: scores of foreign images, the curve with a gap, two streets"
PAPER = "F"
PROTOCOL = [
    Line("Figures 1, 4: images", "CIFAR-100; CIFAR-10 foreign", "Fashion-MNIST; MNIST foreign"),
    Line("Figures 1, 4: network", "ResNet-18; Figure 4 with four inducing layers", "`convnet` of 32 channels, every layer inducing"),
    Line("Figures 1, 4: epochs", "200 (Table 7)", "2"),
    Line("Figure 1: method", "inducing weights with a Gaussian (SVGP)", "fid-gp; with ffg-u, which is SVGP's, there is no figure"),
    Line("Figure 3: network, inducing weights", "as in its caption and 5.1", "the same", SAME),
    Line("Figure 3: epochs", "not said", "400", SILENT),
    Line("Figure 5: network", "FCN-ResNet50 (5.3)", "a small FCN, 12 epochs, images of 96 x 128"),
    Line("Figure 6: images", "CityScapes, HRNet-W48 (5.3)", "CamVid, as for Figure 5"),
    FLOW]
EXAMPLES = (30, 160)  # of the 233 test images, one of each drive
HEIGHT, WIDTH, VOID = 96, 128, 11
SHOWN = [("fid-gp", "scenes_fid_gp.png"), ("dnn", "scenes_dnn.png"), ("fid-gp", "scores_fid_gp_scores.svg"),
         ("fid-gp-reparam", "scores_fid_gp_reparam_scores.svg")]


def scenes(maps, images, picture):
    """A row for each example: the image, its labels, the predicted classes, the entropy."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy
    figure, rows = plt.subplots(len(EXAMPLES), 4, figsize=(6.4, 1.25 * len(EXAMPLES)))
    for axes, number in zip(rows, EXAMPLES):
        image, labels = record(images, number)
        classes, entropy = (plt.imread(maps / f"{number + 1:03}_{kind}.png") for kind in ("classes", "entropy"))
        colours = palette(maps)
        truth = numpy.where((labels == VOID)[..., None], 0, colours[numpy.minimum(labels, len(colours) - 1)])
        for axis, shown, title in zip(axes, (image, truth, classes[..., :3], entropy), ("image", "labels", "predicted", "entropy")):
            axis.imshow(shown, **({"cmap": "magma", "vmin": 0, "vmax": 1} if title == "entropy" else {}))
            axis.set_axis_off()
            if number == EXAMPLES[0]:
                axis.set_title(title, fontsize=8)
    figure.tight_layout(pad=0.3)
    figure.savefig(picture, dpi=110, metadata={"Software": None})
    plt.close(figure)


def record(path, number):
    """The image and the label map of a CamVid record."""
    import numpy
    size = HEIGHT * WIDTH
    with gzip.open(path) as file:
        file.seek(number * 4 * size)
        planes = numpy.frombuffer(file.read(4 * size), numpy.uint8).reshape(4, HEIGHT, WIDTH)
    return planes[1:].transpose(1, 2, 0), planes[0]


def palette(maps):
    """The colours of the classes, [C, 3] from 0 to 255, from classes.csv."""
    import numpy
    with open(maps / "classes.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return numpy.array([[round(float(row[channel])) for channel in ("red", "green", "blue")] for row in rows])


FIGURES = {
    **{f"curve_{panel}": Figure("cosine", "fid-gp", f"{flags} {CURVE}", "curve", (0.2, 1.9)) for panel, flags in PANELS.items()},
    **{f"scores_{method.replace('-', '_')}": Figure("fashion", method, FASHION, "ood") for method in ("fid-gp", "fid-gp-reparam")},
    **{f"scenes_{method.replace('-', '_')}": Figure("camvid", method, CAMVID, "maps", joined=scenes) for method in ("fid-gp", "dnn")},
}


def cells():
    return drawing.cells(FIGURES)


def runner(tool, data):
    return drawing.Drawer(tool, data, studies.HERE / "f_figures", FIGURES)


def page(now):
    return Page([
        "The networks are those of [f_fashion](../f_fashion/README.md), [f_curve](../f_curve/README.md) and "
        "[f_table4](../f_table4/README.md), with their options and seed 0; their scores stand there.",
        """- `scores_*`: histograms of the three scores that separate MNIST from Fashion-MNIST best (Figures 1, 4).
- `curve_*`: mean, standard deviations and 95 % interval over the curve with a gap (Figure 3).
- `scenes_*`: two test images of CamVid, one of each drive, with their labels (black: void), the predicted classes and the entropy
  (black: sure, bright: all classes alike; Figures 5, 6).""",
        *[f"![{name}]({file})" for name, file in SHOWN],
        drawing.unrecorded("f_figures")])
