"""The engine trains networks that it knows, libtorch the others; the bits do not depend on the width of a register."""

import json
import os
import subprocess

import pytest
from conftest import TOOL, header, run, toy_rows, write_csv

FIT = ["fit", "t.csv", "--target", "y", "--threads", "1", "--steps", "300", "--noise-folds", "0"]


@pytest.fixture
def table(tmp_path):
    write_csv(tmp_path / "t.csv", header(2), toy_rows(300))
    return tmp_path


def fitted(folder, *words):
    done = run(folder, *FIT, "--model", "m", "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def with_kernels(folder, model, target, *words):
    return subprocess.run([TOOL, *FIT, "--model", model, *words], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "SLIMBAYES_KERNELS": target})


def targets(folder):
    """The targets of this processor, as the message on an unknown one names them."""
    done = with_kernels(folder, "none", "MMX", "--method", "dnn")
    assert done.returncode == 2 and "received 'MMX'" in done.stderr and not (folder / "none").exists(), done.stderr
    return done.stderr.split("expected one of ")[1].split(" in SLIMBAYES_KERNELS")[0].split(", ")


@pytest.mark.parametrize("method", ["dnn", "dbk", "vbll", "pp-dkl", "sv-rbf"])
def test_the_bits_are_those_of_every_target_with_fused_multiply_adds(table, method):
    models = []
    for target in targets(table):
        assert with_kernels(table, target, target, "--method", method).returncode == 0
        if target != "SSE4":
            models.append((table / target).read_bytes())
    assert all(model == models[0] for model in models)


@pytest.mark.parametrize("method, words", [("dnn", []), ("dbk", []), ("vbll", []), ("pp-dkl", []), ("sv-dkl", []), ("sv-rbf", []), ("dnn", ["--network", "mlp"]), ("bll", ["--network", "realmlp", "--hidden", "32"]),
                                           ("dnn", ["--dropout", "0.1"]), ("dbk", ["--dropout", "0.1"])])
def test_the_engine_and_libtorch_train_alike(table, method, words):
    ours, theirs = (fitted(table, "--method", method, *words, "--engine", engine) for engine in ("auto", "libtorch"))
    assert (ours["summary"]["trained_by"], theirs["summary"]["trained_by"]) == ("engine", "libtorch")
    assert abs(ours["summary"]["best_score"] - theirs["summary"]["best_score"]) < 0.1
    assert json.loads(run(table, "describe", "m", "--json").stdout)["summary"]["trained_by"] == "libtorch"


def test_a_fit_is_not_resumed_where_products_round_otherwise(table):
    if "SSE4" not in targets(table) or len(targets(table)) < 2:
        pytest.skip("this processor has no targets of both kinds")
    assert with_kernels(table, "m", targets(table)[0], "--method", "dnn").returncode == 0
    again = with_kernels(table, "m", "SSE4", "--method", "dnn", "--resume")
    assert again.returncode == 2 and "rounding of products" in again.stderr, again.stderr
    assert with_kernels(table, "m", targets(table)[0], "--method", "dnn", "--resume").returncode == 0


def test_an_unknown_target_is_named_by_every_command(table):
    assert run(table, "fit", "t.csv", "--target", "y", "--method", "ridge", "--model", "m").returncode == 0
    done = subprocess.run([TOOL, "predict", "m", "t.csv"], cwd=table, capture_output=True, text=True,
                          env={**os.environ, "SLIMBAYES_KERNELS": "nonsense"})
    assert done.returncode == 2 and "error: expected one of " in done.stderr, done.stderr
    assert "fit it again" not in done.stderr


def test_without_kernels_libtorch_computes(table):
    known = [with_kernels(table, "m", "none", "--method", method, "--json") for method in ("bll", "dnn", "dbk", "sv-rbf")]
    assert all(done.returncode == 0 for done in known), known
    assert [json.loads(done.stdout)["summary"]["trained_by"] for done in known[1:3]] == ["libtorch", "libtorch"]
    engine = with_kernels(table, "dbk", "", "--method", "dbk", "--engine", "libtorch", "--json")
    ours, theirs = (json.loads(done.stdout)["summary"]["best_score"] for done in (known[2], engine))
    assert abs(ours - theirs) < 0.1
    off = subprocess.run([TOOL, "predict", "dbk", "t.csv"], cwd=table, capture_output=True, text=True,
                         env={**os.environ, "SLIMBAYES_KERNELS": "none"})
    assert off.returncode == 0, off.stderr
    numbers = [[float(line.split(",")[0]) for line in text.splitlines()[1:]] for text in (off.stdout, run(table, "predict", "dbk", "t.csv").stdout)]
    assert len(numbers[0]) == 300 and numbers[0] == pytest.approx(numbers[1], rel=1e-3, abs=1e-4)


def test_auto_says_what_trained_its_networks(table):
    for engine, wanted in (("auto", "engine"), ("libtorch", "libtorch")):
        found = fitted(table, "--method", "auto", "--candidates", "dnn", "--engine", engine)
        assert found["summary"]["trained_by"] == wanted
    assert json.loads(run(table, *FIT[:4], "--model", "m", "--json", "--method", "auto", "--candidates", "ridge").stdout)["summary"]["trained_by"] == ""
    assert "trained_by" not in run(table, "describe", "m").stdout


def test_an_lstm_of_windows_is_trained_by_the_engine(table):
    write_csv(table / "t.csv", ["time", *header(2)], [[hour, *row] for hour, row in enumerate(toy_rows(300))])
    words = ["--window", "6", "--time", "time", "--hidden", "16"]
    models = []
    for target in targets(table):
        assert with_kernels(table, target, target, "--method", "dbk", *words).returncode == 0
        if target != "SSE4":
            models.append((table / target).read_bytes())
    assert all(model == models[0] for model in models)
    for method in ("dnn", "dbk", "bll"):
        ours, theirs = (fitted(table, "--method", method, *words, "--engine", engine) for engine in ("auto", "libtorch"))
        assert (ours["summary"]["trained_by"], theirs["summary"]["trained_by"]) == ("engine", "libtorch")
        assert abs(ours["summary"]["best_score"] - theirs["summary"]["best_score"]) < 0.1


def test_what_the_engine_does_not_know_runs_through_libtorch(table):
    found = fitted(table, "--method", "dnn", "--network", "mlp", "--batch-norm")
    assert found["summary"]["trained_by"] == "libtorch"
