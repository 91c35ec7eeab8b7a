"""The layers that the study of the margin takes from a model file are those that the tool draws."""

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
MARGIN = studies.load(ROOT / "experiments" / "f_margin")
NAME, DRAWS = "network.2.weight", 24


def run(folder, *words):
    subprocess.run([TOOL, *map(str, words)], check=True, capture_output=True, cwd=folder)


def parts_of(path, name):
    from safetensors import safe_open
    with safe_open(path, framework="numpy") as file:
        tensors = {key: file.get_tensor(key).astype("float64") for key in file.keys()}
        plan = json.loads(file.metadata()["weight_plan"])[name]
    return {key.removeprefix(f"{name}."): value for key, value in tensors.items() if key.startswith(f"{name}.")}, plan


@pytest.fixture(scope="module", params=["certified", "spectral"])
def fitted(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("margin")
    run(folder, "generate", "steps", "--rows", "400", "--out", "t.csv")
    run(folder, "fit", "t.csv", "--target", "y", "--ignore", "true_mean,true_sd", "--method", "fid-gp", "--network", "mlp", "--hidden", "12", "--blocks", "3",
        "--inducing-rows", "6", "--inducing-columns", "12", "--most-noise", "0.05", "--steps", "200", "--flow", request.param, "--draws", DRAWS, "--model", "m")
    return folder


def test_the_mean_of_a_layer_is_that_of_the_tools_draws(fitted):
    parts, plan = parts_of(fitted / "m", NAME)
    layer, drawn = MARGIN.Layer(parts, plan), []
    for draw in range(1, DRAWS + 1):
        run(fitted, "export", "m", "--draw", draw, "--out", "draw")
        tensors = parts_of_draw(fitted / "draw")
        drawn.append(np.concatenate([tensors[NAME], tensors[NAME.replace("weight", "bias")][:, None]], 1))
    mean, sd = np.mean(drawn, 0), np.std(drawn, 0, ddof=1)
    error = np.linalg.norm(mean - layer.mean) / np.sqrt((sd ** 2).sum() / DRAWS)
    assert error < 3, "1 is expected of the mean of the draws"
    assert np.linalg.norm(layer.mean) > 10 * np.sqrt((sd ** 2).sum() / DRAWS), "a mean within its own error would prove nothing"
    own = [np.linalg.norm(layer.drawn(np.random.default_rng(seed)) - layer.mean) for seed in range(DRAWS)]
    told = [np.linalg.norm(w - mean) for w in drawn]
    # The tool's draws hold the spread of U too.
    assert np.mean(own) < 1.1 * np.mean(told)


def parts_of_draw(path):
    from safetensors.numpy import load_file
    return {name: value.astype("float64") for name, value in load_file(path).items()}


def test_a_flow_is_triangular_and_the_certified_one_does_not_lengthen(fitted):
    parts, plan = parts_of(fitted / "m", NAME)
    flow, draw = MARGIN.Layer(parts, plan).flow, np.random.default_rng(4)
    u = draw.normal(size=(50, 12))
    changed = u.copy()
    changed[:, 7] += 1
    moved = np.abs(flow(changed) - flow(u)).max(axis=0)
    assert (moved[:7] == 0).all() and moved[7] > 0
    longer = np.linalg.norm(flow(u[1:]) - flow(u[:-1]), axis=1) / np.linalg.norm(u[1:] - u[:-1], axis=1)
    if flow.form == "certified":
        assert longer.max() <= 1
    else:
        assert longer.max() > 0.5


def test_the_noise_moves_a_residual_by_its_norm_at_most_with_the_certified_flow(fitted):
    parts, plan = parts_of(fitted / "m", NAME)
    layer, draw = MARGIN.Layer(parts, plan), np.random.default_rng(5)
    found = MARGIN.of_layer(layer, draw.normal(size=(30, 13)), draw.normal(size=(30, 13)), draw)
    assert layer.flow.form != "certified" or found["moved"] <= 1
    assert 0 <= found["auroc"] <= 1 and found["noise"] > 0
    null = np.linalg.svd(layer.z[1], full_matrices=True)[2][-1:]
    assert np.abs(layer.mean @ null.T).max() < 1e-12
    assert found["margin"] == pytest.approx(layer.residual(layer.mean, 0 * null)[0])


def test_the_chance_of_a_larger_score():
    assert MARGIN.auroc(np.array([1.0, 2.0]), np.array([1.5, 3.0])) == 0.75
