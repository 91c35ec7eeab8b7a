"""rich-bll around modules that PyTorch saved: examples/own_network.py, traced, scripted and frozen modules, and the example
program that reads them."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest
import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "checks" / "example_own_network"
SCRIPT = ROOT / "examples" / "own_network.py"
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The folder that the example's script wrote, and the script as a module."""
    folder = tmp_path_factory.mktemp("own")
    subprocess.run([sys.executable, SCRIPT, ROOT / "examples" / "data" / "concrete.csv", folder], check=True)
    spec = importlib.util.spec_from_file_location("own_network", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    sys.modules["own_network"] = script  # torch.jit.script asks for it
    spec.loader.exec_module(script)
    return folder, script


def answered(folder, layer="head"):
    return subprocess.run([PROGRAM, folder, layer], capture_output=True, text=True)


def with_module(example, tmp_path, module, layer="head"):
    """The program's result for another module on the example's rows."""
    for table in example[0].glob("*.csv"):
        (tmp_path / table.name).write_text(table.read_text())
    module.save(str(tmp_path / "net.pt"))
    return answered(tmp_path, layer)


def test_the_example_answers(example):
    done = answered(example[0])
    assert done.returncode == 0, done.stderr
    assert "rows by the weighted route" in done.stdout
    assert "the loaded model answers alike" in done.stdout
    rmse = float(re.search(r"rmse ([0-9.]+)", done.stdout)[1])
    assert rmse < 10  # MPa; the target's sd is 16.7
    near, far, bll_near, bll_far = map(float, re.search(
        r"sd: ([0-9.]+) on .* ([0-9.]+) on rows .* \(bll ([0-9.]+), ([0-9.]+)\)", done.stdout).groups())
    assert far > 2 * near and bll_far > bll_near
    assert answered(example[0]).stdout == done.stdout  # same seed, same bits


def test_a_traced_module_answers_as_the_scripted_one(example, tmp_path):
    torch.manual_seed(0)
    net = example[1].Net(torch.randn(50, 8), torch.randn(50)).eval()
    scripted = with_module(example, tmp_path, torch.jit.script(net))
    traced = with_module(example, tmp_path, torch.jit.trace(net, torch.randn(4, 8)))
    assert scripted.returncode == 0, scripted.stderr
    assert traced.stdout == scripted.stdout


def test_double_modules_and_batch_norm(example, tmp_path):
    body = nn.Sequential(nn.BatchNorm1d(8, dtype=torch.float64), nn.Linear(8, 6, dtype=torch.float64), nn.Tanh(),
                         nn.Linear(6, 1, dtype=torch.float64))
    done = with_module(example, tmp_path, torch.jit.script(body), "3")  # saved in training mode
    assert done.returncode == 0, done.stderr


def trained_trace(net):
    return torch.jit.trace(net.train(), torch.randn(4, 8), check_trace=False)


@pytest.mark.parametrize("change, layer, words", [
    (lambda net: torch.jit.freeze(torch.jit.script(net)), "head",
     "expected a module with parameters; received a frozen module without parameters"),
    (lambda net: torch.jit.script(net.half()), "head", "call float() before the module is saved"),
    (trained_trace, "head", "call eval() before torch.jit.trace"),
    (torch.jit.script, "haed", "did you mean 'head'?"),
    (torch.jit.script, "body.3", "received one that returns the output of another linear layer"),
    (lambda net: torch.jit.script(nn.Sequential(net, nn.Sigmoid())), "0.head", "whose last operation is sigmoid"),
    (lambda net: torch.jit.script(nn.Sequential(nn.Flatten(0), nn.Linear(8, 1))), "1", "expected"),
])  # fmt: skip
def test_refusals_are_one_sentence(example, tmp_path, change, layer, words):
    net = example[1].Net(torch.randn(50, 8), torch.randn(50)).eval()
    done = with_module(example, tmp_path, change(net), layer)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
