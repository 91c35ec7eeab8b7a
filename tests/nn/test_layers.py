"""Every layer against PyTorch's own: output and gradients of a random network in float64, odd sizes among them."""

import json
import pathlib
import subprocess

import pytest
import torch
from safetensors import safe_open
from torch import nn

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "build" / "checks" / "network_sample"


def sample(folder, sizes, layers, training=False, tokens=False):
    """Tensors by name, and the taps, of the C++ side."""
    shape = {"sizes": sizes} | ({"tokens": True} if tokens else {})
    words = [SAMPLE, json.dumps({"input": shape, "layers": layers}), folder / "sample", *(["training"] if training else [])]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with safe_open(folder / "sample", "pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["taps"])


def put(module, ours, names):
    """Copies our tensors into a module's parameters; `names` are theirs by ours."""
    state = module.state_dict()
    for mine, theirs in names.items():
        state[theirs].copy_(ours["before." + mine])
    return module


def compare(ours, module, names, output=None):
    """Output, the gradient of the rows and of every parameter."""
    x = ours["x"].clone()
    if x.is_floating_point():
        x.requires_grad_(True)
    result = output(module, x) if output else module(x)
    torch.testing.assert_close(ours["output"], result.detach(), rtol=1e-9, atol=1e-11)
    (result * ours["seed"]).sum().backward()
    if x.is_floating_point():
        torch.testing.assert_close(ours["grad.x"], x.grad, rtol=1e-9, atol=1e-11)
    parameters = dict(module.named_parameters())
    for mine, theirs in names.items():
        if theirs in parameters:
            torch.testing.assert_close(ours["grad." + mine], parameters[theirs].grad, rtol=1e-9, atol=1e-11)


WEIGHTS = {"n.0.weight": "weight", "n.0.bias": "bias"}


@pytest.mark.parametrize("sizes", [[5], [7, 3]])
@pytest.mark.parametrize("bias", [True, False])
def test_linear(tmp_path, sizes, bias):
    ours, taps = sample(tmp_path, sizes, [{"kind": "linear", "out": 3, "bias": bias}])
    names = WEIGHTS if bias else {"n.0.weight": "weight"}
    compare(ours, put(nn.Linear(sizes[-1], 3, bias, dtype=torch.float64), ours, names), names)
    assert taps == [["n.0", [3, *sizes], [3, *sizes[:-1], 3]]]


@pytest.mark.parametrize("function, module", [("silu", nn.SiLU()), ("tanh", nn.Tanh()), ("relu", nn.ReLU()), ("gelu", nn.GELU())])
def test_activation(tmp_path, function, module):
    ours, taps = sample(tmp_path, [6], [{"kind": "activation", "function": function}])
    compare(ours, module, {})
    assert taps == []


@pytest.mark.parametrize("sizes", [[1], [9], [4, 5]])
def test_layer_norm(tmp_path, sizes):
    ours, _ = sample(tmp_path, sizes, [{"kind": "layer_norm"}])
    compare(ours, put(nn.LayerNorm(sizes[-1], dtype=torch.float64), ours, WEIGHTS), WEIGHTS)


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(tmp_path, training):
    ours, _ = sample(tmp_path, [3, 5, 4], [{"kind": "batch_norm", "momentum": 0.3}], training)
    names = WEIGHTS | {"n.0.running_mean": "running_mean", "n.0.running_var": "running_var"}
    module = put(nn.BatchNorm2d(3, momentum=0.3, dtype=torch.float64), ours, names).train(training)
    compare(ours, module, names)
    for mine, theirs in names.items():  # the averages move in training alone
        torch.testing.assert_close(ours["after." + mine], module.state_dict()[theirs], rtol=1e-12, atol=1e-14)
    moved = not torch.equal(ours["after.n.0.running_mean"], ours["before.n.0.running_mean"])
    assert moved == training


@pytest.mark.parametrize("kernel, stride, padding, size", [(3, 1, 1, [5, 7]), (3, 2, 1, [7, 6]), (1, 2, 0, [5, 5]), (4, 3, 2, [9, 4])])
def test_conv2d(tmp_path, kernel, stride, padding, size):
    layer = {"kind": "conv2d", "out": 4, "kernel": kernel, "stride": stride, "padding": padding}
    ours, taps = sample(tmp_path, [2, *size], [layer])
    module = nn.Conv2d(2, 4, kernel, stride, padding, dtype=torch.float64)
    compare(ours, put(module, ours, WEIGHTS), WEIGHTS)
    assert taps[0][0] == "n.0" and taps[0][2] == list(ours["output"].shape)


@pytest.mark.parametrize("of, module", [("max", nn.MaxPool2d(2)), ("mean", nn.AvgPool2d(2))])
def test_pool(tmp_path, of, module):
    ours, _ = sample(tmp_path, [2, 5, 7], [{"kind": "pool", "of": of, "size": 2}])
    assert list(ours["output"].shape) == [3, 2, 2, 3]  # a rest at the edge is left out
    compare(ours, module, {})


@pytest.mark.parametrize("size, image", [(2, [3, 5]), (3, [1, 4])])
def test_upsample(tmp_path, size, image):
    ours, _ = sample(tmp_path, [2, *image], [{"kind": "upsample", "size": size}])
    assert list(ours["output"].shape[2:]) == [size * side for side in image]
    compare(ours, nn.Upsample(scale_factor=size, mode="bilinear", align_corners=False), {})


def test_an_image_as_a_vector(tmp_path):
    ours, _ = sample(tmp_path, [2, 3, 5], [{"kind": "flatten"}])
    compare(ours, nn.Flatten(), {})
    ours, _ = sample(tmp_path, [2, 3, 5], [{"kind": "mean_over_image"}])
    compare(ours, nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()), {})


