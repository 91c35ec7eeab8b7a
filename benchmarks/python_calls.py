#!/usr/bin/env python3
"""What Python adds to the library's own time: the import, one row's prediction, the hand-over of a large frame.

    PYTHONPATH=build/python .venv/bin/python benchmarks/python_calls.py

Prints microseconds, the least of ten rounds; see experiments/numbers.md for what they were.
"""

import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import torch

import slimbayes as sb
from slimbayes import _core, _data

ROUNDS = 10


def least(call, repeats):
    """Seconds of a call: the least mean of several rounds."""
    call()
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        found.append((time.perf_counter() - start) / repeats)
    return min(found)


def import_seconds(code):
    return least(lambda: subprocess.run([sys.executable, "-c", code], check=True), 1)


def one_row():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(2000, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sb.Regressor("dbk", steps=500).fit(X, X[:, 0] + 0.1 * draw.normal(size=2000))
    row = X[:1]
    rows = model.model_.read(_data.frame(row, [f"x{i}" for i in range(8)]), False)[0]
    inside = least(lambda: model.model_.answers(rows), 1000)
    for name, given in ("numpy", row), ("pandas", pd.DataFrame(row, columns=[f"x{i}" for i in range(8)])):
        whole = least(lambda given=given: model.predict(given), 1000 if name == "numpy" else 100)
        print(f"predict of one row of {name}: {1e6 * whole:.0f} us, the library's part {1e6 * inside:.0f} us, above it {1e6 * (whole - inside):.0f} us")


def hand_over(rows=1_000_000, columns=20):
    X = np.random.default_rng(0).normal(size=(rows, columns)).astype(np.float32)
    names = [f"x{i}" for i in range(columns)]
    copy = least(lambda: np.asfortranarray(X, dtype=np.float64), 1)
    frame = pd.DataFrame(np.asfortranarray(X), columns=names, copy=False)
    for name, given in ("numpy", X), ("pandas", frame):
        seconds = least(lambda given=given: _data.frame(given, names), 1)
        print(f"{rows} x {columns} float32 of {name} handed over: {1e3 * seconds:.0f} ms; numpy's own copy to float64 by columns: {1e3 * copy:.0f} ms")


def main():
    torch.set_num_threads(1)
    print(f"slimbayes {_core.__version__}, torch {torch.__version__}")
    bare, torch_alone = import_seconds("import slimbayes"), import_seconds("import torch")
    both = import_seconds("import torch, slimbayes")
    print(f"import slimbayes: {1e3 * bare:.0f} ms with Python's start; import torch {1e3 * torch_alone:.0f} ms, and slimbayes after it "
          f"{1e3 * (both - torch_alone):.0f} ms more")
    one_row()
    hand_over()


if __name__ == "__main__":
    main()
