"""The Python package beside ngboost, MAPIE and laplace-torch."""

import json
import os
import pathlib
import sys

import studies
from pages import Page
from results import KEY, asked
from runners import Runner
from scores import of
from tables import cell, grid

TITLE = "The Python package beside others"
WHAT = "the Python package beside ngboost, MAPIE and laplace-torch: lines, seconds, NLL, coverage"
PAPER = "ours"
HERE = pathlib.Path(__file__).resolve().parent
METRICS = ["rmse", "nll", "coverage", "width", "mean_gap", "lines"]
FIELDS = [*KEY, "rows", "test_rows", *METRICS, "seconds", "commit", "command", "recipe", "error"]
DATA = ["concrete", "energy", "wine_red"]
METHODS = {"table": ["slimbayes", "slimbayes-dbk", "slimbayes-dbk-conformal", "ngboost", "mapie"],
           "network": ["slimbayes-rich-bll", "slimbayes-bll", "laplace-last-full", "laplace-all-kron"]}
SHOWN = {"table": ["rmse", "nll", "coverage", "width", "seconds"], "network": ["mean_gap", "nll", "coverage", "width", "seconds"]}
DIGITS = {"coverage": 3, "seconds": 2, "mean_gap": 6}
INTRO = (
    "What a user writes from the data to mean and interval, what it takes and what it is worth: [peers.py](peers.py) holds the code of "
    "each, and `lines` counts it. Nothing is tuned. Nine tenths of the rows train, three permutations; intervals of 90 %; one thread. "
    "Seconds are of the processor, for a fit and its answers without the imports. Versions: ngboost 0.6.0 with early stopping on a tenth of the "
    "rows, MAPIE 1.6.0 (split conformal on a tenth, around scikit-learn's histogram gradient boosting, whose mean is another than ours and "
    "which has no density), laplace-torch 0.3 with prior and noise by its marginal likelihood.")
NETWORK = (
    "The same torch network (two layers of 50 tanh units, trained on standardised rows, four fifths of them) for every method; the target's "
    "unit is its sd. The gap is the largest distance of the mean from the network's. slimbayes takes the noise from validation rows, "
    "laplace-torch from the training rows.")


def cells():
    for seed in range(3):
        for part, methods in METHODS.items():
            yield from (asked(part, data, method, seed) for data in DATA for method in methods)


class Peers(Runner):
    """Each cell is a program of its own: peers.py, with the built package in front of Python's path."""

    def recipe(self, cell):
        return {"method": cell["method"], "program": "peers.py"}

    def run(self, cell):
        row = super().run(cell)
        row |= {name: f"{row[name]:.6g}" for name in (*METRICS, "seconds") if isinstance(row.get(name), (int, float))}
        return {name: row[name] for name in FIELDS if name in row}

    def _measure(self, cell, work):
        package = pathlib.Path(self.tool).resolve().parent / "python"
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
        return json.loads(work.measured([pathlib.Path(sys.executable), HERE / "peers.py", self.data / f"{cell['data']}.csv.gz", cell["study"],
                                         cell["method"], cell["seed"]]).splitlines()[-1])


def runner(tool, data):
    return Peers(tool, data)


def table(rows, part, data):
    lines = []
    for method in METHODS[part]:
        here = [row for row in rows if (row["study"], row["data"], row["method"]) == (part, data, method)]
        if here:
            found = [[float(row[name]) for row in here if row[name]] for name in SHOWN[part]]
            lines.append([f"`{method}`", here[0]["lines"], *(cell(of(values) if values else None, digits=DIGITS.get(name, 3), seeds=False)
                                                             for values, name in zip(found, SHOWN[part]))])
    return grid(["method", "lines", *(name.replace("mean_gap", "gap of the mean") for name in SHOWN[part])], lines)


def page(now):
    rows = [row for row in studies.rows(HERE) if not row["error"]]
    parts = [INTRO + " Means ± sd over the permutations."]
    for part, title, text in ("table", "A table", "In units of the target."), ("network", "Around a network", NETWORK):
        parts.append(f"## {title}\n\n{text}\n\n" + "\n".join(f"**{data}**\n\n{table(rows, part, data)}" for data in DATA))
    return Page(parts)
