"""Conformal intervals on the command line: saved with the model, used for every level, refused where rows are too few."""

import csv
import json
import math
import re

import pytest
from conftest import FEW, header, predicted, refused, run, toy_rows, write_csv


def predictions(folder, *words):
    answers = predicted(folder, *words)
    return [dict(zip(answers, row)) for row in zip(*answers.values())]


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """Folder with toy.csv and a model m that kept 60 of its 300 rows for calibration."""
    folder = tmp_path_factory.mktemp("calibrated")
    write_csv(folder / "toy.csv", header(2), toy_rows(300))
    done = run(folder, "fit", "toy.csv", "--target", "y", "--method", "dbk", "--model", "m", "--test-fraction", 0.2, "--threads", 1, "--json",
               "--calibrate", "conformal", "--calibration-fraction", 0.2, "--level", 0.9, *FEW)
    assert done.returncode == 0, done.stderr
    (folder / "fit.json").write_text(done.stdout)
    return folder


def test_fit_keeps_rows_for_it_and_says_so(calibrated):
    fit = json.loads((calibrated / "fit.json").read_text())
    assert fit["rows"] == {"train": 150, "valid": 30, "test": 60, "calibration": 60}
    assert fit["calibration"] == "conformal"
    facts = json.loads(run(calibrated, "describe", "m", "--json").stdout)
    assert facts["rows"]["calibration"] == 60 and facts["calibration"] == {"method": "conformal", "rows": 60}
    assert facts["tensors"]["calibration.scores"] == [60]
    assert "split conformal, calibrated on 60 rows" in run(calibrated, "describe", "m").stdout


def test_fit_prints_the_factor(tmp_path, calibrated):
    words = ["--target", "y", "--threads", 1, "--calibrate", "conformal", *FEW]
    done = run(tmp_path, "fit", calibrated / "toy.csv", "--method", "dbk", *words)
    assert re.search(r"conformal interval at 95 %: mean ± [0-9.]+ sd \(a Gaussian's: 1.960\), from 30 rows", done.stdout), done.stdout


def test_fit_prints_the_normal_scores_of_an_answer_that_is_no_gaussian(tmp_path, calibrated):
    words = ["--target", "y", "--threads", 1, "--calibrate", "conformal", "--candidates", "ridge"]
    done = run(tmp_path, "fit", calibrated / "toy.csv", *words)
    assert re.search(r"conformal interval at 95 %: quantiles at the normal scores ±[0-9.]+ \(a Gaussian's: 1.960\)", done.stdout), done.stdout


def test_the_calibration_rows_can_be_scored(calibrated):
    """The interval's factor is the ceil(61 * .9)-th of their 60 scores."""
    done = run(calibrated, "evaluate", "m", "toy.csv", "--split", "calibration", "--level", 0.9, "--json")
    report = json.loads(done.stdout)
    assert report["n"] == 60 and report["coverage"] == pytest.approx(55 / 60)
    assert run(calibrated, "fit", "toy.csv", "--target", "y", "--method", "dnn", "--model", "plain", "--threads", 1, *FEW).returncode == 0
    assert "fit with --calibrate conformal" in refused(calibrated, "evaluate", "plain", "toy.csv", "--split", "calibration")


def test_intervals_are_a_factor_of_sd_taken_from_the_scores(calibrated):
    numpy = pytest.importorskip("safetensors.numpy")
    stored = numpy.load_file(calibrated / "m")
    scores = sorted(stored["calibration.scores"])
    rows = stored["split.calibration"]
    with open(calibrated / "toy.csv") as file:
        targets = [float(row["y"]) for row in csv.DictReader(file)]
    for level in (0.5, 0.9, 0.95):
        answers = predictions(calibrated, "m", "toy.csv", "--level", level)
        by_hand = sorted(abs(targets[i] - answers[i]["mean"]) / answers[i]["sd"] for i in rows)
        assert scores == pytest.approx(by_hand, rel=1e-9)
        factor = scores[math.ceil(61 * level - 1e-9) - 1]
        if level == 0.9:
            chosen = json.loads((calibrated / "fit.json").read_text())["conformal"]
            low, high = chosen.pop("coverage_range")  # of 60 rows
            assert chosen == {"level": 0.9, "factor": factor} and 0.8 < low < 0.9 < high < 1
        for answer in answers:  # wider by 1e-9 of it, so that the row of this score lies inside
            assert answer["upper"] - answer["mean"] == pytest.approx(factor * answer["sd"], rel=2e-9)
            assert answer["mean"] - answer["lower"] == pytest.approx(factor * answer["sd"], rel=2e-9)


