#!/usr/bin/env python3
"""Fits the skewed costs of tests/cli/skewed.py, by the tool and by scikit-learn, and keeps each result as it finishes.

  experiments/skewed_run.py [--match REGEX] [--again]

A cell is a row of skewed/cells.csv: study, data (training rows), method, seed (of the table), flags. Every fit is scored on
3,000 fresh rows. The result goes to skewed/results.csv beside it. A killed run goes on where it stopped. A cell is run again
with --again if its row is of another commit. The rivals need experiments/requirements.txt.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests" / "cli")]
from results import KEY, Results, finished, key, read  # noqa: E402
from skewed import COLUMNS, skewed_rows  # noqa: E402

FRESH = 3000
NUMBERS = ["mae", "nll", "crps", *(f"coverage_{quarter}" for quarter in range(1, 5)), "least_lower", "seconds"]
FIELDS = KEY + NUMBERS + ["commit", "command", "error"]


def tables(cell):
    """The rows to train on and the fresh ones."""
    seed = int(cell["seed"])
    return skewed_rows(int(cell["data"]), seed), skewed_rows(FRESH, 1000 + seed)


def write(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])


class Tool:
    def __init__(self, path):
        self.path = path

    def said(self, folder, *words):
        done = subprocess.run([self.path, *map(str, words)], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1])
        return done.stdout

    def commit(self):
        return self.said(".", "--version").partition("(")[2].partition(")")[0]

    def words(self, cell):
        method = [] if cell["method"] == "auto" else ["--method", cell["method"]]
        return ["fit", "train.csv", "--target", "cost", *method, "--threads", 1, "--model", "m", *shlex.split(cell["flags"])]

    def score(self, cell, train, fresh):
        with tempfile.TemporaryDirectory() as folder:
            for name, rows in ("train.csv", train), ("fresh.csv", fresh):
                write(pathlib.Path(folder) / name, rows)
            start = time.perf_counter()
            self.said(folder, *self.words(cell))
            seconds = time.perf_counter() - start
            report = json.loads(self.said(folder, "evaluate", "m", "fresh.csv", "--json"))
            answers = list(csv.DictReader(self.said(folder, "predict", "m", "fresh.csv").splitlines()))
        return {**{name: report[name] for name in ("mae", "nll", "crps")}, **quarters(answers, fresh),
                "least_lower": min(float(row["lower"]) for row in answers), "seconds": seconds}


def quarters(answers, fresh):
    """Coverage at 95 % in each quarter of the rows, ordered by the predicted mean."""
    rows = sorted((float(a["mean"]), float(a["lower"]) <= row[-1] <= float(a["upper"])) for a, row in zip(answers, fresh))
    size = len(rows) // 4
    return {f"coverage_{q + 1}": sum(inside for _, inside in rows[q * size:(q + 1) * size]) / size for q in range(4)}


def encoded(train, fresh):
    """Inputs as scikit-learn's user would make them: one column for each category and for what is missing, the mean in its
    place; the columns have mean 0 and sd 1 in training."""
    import numpy as np
    columns = []
    for i in range(len(COLUMNS) - 1):
        cells = [[row[i] for row in rows] for rows in (train, fresh)]
        if any(isinstance(cell, str) and cell for cell in cells[0]):
            columns += [[[float(cell == level) for cell in part] for part in cells] for level in sorted(set(cells[0]))]
            continue
        known = [cell for cell in cells[0] if cell != ""]
        columns.append([[sum(known) / len(known) if cell == "" else float(cell) for cell in part] for part in cells])
        columns.append([[float(cell == "") for cell in part] for part in cells])
    a, b = (np.array([column[part] for column in columns]).T for part in (0, 1))
    varied = a.std(0) > 0
    a, b = a[:, varied], b[:, varied]
    return (a - a.mean(0)) / a.std(0), (b - a.mean(0)) / a.std(0)


def rival(cell, train, fresh):
    """The MAE of scikit-learn's point predictions, with its defaults; the penalty of Ridge by its own cross-validation."""
    import numpy as np
    from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
    from sklearn.linear_model import RidgeCV
    penalties = np.logspace(-3, 4, 30)
    model = {"sk-ridge": RidgeCV(penalties), "sk-ridge-log": RidgeCV(penalties),
             "sk-boosting": HistGradientBoostingRegressor(random_state=0),
             "sk-gradient-boosting": GradientBoostingRegressor(random_state=0)}[cell["method"]]
    x, new = encoded(train, fresh)
    y, target = (np.array([row[-1] for row in rows]) for rows in (train, fresh))
    log = cell["method"].endswith("-log")
    start = time.perf_counter()
    predicted = model.fit(x, np.log(y) if log else y).predict(new)
    seconds = time.perf_counter() - start
    return {"mae": float(np.abs((np.exp(predicted) if log else predicted) - target).mean()), "seconds": seconds}


def run(cell, tool):
    train, fresh = tables(cell)
    ours = not cell["method"].startswith("sk-")
    row = {**dict.fromkeys(FIELDS, ""), **cell, "commit": tool.commit()}
    row["command"] = shlex.join(["slimbayes", *map(str, tool.words(cell))]) if ours else "scikit-learn"
    try:
        found = tool.score(cell, train, fresh) if ours else rival(cell, train, fresh)
    except (RuntimeError, ImportError) as error:
        return {**row, "error": str(error)}
    return {**row, **{name: f"{value:.6g}" for name, value in found.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=pathlib.Path, default=HERE / "skewed" / "cells.csv")
    parser.add_argument("--match", default="", help="run the cells alone whose line of the file this regular expression finds")
    parser.add_argument("--again", action="store_true", help="run cells again whose rows are of another commit than the tool's")
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(HERE.parent / "build" / "slimbayes")))
    options = parser.parse_args()
    if not pathlib.Path(options.tool).exists():
        sys.exit(f"no tool at {options.tool}: build it (make build) or name it with --tool")
    tool, results = Tool(pathlib.Path(options.tool).resolve()), Results(options.cells.with_name("results.csv"), FIELDS)
    commit = tool.commit()

    def outdated(row):
        return options.again and row["commit"] != commit

    with open(options.cells, newline="") as file:
        cells = [{name: row[name] for name in KEY} for row in csv.DictReader(file)]
    for cell in cells:
        if not re.search(options.match, ",".join(key(cell))) or finished(read(results.path), cell, outdated):
            continue
        with results.claim(cell, outdated) as mine:
            if mine:
                row = run(cell, tool)
                results.append(row)
                print(*key(cell), row["error"] or row["mae"], row["seconds"], file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
