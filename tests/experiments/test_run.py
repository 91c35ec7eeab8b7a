"""Runners share one results.csv: no cell twice, none lost, a failed one again, an older file extended."""

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time

import pytest
import report
import results
import runners
import studies
from run import ROOT

# Stands for the tool: logs each fit, fails for seed 9, and knows two rows of generated data.
TOOL = """#!{python}
import json, pathlib, sys, time
words = sys.argv[1:]
value = lambda flag: words[words.index(flag) + 1]
report = {{m: 0.5 for m in {metrics}}} | {{"n": 10, "nll": 0.7}}
if words[0] == "--version":
    print("slimbayes 0.1.0 (f00ba12-dirty)")
elif "--dry-run" in words:
    options = json.loads(pathlib.Path({log!r} + ".options").read_text())
    preset = options.pop("preset", {{}})
    print(json.dumps({{"method": value("--method"), "options": options | (preset if "--preset" in words else {{}})}}))
elif words[0] == "fit":
    pathlib.Path(value("--model")).write_text("a model")
    with open({log!r}, "a") as log:
        log.write(" ".join(words) + "\\n")
    time.sleep(30 if value("--seed") == "30" else 0.05)
    if value("--seed") == "9":
        sys.exit("some words\\nerror: no luck")
    summary = {{"rows": 80, "steps": 5, "stopped": "budget", "seconds": 1.23, "best_score": -1.5}}
    print(json.dumps({{"summary": summary, "test": report}}))
elif words[0] == "generate":
    pathlib.Path(value("--out")).write_text("x,y,true_mean,true_sd\\n0,1,1,0.5\\n1,2,2,1\\n")
elif words[0] == "evaluate":
    print(json.dumps(report | {{"ood": {{"auroc": {{"distance": 0.1, "epistemic_sd": 0.9}}}}}}))
elif words[0] == "describe":
    print(json.dumps({{"parameters": 4321}}))
elif words[0] == "predict":
    pathlib.Path(value("--out")).write_text("mean,sd\\n1,0.6\\n2,0.9\\n")
"""


@pytest.fixture
def study(tmp_path):
    tool = tmp_path / "tool"
    tool.write_text(TOOL.format(python=sys.executable, metrics=results.METRICS, log=str(tmp_path / "log")))
    tool.chmod(0o755)
    defaults(tmp_path, steps=500)
    return tmp_path


def defaults(study, **options):
    """What the stand-in takes where no flag says otherwise."""
    (study / "log.options").write_text(json.dumps(options))


def write_cells(study, rows):
    (study / "study.py").write_text(f"from results import asked\n\ndef cells():\n    return [asked(*row) for row in {rows!r}]\n")


def start(study, *flags):
    return subprocess.Popen([sys.executable, ROOT / "experiments/run.py", study, "--tool", study / "tool", *flags],
                            stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "SLIMBAYES_DATA": "data", "SLIMBAYES_MODELS": str(study / "models")})


def run(study, *flags):
    """The rows afterwards; the exit status says whether one that was added failed."""
    before, process = results.read(study / "results.csv"), start(study, *flags)
    _, said = process.communicate(timeout=60)
    rows = results.read(study / "results.csv")
    assert process.returncode == any(row["error"] for row in rows[len(before):]), said
    return rows


def fits(study):
    return (study / "log").read_text().splitlines() if (study / "log").exists() else []


def test_two_runners_share_the_cells(study):
    write_cells(study, [["s", "pol", "dbk", seed, ""] for seed in range(9)])
    both = [start(study, "--jobs", "2"), start(study)]
    assert [process.communicate(timeout=60) and process.returncode for process in both] == [0, 0]
    rows = results.read(study / "results.csv")
    assert sorted(row["seed"] for row in rows) == [str(seed) for seed in range(9)]
    assert len(fits(study)) == 9


def test_what_is_recorded(study):
    write_cells(study, [["s", "pol", "dbk", 0, "--rank 2 --test-fraction 0.2"]])
    (row,) = run(study, "--commit", "abc")
    assert row["nll_standardized"] == "0.5" and row["valid_score"] == "-1.5" and row["seconds"] == "1.2" and row["commit"] == "abc"
    assert int(row["memory_mb"]) > 0 and row["parameters"] == "4321"
    assert row["command"] == ("tool fit pol.csv.gz --target y --method dbk --seed 0 --threads 1 --json --model m.safetensors "
                              "--rank 2 --test-fraction 0.2")
    assert str(study) not in json.dumps({**row, "data": ""})


def test_a_row_says_what_decided_it(study):
    write_cells(study, [["s", "pol", "dbk", 0, ""]])
    (row,) = run(study)
    assert row["recipe"] == {"method": "dbk", "options": {"steps": 500}} and row["commit"] == "f00ba12-dirty"


