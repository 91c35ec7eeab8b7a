"""Columns as other programs write them: read as they are meant, or said, before the training."""

import json
import random
import subprocess

import pytest
from conftest import FEW, TOOL, refused, run, toy_rows, write_csv


def fitted(folder, columns, rows, *words, method="dnn"):
    """A fit, whose method matters little: what is read and said comes before it."""
    write_csv(folder / "t.csv", columns, rows)
    done = run(folder, "fit", "t.csv", "--target", columns[-1], "--method", method, "--model", "m", "--threads", 1, "--json", *FEW, *words)
    assert done.returncode == 0, done.stderr
    return done, json.loads(done.stdout)["notes"]


def answers(folder, columns, rows):
    write_csv(folder / "new.csv", columns, rows)
    done = run(folder, "predict", "m", "new.csv")
    assert done.returncode == 0, done.stderr
    assert "column" not in done.stderr
    return [float(line.split(",")[0]) for line in done.stdout.splitlines()[1:]]


def encoder(folder):
    return json.loads(run(folder, "describe", "m", "--json").stdout)["encoder"]


@pytest.mark.parametrize("label", ["", '""', "Unnamed: 0"])
def test_an_index_is_no_input(tmp_path, label):
    """With it, without it and with another the model answers the same."""
    rows = toy_rows(60)
    _, notes = fitted(tmp_path, [label, "x0", "x1", "y"], [[f"r{i}", *row] for i, row in enumerate(rows)])
    notes = [note for note in notes if note.startswith("column")]
    assert len(notes) == 1 and "column 'Unnamed: 0'" in notes[0] and "row labels: no input" in notes[0]
    plain = answers(tmp_path, ["x0", "x1"], [row[:2] for row in rows])
    assert answers(tmp_path, [label, "x0", "x1"], [[i, *row[:2]] for i, row in enumerate(rows)]) == plain
    kept = run(tmp_path, "predict", "m", "t.csv", "--keep", "Unnamed: 0").stdout.splitlines()
    assert kept[0].startswith("Unnamed: 0,mean,") and kept[8].startswith("r7,")
    assert run(tmp_path, "evaluate", "m", "t.csv").returncode == 0


def test_an_index_hides_no_repeated_rows(tmp_path):
    """Every row has its own label, and a label makes no group."""
    rows = toy_rows(20)
    fitted(tmp_path, ["", "x0", "x1", "y"], [[i, *rows[i % 20]] for i in range(60)], "--test-fraction", 0.2)
    test = run(tmp_path, "evaluate", "m", "t.csv", "--split", "test", "--json")
    assert json.loads(test.stdout)["n"] % 3 == 0


def test_codes_with_leading_zeros_are_names(tmp_path):
    codes = ["02139", "10001", "94110"]
    done, notes = fitted(tmp_path, ["zip", "x", "y"], [[codes[i % 3], i % 7, [5, -5, 0][i % 3]] for i in range(90)])
    assert any("column 'zip': leading zeros ('02139')" in note for note in notes)
    assert encoder(tmp_path)["columns"][0]["levels"] == codes
    alone = [answers(tmp_path, ["zip", "x"], [[code, 1]])[0] for code in codes]
    assert len(set(alone)) == 3 and answers(tmp_path, ["zip", "x"], [[code, 1] for code in codes]) == pytest.approx(alone)
    assert "not seen in training" in run_on(tmp_path, ["zip", "x"], [[2139, 1]]).stderr


def run_on(folder, columns, rows):
    write_csv(folder / "new.csv", columns, rows)
    return run(folder, "predict", "m", "new.csv")


def test_a_target_with_leading_zeros(tmp_path):
    rows = [[i % 7, f"{i % 5:02}"] for i in range(100)]
    _, notes = fitted(tmp_path, ["x", "y"], rows)
    assert any("the target 'y': leading zeros ('00')" in note and "--likelihood gaussian" in note for note in notes)
    assert encoder(tmp_path)["task"] == "classification"
    fitted(tmp_path, ["x", "y"], rows, "--likelihood", "gaussian")
    assert encoder(tmp_path)["task"] == "regression"
    assert run(tmp_path, "evaluate", "m", "t.csv").returncode == 0


