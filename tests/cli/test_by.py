"""evaluate --by, and the coverage by the width of the interval, against what predict says."""

import csv
import json

import pytest
from conftest import header, predicted, refused, run, toy_rows, write_csv


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    """A folder with a model and new.csv, whose column `place` the model has never seen."""
    folder = tmp_path_factory.mktemp("grouped")
    write_csv(folder / "train.csv", header(2), toy_rows(200))
    places = ["north"] * 60 + ["south"] * 30 + ["east"] * 8 + ["west"] * 2
    rows = [[*row, place] for row, place in zip(toy_rows(100, seed=2), places)]
    for row in rows[60:90]:
        row[2] += 5  # far from what the model predicts
    write_csv(folder / "new.csv", [*header(2), "place"], rows)
    assert run(folder, "fit", "train.csv", "--target", "y", "--method", "ridge", "--threads", 1, "--model", "m").returncode == 0
    return folder


def evaluated(folder, *words):
    done = run(folder, "evaluate", "m", "new.csv", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_groups_of_a_column_that_the_model_has_not_seen(grouped):
    report = evaluated(grouped, "--by", "place", "--level", "0.9")
    (by,) = report["by"]
    assert by["column"] == "place"
    assert [(group["name"], group["rows"]) for group in by["groups"]] == [("north", 60), ("south", 30)]
    assert by["few"]["rows"] == 10 and by["few_groups"] == 2
    answers = predicted(grouped, "m", "new.csv", "--level", "0.9")
    with open(grouped / "new.csv") as file:
        rows = list(csv.DictReader(file))
    for group in by["groups"]:
        places = [i for i, row in enumerate(rows) if row["place"] == group["name"]]
        y = [float(rows[i]["y"]) for i in places]
        inside = [answers["lower"][i] <= v <= answers["upper"][i] for i, v in zip(places, y)]
        assert group["coverage"] == pytest.approx(sum(inside) / len(inside))
        assert group["coverage_range"][0] <= group["coverage"] <= group["coverage_range"][1]
        assert group["width"] == pytest.approx(sum(answers["upper"][i] - answers["lower"][i] for i in places) / len(places))
        error = sum((answers["mean"][i] - v) ** 2 for i, v in zip(places, y)) / len(places)
        assert group["rmse"] == pytest.approx(error ** 0.5)
    assert by["groups"][1]["coverage"] < by["groups"][0]["coverage"]
    means = sum(group["nll"] * group["rows"] for group in [*by["groups"], by["few"]]) / 100
    assert means == pytest.approx(report["nll"])


def test_the_text_has_the_groups_and_the_widths(grouped):
    done = run(grouped, "evaluate", "m", "new.csv", "--by", "place,x0", "--level", "0.9")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("by place") and "coverage at 90 %" in line and "its 95 % range" in line for line in lines)
    assert any(line.startswith("2 groups, fewer than 10 rows") for line in lines)
    assert sum(line.startswith("[") for line in lines) == 5  # x0 in five bins
    assert any(line.startswith("coverage at 90 % by width") for line in lines)


def test_several_columns_and_the_flag_twice(grouped):
    assert evaluated(grouped, "--by", "place,x0")["by"] == evaluated(grouped, "--by", "place", "--by", "x0")["by"]


def test_coverage_by_size_adds_up(grouped):
    report = evaluated(grouped)
    bins = report["coverage_by_size"]["bins"]
    assert sum(one["rows"] for one in bins) == 100
    assert sum(one["rows"] * one["coverage"] for one in bins) / 100 == pytest.approx(report["coverage"])
    assert report["coverage_by_size"]["largest_gap"] == pytest.approx(max(abs(one["gap"]) for one in bins))
    assert "by" not in report


def test_of_classes_groups_have_accuracy(grouped):
    rows = [[x, "b" if x > 0 else "a", "left" if z > 0 else "right"] for x, z, _ in toy_rows(120)]
    write_csv(grouped / "classes.csv", ["x", "label", "side"], rows)
    words = ["--target", "label", "--ignore", "side", "--method", "logistic", "--threads", 1, "--model", "c"]
    assert run(grouped, "fit", "classes.csv", *words).returncode == 0
    done = run(grouped, "evaluate", "c", "classes.csv", "--by", "side", "--json")
    report = json.loads(done.stdout)
    assert {group["name"] for group in report["by"][0]["groups"]} == {"left", "right"}
    assert all("accuracy" in group and "coverage" not in group for group in report["by"][0]["groups"])
    assert "coverage_by_size" not in report


def test_conditional_coverage(grouped):
    rows = [[x, z, y + 2 * (x > 0) * (y - x)] for x, z, y in toy_rows(300, seed=4)]  # errors grow with x0
    write_csv(grouped / "uneven.csv", header(2), rows)
    done = run(grouped, "evaluate", "m", "uneven.csv", "--conditional", "--json")
    assert done.returncode == 0, done.stderr
    risk = json.loads(done.stdout)["conditional"]
    assert risk["rows"] == 300 and risk["folds"] == 5 and "absent" not in risk
    assert risk["ert_l1_se"] >= 0 and risk["ert_brier"] <= 1
    text = run(grouped, "evaluate", "m", "uneven.csv", "--conditional").stdout
    assert "ert_l1, mean |coverage - level|" in text and risk["says"] in text
    few = run(grouped, "evaluate", "m", "new.csv", "--by", "place", "--on-bad-row", "skip", "--conditional", "--json")
    assert "absent" not in json.loads(few.stdout)["conditional"]  # 100 rows are enough
    assert "conditional" not in json.loads(run(grouped, "evaluate", "m", "uneven.csv", "--json").stdout)


def test_a_column_that_is_not_there(grouped):
    line = refused(grouped, "evaluate", "m", "new.csv", "--by", "plaice")
    assert "columns of the table for --by" in line and "'plaice'" in line and "place" in line
    assert "--by" in refused(grouped, "evaluate", "m", "new.csv", "--by", "place", "--folds", "3")
