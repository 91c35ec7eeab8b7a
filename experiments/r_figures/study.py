"""R Figures 1 and 2 anew: the uncertainty of one trained network in one dimension, by four posteriors.

R does not say its data. Figure 1, regression: 400 rows, x in two stretches with a gap between them, y = sin(3 x) + noise of sd
0.1. Figure 2, classes: 400 rows, x likewise, the class is "right" where x + noise of sd 0.7 is above 0. One network (two layers of
50 ReLU units, mu-P) is trained a figure, and every panel is a cell around it, whose file holds the answers. The pictures are drawn
from these.
"""

import csv
import math
import random
import statistics

import drawing
import sources
import studies
from judge import OPEN, Claim
from one_network import CURVE, POSTERIOR, PRIOR, OneNetwork, curve_rows, two_stretches
from pages import Page
from protocol import SILENT, Line
from results import KEY, asked, key
from source_fit import predictions
from tables import grid

TITLE = "One dimension (R Figures 1 and 2)"
WHAT = "R Figures 1 and 2: one network's uncertainty in one dimension"
PAPER = "R"
PROTOCOL = [
    Line("data", "", "400 rows of a sine in two stretches with a gap, noise sd .1", SILENT),
    Line("network", "in mu-P (4.1), else not said", "two layers of 50, ReLU, mu-P; Adam at 1e-3, 500 epochs, no validation", SILENT),
    Line("A", "least squares (eq. 9)", "a ridge of 1e-5, the tool's default"),
    Line("prior and noise", "prior I (eq. 15); the noise is not said", "prior sd 1; the training MSE", SILENT),
    Line("rows of (S)", "", "40 %", SILENT),
    Line("nearness", "a picture", "root mean square of log(sd / sd of NTK-GP), x from -3 to 3", SILENT),
]
FIELDS = [*KEY, "files", "seconds", "commit", "command", "recipe", "error"]
GRID = [[round(-3 + i * 0.05, 2)] for i in range(121)]
NETWORK = f"{CURVE} --valid-fraction 0 --around dnn"
SOME = "--subsample 0.4"  # 160 rows for the 51 features of the last layer
# By panel: method, its own flags, its file.
PANELS = {"regression": {"NNGP (BLL)": ("bll", POSTERIOR, "bll"), "Rich-BLL": ("rich-bll", POSTERIOR, "rich_bll"),
                         "Rich-BLL (S)": ("rich-bll", f"{POSTERIOR} {SOME}", "rich_bll_s"),
                         "NTK-GP": ("ntk-gp", POSTERIOR, "ntk_gp")},
          "classes": {"MAP": ("dnn", "", "dnn"), "NNGP (BLL)": ("bll", PRIOR, "bll"), "Rich-BLL": ("rich-bll", PRIOR, "rich_bll"),
                      "Rich-BLL (S)": ("rich-bll", f"{PRIOR} {SOME}", "rich_bll_s")}}
COLUMNS = {"regression": ["mean", "sd_epistemic"], "classes": ["p_right", "mutual_information"]}  # of which the pages show the second


def class_rows():
    draw = random.Random(2)
    return [(x, "right" if x + draw.gauss(0, 0.7) > 0 else "left") for x in two_stretches(draw)]


ROWS = {"regression": curve_rows, "classes": class_rows}


def cells():
    """study and data: the figure."""
    for figure, panels in PANELS.items():
        for method, own, _ in panels.values():
            yield asked(figure, figure, method, 0, NETWORK, own)


def panels():
    """Figure and name of each panel, in the order of the cells."""
    return [(figure, name) for figure, found in PANELS.items() for name in found]


def file_of(figure, name):
    return studies.HERE / "r_figures" / f"{figure}_{PANELS[figure][name][2]}.csv"