def test_notes_stand_before_the_training_and_once(tmp_path):
    """A counter, a mark for a missing cell, one in the target, dates and amounts that are dropped, spellings."""
    rows = [[i + 1, row[0], f'"${1000 + 7 * i},000"', f"{i % 28 + 1}.{i // 28 + 1}.2021", ["Colonial", "colonial ", "Ranch"][i % 3],
             row[2]] for i, row in enumerate(toy_rows(200))]
    rows[16][1], rows[20][-1] = 999999, 1e6
    done, notes = fitted(tmp_path, ["id", "x", "pay", "day", "style", "y"], rows, "--valid-fraction", 0, method="auto")
    for part in ["column 'id' numbers the rows (1, 2, 3, ...): no input",
                 "column 'x': 999999 (data row 17) lies far beyond", "the target 'y': 1000000 (data row 21) lies far beyond",
                 "column 'pay': its categories look like numbers ('$1000,000')", "column 'pay': 198 of 198 training cells differ",
                 "column 'day': its categories look like dates ('1.1.2021')",
                 "column 'style': 'Colonial' and 'colonial' differ by case or blanks alone"]:
        assert sum(part in note for note in notes) == 1, (part, notes)
        assert done.stderr.count(part) == 1
    words = ["fit", "t.csv", "--target", "y", "--model", "long", "--threads", "1", "--ignore", "pay,day,style", "--patience", "0",
             "--steps", "100000000"]
    process = subprocess.Popen([TOOL, *words], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = [process.stderr.readline() for _ in range(3)]
    assert process.poll() is None
    process.kill()
    process.communicate()
    assert any("999999 (data row 17)" in line for line in said), said


def test_times_with_offsets_where_training_had_none_are_noted_and_the_reverse(tmp_path):
    rows = [[f"2021-03-{i % 28 + 1:02}T{i % 24:02}:00", *row[1:]] for i, row in enumerate(toy_rows(120))]
    local = [[row[0] + "+08:00", *row[1:]] for row in rows]
    for trained, given, sentence in ((rows, local, "without an offset from UTC, as in training; received times with one, read as UTC: if those of training were local"),
                                     (local, rows, "with an offset from UTC, as in training; received times without one, read as UTC: add the offset")):
        fitted(tmp_path, ["when", "x1", "y"], trained)
        write_csv(tmp_path / "new.csv", ["when", "x1", "y"], given)
        for command in ("predict", "evaluate"):
            assert f"column 'when': expected times {sentence}" in run(tmp_path, command, "m", "new.csv").stderr
            assert "UTC" not in run(tmp_path, command, "m", "t.csv").stderr
        said = run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "dnn", "--valid", "new.csv", "--model", "other", *FEW).stderr
        assert f"validation data: column 'when': expected times {sentence}" in said


def test_times_without_an_offset_beside_others_with_one_are_noted(tmp_path):
    rows = [[f"2021-03-{i % 28 + 1:02}T{i % 24:02}:00" + ("Z" if i % 4 != 2 else ""), *row[1:]] for i, row in enumerate(toy_rows(120))]
    write_csv(tmp_path / "t.csv", ["when", "x1", "y"], rows)
    sentence = "column 'when': 30 of 120 times without an offset from UTC (the first in data row 3) beside others with one: read as UTC"
    assert sentence in run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "dnn", "--model", "m", *FEW).stderr
    for command in ("predict", "evaluate"):
        assert sentence in run(tmp_path, command, "m", "t.csv").stderr


