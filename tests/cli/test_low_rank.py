"""Networks with random weights on the command line: a fit killed while the KL rises, options that do not fit, odd data."""

import json
import signal
import subprocess
import time

import pytest
from safetensors import safe_open
from conftest import TOOL, header, refused, run, toy_rows, write_csv

SMALL = ["--network", "mlp", "--hidden", 12, "--blocks", 2, "--batch", 8, "--threads", 1]
FAMILY = ["low-rank", "low-rank-svd", "low-rank-laplace", "full-rank", "rank-1", "bbb"]


@pytest.fixture
def folder(tmp_path):
    write_csv(tmp_path / "toy.csv", header(3), toy_rows(200, inputs=3))
    return tmp_path


def fit(folder, *words):
    return run(folder, "fit", "toy.csv", "--target", "y", *SMALL, *words)


def epochs_in(checkpoint):
    """The epochs of 20 steps that the checkpoint has seen; 0 if there is none."""
    if not checkpoint.exists():
        return 0
    with safe_open(checkpoint, "np") as file:
        return int(file.metadata()["step"]) / 20


def killed_while_the_kl_rises(folder, words):
    """Kills the fit once a checkpoint lies past the epochs without the KL; asserts that the KL still rises there."""
    process = subprocess.Popen([TOOL, *map(str, words), "--checkpoint-every", "0.02"], cwd=folder, stderr=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while epochs_in(folder / "killed.ckpt") <= 20:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 20 < epochs_in(folder / "killed.ckpt") < 130


@pytest.mark.parametrize("method", ["low-rank", "full-rank"])
def test_a_fit_killed_while_the_kl_rises_resumes_to_the_same_bits(folder, method):
    # 20 steps an epoch: the KL rises over epochs 20 to 130 of 140.
    words = ["fit", "toy.csv", "--target", "y", *SMALL, "--method", method, "--epochs", 140, "--kl-zero", 20, "--kl-ramp", 110,
             "--prior", "mixture", "--noise-folds", 0]
    assert run(folder, *words, "--model", "whole").returncode == 0
    killed_while_the_kl_rises(folder, [*words, "--model", "killed"])
    done = run(folder, *words, "--model", "killed", "--resume", "--json")
    assert done.returncode == 0, done.stderr
    assert (folder / "killed").read_bytes() == (folder / "whole").read_bytes()


@pytest.mark.parametrize("words, said", [
    (["--rank", 0], "rank"),
    (["--rank", "2.5"], "rank"),
    (["--layer-ranks", "4,0"], "expected ranks from 1 to 65536, such as 14,20; received '0'"),
    (["--layer-ranks", "4,x"], "received 'x'"),
    (["--layer-ranks", "70000"], "ranks from 1 to 65536"),
    (["--clip-rank", "false"], "--factored all"),
    (["--layer-ranks", "1,2,3,4,5"], "at most 3 ranks, one for each layer with matrices; received 5"),
    (["--draws", 0], "draws"),
    (["--beta", -1], "beta"),
    (["--label-smoothing", "0.1"], "expected classes for label_smoothing 0.1; received regression"),
    (["--class-weights", "balanced"], "expected classes for class_weights balanced; received regression"),
    (["--kl-zero", 50, "--kl-ramp", 60, "--epochs", 100], "at most the 100 epochs"),
    (["--weight-decay", 0.1], "weight-decay"),
    (["--lstm-biases", "one"], "lstm"),
])
def test_options_that_do_not_fit_are_one_sentence(folder, words, said):
    assert said in refused(folder, "fit", "toy.csv", "--target", "y", *SMALL, "--method", "low-rank", *words, "--model", "m")


@pytest.mark.parametrize("words", [["--rank", 10000], ["--rank", 10000, "--factored", "all"], ["--beta", 0], ["--beta", 1e6],
                                   ["--rank", 20, "--clip-rank", "false", "--factored", "all"], ["--random-biases", "false"]])
def test_extreme_options_give_a_finite_answer(folder, words):
    done = fit(folder, "--method", "low-rank", "--steps", 60, "--test-fraction", 0.2, "--json", *words, "--model", "m")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["test"]["nll"] < 1e3


def test_a_rank_that_factors_nothing_is_noted(folder):
    done = fit(folder, "--method", "low-rank", "--rank", 1000, "--steps", 60, "--model", "m")
    assert "note: no matrix is a product of factors" in done.stderr, done.stderr
    done = fit(folder, "--method", "low-rank", "--rank", 2, "--steps", 60, "--model", "m")
    assert "no matrix is a product" not in done.stderr


def test_a_preset_of_other_methods_names_them(folder):
    line = refused(folder, "fit", "toy.csv", "--target", "y", "--preset", "paper-clinical", "--model", "m")
    assert "full-rank, low-rank, low-rank-svd, low-rank-laplace, rank-1 have it (--method)" in line


def test_class_weights_and_a_class_that_training_lacks(tmp_path):
    rows = [[a, b, "rare" if i % 40 == 0 else "often"] for i, (a, b, _) in enumerate(toy_rows(200))]
    write_csv(tmp_path / "toy.csv", header(2), rows)
    for method in ("low-rank", "dnn"):
        done = run(tmp_path, "fit", "toy.csv", "--target", "y", *SMALL, "--method", method, "--class-weights", "balanced",
                   "--steps", 100, "--json", "--model", "m")
        assert done.returncode == 0, done.stderr
    write_csv(tmp_path / "valid.csv", header(2), [[0, 0, "never"], [0, 1, "often"]])
    assert "never" in refused(tmp_path, "fit", "toy.csv", "--target", "y", *SMALL, "--method", "low-rank", "--valid", "valid.csv",
                              "--model", "n")
    write_csv(tmp_path / "one.csv", header(2), [[a, b, "same"] for a, b, _ in toy_rows(50)])
    line = refused(tmp_path, "fit", "one.csv", "--target", "y", *SMALL, "--method", "low-rank", "--model", "n")
    assert "class" in line


@pytest.mark.parametrize("method", FAMILY)
def test_presets_and_parameters_of_the_curve(tmp_path, method):
    """Table 20: 20,802 numbers for the full rank, 7,202 for rank 16; the noise variance of ours is not counted there."""
    assert run(tmp_path, "generate", "ripple", "--rows", 80, "--out", "curve.csv").returncode == 0
    preset = [] if method == "bbb" else ["--preset", "paper-toy", "--kl-ramp", 0]
    words = ["fit", "curve.csv", "--target", "y", "--ignore", "true_mean,true_sd", "--method", method, *preset, "--steps", 20,
             "--model", "m", "--json"]
    if method == "bbb":
        words += ["--network", "mlp", "--hidden", 100, "--blocks", 2]
    done = run(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    described = run(tmp_path, "describe", "m", "--json")
    found = json.loads(described.stdout)["parameters"]
    # rank-1: W, b and, for each of the three matrices, a mean and a spread for every row and column
    expected = {"full-rank": 20802, "bbb": 20802, "rank-1": 10401 + 2 * (101 + 200 + 101)}
    assert found == expected.get(method, 7202)
