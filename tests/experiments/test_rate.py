"""The features of the study of A are the network's gradients, and its error is that of least squares."""

import json
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "experiments" / "record"), str(ROOT / "experiments" / "papers")]
import studies  # noqa: E402

RATE = studies.load(ROOT / "experiments" / "r_rate")
INPUTS, WIDTH, SCALES = 3, 5, ((2.0, 1.5), (1.0, 0.7), (0.4, 1.0))


@pytest.fixture
def network(tmp_path):
    """A model file of a network with two hidden layers, one of whose last units is 0 for all rows; its weights."""
    from safetensors.numpy import save_file
    draw, sizes = np.random.default_rng(1), [(WIDTH, INPUTS), (WIDTH, WIDTH), (1, WIDTH)]
    tensors = {}
    for at, size in zip((0, 2, 4), sizes):
        tensors[f"network.{at}.weight"], tensors[f"network.{at}.bias"] = (draw.normal(size=s).astype("float32") for s in (size, size[:1]))
    tensors["network.2.bias"][2], tensors["network.2.weight"][2] = -1, 0
    layers = [{"kind": "linear", "weight_scale": a, "bias_scale": b} for a, b in SCALES]
    layers[1:1] = [{"kind": "activation"}]
    columns = [{"shift": 0.5, "scale": 2.0}] * INPUTS
    save_file(tensors, tmp_path / "m", {"network": json.dumps({"layers": layers}), "encoder": json.dumps({"columns": columns})})
    return tmp_path / "m", tensors


def test_the_features_are_the_gradients_of_the_output(network):
    torch = pytest.importorskip("torch")
    path, tensors = network
    x = np.random.default_rng(2).normal(size=(40, INPUTS))
    features = RATE.Features(path, x)
    weights = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in tensors.items()}
    rows = []
    for row in torch.tensor((x - 0.5) / 2.0):
        for at, (a, b) in zip((0, 2, 4), SCALES):
            row = a * weights[f"network.{at}.weight"] @ row + b * weights[f"network.{at}.bias"]
            row = torch.relu(row) if at < 4 else row
        rows.append([g.flatten().numpy() for g in torch.autograd.grad(row.sum(), list(weights.values()))])
    found = {name: np.stack([each[i] for each in rows]) for i, name in enumerate(weights)}
    last = np.concatenate([found["network.4.weight"], found["network.4.bias"]], 1)
    np.testing.assert_allclose(features.of_last, last[:, [0, 1, 3, 4, 5]], atol=1e-12)
    early = np.concatenate([found[f"network.{at}.{part}"] for at in (0, 2) for part in ("weight", "bias")], 1)
    np.testing.assert_allclose(features.earlier(np.arange(40)), early, atol=1e-12)


def test_a_is_the_least_squares_solution(network):
    features = RATE.Features(network[0], np.random.default_rng(3).normal(size=(60, INPUTS)))
    rows = np.arange(60)
    expected = np.linalg.lstsq(features.of_last, features.earlier(rows), rcond=None)[0]
    np.testing.assert_allclose(RATE.transform(features, rows), expected, atol=1e-10)
    assert RATE.norm(expected) == pytest.approx(np.linalg.norm(expected, 2))


def test_the_rows_for_an_accuracy_lie_on_the_line_between_two_sizes():
    assert RATE.rows_for({8: 0.8, 32: 0.4, 128: 0.2}, 0.5) == pytest.approx(8 * (0.8 / 0.5) ** 2)
    assert RATE.rows_for({8: 0.8, 32: 0.6}, 0.5) is None and RATE.rows_for({8: 0.4, 32: 0.2}, 0.5) is None
    assert RATE.line([(0, 1), (1, 0.5), (2, 0)]) == pytest.approx(-0.5)