def test_a_changed_default_makes_a_row_stale_and_a_new_option_does_not(study):
    write_cells(study, [["s", "pol", "dbk", 0, ""], ["s", "pol", "dbk", 0, "--preset paper"]])
    run(study)
    defaults(study, steps=500, form="exp")
    assert len(run(study)) == 2
    defaults(study, steps=500, form="exp", preset={"form": "sd"})  # a preset that takes the new option otherwise
    assert [row["flags"] for row in run(study)] == ["", "--preset paper", "--preset paper"]
    defaults(study, steps=2000, form="exp", preset={"form": "sd"})
    rows = run(study)
    assert [row["recipe"]["options"]["steps"] for row in rows] == [500, 500, 500, 2000, 2000]
    assert len(run(study)) == 5
    assert results.latest(rows)[0]["recipe"]["options"]["steps"] == 2000


def test_rows_of_another_commit_are_measured_again_when_asked(study):
    write_cells(study, [["s", "pol", "dbk", seed, ""] for seed in (0, 1)])
    run(study, "--commit", "old")
    assert len(run(study)) == 2
    assert [row["commit"] for row in run(study, "--again", "--match", ",0,$")] == ["old", "old", "f00ba12-dirty"]
    assert len(run(study, "--again", "--match", ",0,$")) == 3


def test_a_failed_cell_is_tried_again_and_a_finished_one_is_not(study):
    write_cells(study, [["s", "pol", "dbk", seed, ""] for seed in (9, 1)])
    assert {row["seed"]: row["error"] for row in run(study)} == {"9": "error: no luck", "1": ""}
    rows = run(study)
    assert [row["seed"] for row in rows].count("9") == 2 and len(fits(study)) == 3
    assert len(results.latest(rows)) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_ends_the_fit_and_leaves_the_rest_for_the_next_time(study, number):
    write_cells(study, [["s", "pol", "dbk", seed, ""] for seed in (0, 30, 1, 2)])
    process = start(study)
    end = time.monotonic() + 60
    while len(fits(study)) < 2 and time.monotonic() < end:  # the second, of half a minute, has begun
        time.sleep(0.02)
    process.send_signal(number)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 130 and said.endswith("stopped; 3 cells left\n") and "Traceback" not in said
    assert [(row["seed"], row["error"]) for row in results.read(study / "results.csv")] == [("0", "")]
    assert [row["seed"] for row in run(study, "--match", ",[12],$")] == ["0", "1", "2"]


@pytest.mark.parametrize("flags, code, said", [
    (["--match", "(,kin"], 2, "--match: expected a regular expression; received '(,kin'"), (["--jobs", "0"], 2, "expected at least 1; received 0"),
    (["--match", "nowhere"], 0, "no cell matches 'nowhere'; one is s,pol,catboost,0,"),
    ([], 1, "cells of catboost need packages that this Python lacks: pip install -r experiments/requirements.txt")])
def test_what_is_wrong_is_said_in_a_line(study, flags, code, said):
    write_cells(study, [["s", "pol", "catboost", 0, ""]])
    process = start(study, *flags)
    text = process.communicate(timeout=60)[1]
    assert process.returncode == code and said in text and "Traceback" not in text and not (study / "results.csv").exists()


def test_a_cell_is_compared_with_the_row_that_it_had(study):
    write_cells(study, [["s", "pol", "dbk", 0, ""]])
    run(study)
    process = start(study, "--results", study / "again" / "results.csv")
    assert "same: NLL 0.70000 then, 0.70000 now" in process.communicate(timeout=60)[1]
    assert len(results.read(study / "again" / "results.csv")) == 1 and len(results.read(study / "results.csv")) == 1


def test_selection_and_order(study):
    write_cells(study, [["a", "pol", "dbk", 1, ""], ["b", "pol", "vbll", 0, ""], ["a", "pol", "dnn", 0, ""]])
    listed = subprocess.run([sys.executable, ROOT / "experiments/run.py", study, "--tool", study / "tool", "--match",
                             "^a,", "--list"], capture_output=True, text=True, check=True)
    assert listed.stdout == "a,pol,dbk,1,\na,pol,dnn,0,\n"
    assert [row["method"] for row in run(study, "--match", "^b,")] == ["vbll"]
    assert [row["method"] for row in run(study)] == ["vbll", "dbk", "dnn"]


def test_generated_data_is_scored_on_rows_of_its_own_against_the_truth(study):
    write_cells(study, [["s", "steps:100", "dbk", 3, ""]])
    (row,) = run(study)
    expected = 0.5 * math.log(2 * math.pi) + 0.5 * math.log(0.5)  # residuals are 0, the sds 0.5 and 1
    assert float(row["oracle_nll"]) == pytest.approx(expected, abs=1e-5)
    assert float(row["sd_correlation"]) == pytest.approx(1)
    assert "--valid valid.csv --ignore true_mean,true_sd" in row["command"]


