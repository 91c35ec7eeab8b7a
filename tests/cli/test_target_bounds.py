"""A target within known bounds: `fit --bounds`, its answers, and what it refuses."""

import csv
import io
import json
import math
import random

import pytest
from conftest import refused, run, write_csv

FIT = ["fit", "shares.csv", "--target", "y", "--model", "m", "--method", "ridge"]


def rows(count, seed, low=0.0, high=1.0):
    draw = random.Random(seed)
    out = []
    for _ in range(count):
        x = draw.uniform(-2, 2)
        out.append([x, low + (high - low) / (1 + math.exp(-2 * x - draw.gauss(0, 1)))])
    return out


@pytest.fixture
def folder(tmp_path):
    write_csv(tmp_path / "shares.csv", ["x", "y"], rows(120, 1))
    return tmp_path


def ok(folder, *words):
    done = run(folder, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_answers_lie_within_the_bounds(folder):
    ok(folder, *FIT, "--bounds", "0,1", "--calibrate", "conformal", "--calibration-fraction", 0.3)
    write_csv(folder / "far.csv", ["x"], [[-2.0], [0.0], [2.0]])
    answers = list(csv.DictReader(io.StringIO(ok(folder, "predict", "m", "far.csv"))))
    for one in answers:
        low, median, high = (float(one[name]) for name in ("lower", "median", "upper"))
        assert 0 <= low < median < high <= 1 and 0 < float(one["mean"]) < 1
    write_csv(folder / "fresh.csv", ["x", "y"], rows(100, 2))
    assert json.loads(ok(folder, "evaluate", "m", "fresh.csv", "--json"))["nll"] < 0
    assert "0,1" in ok(folder, "describe", "m")


def test_bounds_that_are_none_are_refused(folder):
    for text in ("1,0", "one,two", "3"):
        assert "expected bounds LOW,HIGH of the target" in refused(folder, *FIT, f"--bounds={text}")
    assert "at least one finite end" in refused(folder, *FIT, "--bounds=,")
    assert "for --bounds" in refused(folder, *FIT, "--bounds", "0,1", "--likelihood", "poisson")
    told = refused(folder, "fit", "shares.csv", "--target", "y", "--model", "m", "--bounds", "0,")
    assert "expected two bounds of a target for auto" in told and "--method" in told


def test_targets_at_and_beyond_the_bounds_are_named(folder):
    ok(folder, *FIT, "--bounds", "0,1")
    write_csv(folder / "fresh.csv", ["x", "y"], [[0.1, 0.4], [0.2, 1.5]])
    assert "expected a target 'y' above 0 and below 1 (--bounds); received 1.5" in refused(folder, "evaluate", "m", "fresh.csv")
    write_csv(folder / "shares.csv", ["x", "y"], [*rows(60, 1), [0.3, 0], [0.4, 1]])
    told = refused(folder, *FIT[:-3], "other", *FIT[-2:], "--bounds", "0,1", "--valid-fraction", 0)
    assert "exactly at a bound" in told and "widen --bounds, or leave such rows out" in told
