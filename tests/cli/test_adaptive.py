"""fit --calibrate adaptive: intervals whose state update advances."""

import csv
import json

import pytest
from conftest import header, refused, run, toy_rows, write_csv
from inputs import series

FIT = ["--target", "y", "--window", "6", "--time", "time", "--calibrate", "adaptive", "--level", "0.9", "--steps", "100", "--hidden", "16", "--blocks", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adaptive")
    series(folder / "air.csv")
    series(folder / "next.csv", hours=46, start=394)  # six rows of context, then 40 new ones
    for method in ("dnn", "bll"):
        done = run(folder, "fit", "air.csv", "--method", method, "--model", f"{method}.st", *FIT)
        assert done.returncode == 0, done.stderr
        (folder / f"{method}.out").write_text(done.stdout)
    return folder


def facts(folder, model):
    return json.loads(run(folder, "describe", model, "--json").stdout)


def widths(folder, model):
    done = run(folder, "predict", model, "next.csv", "--level", "0.9")
    assert done.returncode == 0, done.stderr
    return [float(row["upper"]) - float(row["lower"]) for row in csv.DictReader(done.stdout.splitlines())]


def test_a_fit_says_where_the_intervals_begin(folder):
    assert "adaptive interval at 90 %: at present mean ± " in (folder / "dnn.out").read_text()
    found = facts(folder, "dnn.st")["calibration"]
    assert found["method"] == "adaptive" and found["seen"] == found["kept"] == found["rows"] > 20
    assert f"adaptive, begun on {found['rows']} windows of its own, at present after {found['rows']}" in run(folder, "describe", "dnn.st").stdout


def test_update_moves_the_state_and_says_what_it_does_not_learn(folder):
    before = facts(folder, "dnn.st")["calibration"]["seen"]
    done = run(folder, "update", "dnn.st", "next.csv", "--out", "moved")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"moved: the intervals followed 40 windows, {before + 40} in all\n"
    assert "dnn has no exact posterior" in done.stderr
    assert facts(folder, "moved")["calibration"]["seen"] == before + 40
    assert widths(folder, "moved") != widths(folder, "dnn.st")


def test_a_method_with_an_exact_posterior_learns_the_rows_too(folder):
    before = facts(folder, "bll.st")
    done = run(folder, "update", "bll.st", "next.csv", "--out", "learned", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["added"] == 40 and report["rows"] == before["summary"]["rows"] + 40
    assert report["followed"] == before["calibration"]["seen"] + 40
    assert not any("no exact posterior" in note for note in report["notes"])
    done = run(folder, "forget", "bll.st", "next.csv")
    assert done.returncode == 2 and "expected a model without --calibrate adaptive" in done.stderr and not done.stdout


def test_evaluate_follows_the_targets_without_changing_the_model(folder):
    content = (folder / "dnn.st").read_bytes()
    report = json.loads(run(folder, "evaluate", "dnn.st", "next.csv", "--level", "0.9", "--json").stdout)
    assert report["calibration"] == "adaptive" and 0.6 < report["coverage_online"] <= 1
    assert "following the targets" in run(folder, "evaluate", "dnn.st", "next.csv").stdout
    assert (folder / "dnn.st").read_bytes() == content


def test_rows_of_a_table_have_no_order_to_follow(tmp_path):
    write_csv(tmp_path / "toy.csv", header(2), toy_rows(60))
    assert "windows of a time series for --calibrate adaptive" in refused(
        tmp_path, "fit", "toy.csv", "--target", "y", "--calibrate", "adaptive", "--model", "m")