def test_cells_share_the_network_that_they_begin_with(study):
    own = ["--around bll --noise mse", "--around bll"]
    write_cells(study, [["s", "wine", "rich-bll", seed, f"--split-seed 1 {flags}"] for seed in (0, 1) for flags in own])
    rows = run(study)
    assert [row["error"] for row in rows] == [""] * 4
    networks = [line for line in fits(study) if "--network-from" not in line]
    assert len(networks) == 2 and len(fits(study)) == 6  # one network a seed
    first = rows[0]["command"].split(" && ")
    assert first[0].endswith("--test-fraction 0.1 --split-seed 1") and "--method bll" in first[0]
    assert "--network-from" in first[1] and first[1].endswith("--model m.safetensors --noise mse") and "--split-seed" not in first[1]
    assert str(study) not in rows[0]["command"]
    assert rows[0]["recipe"]["network"] == {"method": "bll", "options": {"steps": 500}}
    defaults(study, steps=900)
    assert len(run(study)) == 8  # the network's options are part of what decides a row


def test_foreign_rows_are_told_by_the_epistemic_sd(study):
    write_cells(study, [["s", "wine", "bll", 0, "--ood white --split-seed 1"]])
    (row,) = run(study)
    assert row["auroc"] == "0.9" and "--ood" not in row["command"]


def test_a_file_of_fewer_columns_is_extended_and_keeps_its_rows(study):
    (study / "results.csv").write_text("study,data,method,seed,flags,coverage,error\ns,pol,dbk,0,,0.9,\n")
    write_cells(study, [["s", "pol", "dbk", seed, ""] for seed in (0, 1)])
    rows = run(study)
    assert [row["seed"] for row in rows] == ["0", "1"] and rows[0]["coverage"] == "0.9"
    assert len(fits(study)) == 1


def test_a_running_cell_is_claimed_by_one(tmp_path):
    shared, cell = results.Results(tmp_path / "results.csv"), dict.fromkeys(results.KEY, "x")
    with shared.claim(cell, bool) as first, results.Results(tmp_path / "results.csv").claim(cell, bool) as second:
        assert first and not second
    with shared.claim(cell, bool) as again:
        assert again


def test_another_study_needs_its_own_file(study):
    write_cells(study, [])
    process = start(study, "--extra", "--steps 5")
    assert "--results" in process.communicate(timeout=60)[1] and process.returncode == 2


def test_a_missing_tool_is_no_failure_of_every_cell(study):
    write_cells(study, [["s", "pol", "dbk", 0, ""]])
    (study / "tool").unlink()
    process = start(study)
    assert "no tool at" in process.communicate(timeout=60)[1] and process.returncode == 1
    assert not (study / "results.csv").exists()


def test_correlation():
    assert runners.correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert runners.correlation([1, 2, 3], [1, 0, -1]) == pytest.approx(-1)
    assert math.isnan(runners.correlation([1, 1, 1], [1, 2, 3]))


def test_every_study_has_what_a_study_needs():
    """Seed 0 of a study's first round comes first, and no two cells are the same."""
    for folder in studies.folders():
        study, cells = studies.load(folder), list(studies.load(folder).cells())
        assert study.TITLE and study.WHAT and study.PAPER in report.PAPERS and callable(study.page)
        assert cells and str(cells[0]["seed"]) == "0"
        keys = [results.key({name: str(cell[name]) for name in results.KEY}) for cell in cells]
        assert len(set(keys)) == len(keys), folder.name


def test_every_row_is_of_a_recipe_that_is_stored_once():
    for folder in studies.folders():
        path = folder / "results.csv"
        known, used = results.recipes(path), {row["recipe"] for row in results._rows(path) if row.get("recipe")}
        assert used == set(known), folder.name
        assert all(name == results.hash_of(recipe) for name, recipe in known.items())


def test_the_canary_names_the_rows_that_do_not_come_out(study):
    write_cells(study, [["s", "pol", "dbk", "0", ""], ["s", "pol", "vbll", "0", ""], ["s", "pol", "vbll", "1", "--steps 9"]])
    run(study)
    rows = results.read(study / "results.csv")
    assert len(rows) == 3

    def canary(nll, seconds="600"):
        with open(study / "results.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, results.FIELDS)
            writer.writeheader()
            writer.writerows([{**row, "nll": nll, "seconds": row["seed"], "steps": "500", "recipe": results.hash_of(row["recipe"])} for row in rows])
        return subprocess.run([sys.executable, ROOT / "experiments/run.py", study, "--canary", seconds, "--tool", study / "tool"], text=True,
                              capture_output=True, env={**os.environ, "SLIMBAYES_DATA": "data"})

    for nll, how, code in (("0.7", "same", 0), ("0.71", "near", 0), ("0.9", "another", 1)):
        done = canary(nll)
        assert done.returncode == code and [line.split()[0] for line in done.stdout.splitlines()] == [how] * 2, done
        assert f"vbll: {study.name}, pol, , of f00ba12-dirty: NLL {float(nll):.5f} then, 0.70000 now" in done.stdout
    assert canary("0.7", "-1").stderr.count("no time left") == 2
