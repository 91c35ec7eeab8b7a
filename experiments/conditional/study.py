"""Intervals in groups and in a drifting series, beside MAPIE and crepes, on data whose coverage is known exactly."""

import json
import os
import pathlib
import sys

import studies
from judge import alike, judged
from pages import Page
from results import KEY, asked
from runners import Runner
from scores import limit, of
from tables import cell, grid

TITLE = "Coverage in groups and in a drifting series"
WHAT = "coverage of `--calibrate-by` and `--calibrate adaptive` where the truth is known, beside MAPIE and crepes"
PAPER = "ours"
HERE = pathlib.Path(__file__).resolve().parent
LEVEL, MARGIN = 0.9, 0.02
GROUPS, PERIODS = ["a", "b", "c", "d"], ["before", "after"]
TOOLS = {"groups": ["slimbayes", "slimbayes-by", "mapie", "mapie-by", "crepes", "crepes-by"],
         "series": ["slimbayes", "slimbayes-adaptive", "mapie-enbpi", "mapie-aci"]}
SEEDS = {"groups": 20, "series": 10}
METRICS = ["coverage", "width", *(f"{name}_{group}" for group in GROUPS for name in ("coverage", "width", "rows")),
           *(f"coverage_{period}" for period in PERIODS), "infinite"]
FIELDS = [*KEY, "train_rows", *METRICS, "seconds", "commit", "command", "recipe", "error"]
INTRO = (
    "[tools.py](tools.py) generates the data and holds the code of each tool. The noise is Gaussian with a known sd around a known mean, so that the coverage of an interval is a "
    "difference of two normal probabilities, without the error of test rows. Intervals of 90 %, a linear model everywhere (`ridge`), the same training and "
    "calibration rows for every tool. MAPIE 1.6.0, crepes 0.9.1. Means ± sd over data sets.")
OF_GROUPS = (
    "Four groups have the same mean and noise of sd 0.3, 1, 2 and 4; the linear model has one noise for all. 4,000 rows, of which a quarter calibrates; `d` has 2 % of "
    "them. With `-by` each group is calibrated by itself: `--calibrate-by`, the groups as features of MAPIE's conditional conformal prediction, crepes' bins. "
    "Calibration with m rows promises 0.9 to 0.9 + 1 / (m + 1) on average: of `d`, with about 20 of the 1,000 calibration rows, up to 0.95.")
OF_SERIES = (
    "An autoregressive series whose noise grows from sd 0.3 to 0.9 at row 1,500 of 3,000; the first 1,000 rows train. Intervals come in blocks of 20 rows, after each "
    "of which its targets are told: `update` with `--calibrate adaptive`, `update` of MAPIE's `TimeSeriesRegressor` (for `aci` its adaptive conformal inference, gamma .05).")


def cells():
    for part, tools in TOOLS.items():
        for seed in range(SEEDS[part]):
            yield from (asked(part, part, tool, seed) for tool in tools)


class Tools(Runner):
    """Each cell is a program of its own: tools.py, with the built package in front of Python's path."""

    def recipe(self, cell):
        return {"method": cell["method"], "program": "tools.py"}

    def run(self, cell):
        row = super().run(cell)
        row |= {name: f"{row[name]:.6g}" for name in (*METRICS, "seconds") if isinstance(row.get(name), (int, float))}
        return {name: row[name] for name in FIELDS if name in row}

    def _measure(self, cell, work):
        package = pathlib.Path(self.tool).resolve().parent / "python"
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
        found = json.loads(work.measured([pathlib.Path(sys.executable), HERE / "tools.py", cell["study"], cell["method"], cell["seed"]]).splitlines()[-1])
        return found | {"seconds": work.processor_s}


def runner(tool, data):
    return Tools(tool, data)


def score(rows, part, tool, name):
    found = {row["seed"]: float(row[name]) for row in rows if (row["study"], row["method"]) == (part, tool) and row[name]}
    return of(found) if found else None


def table(rows, part, names):
    return grid(["tool", *(name.replace("_", ", ") for name in names)],
                [[f"`{tool}`", *(cell(score(rows, part, tool, name), digits=3, seeds=False) for name in names)] for tool in TOOLS[part]])


def claims(rows):
    yield judged("ours", f"with `--calibrate-by` the mean coverage of each group is within {MARGIN} of {LEVEL}",
                 [alike(group, score(rows, "groups", "slimbayes-by", f"coverage_{group}"), limit(LEVEL), MARGIN) for group in GROUPS])
    yield judged("ours", f"without it the mean coverage of each group is within {MARGIN} of {LEVEL}",
                 [alike(group, score(rows, "groups", "slimbayes", f"coverage_{group}"), limit(LEVEL), MARGIN) for group in GROUPS])
    yield judged("ours", f"with `--calibrate adaptive` the mean coverage is within {MARGIN} of {LEVEL} before and after the change of the noise",
                 [alike(period, score(rows, "series", "slimbayes-adaptive", f"coverage_{period}"), limit(LEVEL), MARGIN) for period in PERIODS])


def page(now):
    rows = [row for row in studies.rows(HERE) if not row["error"]]
    return Page([INTRO, f"## Groups\n\n{OF_GROUPS}\n\n{table(rows, 'groups', ['coverage', 'width', *(f'coverage_{g}' for g in GROUPS), *(f'width_{g}' for g in GROUPS)])}",
                 f"## A series\n\n{OF_SERIES}\n\n{table(rows, 'series', ['coverage', 'width', *(f'coverage_{p}' for p in PERIODS)])}"], list(claims(rows)))
