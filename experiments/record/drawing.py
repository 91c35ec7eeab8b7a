"""Figures of the papers that the tool itself draws: a cell fits its network, then asks for plots, answers or maps.

A study of figures has a dict of its figures by name, a cell each, whose study is the name and whose data the figure's source. The
files stand in the study's folder, and their names begin with the figure's.
"""

import json
import shutil
from typing import Callable, NamedTuple

import sources
import studies
from results import KEY, asked
from runners import Failed, Runner

FIELDS = [*KEY, "files", "seconds", "memory_mb", "commit", "command", "recipe", "error"]


class Figure(NamedTuple):
    source: str
    method: str
    flags: str
    kind: str  # spectra (rank-advice), evaluate, ood (evaluate with the foreign data), curve, maps
    grid: tuple = (-0.5, 1.5)  # of a curve
    joined: Callable | None = None  # of maps: (folder of maps, file of the images, picture to write) joins them into a picture


def cells(figures):
    return [asked(name, figure.source, figure.method, 0, figure.flags) for name, figure in figures.items()]


def unrecorded(name):
    """A sentence on the rows of a study that files of before the rows gave; "" without them."""
    count = sum(not row["command"] and not row["error"] for row in studies.rows(studies.HERE / name))
    return f"The commit of {count} figures is the one that holds their files: which tool drew them was not kept." if count else ""


class Drawer(Runner):
    """Draws the figures into `folder`."""

    def __init__(self, tool, data, folder, figures):
        super().__init__(tool, data)
        self.folder, self.figures = folder, figures

    def _measure(self, cell, work):
        name, figure = cell["study"], self.figures[cell["study"]]
        files, model = sources.SOURCES[figure.source].files(self.data, work.folder), work.folder / "m.safetensors"
        valid = ["--valid", files.valid] if files.valid else []
        answer = json.loads(work.measured([*self.command(cell, files.train, [], model), *valid]))
        drawn = {"curve": self._curve, "maps": self._maps}.get(figure.kind, self._plots)(figure, work, model, files)
        for ending, path in drawn.items():
            shutil.copyfile(path, self.folder / f"{name}{ending}")
        return {"files": " ".join(f"{name}{ending}" for ending in sorted(drawn)), "seconds": round(answer["summary"]["seconds"], 1)}

    def _curve(self, figure, work, model, files):
        (low, high), out = figure.grid, work.folder / "curve.csv"
        grid = sources.write(work.folder / "grid.csv", ["x"], [[low + (high - low) * i / 400] for i in range(401)])
        work.quiet([self.tool, "predict", model, grid, "--keep", "x", "--out", out])
        return {".csv": out}

    def _maps(self, figure, work, model, files):
        picture = work.folder / "maps.png"
        work.quiet([self.tool, "predict", model, files.test, "--maps", work.folder / "maps", "--out", work.folder / "images.csv"])
        try:
            figure.joined(work.folder / "maps", files.test, picture)
        except ImportError as error:
            raise Failed(error)
        return {".png": picture}

    def _plots(self, figure, work, model, files):
        """Those that the tool draws; with foreign data its plot of the scores alone."""
        test = files.test or files.train
        split = [] if files.test else ["--split", "test"]
        command = {"spectra": ["rank-advice", model], "evaluate": ["evaluate", model, test, *split],
                   "ood": ["evaluate", model, test, *split, "--ood", files.foreign]}[figure.kind]
        work.quiet([self.tool, *command, "--plots", work.folder / "plots"])
        drawn = (work.folder / "plots").glob("*.svg")
        return {f"_{plot.name}": plot for plot in drawn if figure.kind != "ood" or plot.name == "scores.svg"}