def test_evaluate_and_fit_report_the_calibrated_interval(calibrated):
    fit = json.loads((calibrated / "fit.json").read_text())
    words = ["evaluate", "m", "toy.csv", "--level", 0.9, "--json"]
    held_out = json.loads(run(calibrated, *words, "--split", "test").stdout)
    for key, value in fit["test"].items():
        assert held_out[key] == pytest.approx(value, rel=1e-9), key
    report = json.loads(run(calibrated, *words).stdout)
    assert report["calibration"] == "conformal"
    answers = predictions(calibrated, "m", "toy.csv", "--level", 0.9)
    with open(calibrated / "toy.csv") as file:
        targets = [float(row["y"]) for row in csv.DictReader(file)]
    inside = [a["lower"] <= y <= a["upper"] for a, y in zip(answers, targets)]
    misses = [max(a["lower"] - y, 0) + max(y - a["upper"], 0) for a, y in zip(answers, targets)]
    width = sum(a["upper"] - a["lower"] for a in answers) / 300
    assert report["coverage"] == pytest.approx(sum(inside) / 300, abs=1e-12)
    assert report["width"] == pytest.approx(width, rel=1e-9)
    assert report["interval_score"] == pytest.approx(width + 20 * sum(misses) / 300, rel=1e-9)
    rows = json.loads((calibrated / "fit.json").read_text())
    sd = report["width"] / report["width_standardized"]
    assert sd == pytest.approx(rows["test"]["mae"] / rows["test"]["mae_standardized"], rel=1e-9)


def test_the_level_changes_lower_and_upper_alone(tmp_path, calibrated):
    plain = predictions(calibrated, "m", "toy.csv", "--level", 0.5)
    wide = predictions(calibrated, "m", "toy.csv", "--level", 0.95)
    for a, b in zip(plain, wide):
        assert all(a[name] == b[name] for name in ("mean", "sd"))
        assert b["lower"] < a["lower"] < a["upper"] < b["upper"]


def test_a_level_that_needs_more_rows(tmp_path, calibrated):
    for command in ("predict", "evaluate"):
        split = ["--split", "test"] if command == "evaluate" else []
        line = refused(tmp_path, command, calibrated / "m", calibrated / "toy.csv", "--level", 0.99, *split)
        assert "at least 99 calibration rows" in line and "received 60" in line


def test_too_few_calibration_rows_are_refused_before_the_fit(tmp_path, calibrated):
    words = ["fit", calibrated / "toy.csv", "--target", "y", "--method", "dbk", "--calibrate", "conformal", "--steps", 10**8]
    line = refused(tmp_path, *words, "--calibration-fraction", 0.06)
    assert "at least 19 calibration rows for a level of 0.95" in line and "received 18" in line
    assert "at least 999" in refused(tmp_path, *words, "--level", 0.999)
    assert "fractions that leave rows" in refused(tmp_path, *words, "--calibration-fraction", 0.95)


def test_rows_of_one_input_count_once(tmp_path):
    """A tenth of 200 inputs in 8 rows each: 160 rows, but 20 of what an interval of .99 needs 99 of."""
    inputs = toy_rows(200)
    rows = [[*row[:2], row[2] + 0.001 * i] for row in inputs for i in range(8)]
    write_csv(tmp_path / "t.csv", header(2), rows)
    words = ["fit", "t.csv", "--target", "y", "--method", "dnn", "--calibrate", "conformal", "--model", "m", "--threads", 1, *FEW]
    line = refused(tmp_path, *words, "--level", 0.99)
    assert "at least 99 groups of identical inputs" in line and "received 20 groups (160 rows)" in line
    done = run(tmp_path, *words)
    assert done.returncode == 0 and "rest on 20 groups of identical inputs (160 calibration rows)" in done.stderr
    assert "160 rows of its own in 20 groups of identical inputs" in run(tmp_path, "describe", "m").stdout
    assert json.loads(run(tmp_path, "describe", "m", "--json").stdout)["calibration"] == {
        "method": "conformal", "rows": 160, "groups": 20}
    assert "received 20 groups" in run(tmp_path, "predict", "m", "t.csv", "--level", 0.99).stderr
    scored = run(tmp_path, "evaluate", "m", "t.csv", "--split", "calibration", "--json")
    assert json.loads(scored.stdout)["n"] == 160


def test_wrong_use(tmp_path, calibrated):
    words = ["fit", calibrated / "toy.csv", "--target", "y", *FEW]
    refused(tmp_path, *words, "--calibrate", "platt")
    assert "--calibrate" in refused(tmp_path, *words, "--calibration-fraction", 0.2)
    for fraction in (0, 1, -0.1, "nan"):
        refused(tmp_path, *words, "--calibrate", "conformal", "--calibration-fraction", fraction)


def test_scale_on_all_is_said(tmp_path, calibrated):
    words = ["fit", calibrated / "toy.csv", "--target", "y", "--method", "dnn", "--threads", 1, *FEW]
    done = run(tmp_path, *words, "--scale-on", "all", "--model", "all")
    assert done.returncode == 0 and "range of every row" in done.stderr
    assert "scaled on" in run(tmp_path, "describe", "all").stdout
    assert json.loads(run(tmp_path, "describe", "all", "--json").stdout)["encoder"]["scale_on"] == "all"
    assert run(tmp_path, *words, "--model", "train").returncode == 0
    assert "scaled on" not in run(tmp_path, "describe", "train").stdout
    refused(tmp_path, *words, "--scale-on", "test")
