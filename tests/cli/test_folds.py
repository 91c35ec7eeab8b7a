"""evaluate --folds: the method and the options of a model, fitted anew without each fold."""

import json
import re
import signal
import statistics
import subprocess

import pytest
from conftest import TOOL, header, refused, run, toy_rows, write_csv
from inputs import series

SMALL = ["--rank", 8, "--steps", 30]
UNLIKE = ("seconds", "seconds_shared")


def runs_of(folder, *words):
    done = run(folder, *words, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    for one in (runs := report["methods"][0]["runs"] if "methods" in report else report["runs"]):
        for name in UNLIKE:
            one.pop(name, None)
    return report, runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folds")
    rows = toy_rows(100)
    write_csv(folder / "t.csv", header(2), rows)
    write_csv(folder / "c.csv", header(2), [[a, b, "high" if y > 0 else "low"] for a, b, y in rows])
    for data, *words in (("t.csv", "--method", "dbk", "--model", "m", *SMALL),
                         ("t.csv", "--method", "dbk", "--model", "third", "--seed", 3, *SMALL),
                         ("c.csv", "--method", "dnn", "--model", "classes", "--steps", 30),
                         ("c.csv", "--network-from", "classes", "--model", "around")):
        target = [] if "--network-from" in words else ["--target", "y"]
        done = run(folder, "fit", data, *target, *words)
        assert done.returncode == 0, done.stderr
    return folder


def test_they_are_those_of_a_comparison(folder):
    report, runs = runs_of(folder, "evaluate", "m", "t.csv", "--folds", 3)
    _, compared = runs_of(folder, "compare", "t.csv", "--target", "y", "--methods", "dbk", "--cross-validate", 3, "--seeds", 1, *SMALL)
    assert runs == compared
    assert runs_of(folder, "evaluate", "m", "t.csv", "--folds", 3, "--threads", 1)[1] == runs
    assert (report["method"], report["folds"], report["n"], report["level"]) == ("dbk", 3, 100, 0.95) and "interrupted" not in report
    assert [one["fold"] for one in runs] == [0, 1, 2] and sum(one["n"] for one in runs) == 100
    for name in "nll", "mae", "crps", "coverage":
        assert report["pooled"][name] == pytest.approx(sum(one["n"] * one[name] for one in runs) / 100)
    assert report["pooled"]["rmse"] ** 2 == pytest.approx(sum(one["n"] * one["rmse"] ** 2 for one in runs) / 100)
    assert report["sd"]["nll"] == pytest.approx(statistics.stdev(one["nll"] for one in runs))


def test_they_take_the_seed_of_the_model_and_the_level_that_is_asked_for(folder):
    report, runs = runs_of(folder, "evaluate", "third", "t.csv", "--folds", 2, "--level", 0.5)
    assert [one["seed"] for one in runs] == [3, 3] and report["level"] == 0.5 and report["pooled"]["coverage"] < 0.9


def test_they_are_a_table(folder):
    done = run(folder, "evaluate", "m", "t.csv", "--folds", 3)
    assert done.returncode == 0, done.stderr
    lines = [line.split("  ") for line in done.stdout.splitlines()]
    assert lines[0][0] == "100 rows in 3 folds" and {"nll", "mae", "coverage at 95 %"} <= {line[0] for line in lines}
    classes = run(folder, "evaluate", "classes", "c.csv", "--folds", 2)
    assert classes.returncode == 0 and "\naccuracy " in classes.stdout, classes.stderr


def test_what_is_no_cross_validation_is_refused(folder):
    words = ["evaluate", "m", "t.csv", "--folds"]
    assert "expected a number of folds from 2 to 1000 for --folds; received '1'" in refused(folder, *words, 1)
    for more in (["--split", "test"], ["--ood", "t.csv"], ["--on-bad-row", "skip"]):
        assert f"--folds with --level, --json, --threads and --device alone; received {more[0]}; leave it out" in refused(folder, *words, 2, *more)
    assert "trained its own network, for --folds" in refused(folder, "evaluate", "around", "c.csv", "--folds", 2)


def test_windows_have_no_folds(tmp_path):
    series(tmp_path / "air.csv", hours=120)
    done = run(tmp_path, "fit", "air.csv", "--target", "y", "--window", 6, "--time", "time", "--method", "dnn", "--model", "m", "--steps", 30)
    assert done.returncode == 0, done.stderr
    assert "received windows of a time series, which is split by time" in refused(tmp_path, "evaluate", "m", "air.csv", "--folds", 3)


def test_a_note_is_said_once_and_names_whose_options_it_means(tmp_path):
    rows = [[i, f"{1 + i % 28:02}.{1 + i % 12:02}.2020", a if i % 9 else "", b, y] for i, (a, b, y) in enumerate(toy_rows(90))]
    write_csv(tmp_path / "t.csv", ["n", "day", "a", "b", "y"], rows)
    assert run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "ridge", "--ignore", "n", "--model", "m").returncode == 0
    write_csv(tmp_path / "less.csv", ["day", "a", "b", "y"], [row[1:] for row in rows])  # without the ignored column
    for words in (["evaluate", "m", "less.csv", "--folds", 5],
                  ["compare", "less.csv", "--target", "y", "--methods", "ridge", "--seeds", 1, "--cross-validate", 5]):
        done = run(tmp_path, *words)
        assert done.returncode == 0, done.stderr
        for part in "training cells are missing", "its categories look like dates":
            assert done.stderr.count(part) == 1, done.stderr
        assert ("the options that these notes name are those of fit" in done.stderr) == (words[0] == "evaluate")


def test_an_interrupt_ends_them(tmp_path):
    write_csv(tmp_path / "t.csv", ["a", "b", "y"], [[a if i % 9 else "", b, y] for i, (a, b, y) in enumerate(toy_rows(100))])
    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "dbk", "--model", "m", "--rank", 8, "--steps", 500, "--patience", 0)
    assert done.returncode == 0, done.stderr
    process = subprocess.Popen([TOOL, "evaluate", "m", "t.csv", "--folds", "50"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "training cells are missing" in line:  # the first fold has begun
            break
    process.send_signal(signal.SIGINT)
    log = process.communicate(timeout=60)[1]
    found = re.search(r"interrupted: (\d+) of 50 folds", log)
    assert process.returncode == 130 and found and int(found[1]) < 50, log


def test_folds_are_pooled_by_the_weights_as_they_are_given(tmp_path):
    rows = [[a, b, 100 if i % 10 == 0 else 0.5, y] for i, (a, b, y) in enumerate(toy_rows(60))]
    write_csv(tmp_path / "t.csv", ["a", "b", "w", "y"], rows)
    assert run(tmp_path, "fit", "t.csv", "--target", "y", "--weights", "w", "--method", "ridge", "--model", "m").returncode == 0
    report, runs = runs_of(tmp_path, "evaluate", "m", "t.csv", "--folds", 4)
    total = [one["total_weight"] for one in runs]
    assert sum(total) == pytest.approx(6 * 100 + 54 * 0.5) and max(total) > 1.5 * min(total)
    assert report["pooled"]["nll"] == pytest.approx(sum(w * one["nll"] for w, one in zip(total, runs)) / sum(total))
