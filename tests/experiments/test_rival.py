"""A rival's scores are slimbayes' own: the formulas against `slimbayes evaluate` on the same predictions."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import rival
from run import ROOT

TOOL = os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes"))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A table, a model of it, and the report of its test rows."""
    folder = tmp_path_factory.mktemp("rival")
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 300)
    with open(folder / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows([("x", "y"), *zip(x, 5 + 3 * x + rng.normal(0, 0.5 + np.abs(x)))])
    call = [TOOL, "fit", folder / "t.csv", "--target", "y", "--method", "dbk", "--steps", "50", "--test-fraction", "0.3", "--json",
            "--model", folder / "m.safetensors"]
    report = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)["test"]
    return folder / "t.csv", folder / "m.safetensors", report


def test_metrics_are_those_of_evaluate(fitted, tmp_path):
    table, model, expected = fitted
    subprocess.run([TOOL, "predict", model, table, "--out", tmp_path / "p.csv"], check=True)
    inputs, y, split, scale = rival.rows_of(table, model, "y")
    assert inputs.shape == (300, 1)
    rows, answer = split["test"], np.genfromtxt(tmp_path / "p.csv", delimiter=",", names=True)
    found = rival.metrics(y[rows], answer["mean"][rows], answer["sd"][rows] ** 2, scale)
    assert found == {name: pytest.approx(expected[name], rel=1e-9) for name in found}


@pytest.mark.parametrize("objective", ["mse", "elbo", "dppgp"])
def test_the_plain_torch_recipe_learns_a_line(fitted, objective):
    table, model, expected = fitted
    call = [sys.executable, ROOT / "experiments/record/rivals/torch_fit.py", table, "--split", model, "--objective", objective, "--epochs", "300"]
    found = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    assert found["steps"] == 300 and found["test_rows"] == expected["n"]
    assert found["rmse_standardized"] < 0.8  # the mean alone: 1, and an NLL of 1.42
    if objective != "elbo":  # its noise starts at 0.01, and a rate of 1e-3 moves it by e^0.3 in 300 steps
        assert found["nll_standardized"] < 1.4
