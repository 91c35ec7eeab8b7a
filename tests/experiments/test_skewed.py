"""The runner of the skewed costs resumes cell by cell and its page judges what is measured."""

import csv
import subprocess
import sys

import pytest
import results
import skewed_report
import skewed_run
from run import ROOT

# Stands for the tool: its intervals hold the 95 % of the rows that are not a multiple of 20.
TOOL = """#!{python}
import csv, json, sys
words = sys.argv[1:]
if "--version" in words:
    print("slimbayes 1 (f00ba12)")
elif words[0] == "fit":
    sys.exit("error: no luck" if "dnn" in words else 0)
elif words[0] == "evaluate":
    print(json.dumps({{"mae": 2.0, "nll": 1.0, "crps": 0.5}}))
else:
    print("mean,lower,upper")
    for i, row in enumerate(csv.DictReader(open("fresh.csv"))):
        print(row["cost"], 0 if i % 20 else 1e9, 1e9, sep=",")
"""


@pytest.fixture
def study(tmp_path):
    tool = tmp_path / "tool"
    tool.write_text(TOOL.format(python=sys.executable))
    tool.chmod(0o755)
    cells = [["skewed", 500, method, seed, ""] for method in ("auto", "dnn") for seed in (0, 1)]
    with open(tmp_path / "cells.csv", "w", newline="") as file:
        csv.writer(file).writerows([results.KEY, *cells])
    return tmp_path


def run(study, *flags):
    words = [sys.executable, ROOT / "experiments/skewed_run.py", "--cells", study / "cells.csv", "--tool", study / "tool"]
    subprocess.run([*words, *flags], check=True, capture_output=True, timeout=120)
    return results.read(study / "results.csv")


def test_cells_resume_and_failures_are_named(study, monkeypatch):
    rows = run(study)
    assert [row["error"] for row in rows] == ["", "", "error: no luck", "error: no luck"]
    assert rows[0]["command"] == "slimbayes fit train.csv --target cost --threads 1 --model m" and rows[0]["commit"] == "f00ba12"
    assert all(0.9 < float(rows[0][f"coverage_{quarter}"]) < 1 for quarter in range(1, 5))
    assert len(run(study)) == 6  # what failed is tried again
    assert len(run(study, "--match", "auto", "--again")) == 6
    skewed_report.write(study)
    page = (study / "README.md").read_text()
    assert "2 of 4 cells measured, at commits f00ba12" in page and "failed: dnn, seed 0: error: no luck" in page
    assert "| `auto` | 2.000 ± 0.000 (2) | 1.000" in page
    assert "no lower bound of auto is below zero | ours | **holds**" in page
    assert "above the best of the rivals, on the mean over the seeds | ours | **open**" in page


def test_the_rivals_see_the_rows_in_one_encoding():
    pytest.importorskip("numpy")
    train, fresh = skewed_run.tables({"seed": "3", "data": "500"})
    a, b = skewed_run.encoded(train, fresh)
    assert a.shape == (500, b.shape[1]) and b.shape[0] == 3000
    assert abs(a.mean(0)).max() < 1e-12 and abs(a.std(0) - 1).max() < 1e-12
