"""The cells of the skewed costs resume cell by cell and their page judges what is measured."""

import json
import shutil
import subprocess
import sys

import pages
import pytest
import results
import studies
from judge import FAILS, HOLDS, OPEN
from run import ROOT

# Stands for the tool: its intervals hold the 95 % of the rows that are not a multiple of 20.
TOOL = """#!{python}
import csv, json, pathlib, sys
words = sys.argv[1:]
if "--version" in words:
    print("slimbayes 1 (f00ba12)")
elif "--dry-run" in words:
    print(json.dumps({{"method": "dnn" if "dnn" in words else "auto", "options": json.loads(pathlib.Path({options!r}).read_text())}}))
elif words[0] == "fit":
    sys.exit("error: no luck" if "dnn" in words else 0)
elif words[0] == "evaluate":
    print(json.dumps({{"mae": 2.0, "nll": 1.0, "crps": 0.5}}))
else:
    print("mean,lower,upper")
    for i, row in enumerate(csv.DictReader(open(words[2]))):
        print(row["cost"], 0 if i % 20 else 1e9, 1e9, sep=",")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The study without its rows; tool and options stand beside it."""
    folder = tmp_path / "skewed"
    folder.mkdir()
    shutil.copy(studies.find("skewed") / "study.py", folder)
    tool = tmp_path / "tool"
    tool.write_text(TOOL.format(python=sys.executable, options=str(tmp_path / "options")))
    tool.chmod(0o755)
    (tmp_path / "options").write_text('{"folds": 5}')
    monkeypatch.setattr(studies, "HERE", tmp_path)
    return folder


def run(folder, *flags, match=",(auto|dnn),[01],"):
    words = [sys.executable, ROOT / "experiments/run.py", folder, "--tool", folder.parent / "tool", "--match", match]
    before = results.read(folder / "results.csv")
    done = subprocess.run([*words, *flags], capture_output=True, timeout=120)
    rows = results.read(folder / "results.csv")
    assert done.returncode == any(row["error"] for row in rows[len(before):]), done.stderr
    return rows


def test_cells_resume_and_failures_are_named(folder):
    rows = run(folder)
    assert [row["error"] for row in rows] == ["", "", "error: no luck", "error: no luck"]
    assert rows[0]["command"] == "tool fit train.csv --target cost --threads 1 --model m" and rows[0]["commit"] == "f00ba12"
    assert rows[2]["command"] == "tool fit train.csv --target cost --method dnn --threads 1 --model m"
    assert all(0.9 < float(rows[0][f"coverage_{quarter}"]) < 1 for quarter in range(1, 5))
    assert len(run(folder)) == 6  # what failed is tried again
    assert len(run(folder, "--again", match=",auto,[01],")) == 6
    pages.write(folder, None)
    page = (folder / "README.md").read_text()
    assert "2 of 80 cells measured, at commits f00ba12" in page and "failed: 500, dnn, seed 0: error: no luck" in page
    assert "| `auto` | 2.000 ± 0.000 (2) | 1.000" in page
    assert "The least lower bound of `auto` over 2 seeds is 0.00." in page
    assert "above the best of the rivals, seed by seed | ours | **open**" in page


def test_the_claims_are_judged_by_the_bound(folder):
    study = studies.load(folder)

    def verdicts(mae, held):
        ours = [{"method": "auto", "seed": str(seed), "mae": str(value)} | dict.fromkeys(study.QUARTERS, str(share))
                for seed, (value, share) in enumerate(zip(mae, held))]
        others = [{"method": name, "seed": str(seed), "mae": "1"} | dict.fromkeys(study.QUARTERS, "")
                  for name in study.RIVALS for seed in (0, 1, 2)]
        return [claim.verdict for claim in study.claims(ours + others)]
    assert verdicts((1.0, 0.99, 1.0), (0.95, 0.951, 0.949)) == [HOLDS, HOLDS]
    assert verdicts((0.5, 1.5, 1.0), (0.9, 1.0, 0.95)) == [OPEN, OPEN]
    assert verdicts((1.1, 1.11, 1.1), (0.9, 0.901, 0.899)) == [FAILS, FAILS]


def test_a_row_says_what_decided_it_and_a_changed_default_makes_it_stale(folder):
    (row,) = run(folder, match=",auto,0,")
    assert row["recipe"] == {"method": "auto", "options": {"folds": 5}}
    (folder.parent / "options").write_text(json.dumps({"folds": 10}))
    assert [row["recipe"]["options"]["folds"] for row in run(folder, match=",auto,0,")] == [5, 10]


def test_rows_of_the_rivals_have_no_recipe(folder):
    study = studies.load(folder)
    cell = next(cell for cell in studies.cells(folder) if cell["method"] == "sk-ridge")
    fits = study.runner(folder.parent / "tool", None)
    assert fits.recipe(cell) == {} and fits.outdated(cell | {"recipe": {}}) == {}


def test_the_rivals_see_the_rows_in_one_encoding(folder):
    pytest.importorskip("numpy")
    study = studies.load(folder)
    train, fresh = study.tables({"seed": "3", "data": "500"})
    a, b = study.encoded(train, fresh)
    assert a.shape == (500, b.shape[1]) and b.shape[0] == 3000
    assert abs(a.mean(0)).max() < 1e-12 and abs(a.std(0) - 1).max() < 1e-12
