"""The features that the study of spectra takes from a model file are those that the tool predicts with."""

import csv
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "experiments" / "record"), str(ROOT / "experiments" / "papers")]
import studies  # noqa: E402

TOOL = os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes"))
SPECTRUM = studies.load(ROOT / "experiments" / "spectrum")


def test_the_features_give_the_mean_that_the_tool_predicts(tmp_path):
    xs = np.linspace(-1, 1, 21)
    (tmp_path / "grid.csv").write_text("x\n" + "\n".join(map(str, xs)))

    def run(*words):
        subprocess.run([TOOL, *words], check=True, capture_output=True, cwd=tmp_path)

    run("generate", "steps", "--rows", "500", "--out", "t.csv")
    run("fit", "t.csv", "--target", "y", "--ignore", "true_mean,true_sd", "--method", "dbk", "--steps", "200", "--noise-folds", "0", "--model", "m")
    run("predict", "m", "grid.csv", "--out", "p.csv")
    from safetensors import safe_open
    with safe_open(tmp_path / "m", framework="numpy") as file:
        mean = SPECTRUM.features(tmp_path / "m", xs) @ file.get_tensor("posterior.mean")[0] + file.get_tensor("offset")[0]
        scale = json.loads(file.metadata()["encoder"])
    with open(tmp_path / "p.csv", newline="") as file:
        told = [float(row["mean"]) for row in csv.DictReader(file)]
    assert mean * scale["y_scale"] + scale["y_shift"] == pytest.approx(told, abs=1e-5)
    assert np.ptp(told) > 0.02, "a mean that is the same everywhere would hide a wrong input"


def test_the_spectrum_of_known_features():
    angle = np.linspace(0, 2 * np.pi, 401)[:-1]
    found = {name: float(value) for name, value in SPECTRUM.of_spectrum(np.stack([np.cos(angle), np.sin(angle), 0 * angle + 2], 1)).items()}
    assert found == pytest.approx({"top_share": 0.5, "effective_rank": 2.0, "diagonal_spread": 0.0}, abs=1e-6)
    line = SPECTRUM.of_spectrum(np.stack([angle, 3 * angle], 1))
    assert float(line["top_share"]) == pytest.approx(1) and float(line["effective_rank"]) == pytest.approx(1)
    assert float(line["diagonal_spread"]) == pytest.approx(np.std(angle**2) / np.mean(angle**2))
