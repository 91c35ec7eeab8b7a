"""report.py writes every page from results alone, whether a study is measured, half measured or not at all."""

import csv
import shutil
import sys

import claims
import front
import pages
import pytest
import report
from measured import as_measured, published, row
from results import FIELDS, KEY, as_text
from run import ROOT
from scores import Scores

STUDIES = ["wheel", "skewed", "default_tables", "default_sizes", "input_forms", "more_candidates", "tangent", "table1", "noise_reading", "ten_tables", "rank", "noise", "sensitivity", "scaling", "e_table1", "r_table2", "r_rivals", "r_noise",
           "r_table4", "r_table6", "low_rank_defaults", "low_rank_six", "s_ablations", "s_table1", "s_table2", "s_table3", "s_table15",
           "s_table17", "s_toy", "f_curve", "f_fashion", "f_table3", "f_table4", "f_table6"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for study in STUDIES:
        (tmp_path / study).mkdir()
        for path in (ROOT / "experiments" / study).glob("*.csv"):
            if path.name != "results.csv":
                shutil.copy(path, tmp_path / study)
    (tmp_path / "front.md").write_text("\n".join([*front.MARKS, ""]))
    for module in report, pages:
        monkeypatch.setattr(module, "HERE", tmp_path)
    monkeypatch.setattr(report, "FRONT_PAGE", tmp_path / "front.md")
    monkeypatch.setattr(sys, "argv", ["report.py", "--no-figures", "--tool", sys.executable])  # asked for rows with a recipe alone
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


def recorded(rows, **options):
    return [row | dict(recipe=as_text({"options": options})) for row in rows]


def test_rows_of_other_options_are_named_and_left_out(folder, monkeypatch):
    """The newest row of a mean decides its options; a mean measured with options that the tool no longer takes is marked."""
    rows = [row for row in as_measured("defaults", published("table1")) if row["data"] == "pol" and row["method"] == "vbll"]
    assert [row["seed"] for row in rows] == ["0", "1", "2"]
    write(folder / "table1", recorded(rows[:1], steps=500) + recorded(rows[1:], steps=2000))
    monkeypatch.setattr(report.Runner, "recipe", lambda self, cell: {"options": {"steps": 3000}})
    report.main()
    page = (folder / "table1" / "README.md").read_text()
    assert "left out of its mean, whose newer rows have other options: defaults, pol, vbll, seed 0" in page and "steps 500, not 2000" in page
    assert "†: `defaults`, VBLL: measured with options that the tool no longer takes: steps 2000, not 3000" in page
    assert "† (2) |" in page


def test_the_nearest_reading_of_the_noise_is_that_of_every_cell(folder):
    rows = []
    for reading, by in (("exp", 0.3), ("sd", 0.1)):
        measured = as_measured(reading, published("table1"), mean=lambda row, by=by: float(row["value"]) + by)
        rows += [row for row in measured if row["data"] in ("pol", "elevators", "protein") and row["method"] in ("vbll", "sv-dkl")]
    write(folder / "noise_reading", rows[1:])  # one cell of exp has two seeds
    report.main()
    page = (folder / "noise_reading" / "README.md").read_text()
    assert "Nearest to N over all six: **sd**" in page and "| 0.100 (6) |" in page


def test_the_rich_papers_tables(folder):
    """Written from the paper's own numbers as if three seeds had given them: the spread is the standard error."""
    for study in "r_table2", "r_table4", "r_table6":
        write(folder / study, as_measured("paper", published(study)))
    report.main()
    page = (folder / "r_table2" / "README.md").read_text()
    assert "| Rich-BLL | R | 2.61 ± 0.04 |" in page and "| Rich-BLL | ours | 2.610 ± 0.023 (3) |" in page
    assert "| Rich-BLL - NNGP (BLL) | -0.170 ± " in page
    assert "| Rich-BLL | 0.960 ± 0.000 (3) |  | 0.96 |" in (folder / "r_table4" / "README.md").read_text()
    assert "| 30 % | R | 2.83 ± 0.08 |" in (folder / "r_table6" / "README.md").read_text()
    assert "| boston | 2.610 ± 0.023 (3) | 2.780 ± " in (folder / "front.md").read_text()


def test_costs_have_the_slopes_of_the_three_largest_sizes(folder):
    (folder / "r_costs").mkdir()
    lines = [f"0,NTK-GP,{n},{1 + n**3},{100 + n**2},1,1,{n},abc\n" for n in (10, 1000, 2000, 4000)] + [f"0,NNGP (BLL),{n},1,100,1,1,9,abc\n" for n in (10, 20, 40)]
    (folder / "r_costs" / "results.csv").write_text("round,method,n,fit_s,fit_mb,predict_s,predict_mb,model_bytes,commit\n" + "".join(lines))
    report.main()
    page = (folder / "r_costs" / "README.md").read_text()
    assert "| NTK-GP | 3.00 | 3 | 2.00 | 2 |" in page and "| NNGP (BLL) | none measurable | 1 | none measurable | 0 |" in page
    assert "medians of 1 rounds, at commit abc" in page and "| 4,000 | 64,000,000,001.00 |  |" in page


def test_the_figures_numbers_are_those_of_their_columns(folder):
    (folder / "r_figures").mkdir()
    places = (-3.0, -1.0, 0.0, 3.0)
    for name, what in ("regression", "sd_epistemic"), ("classes", "mutual_information"):
        rows = "".join(f"{x},0,{x + 4}\n" for x in places)
        (folder / "r_figures" / f"{name}.csv").write_text(f"x,Rich-BLL: mean,Rich-BLL: {what}\n{rows}")
    report.main()
    assert (folder / "r_figures" / "README.md").read_text().count("| Rich-BLL | 1.000 | 3.000 | 4.000 | 7.000 |") == 2


def test_images_are_judged_by_each_methods_own_score(folder):
    (folder / "r_table5").mkdir()
    prior = "--prior fixed --prior-sd 1"
    lines = [f'around,cifar10,{method},{seed},{flags},2000,{nll + seed / 500},0.1,0.7,,"{{""entropy"": 0.5, ""logit_var"": {auroc}}}",abc,,,\n'
             for method, flags, nll, auroc in (("bll", prior, 0.9, 0.6), ("rich-bll", f"{prior} --ridge 1 --subsample 0.4", 0.8, 0.7), ("dnn", "", 1, 0.8))
             for seed in (0, 1)]
    (folder / "r_table5" / "results.csv").write_text("study,data,method,seed,flags,test_rows,nll,ece,accuracy,brier,auroc,commit,command,recipe,error\n" + "".join(lines))
    report.main()
    page = (folder / "r_table5" / "README.md").read_text()
    assert "| Rich-BLL (S) | ours | 0.801 ± 0.001 (2) |" in page and "| MAP | ours | 1.001 ± 0.001 (2) | 0.100 ± 0.000 (2) | 0.700 ± 0.000 (2) | 0.500" in page
    assert "| Rich-BLL (S)'s NLL is below NNGP (BLL)'s on CIFAR-10 | R 4.4, in small | **holds** |" in page
    assert "| Rich-BLL (S)'s AUROC for CIFAR-100 is above NNGP (BLL)'s | R 4.4, in small | **holds** |" in page
    assert "Rich-BLL (S)'s AUROC for CIFAR-100 is above NNGP (BLL)'s" in (folder / "README.md").read_text()


def test_the_ridges_page_has_a_column_for_each(folder):
    (folder / "r_ridge").mkdir()
    lines = [f"curve,default,{method},{ridge},{rows},-1,{value},0.5,abc\n" for rows in ("near", "far")
             for method, ridge, value in (("bll", "", 2), ("rich-bll", "0", 3), ("rich-bll", "1e-4", 1))]
    (folder / "r_ridge" / "results.csv").write_text("data,network,method,ridge,rows,mean_log,rms_log,correlation,commit\n" + "".join(lines))
    report.main()
    page = (folder / "r_ridge" / "README.md").read_text()
    assert "| data | network | rows | bll | ridge 0 | ridge 1e-4 |" in page and "| curve | default | far | 2.00 | 3.00 | 1.00 |" in page


def test_the_earlier_papers_table(folder):
    write(folder / "e_table1", as_measured("e", published("e_table1")))
    report.main()
    page = (folder / "e_table1" / "README.md").read_text()
    assert "| SV-DBK-cr | E | **-0.701** ± 0.035 |" not in page  # the lowest of pol is DBK
    assert "**-1.512**" in page and "E 4.2 (5) | **does not hold**" in page


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
            for t in claims.TEN for seed in (0, 1)
            for m, flags, value in (("dbk", "", -1 + seed / 100), ("pp-dkl", "", 0.5), ("catboost", "", -1), ("catboost", "--iterations 20000", -2))]
    lines = front.front(Scores(rows)).splitlines()
    assert lines[2].startswith("| keggundirected, 900 | -0.995 ± 0.007 (2) | CatBoost -2.000 ± 0.000 (2) | -1.755 ± ")
    text = " ".join(lines[2 + len(claims.TEN):])
    assert "ahead of `pp-dkl` on 10 of 10 tables, behind on 0; ahead of `vbll` on 0 of 0" in text
    assert "ahead of CatBoost on 0 of 10 tables, behind on 10 (keggundirected, " in text
    assert "behind the printed one on keggundirected, keggdirected, kin40k, " in text and "hold 0.950" in text
