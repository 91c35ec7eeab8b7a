"""Tables of several files, and tables that do not fit into memory: `fit` of a folder, and `fit --cache`."""

import json
import random
import subprocess

import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from conftest import TOOL, run

DNN = ["--target", "y", "--method", "dnn", "--hidden", "16", "--threads", "1"]
DBK = ["--target", "y", "--method", "dbk", "--hidden", "16", "--rank", "16", "--threads", "1"]


def rows(n, seed=1, classes=False):
    draw = random.Random(seed)
    x = [draw.uniform(-2, 2) for _ in range(n)]
    k = [draw.choice(["red", "blue", "green"]) for _ in range(n)]
    y = [a * (2 if b == "red" else -1) + 0.3 * draw.gauss(0, 1) for a, b in zip(x, k, strict=True)]
    return pyarrow.table({"x": [None if draw.random() < 0.002 else a for a in x], "k": k, "y": [("yes" if b > 0 else "no") for b in y] if classes else y})


def write_parts(folder, table):
    """The rows in a folder: a Parquet file with several row groups, Feather, and CSV in a folder of its own."""
    (folder / "parts" / "more").mkdir(parents=True)
    third = table.num_rows // 3
    pyarrow.parquet.write_table(table.slice(0, third), folder / "parts" / "1.parquet", row_group_size=400)
    pyarrow.feather.write_feather(table.slice(third, third), folder / "parts" / "2.feather", chunksize=300)
    with open(folder / "parts" / "more" / "3.csv", "w", newline="") as file:
        file.write("x,k,y\n" + "".join(f"{'' if row['x'] is None else repr(row['x'])},{row['k']},{row['y']}\n" for row in table.slice(2 * third).to_pylist()))
    (folder / "parts" / "_SUCCESS").touch()


