"""`--device` on a machine without a GPU: what it refuses, and that the CPU gives the bits of a command without it."""

import importlib.util
import json
import os
import pathlib
import re
import shutil

import pytest
from conftest import FEW, refused, run

pytestmark = pytest.mark.skipif(pathlib.Path("/dev/nvidiactl").exists(), reason="this machine has a GPU")

NET = ["--target", "y", "--method", "dnn", *FEW, "--threads", 1]
ABSENT = ("cuda", "cuda:7", "xpu")
NONE = "note: no GPU was found (--device auto): the CPU computes"


@pytest.fixture
def folder(tmp_path, toy):
    shutil.copy(toy / "toy.csv", tmp_path / "t.csv")
    shutil.copy(toy / "fitted.safetensors", tmp_path / "m")
    return tmp_path


def commands(folder):
    """Every command that takes the flag, each with data that it would read next."""
    return {"fit": ["fit", "t.csv", *NET, "--model", "new"],
            "compare": ["compare", "t.csv", "--target", "y", "--methods", "dnn", "--seeds", 1, *FEW],
            "predict": ["predict", "m", "t.csv"], "evaluate": ["evaluate", "m", "t.csv"], "report": ["report", "m", "t.csv"]}


@pytest.mark.parametrize("command", ["fit", "compare", "predict", "evaluate", "report"])
def test_a_device_that_is_not_there_is_refused_before_any_work(folder, command):
    words = commands(folder)[command]
    (folder / "t.csv").write_text("no table\n")  # is not read any more
    for device in ABSENT:
        line = refused(folder, *words, "--device", device)
        assert f"a machine with the device {device}; received " in line, line
        assert "--device cpu computes on the processor" in line and "docs/devices.md" in line, line


def test_a_libtorch_without_cuda_is_named(folder):
    torch = pathlib.Path(importlib.util.find_spec("torch").submodule_search_locations[0])
    if os.environ.get("SLIMBAYES_TOOL") or (torch / "lib" / "libtorch_cuda.so").exists():
        pytest.skip("the tool has another libtorch, or one with CUDA")
    assert "received a libtorch without CUDA;" in refused(folder, "fit", "t.csv", *NET, "--device", "cuda")


def test_what_is_no_device_is_refused(folder):
    for nonsense in ("gpu", "cuda:x", "cuda:-2", "CPU", "cpu,cuda"):
        line = refused(folder, "fit", "t.csv", *NET, "--device", nonsense)
        assert f"--device to be cpu, auto, cuda or cuda:NUMBER; received '{nonsense}'" in line, line


def test_the_cpu_is_what_no_flag_gives(folder):
    plain = run(folder, "fit", "t.csv", *NET, "--model", "plain", "--json")
    named = run(folder, "fit", "t.csv", *NET, "--model", "named", "--json", "--device", "cpu")
    assert plain.returncode == named.returncode == 0, plain.stderr + named.stderr
    assert plain.stderr == named.stderr.replace("named", "plain")
    assert without_times((folder / "plain").read_bytes()) == without_times((folder / "named").read_bytes())
    for words in (["predict"], ["predict", "--quantiles", 0.1], ["evaluate", "--json"], ["report", "--json"]):
        one, other = (run(folder, words[0], "m", "t.csv", *words[1:], *more) for more in ([], ["--device", "cpu"]))
        assert (one.returncode, one.stdout, one.stderr) == (other.returncode, other.stdout, other.stderr)
        assert one.returncode == 0


def without_times(file):
    """The bytes of a model file, without the seconds that its fit took and without its checksum."""
    length = int.from_bytes(file[:8], "little")
    text = re.sub(r'"(?:checksum|xxh\w*)":"[^"]*"', "", file[8:8 + length].decode())
    return re.sub(r'seconds\\*":[0-9.e+-]+', "", text), file[8 + length:]


def test_auto_without_a_gpu_is_the_cpu_and_says_so_once(folder):
    done = run(folder, "fit", "t.csv", *NET, "--model", "auto", "--device", "auto")
    assert done.returncode == 0 and done.stderr.splitlines().count(NONE) == 1, done.stderr
    for words in (["predict", "m", "t.csv"], ["evaluate", "m", "t.csv"]):
        plain, auto = run(folder, *words), run(folder, *words, "--device", "auto")
        assert plain.stdout == auto.stdout and plain.returncode == auto.returncode == 0
        assert NONE in auto.stderr.splitlines() and NONE not in plain.stderr


def test_the_cpu_needs_no_note_of_a_method_without_networks(folder):
    done = run(folder, "fit", "t.csv", "--target", "y", "--method", "ridge", "--device", "cpu", "--model", "new")
    assert done.returncode == 0 and "--device" not in done.stderr, done.stderr


def test_the_device_is_no_part_of_what_makes_a_model(folder):
    """A recipe does not name it, and a finished fit with another one has nothing to do."""
    recipe = json.loads(run(folder, "fit", "t.csv", *NET, "--dry-run", "--device", "cuda").stdout)
    assert "device" not in json.dumps(recipe) and recipe == json.loads(run(folder, "fit", "t.csv", *NET, "--dry-run").stdout)
    assert run(folder, "fit", "t.csv", *NET, "--model", "new", "--device", "auto").returncode == 0
    again = run(folder, "fit", "t.csv", *NET, "--model", "new", "--resume")
    assert again.returncode == 0 and "is finished already" in again.stderr, again.stderr
    assert b'"device' not in (folder / "new").read_bytes()


def test_the_folds_of_evaluate_take_a_device(folder):
    plain, named = (run(folder, "evaluate", "m", "t.csv", "--folds", 2, "--json", *more) for more in ([], ["--device", "cpu"]))
    assert plain.returncode == named.returncode == 0, named.stderr
    assert json.loads(plain.stdout)["pooled"] == json.loads(named.stdout)["pooled"]
    assert "a machine with the device cuda" in refused(folder, "evaluate", "m", "t.csv", "--folds", 2, "--device", "cuda")


def test_commands_that_compute_on_the_cpu_alone_do_not_take_it(folder):
    for words in (["update", "m", "t.csv"], ["forget", "m", "t.csv"], ["bounds", "m", "t.csv"], ["export", "m", "--out", "e"]):
        assert f"expected a flag of `slimbayes {words[0]}`; received '--device'" in refused(folder, *words, "--device", "cpu")
