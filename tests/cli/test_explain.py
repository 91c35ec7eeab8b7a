"""explain: what the mean, the noise and the error depend on, by the columns of a table whose truth is known."""

import csv
import json
import math
import random

import pytest
from conftest import refused, run, write_csv
from inputs import reviews, series

HEAD = ["x1", "x2", "kind", "y"]


def rows(count, seed):
    """y = 3 x1 + noise; x2 is a rounded copy of x1, and `kind` says nothing."""
    draw = random.Random(seed)
    for _ in range(count):
        x1 = draw.gauss(0, 1)
        yield [x1, round(x1, 1), draw.choice(["red", "blue"]), 3 * x1 + draw.gauss(0, 0.5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    write_csv(folder / "t.csv", HEAD, rows(200, 1))
    write_csv(folder / "bare.csv", HEAD[:3], [row[:3] for row in rows(60, 2)])
    write_csv(folder / "empty.csv", HEAD, [[*row[:3], ""] for row in rows(60, 2)])
    write_csv(folder / "few.csv", HEAD, rows(9, 3))
    write_csv(folder / "far.csv", HEAD, [[1e300, *row[1:]] for row in rows(20, 4)])
    done = run(folder, "fit", "t.csv", "--target", "y", "--method", "ridge", "--model", "m", "--ignore", "x2")
    assert done.returncode == 0, done.stderr
    done = run(folder, "fit", "t.csv", "--target", "y", "--method", "ridge", "--model", "both")
    assert done.returncode == 0, done.stderr
    return folder


def explained(folder, *words):
    done = run(folder, "explain", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_column_of_the_mean_comes_first(folder):
    found = explained(folder, "m", "t.csv")
    assert [one["group"] for one in found["importance"]] == ["x1", "kind"]
    x1, kind = found["importance"]
    assert found["targets"] and found["rows"] == 200 and found["repeats"] == 5 and "partial_dependence" not in found
    assert abs(x1["mean"]["value"] - 2) < 0.3 and abs(x1["rmse"]["value"] - (math.sqrt(0.25 + 18) - 0.5)) < 0.7
    assert x1["nll"]["se"] > 0 and "accuracy" not in x1
    assert abs(kind["mean"]["value"]) < 0.05 and x1["width"]["value"] < 0.1
    text = run(folder, "explain", "m", "t.csv").stdout
    assert "200 rows permuted" in text and "±" in text and text.index("x1") < text.index("kind")
    assert run(folder, "explain", "m", "t.csv").stdout == text
    once = explained(folder, "m", "t.csv", "--repeats", 1, "--rows", 50)
    assert once["rows"] == 50 and "se" not in once["importance"][0]["nll"]


@pytest.mark.parametrize("data", ["bare.csv", "empty.csv"])
def test_without_a_target_the_errors_are_left_out_and_it_is_said(folder, data):
    done = run(folder, "explain", "m", data)
    assert done.returncode == 0 and "no target 'y': how much the errors rise is left out" in done.stderr
    assert "rmse" not in done.stdout and "mean" in done.stdout
    found = explained(folder, "m", data)
    assert not found["targets"] and "nll" not in found["importance"][0] and found["importance"][0]["group"] == "x1"


def test_columns_that_go_together_are_permuted_together(folder):
    done = run(folder, "explain", "both", "t.csv", "--groups", "auto", "--json")
    assert "permuted together: 'x1 + x2'" in done.stderr
    assert [one["columns"] for one in json.loads(done.stdout)["importance"]] == [["x1", "x2"], ["kind"]]
    given = explained(folder, "both", "t.csv", "--groups", "x1, kind")
    assert {one["group"] for one in given["importance"]} == {"x1 + kind", "x2"}
    done = run(folder, "explain", "both", "t.csv", "--column", "x1")
    assert "combinations that the data do not have: it goes together with 'x2'" in done.stderr


def test_the_curve_of_a_linear_model_is_a_line(folder):
    found = explained(folder, "m", "t.csv", "--column", "x1", "--column", "kind", "--out", "curves.csv")
    x1, kind = found["partial_dependence"]
    points = [(point["value"], point["mean"]) for point in x1["points"]]
    slope = (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])
    assert len(points) == 20 and abs(slope - 3) < 0.3
    for value, mean in points:
        assert abs(mean - points[0][1] - slope * (value - points[0][0])) < 1e-5
    assert {point["value"] for point in kind["points"]} == {"red", "blue"} and kind["kind"] == "categorical"
    with open(folder / "curves.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["column"] for line in lines] == ["x1"] * 20 + ["kind"] * 2
    assert list(lines[0]) == ["column", "value", "rows", "mean", "sd_aleatoric", "sd_epistemic", "width"]
    assert float(lines[3]["mean"]) == x1["points"][3]["mean"] and float(lines[3]["value"]) == x1["points"][3]["value"]
    table = run(folder, "explain", "m", "t.csv", "--out", "-").stdout.splitlines()
    assert table[0].startswith("group,nll,nll_se,rmse,rmse_se,mean,mean_se") and len(table) == 3


def test_classes_have_their_probabilities(folder):
    done = run(folder, "fit", "t.csv", "--target", "kind", "--method", "logistic", "--model", "classes")
    assert done.returncode == 0, done.stderr
    found = explained(folder, "classes", "t.csv", "--column", "y")
    assert "accuracy" in found["importance"][0] and "rmse" not in found["importance"][0]
    for point in found["partial_dependence"][0]["points"]:
        assert abs(sum(point["probabilities"].values()) - 1) < 1e-9 and point["mutual_information"] >= 0


def test_windows_have_an_importance_and_no_curve(tmp_path):
    series(tmp_path / "s.csv", 200)
    done = run(tmp_path, "fit", "s.csv", "--target", "y", "--window", 4, "--time", "time", "--method", "dnn", "--steps", 20, "--threads", 1, "--model", "m")
    assert done.returncode == 0, done.stderr
    names = {one["group"] for one in explained(tmp_path, "m", "s.csv")["importance"]}
    assert names == {"x", "y"}  # y: the past of the target
    assert "rows of a table for the partial dependence" in refused(tmp_path, "explain", "m", "s.csv", "--column", "y")


def test_what_cannot_be_explained_is_refused(folder):
    def said(*words):
        return refused(folder, "explain", *words)

    assert "at least 10 rows with an answer; received 9" in said("m", "few.csv")
    assert "far.csv" in said("m", "far.csv") or "x1" in said("m", "far.csv")
    assert "an input of the model; received 'x2'" in said("m", "t.csv", "--column", "x2")
    assert "received 'x1' twice" in said("m", "t.csv", "--column", "x1", "--column", "x1")
    assert "received 'z'" in said("m", "t.csv", "--groups", "x1,z")
    assert "each column once in --groups; received 'x1' twice" in said("m", "t.csv", "--groups", "x1;x1")
    assert "without a name" in said("m", "t.csv", "--groups", "x1,,kind")
    assert "--json without --out -" in said("m", "t.csv", "--json", "--out", "-")
    assert "--repeats" in said("m", "t.csv", "--repeats", 0)
    assert "--rows" in said("m", "t.csv", "--rows", 9)
    assert "--out to be a file of its own" in said("m", "t.csv", "--out", "t.csv")


def test_texts_have_no_columns_to_explain(tmp_path):
    reviews(tmp_path / "r.csv", 60)
    done = run(tmp_path, "fit", "r.csv", "--target", "label", "--text", "text", "--method", "dnn", "--steps", 20, "--threads", 1, "--model", "m")
    assert done.returncode == 0, done.stderr
    assert "a model of texts, whose words are no columns" in refused(tmp_path, "explain", "m", "r.csv")
