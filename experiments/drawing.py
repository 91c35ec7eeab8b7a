"""Figures of the papers that the tool itself draws: fits a cell's network, then asks for its plots, answers or maps.

A folder of figures has a program with its FIGURES and main(). A figure that is there is not drawn again.
"""

import argparse
import os
import pathlib
import shutil
import tempfile
from typing import NamedTuple

import sources
from runners import Runner, Work

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Figure(NamedTuple):
    source: str
    method: str
    flags: str
    kind: str  # spectra (rank-advice), evaluate, ood (evaluate with the foreign data), curve, maps
    grid: tuple = (-0.5, 1.5)  # of a curve


PLOTS = "scores", "spectra", "selective", "reliability", "calibration"  # the names of the tool's plots


def drawn(here, name):
    files = [here / f"{name}.{kind}" for kind in ("csv", "png")] + [here / f"{name}_{plot}.svg" for plot in PLOTS]
    return [path for path in files if path.exists()]


def curve(figure, runner, work, model, out):
    low, high = figure.grid
    grid = sources.write(work.folder / "grid.csv", ["x"], [[low + (high - low) * i / 400] for i in range(401)])
    work.quiet([runner.tool, "predict", model, grid, "--keep", "x", "--out", out])


def plots(figure, runner, work, model, files):
    """The plots that the tool draws, by their names."""
    test = files.test or files.train
    split = [] if files.test else ["--split", "test"]
    command = {"spectra": ["rank-advice", model], "evaluate": ["evaluate", model, test, *split],
               "ood": ["evaluate", model, test, *split, "--ood", files.foreign]}[figure.kind]
    work.quiet([runner.tool, *command, "--plots", work.folder / "plots"])
    return {plot.name: plot for plot in (work.folder / "plots").glob("*.svg")}


def draw(here, name, figure, runner, folder, maps):
    source, work = sources.SOURCES[figure.source], Work(folder)
    files, model = source.files(runner.data, folder), folder / "m.safetensors"
    valid = ["--valid", files.valid] if files.valid else []
    cell = {"data": figure.source, "method": figure.method, "seed": "0", "flags": figure.flags}
    work.measured([*runner.command(cell, files.train, [], model), *valid])
    if figure.kind == "curve":
        curve(figure, runner, work, model, here / f"{name}.csv")
    elif figure.kind == "maps":
        work.quiet([runner.tool, "predict", model, files.test, "--maps", folder / "maps", "--out", folder / "images.csv"])
        maps(folder / "maps", files.test, here / f"{name}.png")
    else:
        for plot, path in plots(figure, runner, work, model, files).items():
            if figure.kind != "ood" or plot == "scores.svg":
                shutil.copyfile(path, here / f"{name}_{plot}")


def main(here, figures, text, maps=None):
    """Draws the figures that are not there. `maps` (folder of maps, file of the images, picture to write) joins maps into a picture."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="draw the figure of this name alone")
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes")))
    options = parser.parse_args()
    runner = Runner(options.tool, pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data")))
    for name, figure in figures.items():
        if drawn(here, name) or options.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            draw(here, name, figure, runner, pathlib.Path(folder), maps)
        print(*[path.name for path in drawn(here, name)], flush=True)
