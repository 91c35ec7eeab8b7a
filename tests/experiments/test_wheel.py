"""The wheel's runner resumes cell by cell and its page judges what is measured."""

import csv
import json
import subprocess
import sys

import pytest
import results
import wheel_report
import wheel_run
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


@pytest.fixture
def study(tmp_path):
    write_program(tmp_path, window=20)
    cells = [["wheel", delta, policy, seed, flags] for policy, flags in (("rich-bll", ""), ("rich-bll", "--subsample 512"), ("bll", ""))
             for delta in wheel_report.DELTAS for seed in (0, 1)]
    with open(tmp_path / "cells.csv", "w", newline="") as file:
        csv.writer(file).writerows([results.KEY, *cells])
    return tmp_path


def write_program(folder, window):
    path = folder / "wheel_study"
    path.write_text(PROGRAM.format(python=sys.executable, numbers=wheel_run.NUMBERS, window=window))
    path.chmod(0o755)


def run(study, *flags):
    words = [sys.executable, ROOT / "experiments/wheel_run.py", "--cells", study / "cells.csv", "--program", study / "wheel_study"]
    subprocess.run([*words, *flags], check=True, capture_output=True, timeout=120)
    return results.read(study / "results.csv")


def test_cells_resume_and_changed_options_make_rows_stale(study):
    rows = run(study, "--match", ",bll,")
    assert len(rows) == 10 and all(row["commit"] == "f00ba12" for row in rows)
    assert rows[0]["command"] == "wheel_study --policy bll --delta 0.5 --seed 0"
    assert json.loads(rows[0]["recipe"])["options"]["window"] == 20
    assert len(run(study, "--match", ",bll,")) == 10
    write_program(study, window=30)
    assert len(run(study, "--match", "0.5,bll,")) == 12


def test_a_failed_cell_is_named_and_tried_again(study):
    with open(study / "cells.csv", "a") as file:
        file.write("wheel,0.5,vbll,9,\n")
    assert [row["error"] for row in run(study, "--match", "vbll") + run(study, "--match", "vbll")] == ["[wheel] no luck"] * 3


def test_the_page_judges_what_is_measured(study):
    wheel_report.write(study)
    assert "0 of 30 cells measured" in (study / "README.md").read_text()
    (study / "published.csv").write_text((ROOT / "experiments/wheel/published.csv").read_text())
    run(study)
    wheel_report.write(study)
    page = (study / "README.md").read_text()
    assert "30 of 30 cells measured, at commits f00ba12" in page
    assert "| `bll` | ours | 18.05 ± 0.07 (2) |" in page and "| `bll` | R | 1.20 ± 0.03 |" in page
    assert "rich-bll's regret is below bll's at every delta | R 4.3 | **holds** | 5 of 5." in page
    assert "has the lowest regret at delta 0.95 and 0.99 | R 4.3 | **open**" in page  # the rivals are not measured