def test_embedding(tmp_path):
    ours, _ = sample(tmp_path, [6], [{"kind": "embedding", "tokens": 5, "out": 3}], tokens=True)
    module = nn.ParameterDict({"weight": torch.empty(5, 3, dtype=torch.float64), "positions": torch.empty(6, 3, dtype=torch.float64)})
    names = {"n.0.weight": "weight", "n.0.positions": "positions"}
    compare(ours, put(module, ours, names), names, lambda m, x: nn.functional.embedding(x, m["weight"]) + m["positions"])


def test_embedding_without_positions(tmp_path):
    ours, _ = sample(tmp_path, [6], [{"kind": "embedding", "tokens": 5, "out": 3, "positions": False}], tokens=True)
    module = nn.Embedding(5, 3, dtype=torch.float64)
    names = {"n.0.weight": "weight"}
    assert "before.n.0.positions" not in ours
    compare(ours, put(module, ours, names), names)


LSTM = {f"n.0.{kind}": f"{kind}_l0" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}


@pytest.mark.parametrize("sizes", [[6, 3], [1, 3], [-1, 2]])
def test_lstm(tmp_path, sizes):
    ours, taps = sample(tmp_path, sizes, [{"kind": "lstm", "out": 5}])
    module = put(nn.LSTM(sizes[1], 5, batch_first=True, dtype=torch.float64), ours, LSTM)
    compare(ours, module, LSTM, lambda m, x: m(x)[0])
    assert taps[0][0] == "n.0"


def test_lstm_with_one_bias(tmp_path):
    ours, _ = sample(tmp_path, [6, 3], [{"kind": "lstm", "out": 5, "biases": "one"}])
    names = {ours_name: theirs for ours_name, theirs in LSTM.items() if theirs != "bias_hh_l0"}
    module = put(nn.LSTM(3, 5, batch_first=True, dtype=torch.float64), ours, names)
    with torch.no_grad():
        module.bias_hh_l0.zero_()
    assert "before.n.0.bias_hh" not in ours
    start = ours["before.n.0.bias_ih"]  # input, forget, cell, output; the sample adds up to 0.3 to each
    assert torch.all(start[5:10] >= 1) and torch.all(torch.cat([start[:5], start[10:]]) <= 0.3)
    compare(ours, module, names, lambda m, x: m(x)[0])


