"""The prior of last-layer-laplace against an independent evidence: numpy alone recomputes network, features and evidence."""

import csv
import gzip
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from safetensors import safe_open

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from conftest import TOOL  # noqa: E402

DATA = pathlib.Path(os.environ.get("SLIMBAYES_DATA", pathlib.Path(__file__).resolve().parents[3] / "shared/data"))


def layer_norm(x, weight, bias):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * weight + bias


def forward(layers, tensors, name, x):
    """The network of the default tables' fit: linear layers, SiLU, layer norms, residual blocks."""
    for i, layer in enumerate(layers):
        own = f"{name}.{i}"
        if layer["kind"] == "linear":
            x = x @ tensors[f"{own}.weight"].T + tensors[f"{own}.bias"]
        elif layer["kind"] == "activation":
            assert layer["function"] == "silu"
            x = x / (1 + np.exp(-x))
        elif layer["kind"] == "layer_norm":
            x = layer_norm(x, tensors[f"{own}.weight"], tensors[f"{own}.bias"])
        else:
            assert layer["kind"] == "residual"
            x = x + forward(layer["body"], tensors, own, x)
    return x


def encoded(columns, names, rows):
    inputs = [(rows[:, names.index(c["name"])] - c["shift"]) / c["scale"] for c in columns]
    return np.stack(inputs, 1)


@pytest.mark.real_data
@pytest.mark.parametrize("table", ["boston", "concrete", "energy", "yacht", "wine_red"])
def test_the_prior_sd_maximises_an_independent_evidence(tmp_path, table):
    path = DATA / f"{table}.csv.gz"
    words = [path, "--target", "y", "--method", "last-layer-laplace", "--steps", 1500, "--threads", 1, "--model", "m"]
    done = subprocess.run([TOOL, "fit", *map(str, words)], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    with safe_open(tmp_path / "m", framework="numpy") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name).astype(np.float64) for name in file.keys()}
    with gzip.open(path, "rt") as text:
        names, *cells = csv.reader(text)
    rows = np.array(cells, float)[tensors["split.train"].astype(int)]
    encoder, layers = json.loads(metadata["encoder"]), json.loads(metadata["network"])["layers"]
    x = encoded(encoder["columns"], names, rows)
    phi = np.column_stack([forward(layers[:-1], tensors, "network", x), np.ones(len(x))])
    last = f"network.{len(layers) - 1}"
    w = np.append(tensors[f"{last}.weight"][0], tensors[f"{last}.bias"])
    gram = phi.T @ phi / tensors["noise_var"]

    def log_evidence(sd):  # up to what does not depend on the prior; a determinant, not the tool's eigenvalues
        h = np.eye(len(w)) + sd**2 * gram
        return -0.5 * w @ w / sd**2 - 0.5 * np.linalg.slogdet(h)[1]

    low, high = np.log(1e-6), np.log(1e6)
    for _ in range(4):  # finer and finer scans
        grid = np.linspace(low, high, 401)
        best = int(np.argmax([log_evidence(sd) for sd in np.exp(grid)]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 400)]
    found = np.diag(tensors["prior_factor"])
    assert np.all(found == found[0])
    assert found[0] == pytest.approx(np.exp((low + high) / 2), rel=1e-3)
