"""The library for serving as its users link it: alone, from C, without libtorch, Arrow or Python."""

import csv
import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("SLIMBAYES_TOOL", ROOT / "build" / "slimbayes"))
LIBRARY = TOOL.parent / "rooms" / "libslimbayes_serve.so"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
NUMBERS = ["mean", "sd", "sd_aleatoric", "sd_epistemic"]


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **more).stdout


def houses(path, rows=160):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["size", "street", "sold", "price"])
        for i in range(rows):
            size = "" if i % 17 == 4 else 40 + (i * 37) % 90
            street = ["north", "south", "park"][i % 3]
            out.writerow([size, street, f"2024-{1 + i % 12:02}-{1 + i % 28:02}",
                          1000 + 9 * (size or 80) + 40 * (i % 3) + (i * 31) % 17])
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    out = folder / "predict"
    run(COMPILER, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", ROOT / "examples" / "serve" / "predict.c",
        "-I", ROOT / "slimbayes" / "serve", "-L", LIBRARY.parent, "-lslimbayes_serve", f"-Wl,-rpath,{LIBRARY.parent}", "-o", out)
    return out


def test_needs_no_libtorch(program):
    for file in program, LIBRARY:
        needed = run("ldd", file)
        assert not [word for word in ("torch", "c10", "arrow", "parquet", "python") if word in needed], needed


def test_exports_its_own_names_alone():
    shown = [line.split(maxsplit=2) for line in run("nm", "-DC", "--defined-only", LIBRARY).splitlines()]
    names = {line[2] for line in shown}
    assert {"slimbayes_open", "slimbayes_predict", "slimbayes_close"} <= names
    ours = ("slimbayes_", "slimbayes::serve::", "slimbayes::RowAnswer::")
    foreign = {name for name in names if not name.startswith(ours) and "slimbayes::serve::" not in name}
    assert not {name for name in foreign if not name.startswith(("typeinfo for std::", "typeinfo name for std::", "std::"))}, foreign


def test_is_small(tmp_path):
    """At most 3 MB without its table of local symbols."""
    run("strip", "-o", tmp_path / "stripped.so", LIBRARY)
    assert (tmp_path / "stripped.so").stat().st_size < 3_000_000


@pytest.mark.parametrize("method", [["dbk", "--steps", "60"], ["auto", "--candidates", "constant,ridge,gp-exact"]], ids=lambda words: words[0])
def test_a_c_program_answers_as_the_tool(program, tmp_path, method):
    table = houses(tmp_path / "houses.csv")
    model, rows = tmp_path / "m.safetensors", houses(tmp_path / "new.csv", 40)
    run(TOOL, "fit", table, "--target", "price", "--method", *method, "--model", model)
    run(TOOL, "predict", model, rows, "--level", "0.8", "--out", tmp_path / "p.csv")
    with open(tmp_path / "p.csv", newline="") as file:
        expected = list(csv.DictReader(file))
    with open(rows, newline="") as file:
        cells = [",".join(row[:3]) for row in csv.reader(file)][1:]
    out = run(program, model, "0.8", input="\n".join(cells) + "\n").splitlines()
    known = json.loads(out[0].removeprefix("# "))
    assert (known["sd_parts"] == "aleatoric and epistemic") == ("sd_aleatoric" in expected[0])
    assert [column["name"] for column in known["columns"]] == ["size", "street", "sold"]
    assert [column["type"] for column in known["columns"]] == ["number", "category", "time"]
    answers = list(csv.DictReader(out[1:]))
    assert len(answers) == len(expected) == 40
    for row, told in zip(answers, expected):
        for name in NUMBERS if "sd_aleatoric" in told else NUMBERS[:2]:
            assert float(row[name]) == pytest.approx(float(told[name]), rel=1e-6), name
        for name in "lower", "upper":
            assert float(row[name]) == pytest.approx(float(told[next(key for key in told if key.startswith(name))]), rel=1e-6)


def test_a_c_program_answers_classes_as_the_tool(program, tmp_path):
    table = houses(tmp_path / "houses.csv")
    run(TOOL, "fit", table, "--target", "street", "--method", "logistic", "--model", tmp_path / "m.safetensors")
    run(TOOL, "predict", tmp_path / "m.safetensors", table, "--out", tmp_path / "p.csv")
    with open(tmp_path / "p.csv", newline="") as file:
        expected = list(csv.DictReader(file))
    with open(table, newline="") as file:
        cells = [",".join([row[0], row[2], row[3]]) for row in csv.reader(file)][1:]
    out = run(program, tmp_path / "m.safetensors", input="\n".join(cells) + "\n").splitlines()
    known = json.loads(out[0].removeprefix("# "))
    assert known["task"] == "classification" and known["classes"] == ["north", "park", "south"]
    answers = [[float(cell) for cell in line.split(",")] for line in out[2:]]
    assert len(answers) == len(expected) == 160
    for (label, information, *probabilities), told in zip(answers, expected):
        assert known["classes"][int(label)] == told["label"]
        assert probabilities == pytest.approx([float(told[f"p_{name}"]) for name in known["classes"]], rel=1e-6)
        assert information == pytest.approx(float(told["mutual_information"]), rel=1e-5, abs=1e-8)


def test_errors_are_sentences(program, tmp_path):
    table = houses(tmp_path / "houses.csv")
    run(TOOL, "fit", table, "--target", "street", "--method", "swag", "--steps", "20", "--model", tmp_path / "c.safetensors")
    run(TOOL, "fit", table, "--target", "price", "--method", "ridge", "--model", tmp_path / "m.safetensors")
    for model, line, part in (("c.safetensors", "80,north", "a model of swag"), ("missing", "", "missing"),
                              ("m.safetensors", "eighty,north,2024-01-01", "'size'"), ("m.safetensors", "80", "line 1: expected 3 cells"),
                              ("m.safetensors", "80,north,2024-01-01,9", "line 1: expected 3 cells")):
        found = subprocess.run([str(program), str(tmp_path / model)], input=line + "\n", capture_output=True, text=True)
        assert found.returncode == 1 and part in found.stderr, found.stderr
