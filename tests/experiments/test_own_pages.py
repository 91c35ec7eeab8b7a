"""Studies whose rows are not plain fits: their runners ask the tool what their pages say, and the pages hold the rows' numbers."""

import csv
import json
import math
import re
import shutil
import sys

import drawing
import pages
import pytest
import results
import sources
import studies
from measured import packed
from measured import study as module
from one_network import OneNetwork
from runners import Work

# Stands for the tool: logs each call with the processor settings it sees; answers each row with sds that depend on the method.
TOOL = """#!{python}
import csv, json, os, pathlib, sys
words = sys.argv[1:]
value = lambda flag: words[words.index(flag) + 1]
if "--version" in words:
    print("slimbayes 1 (f00ba12)")
elif "--dry-run" in words:
    ridge = value("--ridge") if "--ridge" in words else "default"
    print(json.dumps({{"method": value("--method"), "inputs": {{}}, "options": {{"steps": 5}} if "dnn" in words else {{"ridge": ridge}}}}))
else:
    with open({log!r}, "a") as log:
        log.write(json.dumps([words, os.environ.get("ATEN_CPU_CAPABILITY"), os.environ.get("MKL_ENABLE_INSTRUCTIONS")]) + "\\n")
if words[0] == "fit" and "--dry-run" not in words:
    pathlib.Path(value("--model")).write_text(value("--method"))
    summary = {{"seconds": 1.26, "steps": 188, "best_score": 0.1234567891}}
    print(json.dumps({{"summary": summary, "test": {{"nll_standardized": 0.1234567891}}}}))
elif words[0] == "predict":
    epistemic = {{"bll": 1, "rich-bll": 2, "ntk-gp": 4}}.get(pathlib.Path(words[1]).read_text(), 0)
    with open(words[2]) as rows, open(value("--out"), "w") as out:
        print("x,mean,sd_aleatoric,sd_epistemic", file=out)
        for i, row in enumerate(csv.DictReader(rows)):
            print(row.get("x", i), 0.5, 3, epistemic * (1 + i % 2), sep=",", file=out)
elif "--plots" in words:
    folder = pathlib.Path(value("--plots"))
    folder.mkdir()
    for name in ("scores", "spectra"):
        (folder / f"{{name}}.svg").write_text(words[0])
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "HERE", tmp_path)
    return tmp_path


@pytest.fixture
def tool(tmp_path):
    path = tmp_path / "tool"
    path.write_text(TOOL.format(python=sys.executable, log=str(tmp_path / "log")))
    path.chmod(0o755)
    return path


def calls(tool):
    return [json.loads(line) for line in (tool.parent / "log").read_text().splitlines()]


def copied(folder, name):
    """The folder of the study without its rows, and its module."""
    (folder / name).mkdir()
    shutil.copy(module(name).__file__, folder / name)
    return folder / name, studies.load(folder / name)


def page_of(folder, name, rows, monkeypatch=None):
    """The study's page of these rows; with `monkeypatch` their cells are those that are asked for."""
    path, study = copied(folder, name)
    rows = [dict.fromkeys(results.FIELDS, "") | {"recipe": {}, "commit": "abc"} | row for row in rows]
    with open(path / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, getattr(study, "FIELDS", results.FIELDS), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(packed(path, rows))
    if monkeypatch:
        monkeypatch.setattr(studies, "cells", lambda _: rows)
    pages.write(path, None)
    return (path / "README.md").read_text()


def test_costs_have_the_slopes_of_the_three_largest_sizes(folder, monkeypatch):
    methods = module("r_costs").METHODS

    def row(name, n, fit_s, fit_mb, model_bytes, i=0):
        return results.asked("costs", f"steps:{n}", methods[name][0], i, methods[name][1]) | dict(
            fit_s=fit_s, fit_mb=fit_mb, predict_s=1, predict_mb=1, model_bytes=model_bytes)

    rows = [row("NTK-GP", n, 1 + n**3, 100 + n**2, n) for n in (10, 1000, 2000, 4000)]
    rows += [row("NNGP (BLL)", n, 1, 100, 9) for n in (10, 20, 40)]
    page = page_of(folder, "r_costs", rows, monkeypatch)
    assert "| NTK-GP | 3.00 | 3 | 2.00 | 2 |" in page and "| NNGP (BLL) | none measurable | 1 | none measurable | 0 |" in page
    assert "medians of 1 rounds" in page and "at commits abc" in page and "| 4,000 | 64,000,000,001.00 |  |" in page


def test_costs_are_those_of_the_fit_and_of_the_answer_around_one_network(folder, tool, monkeypatch):
    study = module("r_costs")
    costs = study.runner(str(tool), folder)
    monkeypatch.setattr(costs, "_generated_table", lambda n, seed, work: work.folder / f"{seed}_{n}")

    def run(work, command, measure):
        fit = command[1] == "fit"
        work.processor_s, work.peak_kb = (2.0, 2048) if fit else (0.5, 1024)
        if fit:
            command[command.index("--model") + 1].write_text("seven b")

    monkeypatch.setattr(Work, "_run", run)
    cells = [cell for cell in study.cells() if cell["data"] == "steps:500"]
    rows = [costs.run(cell) for cell in cells]
    assert len(rows) == 4 * study.ROUNDS and all(row["error"] == "" for row in rows)
    assert {tuple(row[name] for name in study.FIELDS[5:10]) for row in rows} == {(2.0, 2.0, 0.5, 1.0, 7)}
    assert len(costs._networks) == 1 and set(rows[0]) <= set(study.FIELDS)


def test_the_figures_numbers_are_those_of_their_columns(folder, tool):
    path, study = copied(folder, "r_figures")
    for figure, what in ("regression", "sd_epistemic"), ("classes", "mutual_information"):
        rows = "".join(f"{x},0,{x + 4}\n" for x in (-3.0, -1.0, 0.0, 3.0))
        (path / f"{figure}_rich_bll.csv").write_text(f"x,{study.COLUMNS[figure][0]},{what}\n{rows}")
    pages.write(path, None)
    page = (path / "README.md").read_text()
    assert page.count("| Rich-BLL | 1.000 | 3.000 | 4.000 | 7.000 |") == 2 and "These fits: open" in page and study.figures(None) == {}


def test_a_panel_is_answered_around_its_figures_network(folder, tool):
    path, study = copied(folder, "r_figures")
    runner = study.runner(str(tool), folder)
    rows = [runner.run(cell) for cell in study.cells() if cell["study"] == "regression"]
    assert [row["files"] for row in rows] == [f"regression_{name}.csv" for name in ("bll", "rich_bll", "rich_bll_s", "ntk_gp")]
    fits = [words for words, *_ in calls(tool) if words[0] == "fit"]
    assert [words[words.index("--method") + 1] for words in fits] == ["dnn", "bll", "rich-bll", "rich-bll", "ntk-gp"]
    assert "--network-from" not in fits[0] and len({words[words.index("--network-from") + 1] for words in fits[1:]}) == 1
    assert ["--subsample" in words for words in fits] == [False, False, False, True, False]
    assert study.nearness().numbers == "Rich-BLL 0.69 against NNGP (BLL) 1.39, one network"  # log 2 and log 4
    assert list(study.figures(None)) == ["regression.svg"]


def test_the_ridges_page_has_a_column_for_each(folder, monkeypatch):
    rows = [results.asked("default", "curve", method, 0, "--around dnn", ridge and f"--ridge {ridge}")
            | {f"{part}_{metric}": value if metric == "rms_log" else 0.5 for part in ("near", "far") for metric in module("r_ridge").METRICS}
            for method, ridge, value in (("bll", "", 2), ("rich-bll", "0", 3), ("rich-bll", "1e-4", 1))]
    page = page_of(folder, "r_ridge", rows, monkeypatch)
    assert "| data | network | rows | bll | ridge 0 | ridge 1e-4 |" in page and "| curve | default | far | 2.00 | 3.00 | 1.00 |" in page


def test_a_ridge_is_compared_with_ntk_gp_around_the_same_network(folder, tool):
    study = module("r_ridge")
    cell = next(cell for cell in study.cells() if cell["data"] == "curve" and cell["method"] == "rich-bll")
    runner = study.runner(str(tool), folder)
    row = runner.run(cell)
    assert row["error"] == "" and set(row) <= set(study.FIELDS)
    half = round(math.log(0.5), 4)  # 2 against 4 on every row
    assert [row[f"{part}_{metric}"] for part in ("near", "far") for metric in study.METRICS] == [half, -half, 1.0] * 2
    fits = [words for words, *_ in calls(tool) if words[0] == "fit"]
    assert [words[words.index("--method") + 1] for words in fits] == ["dnn", "rich-bll", "ntk-gp"]
    assert "--ridge" in fits[1] and "--ridge" not in fits[2]
    recipe = runner.recipe(cell)
    assert recipe["options"] == {"ridge": "0"} and recipe["oracle"] == {"ridge": "default"}


def test_the_needed_error_opens_the_gap():
    gap, x = 0.17, 0.112
    t = module("r_bound").needed(gap, x)
    nll = lambda share: 0.5 * (math.log(1 + share) + t / (1 + share))  # noqa: E731
    assert nll(0) - nll(x) == pytest.approx(gap)


def test_the_share_is_a_mean_over_the_rows_of_a_method():
    share = module("r_bound").share
    rows = [{"method": m, "flags": r, "mean_epistemic_var": e, "noise_var": "2"}
            for m, r, e in (("bll", "", "1"), ("bll", "", "3"), ("rich-bll", "--ridge 0", "8"))]
    assert share(rows, ("bll", "")) == 1 and share(rows, ("rich-bll", "0")) == 4
    assert share(rows, ("rich-bll", "")) is None


def test_the_bounds_row_is_a_mean_over_the_training_rows(folder, tool, monkeypatch):
    study = module("r_bound")
    monkeypatch.setattr(study.sources, "table", lambda path: (["x", "y"], [[i, i] for i in range(90)]))
    row = study.runner(str(tool), folder).run(next(cell for cell in study.cells() if cell["data"] == "boston@60" and cell["method"] == "bll"))
    assert row["error"] == "" and (row["n"], row["noise_var"], row["mean_epistemic_var"], row["bound"]) == (60, "9", "2.5", "7.65")
    assert all("--valid" in words for words, *_ in calls(tool) if words[0] == "fit")
    page = page_of(folder, "r_bound", [row | {"recipe": {}}])
    assert "| 60 | boston | 0.850 | 0.2778 |  |  |  | 1.000 |" in page and "the largest share of the bound is 0.327" in page


def test_one_network_serves_all_cells_of_its_data_and_flags(folder, tool):
    runner = OneNetwork(str(tool), folder)
    table, base = folder / "t.csv", results.asked("a", "b", "dnn", 0, "--hidden 50")
    first, again = (runner.network(base, Work(folder), table) for _ in range(2))
    other = runner.network(base | {"flags": "--hidden 64"}, Work(folder), table)
    assert first == again != other and len(calls(tool)) == 2
    assert "--test-fraction" not in calls(tool)[0][0]


def test_a_drawn_figure_is_a_row_with_its_files(folder, tool, monkeypatch):
    source = sources.Source(lambda data, work: sources.Files("train", "test", "foreign"))
    monkeypatch.setattr(sources, "SOURCES", {"images": source})
    figures = {"bars": drawing.Figure("images", "dnn", "", "ood"), "values": drawing.Figure("images", "dnn", "", "spectra"),
               "line": drawing.Figure("images", "bll", "", "curve")}
    drawer = drawing.Drawer(str(tool), folder, folder, figures)
    rows = [drawer.run(cell) for cell in drawing.cells(figures)]
    # With foreign data the scores alone.
    assert [row["files"] for row in rows] == ["bars_scores.svg", "values_scores.svg values_spectra.svg", "line.csv"]
    assert all(row["error"] == "" and row["seconds"] == 1.3 and set(row) <= set(drawing.FIELDS) for row in rows)
    assert (folder / "bars_scores.svg").read_text() == "evaluate" and (folder / "values_spectra.svg").read_text() == "rank-advice"
    assert len((folder / "line.csv").read_text().splitlines()) == 402


@pytest.mark.parametrize("name", ["s_figures", "f_figures", "r_figures"])
def test_each_committed_figure_is_in_one_row(name):
    path = studies.find(name)
    rows = studies.rows(path)
    files = [file for row in rows for file in row["files"].split()]
    assert len(files) == len(set(files)) and all((path / file).exists() for file in files)
    pictures = {file.name for file in path.iterdir() if file.suffix in (".csv", ".svg", ".png")} - {"results.csv"}
    assert pictures - set(files) <= {"regression.svg", "classes.svg"}  # which report.py draws


def test_the_settings_of_the_processor_reach_the_tool_and_no_other_word_does(folder, tool):
    study = module("bits")
    cell = study.cell_of("dbk", 0, "AVX2", "avx512", 200)
    row = study.runner(str(tool), folder).run(cell)
    assert row["error"] == "" and (row["nll_standardized"], row["steps"]) == (0.1234567891, 188) and set(row) <= set(study.FIELDS)
    (words, aten, mkl), = calls(tool)
    assert (aten, mkl) == ("avx512", "AVX2") and "--aten" not in words and "--mkl" not in words
    assert row["command"].startswith("env ATEN_CPU_CAPABILITY=avx512 MKL_ENABLE_INSTRUCTIONS=AVX2 tool fit pol.csv.gz --target y --method dbk ")
    assert "--split-seed 1 --steps 200" in row["command"] and "--test-fraction 0.1" in row["command"]


def test_the_page_of_bits_says_which_methods_move(folder):
    cell, nll = module("bits").cell_of, {("vbll", "avx512"): 1, ("vbll", "avx2"): 1, ("dbk", "avx512"): 2, ("dbk", "avx2"): 2.5}
    (folder / "sensitivity").mkdir()
    twice = [dict.fromkeys(results.FIELDS, "") | results.asked("s", "pol", "vbll", seed, f"--split-seed 1{own}") | dict(
        nll_standardized=value, steps="9", commit=commit, recipe={"method": "vbll", **more})
        for seed, own, value, commit, more in ((0, "", "-1.5", "one", {"steps": 9}), (0, " --beta 0.01", "-1.25", "two", {"steps": 9, "noise_folds": 5}),
                                               (0, " --steps 8", "-3", "one", {"steps": 8}), (1, "", "-1", "one", {}))]
    with open(folder / "sensitivity" / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, results.FIELDS)
        writer.writeheader()
        writer.writerows(packed(folder / "sensitivity", twice))
    rows = [cell(method, 0, "AVX512", aten, 200) | dict(nll_standardized=value) for (method, aten), value in nll.items()]
    page = page_of(folder, "bits", rows)
    assert "avx2 in place of avx512 in ATen moves `dbk` and leaves the bits of `vbll`;" in page
    assert "AVX2 in place of AVX512 in MKL (the matrix products) is not measured;" in page
    assert "| pol | VBLL | 0 | -1.5, 9 steps (one); -1.25, 9 steps (two) | 0.250 |" in page and "| pol | VBLL | 1 |" not in page
    shutil.rmtree(folder / "bits")
    whole = ("dbk", "AVX512", "avx512", -2.5), ("dbk", "AVX512", "avx2", -2.25), ("vbll", "AVX2", "avx2", -1)
    page = page_of(folder, "bits", rows + [cell(method, 2, *at) | dict(nll_standardized=value, steps=9) for method, *at, value in whole])
    assert "`dbk`, seed 2: 0.250 apart; `vbll`, seed 2: one setting alone" in page


def test_the_peers_of_the_likelihoods_are_scored_by_their_formulas():
    import numpy
    study, x = module("likelihoods"), numpy.zeros((4, 1))
    found = study.of_classes(x, numpy.array([0.0, 0, 1, 1]), [0, 1, 2], [1, 3], False, 0)  # two thirds and one third
    assert found["nll"] == pytest.approx(-(math.log(2 / 3) + math.log(1 / 3)) / 2) and found["accuracy"] == 0.5 and found["auroc"] == 0.5
    assert found["brier"] == pytest.approx((2 / 9 + 8 / 9) / 2)
    found = study.of_counts(x, numpy.array([1.0, 3, 2, 5]), [0, 1], [2, 3], False, 0)  # a rate of 2
    assert found["nll"] == pytest.approx(((2 - 2 * math.log(2) + math.log(2)) + (2 - 5 * math.log(2) + math.log(120))) / 2)
    assert found["mae"] == 1.5 and found["rmse"] == pytest.approx(math.sqrt(4.5))


def test_a_peers_recipe_is_that_of_the_split(folder, tool):
    study = module("likelihoods")
    fits = study.runner(str(tool), folder)
    assert fits.recipe(results.asked("poisson", "counts:2000", "boosting", 0)) == {"method": "boosting", "inputs": {}}
    assert fits.recipe(results.asked("poisson", "counts:2000", "vbll", 0))["options"] == {"ridge": "default"}
    command = [str(word) for word in fits.command(results.asked("cox", "cox:2000", "sv-dbk", 0, "--steps 5"), "t.csv", "m")]
    assert command[-6:] == ["--ignore", "true_intensity", "--steps", "5", "--domain", "0:1,0:2"]


def test_coverage_within_two_points_is_said_of_each_method(folder):
    rows = [results.asked(study, "concrete", method, 0, own, f"--level 0.9 --split-seed {split} --steps 1000") | dict(
        coverage=coverage + split / 100, width_standardized=1, test_rows=103)
        for method, coverage in (("dbk", 0.9), ("dnn", 0.93))
        for study, own in (("conformal", "--calibrate conformal"), ("plain", "")) for split in (0, 1)]
    page = page_of(folder, "conformal", rows)
    assert "| concrete | 103 | 2 | dbk | 0.905 | **0.905** | 0.007 | 0.042 | 1.000 | 1.000 | yes |" in page
    assert re.search(r"\| dnn \|.*\| \*\*no\*\* \|", page) and "Within two points of 90 %: 1 of 2" in page


def test_the_recipes_page_has_the_mean_of_each_change(folder):
    rows = [results.asked(study, data, "dbk", seed, flags) | dict(
        nll_standardized=-0.5 + seed + 0.25 * (flags != ""), mae_standardized=0.02 * (1 + (flags != "")), coverage=0.9,
        steps=7000 + seed, rows=824, test_rows=103)
        for study, flags in (("default", ""), ("focus", "--focus 0")) for data in ("pol", "elevators", "wine_red", "concrete")
        for seed in range(3) if seed == 0 or data not in ("pol", "elevators")]
    page = page_of(folder, "recipe", rows)
    assert "| focus 0 (the paper's objective from the first step) |  | -.250 / .0400 / .90 | -.250 / .0400 / .90 | .750 / .0400 / .90 |" in page
    assert "pol's MAE is 2.0 times as large, wine_red's NLL rises by 0.25; pol is one seed." in page and "concrete (7,000 to 7,002)" in page and "elevators (7,000)," in page
    assert "Noise floor.**" not in page and "a coverage of .90 to .90 on 103 test rows" in page