def test_describe_says_what_became_of_each_column(tmp_path):
    rows = [[i, row[0], "abc"[i % 3], 7, "" if i % 9 == 0 else row[1], f"word{i}", ["yes", "no"][i % 2], f"2021-03-{i % 28 + 1:02}",
             i, row[2]] for i, row in enumerate(toy_rows(120))]
    rows[5][1], rows[6][1] = -2, 3
    columns = ["", "x", "c", "k", "m", "id", "b", "d", "other", "y"]
    fitted(tmp_path, columns, rows, "--ignore", "other", "--valid-fraction", 0)
    notes = encoder(tmp_path)["notes"]
    text = run(tmp_path, "describe", "m").stdout
    for line in ["Unnamed: 0  dropped: row labels", "x           number from -2 to 3", "c           3 categories: a, b, c",
                 "k           dropped: constant", "; whether it is missing is an input too",
                 "id          dropped: identifier or free text", "b           yes or no", "other       ignored",
                 "d           time from 2021-03-01 00:00 to 2021-03-28 00:00"]:
        assert line in text, text
    assert len(notes) == 4 and all(note[:40] in text for note in notes), notes
    fates = {column["name"]: column.get("dropped") for column in encoder(tmp_path)["columns"]}
    assert fates == {"Unnamed: 0": "row labels", "x": None, "c": None, "k": "constant", "m": None, "id": "identifier or free text",
                     "b": None, "d": None}


def test_a_centred_target_has_the_scores_of_its_units(tmp_path):
    words = ["fit", "t.csv", "--target", "y", "--model", "m", "--threads", 1, "--method", "bll", *FEW]
    write_csv(tmp_path / "t.csv", ["x0", "x1", "y"], [[*row[:2], 100 * row[2]] for row in toy_rows(200)])
    done = run(tmp_path, *words, "--target-scale", "centred", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["summary"]["score"] == "validation MSE"
    kept, scores = encoder(tmp_path), answer["valid"]
    assert kept["y_scale"] == 1 and kept["encoded_sd"] > 10
    assert scores["mae"] == pytest.approx(scores["mae_standardized"] * kept["encoded_sd"])
    assert "y (centred, not scaled)" in run(tmp_path, "describe", "m").stdout
    again = run(tmp_path, "fit", "t.csv", "--network-from", "m", "--method", "rich-bll", "--model", "r", "--json")
    assert json.loads(again.stdout)["valid"]["mae"] == pytest.approx(scores["mae"])  # the network's own mean
    run(tmp_path, *words)
    assert "encoded_sd" not in encoder(tmp_path) and "not scaled" not in run(tmp_path, "describe", "m").stdout


def test_a_scale_of_the_target_is_for_numbers(tmp_path):
    write_csv(tmp_path / "c.csv", ["x0", "x1", "y"], [[*row[:2], "ab"[row[2] > 0]] for row in toy_rows(60)])
    words = ["fit", "c.csv", "--target", "y", "--target-scale", "centred", *FEW]
    assert "leave --target-scale out" in refused(tmp_path, *words)
    assert "leave --target-scale out" in refused(tmp_path, *words, "--likelihood", "poisson")
    assert "--target-scale" in refused(tmp_path, "fit", "c.csv", "--format", "cifar10", "--target-scale", "centred")
    refused(tmp_path, *words[:-3], "robust")


def test_numbers_that_look_like_codes_are_noted(tmp_path):
    """Ratings, rooms and years get no note; nor do codes that are declared to be names."""
    codes, draw = [1001, 1002, 1004, 1010, 1032, 2001, 2002, 2044, 3001, 3017], random.Random(1)
    rows = [[draw.choice(codes), draw.randint(1, 5), draw.randint(1, 9), draw.randint(1990, 2020), draw.gauss(0, 1)] for _ in range(400)]
    columns = ["branch_code", "rating", "rooms", "year", "y"]
    write_csv(tmp_path / "t.csv", columns, rows)
    words = ["fit", "t.csv", "--target", "y", "--method", "ridge", "--model", "m"]
    told = run(tmp_path, *words).stderr
    assert ("note: column 'branch_code' holds 10 different whole numbers (1001, 1002, 1004, ...), taken as amounts; if they are codes, "
            "--categorical 'branch_code'") in told
    assert "taken as amounts" not in run(tmp_path, *words, "--categorical", "branch_code").stderr and told.count("taken as amounts") == 1
    write_csv(tmp_path / "t.csv", ["a", "b", "c", "y"], [[row[0], row[0] + 7, row[0] + 5000, row[4]] for row in rows])
    assert "note: 3 columns hold whole numbers that look like codes, taken as amounts; --categorical takes them as names ('a', 'b', 'c')" in run(tmp_path, *words).stderr
