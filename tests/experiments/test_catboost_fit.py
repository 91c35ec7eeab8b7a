"""A rival's scores are slimbayes' own: the formulas against `slimbayes evaluate` on the same predictions."""

import csv
import json
import os
import subprocess

import numpy as np
import pytest
from catboost_fit import metrics
from run import ROOT
from safetensors import safe_open

TOOL = os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes"))


def test_metrics_are_those_of_evaluate(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 300)
    with open(tmp_path / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows([("x", "y"), *zip(x, 5 + 3 * x + rng.normal(0, 0.5 + np.abs(x)))])
    call = [TOOL, "fit", tmp_path / "t.csv", "--target", "y", "--steps", "50", "--test-fraction", "0.3", "--json",
            "--model", tmp_path / "m.safetensors"]
    expected = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)["test"]
    subprocess.run([TOOL, "predict", tmp_path / "m.safetensors", tmp_path / "t.csv", "--out", tmp_path / "p.csv"], check=True)
    with safe_open(tmp_path / "m.safetensors", "numpy") as file:
        rows, scale = file.get_tensor("split.test"), json.loads(file.metadata()["encoder"])["y_scale"]
    table, answer = (np.genfromtxt(tmp_path / name, delimiter=",", names=True)[rows] for name in ("t.csv", "p.csv"))
    found = metrics(table["y"], answer["mean"], answer["sd"] ** 2, scale)
    assert found == {name: pytest.approx(expected[name], rel=1e-9) for name in found}