class Panels(OneNetwork):
    def _measure(self, cell, work):
        figure, name = dict(zip(map(key, cells()), panels()))[key(cell)]
        table, grid_table = (sources.write(work.folder / f"{part}.csv", header, rows)
                             for part, header, rows in (("t", ["x", "y"], ROWS[figure]()), ("g", ["x"], GRID)))
        answers = predictions(self.tool, self.fitted(cell, work, table), grid_table, work)
        path, columns = file_of(figure, name), COLUMNS[figure]
        found = [[*x, *(round(float(row[column]), 6) for column in columns)] for x, row in zip(GRID, answers)]
        sources.write(path, ["x", *columns], found)
        return {"files": path.name, "seconds": round(work.processor_s, 2)}


def runner(tool, data):
    return Panels(tool, data)


def curves(figure):
    """By panel, the columns of its file; without the panels that have none."""
    found = {}
    for name in PANELS[figure]:
        if (path := file_of(figure, name)).exists():
            with open(path, newline="") as file:
                rows = list(csv.DictReader(file))
            found[name] = {column: [float(row[column]) for row in rows] for column in rows[0]}
    return found


def nearness():
    """R Figure 1's claim on our curve: one network, so that nothing is decided."""
    text = ("Rich-BLL's epistemic sd, with our default ridge, is nearer to NTK-GP's than NNGP (BLL)'s, by the root mean square of the log "
            "ratio over the curve (R's least squares: r_ridge)")
    found, names = curves("regression"), ("NTK-GP", "Rich-BLL", "NNGP (BLL)")
    if not all(name in found for name in names):
        return Claim("R Figure 1", text, OPEN, "")
    whole, *others = (found[name]["sd_epistemic"] for name in names)
    far = [math.sqrt(statistics.fmean(math.log(a / b) ** 2 for a, b in zip(one, whole))) for one in others]
    return Claim("R Figure 1", text, OPEN, f"Rich-BLL {far[0]:.2f} against NNGP (BLL) {far[1]:.2f}, one network")


def page(now):
    places, parts = {"x = -3": -3, "x = -1 (rows)": -1, "x = 0 (the gap)": 0, "x = 3": 3}, []
    for figure, title in ("regression", "Epistemic sd (Figure 1)"), ("classes", "Mutual information (Figure 2)"):
        at = {name: dict(zip(found["x"], found[COLUMNS[figure][1]])) for name, found in curves(figure).items()}
        table = [[name, *[f"{found[x]:.3f}" for x in places.values()]] for name, found in at.items()]
        parts.append(f"## {title}\n\n![{figure}]({figure}.svg)\n\n" + grid(["method", *places], table))
    return Page([
        "R does not say its data; ours are 400 rows in two stretches, -1.5 to -0.4 and 0.4 to 1.5, with a gap between them. "
        "One network a figure, prior sd 1, 40 % of the rows for (S); Rich-BLL with the default ridge, the "
        "[ridge](../r_ridge/README.md) tells why. Shaded: two epistemic sds around the mean; for classes the mutual information "
        "under the probability of the class at the right.", *parts, drawing.unrecorded("r_figures")], [nearness()])


def figures(now):
    whole = [figure for figure in PANELS if len(curves(figure)) == len(PANELS[figure])]
    return {f"{figure}.svg": lambda path, figure=figure: drawn(figure, path) for figure in whole}


def drawn(figure, path):
    import figures

    rows = ROWS[figure]()[::5]
    picture, axes = figures.plt.subplots(1, 4, figsize=(11, 2.8), sharey=True)
    for panel, (name, found) in zip(axes, curves(figure).items()):
        x, centre, spread = found.values()
        if figure == "regression":
            low, high = ([m + side * s for m, s in zip(centre, spread)] for side in (-2, 2))
            panel.fill_between(x, low, high, alpha=0.25, lw=0)
            panel.set(ylim=(-4, 4))
        else:
            panel.fill_between(x, 0, spread, alpha=0.25, lw=0)
        panel.plot(x, centre, lw=1)
        panel.plot([x for x, _ in rows], [{"left": 0, "right": 1}.get(y, y) for _, y in rows], "k.", ms=2)
        panel.set(title=name, xlabel="x")
    figures.save(picture, path)
