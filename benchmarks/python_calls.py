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


def import_seconds(before, name):
    """The least seconds of an import in a new interpreter, after the other imports."""
    code = f"{before}\nimport time; start = time.perf_counter(); import {name}; print(time.perf_counter() - start)"
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True) for _ in range(ROUNDS)]
    return min(float(run.stdout) for run in runs)


def one_row():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(2000, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sb.Regressor("dbk", steps=500).fit(X, X[:, 0] + 0.1 * draw.normal(size=2000))
    row = X[:1]
    rows = model.model_.read(_data.frame(row, [f"x{i}" for i in range(8)]), False)[0]
    inside = least(lambda: _core.answers(model.model_, rows, [], "randomised"), 1000)
    for name, given in ("numpy", row), ("pandas", pd.DataFrame(row, columns=[f"x{i}" for i in range(8)])):
        whole = least(lambda given=given: model.predict(given), 1000)
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
    print(f"import torch {1e3 * import_seconds('', 'torch'):.0f} ms, slimbayes after it {1e3 * import_seconds('import torch', 'slimbayes'):.1f} ms; "
          f"its compiled module, at the first use, {1e3 * import_seconds('import torch', 'slimbayes._library'):.0f} ms")
    one_row()
    hand_over()


if __name__ == "__main__":
    main()
