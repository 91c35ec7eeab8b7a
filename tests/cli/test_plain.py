"""ridge, logistic, extra-trees and constant: the rivals without a network, which compare adds to the methods that a user names."""

import json
import random

from conftest import run, write_csv


def linear(folder, rows=200):
    draw = random.Random(5)
    table = [[draw.gauss(0, 1), draw.gauss(0, 1), draw.choice("ab")] for _ in range(rows)]
    write_csv(folder / "t.csv", ["u", "v", "kind", "y"], [[u, v, k, 3 * u - v + (k == "a") + draw.gauss(0, 0.5)] for u, v, k in table])


def ok(folder, *words):
    done = run(folder, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def methods_of(folder, *words):
    report = json.loads(ok(folder, "compare", "t.csv", "--seeds", 1, "--threads", 1, "--steps", 20, "--json", *words))
    return {each["method"]: each["runs"][0] for each in report["methods"]}


def test_compare_adds_them_once(tmp_path):
    linear(tmp_path)
    found = methods_of(tmp_path, "--target", "y", "--methods", "dnn,ridge")
    assert list(found) == ["dnn", "ridge", "constant"]
    assert found["ridge"]["rmse"] < 0.7 < 2 < found["constant"]["rmse"]
    assert abs(found["ridge"]["coverage"] - 0.95) < 0.1 and abs(found["constant"]["coverage"] - 0.95) < 0.1
    assert list(methods_of(tmp_path, "--target", "kind", "--methods", "dnn")) == ["dnn", "logistic", "extra-trees", "constant"]  # classes: no straight line


def test_ridge_writes_a_model_like_any_other(tmp_path):
    linear(tmp_path)
    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "ridge", "--model", "m", "--test-fraction", 0.2)
    assert done.returncode == 0, done.stderr
    assert "by the evidence" in done.stdout + run(tmp_path, "describe", "m").stdout
    header, first = ok(tmp_path, "predict", "m", "t.csv").splitlines()[:2]
    assert header == "mean,sd,sd_aleatoric,sd_epistemic,lower,upper" and all(float(cell) for cell in first.split(","))


def test_logistic_writes_a_model_like_any_other(tmp_path):
    linear(tmp_path)
    write_csv(tmp_path / "c.csv", ["u", "v", "size"], [[i % 7 - 3, i % 5, ("low", "mid", "high")[(i % 7 > 2) + (i % 7 > 4)]] for i in range(210)])
    done = run(tmp_path, "fit", "c.csv", "--target", "size", "--method", "logistic", "--model", "m", "--test-fraction", 0.2)
    assert done.returncode == 0, done.stderr
    assert "by the evidence" in done.stdout + run(tmp_path, "describe", "m").stdout
    report = json.loads(ok(tmp_path, "evaluate", "m", "c.csv", "--json"))
    assert report["accuracy"] > 0.9 and report["nll"] < 0.4
    report = json.loads(ok(tmp_path, "compare", "c.csv", "--target", "size", "--methods", "logistic", "--threads", 1, "--json"))
    assert [each["method"] for each in report["methods"]] == ["logistic", "extra-trees", "constant"]
    done = run(tmp_path, "fit", "c.csv", "--target", "size", "--method", "logistic", "--max-columns", 1)
    assert done.returncode == 2 and "at most 1 encoded columns (max_columns); received 2" in done.stderr


def test_repeats_compare_the_two_best_by_split(tmp_path):
    linear(tmp_path)
    words = ["compare", "t.csv", "--target", "y", "--methods", "ridge", "--repeats", 4, "--threads", 1]
    report = json.loads(ok(tmp_path, *words, "--json"))
    assert [run["split_seed"] for run in report["methods"][0]["runs"]] == [0, 1, 2, 3]
    leading = report["leading"]
    assert (leading["first"], leading["second"], leading["decided"], leading["splits"]) == ("ridge", "constant", True, 4)
    assert leading["difference"] < -leading["bound"] < 0
    assert "nll of ridge below that of constant by" in ok(tmp_path, *words) and "decided at 95 %" in ok(tmp_path, *words)
    assert "leading" not in json.loads(ok(tmp_path, *words[:-4], "--threads", 1, "--json"))
    write_csv(tmp_path / "s.csv", ["time", "y"], [[f"2020-01-{day:02}", day % 5] for day in range(1, 31)])
    done = run(tmp_path, "compare", "s.csv", "--target", "y", "--methods", "ridge", "--window", 3, "--time", "time", "--repeats", 2)
    assert done.returncode == 2 and "one split of a time series" in done.stderr and "leave --repeats and --cross-validate out" in done.stderr


def test_folds_test_every_row_once(tmp_path):
    linear(tmp_path, rows=83)
    words = ["compare", "t.csv", "--target", "y", "--methods", "ridge", "--cross-validate", 5, "--threads", 1]
    report = json.loads(ok(tmp_path, *words, "--json"))
    runs = report["methods"][0]["runs"]
    assert [run["fold"] for run in runs] == [0, 1, 2, 3, 4] and sorted(run["n"] for run in runs) == [16, 16, 17, 17, 17]
    leading = report["leading"]
    assert (leading["first"], leading["splits"], leading["decided"]) == ("ridge", 5, True) and report["folds"] == 5
    for more in (["--repeats", 2], ["--test-fraction", 0.3]):
        assert "the folds are the test parts" in run(tmp_path, *words, *more).stderr
    assert "from 2 to 83 folds" in run(tmp_path, *words[:-3], 84).stderr
