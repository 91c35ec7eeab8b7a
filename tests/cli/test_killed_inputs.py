"""A fit on each kind of input that is killed with -9 and resumed ends in the bits of one that was not."""

import subprocess
import time

import pytest
from conftest import TOOL, run
from inputs import cifar, idx, reviews, series, squares

KINDS = {
    "windows": (lambda folder: series(folder / "data.csv"), ["data.csv", "--target", "y", "--window", "6", "--time", "time", "--network", "lstm", "--blocks", "1"]),
    "grey images": (lambda folder: idx(folder / "idx3", *squares(200)), ["idx3", "--crop", "1", "--flip", "--dropout", "0.1"]),
    "colour images": (lambda folder: cifar(folder / "data.bin", 60), ["data.bin", "--format", "cifar10", "--network", "resnet18", "--crop", "4", "--flip", "--batch", "16"]),
    "text": (lambda folder: reviews(folder / "data.csv", 300), ["data.csv", "--target", "label", "--text", "text", "--blocks", "1", "--dropout", "0.1"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_killed_and_resumed_it_ends_in_the_same_bits(tmp_path, kind):
    make, words = KINDS[kind]
    make(tmp_path)
    fit = ["fit", *words, "--method", "vbll", "--steps", "60", "--hidden", "8", "--patience", "0", "--threads", "1"]
    assert run(tmp_path, *fit, "--model", "whole").returncode == 0
    process = subprocess.Popen([TOOL, *fit, "--model", "m", "--checkpoint-every", "0"], cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not (tmp_path / "m.ckpt").exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    process.kill()
    process.wait()
    if not (tmp_path / "m").exists():  # else it was faster than the signal
        assert (tmp_path / "m.ckpt").exists()
    done = run(tmp_path, *fit, "--model", "m", "--resume")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
