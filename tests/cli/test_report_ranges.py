"""report ends, in little memory, on columns and targets whose ranges cannot be drawn, and its charts say so."""

import os
import random
import resource
import signal
import subprocess

import pytest
from conftest import TOOL, run, write_csv

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


def bounded(folder, seconds, *words):
    """The exit code of the tool and its largest resident memory in bytes; killed after so many seconds of computing."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    process = subprocess.Popen([TOOL, *map(str, words)], cwd=folder, preexec_fn=limits, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode != -signal.SIGXCPU, f"{words[0]} did not end"
    return process.returncode, used.ru_maxrss * 1024, said


@pytest.mark.parametrize("name", RANGES)
def test_the_page_ends_and_says_what_is_not_drawn(tmp_path, name):
    column, cells, says = RANGES[name]
    columns = {"x": NORMAL, "b": [z * z for z in NORMAL], "y": [3 * z + 0.1 * NORMAL[i - 1] for i, z in enumerate(NORMAL)]}
    columns[column] = cells
    write_csv(tmp_path / "t.csv", list(columns), [[repr(cell) for cell in row] for row in zip(*columns.values())])
    assert run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "ridge", "--model", "m", "--threads", 1).returncode == 0
    code, memory, said = bounded(tmp_path, 30, "report", "m", "t.csv", "--threads", 1)
    assert code == 0, said
    assert memory < 500e6
    page = (tmp_path / "report.html").read_text()
    assert ("not drawn: " in page) == (says is not None)
    assert says is None or says in page
    assert "nan" not in page.lower() and ">inf" not in page
    for words in (["report", "m", "t.csv", "--json"], ["evaluate", "m", "t.csv", "--plots", "plots"]):
        code, memory, said = bounded(tmp_path, 30, *words, "--threads", 1)
        assert code == 0 and memory < 500e6, said
