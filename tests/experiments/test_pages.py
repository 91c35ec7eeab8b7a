"""report.py writes every page from results alone, whether a study is measured, half measured or not at all."""

import csv
import shutil
import sys

import pytest
import report
from results import FIELDS, KEY
from run import ROOT
from test_report import as_measured, published

STUDIES = ["table1", "ten_tables", "rank", "noise", "sensitivity", "scaling", "e_table1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for study in STUDIES:
        (tmp_path / study).mkdir()
        for path in (ROOT / "experiments" / study).glob("*.csv"):
            if path.name != "results.csv":
                shutil.copy(path, tmp_path / study)
    (tmp_path / "front.md").write_text("\n".join([*report.MARKS, ""]))
    monkeypatch.setattr(report, "HERE", tmp_path)
    monkeypatch.setattr(report, "FRONT_PAGE", tmp_path / "front.md")
    monkeypatch.setattr(sys, "argv", ["report.py", "--no-figures"])
    return tmp_path


def write(folder, rows, stale=()):
    """As results of cells that are asked for; the stale ones' are not."""
    for name, fields, kept in ("results.csv", FIELDS, [*rows, *stale]), ("cells.csv", KEY, rows):
        with open(folder / name, "w", newline="") as file:
            writer = csv.DictWriter(file, fields, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(kept)


def test_nothing_measured(folder):
    report.main()
    assert "0 holds, 0 does not hold" in (folder / "README.md").read_text()
    for study in STUDIES:
        assert "0 of" in (folder / study / "README.md").read_text()


def test_ours_beside_the_papers(folder):
    rows = as_measured("paper", published("table1"), mean=lambda row: float(row["value"]) + 1)
    failed = dict.fromkeys(FIELDS, "") | dict(study="paper", data="pol", method="dnn", seed="7", error="error: no luck")
    stale = rows[0] | dict(study="defaults", seed="0", flags="--steps 5")
    write(folder / "table1", [*rows, failed], [stale])
    report.main()
    page = (folder / "table1" / "README.md").read_text()
    assert "| DBK-SiLU | N | -2.967 ± 0.055 |" in page
    assert "| DBK-SiLU | paper | -1.967 ± 0.055 (3) |" in page
    assert "failed: pol, dnn, seed 7: error: no luck" in page
    worse = page.split("## Worse than N's NLL")[1]
    assert worse.count("\n| ") == 1 + 5 * 6  # the header, and five methods with an NLL on six tables
    assert "**open**" in page  # of the other study
    assert "| defaults | -" not in page  # of a cell that is no longer asked for


def test_the_earlier_papers_table(folder):
    write(folder / "e_table1", as_measured("e", published("e_table1")))
    report.main()
    page = (folder / "e_table1" / "README.md").read_text()
    assert "| SV-DBK-cr | E | **-0.701** ± 0.035 |" not in page  # the lowest of pol is DBK
    assert "**-1.512**" in page and "E 4.2 (5) | **does not hold**" in page
