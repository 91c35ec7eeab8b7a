#!/usr/bin/env python3
"""The figures of F in our numbers: fits the networks, and lets the tool draw.

  experiments/f_figures/draw.py [--only NAME]

scores_*: Figures 1 and 4, histograms of the scores of familiar and foreign images (`evaluate --ood --plots`). curve_*: Figure 3,
mean and standard deviations over the curve with a gap, as CSV. scenes_*: Figures 5 and 6, test images of CamVid with their labels,
the predicted classes and the entropy (`predict --maps`), joined by matplotlib (experiments/requirements.txt). A figure that is
there is not drawn again. The tool is build/slimbayes (SLIMBAYES_TOOL), the data lie in SLIMBAYES_DATA.
"""

import gzip
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import drawing  # noqa: E402
from cells_f import CAMVID, CURVE, FASHION, PANELS  # noqa: E402
from drawing import Figure  # noqa: E402

FIGURES = {
    **{f"curve_{panel}": Figure("cosine", "fid-gp", f"{flags} {CURVE}", "curve", (0.2, 1.9)) for panel, flags in PANELS.items()},
    **{f"scores_{method.replace('-', '_')}": Figure("fashion", method, FASHION, "ood") for method in ("fid-gp", "fid-gp-reparam")},
    **{f"scenes_{method.replace('-', '_')}": Figure("camvid", method, CAMVID, "maps") for method in ("fid-gp", "dnn")},
}
SHOWN = (30, 160)  # of the 233 test images, one of each drive
HEIGHT, WIDTH, VOID = 96, 128, 11


def record(path, number):
    """The image and the label map of a CamVid record."""
    import numpy
    size = HEIGHT * WIDTH
    with gzip.open(path) as file:
        file.seek(number * 4 * size)
        planes = numpy.frombuffer(file.read(4 * size), numpy.uint8).reshape(4, HEIGHT, WIDTH)
    return planes[1:].transpose(1, 2, 0), planes[0]


def scenes(maps, images, picture):
    """A row for each shown image: the image, its labels, the predicted classes, the entropy."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy
    figure, rows = plt.subplots(len(SHOWN), 4, figsize=(6.4, 1.25 * len(SHOWN)))
    for axes, number in zip(rows, SHOWN):
        image, labels = record(images, number)
        classes, entropy = (plt.imread(maps / f"{number + 1:03}_{kind}.png") for kind in ("classes", "entropy"))
        colours = palette(maps)
        truth = numpy.where((labels == VOID)[..., None], 0, colours[numpy.minimum(labels, len(colours) - 1)])
        for axis, shown, title in zip(axes, (image, truth, classes[..., :3], entropy), ("image", "labels", "predicted", "entropy")):
            axis.imshow(shown, **({"cmap": "magma", "vmin": 0, "vmax": 1} if title == "entropy" else {}))
            axis.set_axis_off()
            if number == SHOWN[0]:
                axis.set_title(title, fontsize=8)
    figure.tight_layout(pad=0.3)
    figure.savefig(picture, dpi=110, metadata={"Software": None})
    plt.close(figure)


def palette(maps):
    """The colours of the classes, [C, 3] from 0 to 255, from classes.csv."""
    import csv

    import numpy
    with open(maps / "classes.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return numpy.array([[round(float(row[channel])) for channel in ("red", "green", "blue")] for row in rows])


if __name__ == "__main__":
    drawing.main(HERE, FIGURES, __doc__, scenes)
