#!/usr/bin/env python3
"""What Python adds to the library's own time: the import, one row's prediction, the hand-over of a large frame.

    PYTHONPATH=build/python .venv/bin/python benchmarks/python_calls.py [--out benchmarks/results/python_calls.csv]

Writes one row a figure: the least time of ten rounds beside that of what it is compared with, measured in turn with it.
"""

import argparse
import csv
import datetime
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import torch

import slimbayes as sb
from slimbayes import _core, _data

ROUNDS = 10
ROOT = Path(__file__).resolve().parent.parent


def least(repeats, *calls):
    """Microseconds of each call: the least mean of several rounds, the calls in turn."""
    found = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, seconds in zip(calls, found):
            call()
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            seconds.append((time.perf_counter() - start) / repeats)
    return [1e6 * min(seconds) for seconds in found]


def figure(task, given, us, beside, beside_us):
    return {"task": task, "given": given, "us": us, "beside": beside, "beside_us": beside_us, "above_us": us - beside_us}


def imports():
    """The least time of an import in a new interpreter after that of torch."""
    def microseconds(before, name):
        code = f"{before}\nimport time; start = time.perf_counter(); import {name}; print(1e6 * (time.perf_counter() - start))"
        return min(float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
                   for _ in range(ROUNDS))

    torch_us = microseconds("", "torch")
    for name in "slimbayes", "slimbayes._library":  # the compiled module is loaded at its first use
        yield figure("import", name, torch_us + microseconds("import torch", name), "torch", torch_us)


def one_row():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(2000, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sb.Regressor("dbk", steps=500).fit(X, X[:, 0] + 0.1 * draw.normal(size=2000))
    names = [f"x{i}" for i in range(8)]
    row, frame = X[:1], pd.DataFrame(X, columns=names)
    rows = model.model_.read(_data.frame(row, names), False)[0]
    def inside():
        return _core.answers(model.model_, rows, [], "randomised")

    given = {"numpy": lambda: model.predict(row), "pandas": lambda one=frame.iloc[:1]: model.predict(one),
             "pandas, a new frame with the columns of another": lambda: model.predict(frame.iloc[:1])}

    def slicing():
        return frame.iloc[:1]

    found = least(1000, inside, slicing, *given.values())
    for name, us in zip(given, found[2:]):
        made = found[1] if "new" in name else 0
        yield figure("predict one row", name, us - made, "the library's part", found[0])


def rows_of_auto(rows=20_000):
    """An `auto` model of 397 rows: the mean and the interval of one row beside those of a row among many."""
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, size=(397, 8))
    y = np.exp(X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2] + 0.1 * draw.normal(size=397))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sb.Regressor().fit(X, y)
        many = np.resize(X, (rows, 8)).copy()
        for name, call in ("mean", model.predict), ("interval", model.predict_interval):
            one, = least(100, lambda call=call: call(X[:1]))
            all_rows, = least(1, lambda call=call: call(many))
            yield figure(f"{name} of one row of auto", "numpy", one, f"of {rows} rows, a row", all_rows / rows)


def hand_over(rows=1_000_000, columns=20):
    X = np.random.default_rng(0).normal(size=(rows, columns)).astype(np.float32)
    names = [f"x{i}" for i in range(columns)]
    frame = pd.DataFrame(np.asfortranarray(X), columns=names, copy=False)
    given = {"numpy": lambda: _data.frame(X, names), "pandas": lambda: _data.frame(frame, names)}
    copy, *found = least(1, lambda: np.asfortranarray(X, dtype=np.float64), *given.values())
    for name, us in zip(given, found):
        yield figure(f"hand over {rows} x {columns} float32", name, us, "numpy's copy to float64 by columns", copy)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "python_calls.csv")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    about = {"rounds": ROUNDS, "date": datetime.date.today().isoformat(), "cores": os.cpu_count(), "load": f"{os.getloadavg()[0]:.1f}",
             "torch": torch.__version__, "pandas": pd.__version__, "numpy": np.__version__, "commit": commit}
    rows = [*imports(), *one_row(), *rows_of_auto(), *hand_over()]
    with chosen.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], *about], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            print(f"{row['task']}, {row['given']}: {row['us']:,.0f} us; {row['beside']}: {row['beside_us']:,.0f} us; "
                  f"above it {row['above_us']:,.0f} us")
            writer.writerow({key: f"{value:.4g}" if isinstance(value, float) else value for key, value in row.items()} | about)


if __name__ == "__main__":
    main()
