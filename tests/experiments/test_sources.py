"""A source's cell is fitted with its own target, evaluated on its test rows with the foreign ones, and described."""

import json
import sys

import pytest
import runners
import source_fit
import sources

# Stands for the tool: logs its words; a report has one list, one text and one count of classes.
TOOL = """#!{python}
import json, pathlib, sys
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(" ".join(words) + "\\n")
if words[0] == "fit":
    summary = {{"rows": 3, "steps": 5, "stopped": "budget", "seconds": 1.23, "best_score": None}}
    print(json.dumps({{"summary": summary, "valid": {{"nll": 0.5}}}}))
elif words[0] == "evaluate":
    print(json.dumps({{"n": 4, "nll": 0.7, "coverage": 0.95, "method": "dnn", "ood": {{"auroc": {{"entropy": 0.8123456789}}}},
                      "selective": {{"by": {{"entropy": {{"mae": [2.0, 1.0], "constant": True}}}}}}}}))
elif words[0] == "describe":
    print(json.dumps({{"parameters": 11, "multiply_adds": 5}}))
"""


@pytest.fixture
def runner(tmp_path):
    tool = tmp_path / "tool"
    tool.write_text(TOOL.format(python=sys.executable, log=str(tmp_path / "log")))
    tool.chmod(0o755)
    return runners.Runner(str(tool), tmp_path / "data")


def source(test, foreign, valid=False):
    def files(data, folder):
        return sources.Files(folder / "own.csv", test and folder / test, foreign and folder / foreign, folder / "valid.csv" if valid else None)
    return sources.Source(files, ("--target", "label"), ("--rename", "a=b"))


def run(runner, tmp_path, of):
    cell = {"study": "main", "data": "x", "method": "dnn", "seed": "3", "flags": "--epochs 2"}
    sources.SOURCES["x"] = of
    try:
        row = source_fit.measured(runner, cell, runners.Work(tmp_path), of)
    finally:
        del sources.SOURCES["x"]
    return row, (tmp_path / "log").read_text().replace(f"{tmp_path}/", "").splitlines()


def test_the_row_holds_every_number_of_the_report(runner, tmp_path):
    row, log = run(runner, tmp_path, source("test.csv", "far.csv"))
    assert log == ["fit own.csv --target label --method dnn --seed 3 --threads 1 --json --model m.safetensors --epochs 2",
                   "evaluate m.safetensors test.csv --rename a=b --ood far.csv --json", "describe m.safetensors --json"]
    assert json.loads(row["scores"]) == {"n": 4, "nll": 0.7, "coverage": 0.95, "multiply_adds": 5, "ood.auroc.entropy": 0.812346,
                                         "selective.by.entropy.mae.0": 2, "selective.by.entropy.mae.1": 1}
    assert (row["parameters"], row["test_rows"], row["coverage"], row["seconds"], row["valid_score"]) == (11, 4, 0.95, 1.2, "")


def test_without_test_rows_a_part_of_the_training_file_is_scored(runner, tmp_path):
    _, log = run(runner, tmp_path, source(None, None, valid=True))
    assert log[0].endswith("--epochs 2 --valid valid.csv") and log[1] == "evaluate m.safetensors own.csv --rename a=b --json"


def test_the_answer_to_a_curve_is_added(runner, tmp_path):
    of = source("test.csv", None)._replace(predicted=lambda predict, folder: {"width_in": 0.25})
    row, _ = run(runner, tmp_path, of)
    assert json.loads(row["scores"])["width_in"] == 0.25
