"""The study of the fits that `auto` leaves out: its rows are fits that no time limit has cut."""

import csv
import gzip
import os
import random

import pytest
import results
from measured import study
from run import ROOT

TOOL = os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes"))


@pytest.fixture
def runner(tmp_path):
    draw = random.Random(1)
    with gzip.open(tmp_path / "t.csv.gz", "wt", newline="") as file:
        csv.writer(file).writerows([["x", "y"], *([draw.random(), draw.gauss(0, 1)] for _ in range(80))])
    return study("auto_fits").runner(TOOL, tmp_path)


def cell(limit):
    return results.asked("auto_fits", "t", "auto", 0, f"--split-seed 0 --candidates constant,ridge --time-limit {limit}")


def test_a_fit_that_the_time_limit_cut_is_no_row(runner):
    row = runner.run(cell(1e-6))
    assert row["error"].startswith("the time limit decided what was tried") and "nll_standardized" not in row
    row = runner.run(cell(3000))
    assert row["error"] == "" and row["cpu_s"] > 0 and row["nll_standardized"] > 0
