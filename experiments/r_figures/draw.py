#!/usr/bin/env python3
"""Draws R Figures 1 and 2 anew: the uncertainty of one trained network in one dimension, by four posteriors.

  experiments/r_figures/draw.py [--tool build/slimbayes]

R does not say its data. Figure 1, regression: 400 rows, x in two stretches with a gap between them, y = sin(3 x) + noise of sd
0.1. Figure 2, classes: 400 rows, x likewise, the class is "right" where x + noise of sd 0.7 is above 0. One network (two layers of 50 ReLU
units, mu-P) is trained a figure, and every panel is `fit --network-from` it. The numbers behind the lines go to
regression.csv and classes.csv, the pictures are drawn from these. Needs experiments/requirements.txt.
"""

import argparse
import csv
import os
import pathlib
import random
import subprocess
import sys
import tempfile
from math import sin

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
GRID = [round(-3 + i * 0.05, 2) for i in range(121)]
NETWORK = ["--network", "mlp", "--hidden", "50", "--blocks", "2", "--activation", "relu", "--parametrisation", "mup", "--scale", "standard",
           "--learning-rate", "1e-3", "--weight-decay", "0", "--clip-norm", "1", "--schedule", "constant", "--patience", "0", "--epochs", "500",
           "--batch", "32", "--valid-fraction", "0"]
PRIOR = ["--prior", "fixed", "--prior-sd", "1"]
SOME = ["--subsample", "0.4"]  # 160 rows for the 51 features of the last layer
REGRESSION = {"NNGP (BLL)": ["bll", *PRIOR, "--noise", "mse"], "Rich-BLL": ["rich-bll", *PRIOR, "--noise", "mse"],
              "Rich-BLL (S)": ["rich-bll", *PRIOR, "--noise", "mse", *SOME], "NTK-GP": ["ntk-gp", *PRIOR, "--noise", "mse"]}
CLASSES = {"MAP": ["dnn"], "NNGP (BLL)": ["bll", *PRIOR], "Rich-BLL": ["rich-bll", *PRIOR], "Rich-BLL (S)": ["rich-bll", *PRIOR, *SOME]}


def regression_rows(n=400):
    """Draws of Python's own generator, which are the same everywhere."""
    draw, rows = random.Random(1), []
    for i in range(n):
        x = draw.uniform(-1.5, -0.4) if i % 2 else draw.uniform(0.4, 1.5)
        rows.append((x, sin(3 * x) + draw.gauss(0, 0.1)))
    return rows


def class_rows(n=400):
    draw, rows = random.Random(2), []
    for i in range(n):
        x = draw.uniform(-1.5, -0.4) if i % 2 else draw.uniform(0.4, 1.5)
        rows.append((x, "right" if x + draw.gauss(0, 0.7) > 0 else "left"))
    return rows


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def answers(tool, rows, methods, columns, name):
    """The answers on GRID of every method around one network, written to the CSV `name`: x, then a column for each."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        table, grid, network, model, out = (folder / part for part in ("t.csv", "g.csv", "network", "model", "out.csv"))
        write(table, ["x", "y"], rows)
        write(grid, ["x"], [[x] for x in GRID])
        run = lambda *words: subprocess.run([str(word) for word in (tool, *words)], check=True, stdout=subprocess.DEVNULL)  # noqa: E731
        run("fit", table, "--target", "y", "--method", "dnn", *NETWORK, "--model", network, "--threads", "1")
        found = {}
        for method, words in methods.items():
            run("fit", table, "--network-from", network, "--method", *words, "--model", model, "--threads", "1")
            run("predict", model, grid, "--out", out)
            with open(out, newline="") as file:
                for row in csv.DictReader(file):
                    for column in columns:
                        found.setdefault(f"{method}: {column}", []).append(float(row[column]))
    write(HERE / name, ["x", *found], list(zip(GRID, *([round(v, 6) for v in column] for column in found.values()))))


def read(name):
    with open(HERE / name, newline="") as file:
        rows = list(csv.DictReader(file))
    return {column: [float(row[column]) for row in rows] for column in rows[0]}


def draw_regression(figures, plt):
    found, rows = read("regression.csv"), regression_rows()
    figure, panels = plt.subplots(1, 4, figsize=(11, 2.8), sharey=True)
    for axes, method in zip(panels, REGRESSION):
        mean, sd = found[f"{method}: mean"], found[f"{method}: sd_epistemic"]
        axes.fill_between(found["x"], [m - 2 * s for m, s in zip(mean, sd)], [m + 2 * s for m, s in zip(mean, sd)], alpha=0.25, lw=0)
        axes.plot(found["x"], mean, lw=1)
        axes.plot([x for x, _ in rows[::5]], [y for _, y in rows[::5]], "k.", ms=2)
        axes.set(title=method, xlabel="x", ylim=(-4, 4))
    figures.save(figure, HERE / "regression.svg")


def draw_classes(figures, plt):
    found, rows = read("classes.csv"), class_rows()
    figure, panels = plt.subplots(1, 4, figsize=(11, 2.8), sharey=True)
    for axes, method in zip(panels, CLASSES):
        axes.plot(found["x"], found[f"{method}: p_right"], lw=1)
        axes.fill_between(found["x"], 0, found[f"{method}: mutual_information"], alpha=0.25, lw=0)
        axes.plot([x for x, _ in rows[::5]], [1 if label == "right" else 0 for _, label in rows[::5]], "k.", ms=2)
        axes.set(title=method, xlabel="x")
    figures.save(figure, HERE / "classes.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(HERE.parent.parent / "build" / "slimbayes")))
    parser.add_argument("--no-figures", action="store_true", help="write the numbers alone")
    options = parser.parse_args()
    answers(options.tool, regression_rows(), REGRESSION, ["mean", "sd_epistemic"], "regression.csv")
    answers(options.tool, class_rows(), CLASSES, ["p_right", "mutual_information"], "classes.csv")
    if options.no_figures:
        return
    import figures
    import matplotlib.pyplot as plt
    plt.rcParams.update(figures.STYLE)
    draw_regression(figures, plt)
    draw_classes(figures, plt)


if __name__ == "__main__":
    main()
