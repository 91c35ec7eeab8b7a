"""report.py writes every page from results alone, whether a study is measured, half measured or not at all."""

import csv
import pathlib
import re
import shutil
import sys

import front
import judge
import pages
import paired
import pytest
import report
import runners
import studies
from measured import as_measured, packed, published, row
from paper_n import TEN
from results import FIELDS
from run import ROOT
from scores import Scores, of

STUDIES = [folder.name for folder in studies.folders()]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The studies without their rows."""
    for study in STUDIES:
        (tmp_path / study).mkdir()
        for path in (ROOT / "experiments" / study).iterdir():
            if path.suffix == ".py" or path.name == "published.csv":
                shutil.copy(path, tmp_path / study)
    (tmp_path / "numbers.md").write_text("\n".join([*front.MARKS, ""]))
    monkeypatch.setattr(studies, "HERE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["report.py", "--no-figures", "--tool", sys.executable])  # asked for rows with a recipe alone
    return tmp_path


@pytest.fixture
def asked(monkeypatch):
    """By study, the cells in the place of its own."""
    other, own = {}, studies.cells
    monkeypatch.setattr(studies, "cells", lambda folder: other[folder.name] if folder.name in other else own(folder))
    return other


def write(folder, asked, rows, stale=()):
    """As results of cells that are asked for; the stale ones' are not."""
    kept = packed(folder, [*rows, *stale])
    with open(folder / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(kept)
    asked[folder.name] = rows


def test_nothing_measured(folder):
    report.main()
    assert "0 holds, 0 does not hold" in (folder / "README.md").read_text()
    for study in STUDIES:
        assert "0 of" in (folder / study / "README.md").read_text()


def test_ours_beside_the_papers(folder, asked):
    rows = as_measured("paper", published("table1"), mean=lambda row: float(row["value"]) + 1)
    failed = rows[0] | dict(study="paper", data="pol", method="dnn", seed="7", error="error: no luck")
    stale = rows[0] | dict(study="defaults", seed="0", flags="--steps 5")
    write(folder / "table1", asked, [*rows, failed], [stale])
    report.main()
    page = (folder / "table1" / "README.md").read_text()
    assert "| DBK-SiLU | N | -2.967 ± 0.055 |" in page
    assert "| DBK-SiLU | paper | -1.967 ± 0.055 (3) |" in page
    assert "failed: pol, dnn, seed 7: error: no luck" in page
    worse = page.split("## Worse than N's NLL")[1].split("## Worse than N's MAE")[0]
    assert worse.count("\n| ") == 1 + 5 * 6  # the header, and five methods with an NLL on six tables
    assert "**open**" in page  # of the other study
    assert "| defaults | -" not in page  # of a cell that is no longer asked for


def recorded(rows, **options):
    return [row | dict(recipe={"options": options}) for row in rows]


def test_rows_of_other_options_are_named_and_left_out(folder, asked, monkeypatch):
    """The newest row of a mean decides its options; a mean measured with options that the tool no longer takes is marked."""
    rows = [row for row in as_measured("defaults", published("table1")) if row["data"] == "pol" and row["method"] == "vbll"]
    assert [row["seed"] for row in rows] == ["0", "1", "2"]
    write(folder / "table1", asked, recorded(rows[:1], steps=500) + recorded(rows[1:], steps=2000))
    monkeypatch.setattr(runners.Runner, "recipe", lambda self, cell: {"options": {"steps": 3000}})
    report.main()
    page = (folder / "table1" / "README.md").read_text()
    assert "left out of its mean, whose newer rows have other options: defaults, pol, vbll, seed 0" in page and "steps 500, not 2000" in page
    assert "†: `defaults`, VBLL: measured with options that the tool no longer takes: steps 2000, not 3000" in page
    assert "† (2) |" in page


def test_the_nearest_reading_of_the_noise_is_that_of_every_cell(folder, asked):
    rows = []
    for reading, by in (("exp", 0.3), ("sd", 0.1)):
        measured = as_measured(reading, published("table1"), mean=lambda row, by=by: float(row["value"]) + by)
        rows += [row for row in measured if row["data"] in ("pol", "elevators", "protein") and row["method"] in ("vbll", "sv-dkl")]
    write(folder / "noise_reading", asked, rows[1:])  # one cell of exp has two seeds
    report.main()
    page = (folder / "noise_reading" / "README.md").read_text()
    assert "Nearest to N over all six: **sd**" in page and "| 0.100 (6) |" in page


def test_the_rich_papers_tables(folder, asked):
    """Written from the paper's own numbers as if three seeds had given them: the spread is the standard error."""
    for study in "r_table2", "r_table4", "r_table6":
        write(folder / study, asked, as_measured("paper", published(study)))
    report.main()
    page = (folder / "r_table2" / "README.md").read_text()
    assert "| Rich-BLL | R | 2.61 ± 0.04 |" in page and "| Rich-BLL | ours | 2.610 ± 0.023 (3) |" in page
    assert "| Rich-BLL - NNGP (BLL) | -0.170 ± " in page
    assert "| Rich-BLL | 0.960 ± 0.000 (3) |  | 0.96 ± 0.00 |" in (folder / "r_table4" / "README.md").read_text()
    assert "| 30 % | R | 2.83 ± 0.08 |" in (folder / "r_table6" / "README.md").read_text()
    assert "| boston | 2.610 ± 0.023 (3) | 2.780 ± " in (folder / "numbers.md").read_text()


def test_the_earlier_papers_table(folder, asked):
    write(folder / "e_table1", asked, as_measured("e", published("e_table1")))
    report.main()
    page = (folder / "e_table1" / "README.md").read_text()
    assert "| SV-DBK-cr | E | **-0.701** ± 0.035 |" not in page  # the lowest of pol is DBK
    assert "**-1.512**" in page and re.search(r"E 4\.2 \(5\) \| \*\*not tested\*\* \| .* These fits: does not hold\.", page)


def test_the_front_page_keeps_what_is_written_by_hand(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("above\n" + front.MARKS[0] + "\nold\n" + front.MARKS[1] + "\nbelow\n")
    for _ in range(2):
        front.between_marks(page, "| new |\n")
        assert page.read_text() == "above\n" + front.MARKS[0] + "\n| new |\n" + front.MARKS[1] + "\nbelow\n"
    page.write_text("no marks\n")
    with pytest.raises(ValueError, match="each on a line of its own"):
        front.between_marks(page, "x")
    assert page.read_text() == "no marks\n"


def test_the_front_page_shows_the_means_of_the_defaults():
    rows = [row("defaults", t, m, flags, nll_standardized=str(value), mae_standardized="0.1", coverage="0.95", rows="900", seed=str(seed))
            for t in TEN for seed in (0, 1)
            for m, flags, value in (("dbk", "", -1 + seed / 100), ("pp-dkl", "", 0.5), ("catboost", "", -1), ("catboost", "--iterations 20000", -2))]
    lines = front.front(Scores(rows)).splitlines()
    assert lines[2].startswith("| keggundirected, 900 | -0.995 ± 0.007 (2) | CatBoost -2.000 ± 0.000 (2) | -1.755 ± ")
    text = " ".join(lines[2 + len(TEN):])
    assert "ahead of `pp-dkl` on 10 of 10 tables, behind on 0; ahead of `vbll` on 0 of 0" in text
    assert "ahead of CatBoost on 0 of 10 tables, behind on 10 (keggundirected, " in text
    assert "behind the printed one on keggundirected, keggdirected, kin40k, " in text and "hold 0.950" in text


def test_the_committed_pages_are_those_of_the_committed_rows(tmp_path, monkeypatch):
    """Byte for byte, with the tool that was built here."""
    for path in (ROOT / "experiments").iterdir():
        if path.is_dir() and (path / "study.py").exists():
            shutil.copytree(path, tmp_path / path.name, ignore=shutil.ignore_patterns("__pycache__", ".claims"))
    shutil.copy(ROOT / "experiments" / "numbers.md", tmp_path)
    monkeypatch.setattr(studies, "HERE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["report.py", "--no-figures"])
    report.main()
    written = {path.relative_to(tmp_path) for path in tmp_path.glob("*/README.md")} | {pathlib.Path("README.md"), pathlib.Path("numbers.md")}
    assert len(written) > 40
    assert [str(path) for path in sorted(written) if (tmp_path / path).read_text() != (ROOT / "experiments" / path).read_text()] == []


def test_the_bound_is_wider_for_splits_that_overlap():
    case = lambda: judge.lower("t", of([1.0, 1.1, 0.9, 1.05]), of([1.15, 1.16, 1.0, 1.09]))
    assert case().won is True
    with paired.overlapping(1.0):
        assert case().won is None
    assert case().won is True
    assert pages.splits_vary(ROOT / "experiments" / "r_rivals") and not pages.splits_vary(ROOT / "experiments" / "table1")
