"""The wheel's cells resume and its page judges what is measured."""

import os
import shutil
import subprocess
import sys

import pages
import pytest
import results
import studies
from measured import study as module
from run import ROOT

# Stands for wheel_study: a percent by policy, worse at a larger delta; fails for seed 9.
PROGRAM = """#!{python}
import json, sys
words = sys.argv[1:]
value = lambda flag, default="": words[words.index(flag) + 1] if flag in words else default
recipe = {{"method": value("--policy"), "options": {{"subsample": int(value("--subsample", "0")), "window": {window}}}}}
if "--version" in words:
    print("f00ba12")
elif "--dry-run" in words:
    print(json.dumps(recipe))
elif value("--seed") == "9":
    sys.exit("[wheel] no luck")
else:
    level = {{"rich-bll": 1, "bll": 3}}.get(value("--policy"), 2) * (1 + 10 * float(value("--delta"))) + int(value("--seed")) / 10
    numbers = dict.fromkeys({numbers}, 1.0) | {{"percent": level}}
    print(json.dumps(numbers | {{"commit": "f00ba12", "recipe": recipe}}))
"""
# Appended to study.py, whose cells are too many.
CELLS = """

def cells():
    for policy, flags in ("rich-bll", ""), ("rich-bll", "--subsample 512"), ("bll", ""):
        for delta, seed in itertools.product(DELTAS, range(2)):
            yield results.asked("wheel", delta, policy, seed, flags)
    yield from {more}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The study with fewer cells and without its rows; what plays them stands beside it."""
    write_program(tmp_path, window=20)
    (tmp_path / "wheel").mkdir()
    write_study(tmp_path / "wheel", [])
    monkeypatch.setattr(studies, "HERE", tmp_path)
    return tmp_path / "wheel"


def write_study(folder, more):
    text = (ROOT / "experiments" / "wheel" / "study.py").read_text()
    (folder / "study.py").write_text(text + CELLS.format(more=more))
    studies.load.cache_clear()


def write_program(folder, window):
    path = folder / "wheel_study"
    path.write_text(PROGRAM.format(python=sys.executable, numbers=module("wheel").NUMBERS, window=window))
    path.chmod(0o755)


def run(folder, *flags):
    words = [sys.executable, ROOT / "experiments/run.py", folder, "--tool", sys.executable]
    environment = {**os.environ, "WHEEL_STUDY": str(folder.parent / "wheel_study")}
    before = results.read(folder / "results.csv")
    done = subprocess.run([*words, *flags], capture_output=True, timeout=120, env=environment)
    rows = results.read(folder / "results.csv")
    assert done.returncode == any(row["error"] for row in rows[len(before):]), done.stderr
    return rows


def test_cells_resume_and_changed_options_make_rows_stale(folder):
    rows = run(folder, "--match", ",bll,")
    assert len(rows) == 10 and all(row["commit"] == "f00ba12" for row in rows)
    assert rows[0]["command"] == "wheel_study --policy bll --delta 0.5 --seed 0"
    assert rows[0]["recipe"]["options"]["window"] == 20
    assert len(run(folder, "--match", ",bll,")) == 10
    write_program(folder.parent, window=30)
    assert len(run(folder, "--match", "0.5,bll,")) == 12


def test_a_failed_cell_is_named_and_tried_again(folder):
    write_study(folder, [results.asked("wheel", "0.5", "vbll", 9)])
    assert [row["error"] for row in run(folder, "--match", "vbll") + run(folder, "--match", "vbll")] == ["[wheel] no luck"] * 3
    pages.write(folder, None)
    assert "- failed: 0.5, vbll, seed 9: [wheel] no luck" in (folder / "README.md").read_text()


def test_without_the_program_the_cells_are_listed_and_none_runs(folder):
    (folder.parent / "wheel_study").unlink()
    assert run(folder, "--list") == []
    with pytest.raises(AssertionError, match="does not say its commit"):
        run(folder)
    assert results.read(folder / "results.csv") == []


def test_the_page_judges_what_is_measured(folder):
    pages.write(folder, None)
    assert "0 of 30 cells measured" in (folder / "README.md").read_text()
    shutil.copy(ROOT / "experiments/wheel/published.csv", folder)
    run(folder)
    pages.write(folder, None)
    page = (folder / "README.md").read_text()
    assert "30 of 30 cells measured, at commits f00ba12" in page
    assert "| `bll` | ours | 18.05 ± 0.05 (2) |" in page and "| `bll` | R | 1.20 ± 0.03 |" in page
    assert "rich-bll's regret is below bll's at every delta | R 4.3 | **holds** | 5 of 5." in page
    assert "has the lowest regret at delta 0.95 and 0.99 | R 4.3 | **open**" in page  # the rivals are not measured
