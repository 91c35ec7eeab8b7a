"""export: a model with random weights as a network with one set of them."""

import json

import numpy
import pytest
from conftest import header, predicted, refused, run, toy_rows, write_csv
from inputs import idx, reviews, squares
from safetensors.numpy import load_file

METHODS = {"low-rank": ["--rank", 3, "--factored", "all"], "rank-1": [], "bbb": [],
           "fid-gp": ["--inducing-rows", 4, "--inducing-columns", 3]}
FIT = ["--network", "mlp", "--hidden", 12, "--blocks", 2, "--steps", 40, "--draws", 4, "--threads", 1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    write_csv(folder / "t.csv", header(3), toy_rows(120, inputs=3))
    for method, words in METHODS.items():
        done = run(folder, "fit", "t.csv", "--target", "y", "--method", method, "--model", method, *FIT, *words)
        assert done.returncode == 0, done.stderr
    return folder


def exported(folder, model, *words, out="out"):
    done = run(folder, "export", model, "--out", out, *words)
    assert done.returncode == 0, done.stderr
    assert "no epistemic uncertainty" in done.stderr
    return done.stdout


@pytest.mark.parametrize("method", METHODS)
def test_the_answers_are_the_mean_over_the_exported_draws(folder, method):
    given, draws = predicted(folder, method, "t.csv"), []
    for k in range(1, 5):
        assert f"draw {k} of the weights of a {method}" in exported(folder, method, "--draw", k)
        draws.append(predicted(folder, "out", "t.csv"))
    means = numpy.array([one["mean"] for one in draws])
    numpy.testing.assert_allclose(means.mean(0), given["mean"], rtol=1e-5, atol=1e-5)
    exported(folder, method)
    centre = numpy.array(predicted(folder, "out", "t.csv")["mean"])
    assert numpy.all(abs(centre - means.mean(0)) <= 4 * means.std(0) + 0.05) and not numpy.allclose(centre, means[0], atol=1e-7)
    numpy.testing.assert_allclose(means.std(0), given["sd_epistemic"], rtol=1e-3, atol=1e-4)
    for one in draws:
        assert "sd_epistemic" not in one
        numpy.testing.assert_allclose(one["sd"], given["sd_aleatoric"], rtol=1e-6)


def test_the_mean_of_factors_is_their_product(folder):
    exported(folder, "low-rank")
    weights, factors = load_file(folder / "out"), load_file(folder / "low-rank")
    a, b = (factors[f"network.2.weight.{side}"].astype(numpy.float64) for side in "ab")
    numpy.testing.assert_allclose(weights["network.2.weight"], a @ b.T, rtol=1e-5, atol=1e-6)
    facts = json.loads(run(folder, "describe", "out", "--json").stdout)
    assert facts["method"] == "dnn" and facts["options"]["hidden"] == 12
    assert facts["parameters"] == 3 * 12 + 12 + 12 * 12 + 12 + 12 + 1


@pytest.mark.parametrize("kind", ["images", "text"])
def test_convolutions_and_attention_are_written_in_full(tmp_path, kind):
    if kind == "images":
        idx(tmp_path / "train-images-idx3-ubyte", *squares(60))
        data, words = ["train-images-idx3-ubyte"], ["--method", "fid-gp", "--network", "convnet"]
    else:
        reviews(tmp_path / "t.csv", 60)
        data, words = ["t.csv", "--target", "label", "--text", "text"], ["--method", "low-rank", "--network", "transformer"]
    done = run(tmp_path, "fit", *data, *words, "--hidden", 8, "--steps", 3, "--draws", 2, "--model", "m", "--threads", 1)
    assert done.returncode == 0, done.stderr
    both = []
    for k in (1, 2):
        exported(tmp_path, "m", "--draw", k)
        both.append(predicted(tmp_path, "out", data[0]))
    given = predicted(tmp_path, "m", data[0])
    for name in (name for name in given if name.startswith("p_")):
        numpy.testing.assert_allclose((numpy.array(both[0][name]) + both[1][name]) / 2, given[name], rtol=1e-4, atol=1e-5)


def test_what_cannot_be_exported_is_refused(folder):
    assert run(folder, "generate", "counts", "--rows", 80, "--out", "c.csv").returncode == 0
    done = run(folder, "fit", "c.csv", "--target", "y", "--likelihood", "poisson", "--ignore", "true_mean,true_sd", "--method", "low-rank",
               "--model", "counts", *FIT)
    assert done.returncode == 0, done.stderr
    assert "expected a model of a task that dnn takes; received counts" in refused(folder, "export", "counts", "--out", "out")
    done = run(folder, "fit", "t.csv", "--target", "y", "--method", "dnn", "--model", "plain", *FIT[:-4], "--threads", 1)
    assert done.returncode == 0, done.stderr
    assert "expected a model with random weights; received dnn" in refused(folder, "export", "plain", "--out", "out")
    assert "expected a draw from 1 to 4" in refused(folder, "export", "bbb", "--out", "out", "--draw", 5)
    assert "another file than the model itself" in refused(folder, "export", "bbb", "--out", "bbb")
    assert "--out" in refused(folder, "export", "bbb")
