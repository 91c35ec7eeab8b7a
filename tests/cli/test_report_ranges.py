"""report ends, in little memory, on columns and targets whose ranges cannot be drawn, and its charts say so."""

import random
import signal

import pytest
from conftest import TOOL, run, write_csv
from launcher import Launcher

TWO53 = 2**53
NORMAL = [random.Random(i).gauss(0, 1) for i in range(60)]
CLOSE, FAR = "too close: rounding would place the marks", "too far apart for a number of double precision"

# The column or the target, and what the chart says instead of being drawn.
RANGES = {
    "rounded": ("x", [0.3 if z < 0 else 0.1 + 0.2 for z in NORMAL], CLOSE),
    "one_and_its_neighbour": ("x", [1 if z < 0 else 1 + 2**-52 for z in NORMAL], CLOSE),
    "large_whole": ("x", [TWO53 + 2 * i for i in range(60)], None),
    "opposite_ends": ("x", [-1e308 if z < 0 else 1e308 for z in NORMAL], FAR),
    "subnormal": ("x", [z * 1e-310 for z in NORMAL], None),
    "least_number": ("x", [0 if z < 0 else 5e-324 for z in NORMAL], None),
    "large_target": ("y", [1e16 + z for z in NORMAL], CLOSE),
    "target_and_its_neighbour": ("y", [0.3 if z < 0 else 0.1 + 0.2 for z in NORMAL], CLOSE),
}


@pytest.fixture(scope="module")
def launcher():
    return Launcher()


def ends_in_little_memory(launcher, folder, *words):
    """The tool ends with 0, within so many seconds of computing and far from the gigabytes of a chart that never ends."""
    took = launcher([TOOL, *words, "--threads", "1"], folder, seconds=30)
    assert took["code"] != -signal.SIGXCPU, f"{words[0]} did not end"
    assert took["code"] == 0, took["stderr"]
    assert took["megabytes"] < 500, took["megabytes"]


@pytest.mark.parametrize("name", RANGES)
def test_the_page_ends_and_says_what_is_not_drawn(launcher, tmp_path, name):
    column, cells, says = RANGES[name]
    columns = {"x": NORMAL, "b": [z * z for z in NORMAL], "y": [3 * z + 0.1 * NORMAL[i - 1] for i, z in enumerate(NORMAL)]}
    columns[column] = cells
    write_csv(tmp_path / "t.csv", list(columns), [[repr(cell) for cell in row] for row in zip(*columns.values())])
    assert run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "ridge", "--model", "m", "--threads", 1).returncode == 0
    ends_in_little_memory(launcher, tmp_path, "report", "m", "t.csv")
    page = (tmp_path / "report.html").read_text()
    assert ("not drawn: " in page) == (says is not None)
    assert says is None or says in page
    assert "nan" not in page.lower() and ">inf" not in page
    ends_in_little_memory(launcher, tmp_path, "report", "m", "t.csv", "--json")
    ends_in_little_memory(launcher, tmp_path, "evaluate", "m", "t.csv", "--plots", "plots")
