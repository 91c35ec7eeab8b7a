"""Calibration by the groups of a column on the command line."""

import json
import random

import pytest
from conftest import predicted, refused, run, write_csv


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    """Folder with data.csv, whose rows of region b have five times the noise of those of a, three rows of region c, and a model m."""
    folder = tmp_path_factory.mktemp("grouped")
    draw = random.Random(1)
    rows = []
    for i in range(500):
        region = "c" if i < 3 else "b" if i % 4 == 0 else "a"
        x = draw.gauss(0, 1)
        rows.append([x, region, x + draw.gauss(0, 1.5 if region == "b" else 0.3)])
    write_csv(folder / "data.csv", ["x", "region", "y"], rows)
    write_csv(folder / "new.csv", ["x", "region"], [[0, "a"], [0, "b"], [0, "d"]])
    write_csv(folder / "bare.csv", ["x"], [[0]])
    done = run(folder, "fit", "data.csv", "--target", "y", "--method", "ridge", "--model", "m", "--ignore", "region", "--calibrate", "conformal",
               "--calibrate-by", "region", "--calibration-fraction", 0.4, "--level", 0.9)
    assert done.returncode == 0, done.stderr
    assert "by 'region'" in done.stdout
    return folder


def test_each_group_has_intervals_of_its_own(grouped):
    answers = predicted(grouped, "m", "new.csv", "--level", 0.9)
    width = [upper - lower for lower, upper in zip(answers["lower"], answers["upper"])]
    assert width[1] > 2.5 * width[0]
    assert width[0] < width[2] < width[1]


def test_a_cell_without_calibration_rows_is_named(grouped):
    assert "'d' (1 row)" in " ".join(run(grouped, "predict", "m", "new.csv", "--level", 0.9).stderr.split())


def test_describe_lists_the_groups(grouped):
    by = json.loads(run(grouped, "describe", "m", "--json").stdout)["calibration"]["by"]
    rows = {one["cell"]: one["rows"] for one in by["groups"]}
    assert by["column"] == "region" and sum(rows.values()) == 200 and rows["a"] > rows["b"] > 20
    assert "by region, each group by itself" in " ".join(run(grouped, "describe", "m").stdout.split())


def test_predict_needs_the_column(grouped):
    assert "region" in refused(grouped, "predict", "m", "bare.csv")


def test_it_needs_a_calibration(grouped):
    assert "--calibrate conformal" in refused(grouped, "fit", "data.csv", "--target", "y", "--calibrate-by", "region")