ATTENTION = {"n.0.in_weight": "in_proj_weight", "n.0.in_bias": "in_proj_bias", "n.0.out_weight": "out_proj.weight",
             "n.0.out_bias": "out_proj.bias"}


@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("length", [5, -1])
def test_attention(tmp_path, heads, length):
    ours, _ = sample(tmp_path, [length, 6], [{"kind": "attention", "heads": heads}])
    module = put(nn.MultiheadAttention(6, heads, batch_first=True, dtype=torch.float64), ours, ATTENTION)
    absent = ~ours["mask"].bool() if "mask" in ours else None
    compare(ours, module, ATTENTION, lambda m, x: m(x, x, x, key_padding_mask=absent, need_weights=False)[0])


@pytest.mark.parametrize("kind", ["mean_over_steps", "last_step"])
def test_steps_that_are_there(tmp_path, kind):
    ours, _ = sample(tmp_path, [-1, 4], [{"kind": kind}])
    lengths = ours["mask"].sum(1).tolist()
    assert lengths == [7, 4, 1]

    def expected(_, x):
        rows = [x[i, :n].mean(0) if kind == "mean_over_steps" else x[i, n - 1] for i, n in enumerate(lengths)]
        return torch.stack(rows)

    compare(ours, nn.Identity(), {}, expected)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, 2, 1, bias=False, dtype=torch.float64)
        self.norm = nn.BatchNorm2d(4, dtype=torch.float64)
        self.cut = nn.Conv2d(2, 4, 1, 2, 0, bias=False, dtype=torch.float64)

    def forward(self, x):
        return self.cut(x) + self.norm(self.conv(x))


def test_residual_with_a_shortcut(tmp_path):
    conv = {"kind": "conv2d", "out": 4, "kernel": 3, "stride": 2, "padding": 1, "bias": False}
    cut = conv | {"kernel": 1, "padding": 0}
    layers = [{"kind": "residual", "body": [conv, {"kind": "batch_norm"}], "shortcut": [cut]}]
    ours, taps = sample(tmp_path, [2, 7, 5], layers, training=True)
    names = {"n.0.0.weight": "conv.weight", "n.0.1.weight": "norm.weight", "n.0.1.bias": "norm.bias", "n.0.shortcut.0.weight": "cut.weight"}
    compare(ours, put(Block(), ours, names).train(), names)
    assert [tap[0] for tap in taps] == ["n.0.shortcut.0", "n.0.0", "n.0.1"]


def test_a_residual_without_a_shortcut_adds_its_input(tmp_path):
    ours, _ = sample(tmp_path, [4], [{"kind": "residual", "body": [{"kind": "linear", "out": 4}]}])
    names = {"n.0.0.weight": "weight", "n.0.0.bias": "bias"}
    compare(ours, put(nn.Linear(4, 4, dtype=torch.float64), ours, names), names, lambda m, x: x + m(x))


def test_dropout_zeroes_a_share_and_scales_the_rest(tmp_path):
    ours, _ = sample(tmp_path, [5000], [{"kind": "dropout", "rate": 0.3}], training=True)
    ratio = ours["output"] / ours["x"]
    assert torch.all((ratio == 0) | torch.isclose(ratio, torch.tensor(1 / 0.7, dtype=torch.float64)))
    assert (ratio == 0).double().mean().item() == pytest.approx(0.3, abs=0.02)
    ours, _ = sample(tmp_path, [50], [{"kind": "dropout", "rate": 0.3}])
    assert torch.equal(ours["output"], ours["x"])