def fitted(folder, *words):
    done = run(folder, "fit", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def nll_of(folder, model="model.safetensors", data="new.parquet"):
    done = run(folder, "evaluate", model, data, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["nll"]


@pytest.fixture(name="folder")
def folder_of_parts(tmp_path):
    write_parts(tmp_path, rows(3000))
    pyarrow.parquet.write_table(rows(1000, seed=2), tmp_path / "new.parquet")
    pyarrow.parquet.write_table(rows(3000), tmp_path / "whole.parquet")
    (tmp_path / "cache").mkdir()
    return tmp_path


def test_files_of_one_table_are_that_table(folder):
    answers = []
    for words in ["whole.parquet"], ["parts"], ["parts/1.parquet", "parts/2.feather", "parts/more"]:
        report, said = fitted(folder, *words, *DNN, "--steps", "100")
        assert report["rows"]["train"] == 2700 and "error" not in said
        answers.append(run(folder, "predict", "model.safetensors", "new.parquet").stdout)
    assert answers[0] == answers[1] == answers[2]
    assert run(folder, "predict", "model.safetensors", "parts").stdout.count("\n") == 3001  # also to predict
    listed = ["parts/1.parquet", "parts/2.feather", "parts/more"]
    for words in ["predict"], ["evaluate", "--json"], ["report", "--json"]:
        whole, several = [run(folder, words[0], "model.safetensors", *files, *words[1:]) for files in (["parts"], listed)]
        assert whole.returncode == several.returncode == 0 and whole.stdout.count("\n") > 10, several.stderr
        assert several.stdout == whole.stdout.replace('"file": "parts"', '"file": "1.parquet and 2 more files"')
    done = run(folder, "predict", "model.safetensors", *listed, "--out", "parts/2.feather")
    assert done.returncode == 2 and "--out" in done.stderr and done.stderr.count("error:") == 1, done.stderr
    done = run(folder, "evaluate", "model.safetensors", "parts/1.parquet", "-")
    assert done.returncode == 2 and "standard input, beside files" in done.stderr, done.stderr


@pytest.mark.parametrize("text, sentence", [
    ("x,k\n1,red\n", "4.csv: expected the columns of 'parts/1.parquet'"), ("x,k,y\nword,red,1\n", "4.csv:2:1: expected"),
    ("", "4.csv: expected a header line and rows; received an empty file")])
def test_a_file_that_does_not_fit_the_others_is_named(folder, text, sentence):
    (folder / "parts" / "4.csv").write_text(text)
    for cache in [], ["--cache", "cache"]:
        done = run(folder, "fit", "parts", *DNN, "--steps", "50", *cache)
        assert done.returncode == 2 and sentence in done.stderr and done.stderr.count("error:") == 1, done.stderr
    assert not (folder / "model.safetensors").exists()


def test_a_damaged_row_group_is_named(folder):
    path = folder / "parts" / "1.parquet"
    content = bytearray(path.read_bytes())
    content[4:40] = b"\xff" * 36  # the header of its first page
    path.write_bytes(content)
    done = run(folder, "fit", "parts", *DNN, "--steps", "50", "--cache", "cache")
    assert done.returncode == 2 and "1.parquet: expected row group 1 of the 3 of a Parquet file" in done.stderr, done.stderr


METHODS = {"dnn": DNN, "dbk": DBK} | {name: ["--target", "y", "--method", name, "--hidden", "16", "--threads", "1"] for name in ("bll", "vbll", "mc-dropout")}


@pytest.mark.parametrize("words", [[*words, "--steps", "1500"] for words in METHODS.values()], ids=list(METHODS))
def test_rows_on_disk_give_the_level_of_rows_in_memory_and_their_own_bits(folder, words):
    fitted(folder, "parts", *words)
    level = nll_of(folder)
    answers = []
    for shuffled in [], [], ["--shuffle-rows", "100"]:
        report, said = fitted(folder, "parts", *words, "--cache", "cache", *shuffled)
        assert "3000 rows, read piece by piece" in said and abs(nll_of(folder) - level) < 0.05
        assert report["rows"]["train"] + report["rows"]["valid"] == 3000 and 200 < report["rows"]["valid"] < 400
        answers.append(run(folder, "predict", "model.safetensors", "new.parquet").stdout)
    assert answers[0] == answers[1]
    assert not list((folder / "cache").iterdir())


def test_rows_on_disk_are_learned_but_not_forgotten(folder):
    fitted(folder, "parts", *METHODS["bll"], "--steps", "200", "--cache", "cache")
    assert run(folder, "update", "model.safetensors", "new.parquet", "--out", "more.safetensors").returncode == 0
    assert run(folder, "forget", "more.safetensors", "new.parquet", "--out", "again.safetensors").returncode == 0
    done = run(folder, "forget", "model.safetensors", "whole.parquet", "--out", "fewer.safetensors")
    assert done.returncode == 2 and "keeps no list" in done.stderr and done.stderr.count("error:") == 1, done.stderr


def test_classes_test_rows_and_calibration_of_rows_on_disk(folder):
    write_parts(folder / "cache", rows(3000, classes=True))
    pyarrow.parquet.write_table(rows(1000, seed=2, classes=True), folder / "new.parquet")
    report, _ = fitted(folder, "cache/parts", *DNN, "--steps", "800", "--cache", "cache", "--test-fraction", "0.2", "--calibrate", "conformal", "--split", "random")
    assert 500 < report["rows"]["test"] < 700 and report["test"]["accuracy"] > 0.85 and nll_of(folder) < 0.35
    done = run(folder, "evaluate", "model.safetensors", "cache/parts", "--split", "test")  # its test rows are in no list
    assert done.returncode == 2 and done.stderr.count("error:") == 1, done.stderr


def test_a_table_of_four_times_the_memory_is_fitted_from_disk(folder):
    pyarrow.parquet.write_table(rows(500000), folder / "large.parquet", row_group_size=50000)
    bound = ["--max-table-memory", "3MB"]  # of 12 MB of cells
    done = run(folder, "fit", "large.parquet", *DNN, "--steps", "50", *bound)
    assert done.returncode == 2 and "--max-table-memory" in done.stderr and "--cache" in done.stderr, done.stderr
    report, said = fitted(folder, "large.parquet", *DNN, "--steps", "3000", "--cache", "cache", *bound)
    assert report["rows"]["train"] > 490000 and nll_of(folder) < 0.45, said


def test_the_report_of_a_model_from_disk_says_that_it_does_not_know_its_rows(folder):
    fitted(folder, "parts", *DNN, "--steps", "100", "--cache", "cache")
    for data in "parts", "new.parquet":
        done = run(folder, "report", "model.safetensors", data, "--json")
        assert done.returncode == 0 and "keeps no list of its training rows" in json.loads(done.stdout)["data"]["says"], done.stderr


def test_validation_rows_of_their_own_beside_rows_on_disk(folder):
    report, _ = fitted(folder, "parts", *DNN, "--steps", "800", "--cache", "cache", "--valid", "new.parquet")
    assert report["rows"]["train"] == 3000 and report["rows"]["valid"] == 1000 and report["valid"]["nll"] < 0.4


def test_another_window_of_shuffled_rows_is_another_fit(folder):
    words = ["parts", *DNN, "--steps", "50", "--cache", "cache"]
    report, _ = fitted(folder, *words)
    again, said = fitted(folder, *words, "--resume")
    assert "is finished already" in said and again["rows"] == report["rows"] and report["rows"]["train"] > 2000
    assert abs(again["valid"]["nll"] - report["valid"]["nll"]) < 1e-9
    done = run(folder, "fit", *words, "--shuffle-rows", "1000", "--resume")
    assert done.returncode == 2 and "shuffled rows" in done.stderr, done.stderr


def test_a_small_window_of_sorted_rows_is_noted(folder):
    table = rows(30000)
    for order, window, noted in ("ascending", "4096", True), ("ascending", "262144", False), (None, "4096", False):
        pyarrow.parquet.write_table(table.sort_by([("y", order)]) if order else table, folder / "sorted.parquet")
        report, _ = fitted(folder, "sorted.parquet", *DNN, "--steps", "20", "--cache", "cache", "--shuffle-rows", window)
        assert any("--shuffle-rows" in note and "unlike the table" in note for note in report["notes"]) == noted, report["notes"]


def test_what_cannot_be_read_from_disk_is_refused(folder):
    for words, sentence in ([["--method", "gp-exact"], "gp-exact, which needs all"], [["--method", "dnn", "--window", "3", "--time", "x"], "another kind of input"],
                            [["--method", "dnn", "--scale-on", "all"], "--scale-on all"], [["--method", "dnn", "--shuffle-rows", "0"], "at least one row for --shuffle-rows"]):
        done = run(folder, "fit", "parts", "--target", "y", *words, "--cache", "cache")
        assert done.returncode == 2 and sentence in done.stderr and done.stderr.count("error:") == 1, done.stderr
    (folder / "parts" / "4.csv").write_text("x\n1\n")  # no pass over the rows comes so far
    for words in ["--method", "gp-exact"], []:
        done = run(folder, "fit", "parts", "--target", "y", *words, "--cache", "cache")
        assert done.returncode == 2 and f"{words[-1] if words else 'auto'}, which needs all training rows" in done.stderr and " rows fit into the memory" in done.stderr, done.stderr
    done = run(folder, "fit", "parts", *DNN, "--cache", "absent")
    assert done.returncode == 2 and "expected a folder for --cache" in done.stderr, done.stderr


def test_a_kill_leaves_no_rows_behind_and_the_fit_goes_on(folder):
    whole = [*DNN, "--steps", "10000", "--patience", "0", "--cache", "cache"]
    fitted(folder, "parts", *whole)
    expected = run(folder, "predict", "model.safetensors", "new.parquet").stdout
    (folder / "model.safetensors").unlink()
    process = subprocess.Popen([TOOL, "fit", "parts", *whole, "--checkpoint-every", "0.05"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while not (folder / "model.safetensors.ckpt").exists() and process.poll() is None:
        pass
    process.kill()
    process.communicate()
    assert not list((folder / "cache").iterdir())
    fitted(folder, "parts", *whole, "--resume")
    assert run(folder, "predict", "model.safetensors", "new.parquet").stdout == expected
