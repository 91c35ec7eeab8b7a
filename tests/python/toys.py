"""Small data for the Python package, and the tool beside it."""

import os
import pathlib
import subprocess

import numpy as np
import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "build" / "slimbayes"


def table(rows=300, seed=0):
    """Columns of several kinds and a target that they explain."""
    draw = np.random.default_rng(seed)
    a, b = draw.normal(size=rows), draw.uniform(-1, 1, rows)
    kind = draw.choice(["red", "green", "blue"], rows)
    frame = pd.DataFrame({"a": a, "b": b.astype(np.float32), "n": draw.integers(0, 9, rows), "kind": kind, "yes": b > 0})
    y = pd.Series(a + np.sin(3 * b) + (kind == "red") + 0.1 * draw.normal(size=rows), name="price")
    return frame, y


def matrix(rows=200, columns=3, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(rows, columns))
    return X, X[:, 0] - 0.5 * X[:, 1] ** 2 + 0.1 * draw.normal(size=rows)


def tool(folder, *words):
    """Runs the tool in a folder and returns its standard output."""
    done = subprocess.run([TOOL, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def data():
    """The folder of the published data sets."""
    return pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data"))
