"""Bad and odd input: a clear line and nothing left behind, or a sane fit."""

import csv
import io
import json
import math
import random

import pytest
from conftest import FEW, header, predicted, refused, run, toy_rows, write_csv


def table(inputs=2, **changes):
    rows = toy_rows(30, inputs)
    for (row, column), value in changes.get("cells", {}).items():
        rows[row][column] = value
    return "\n".join([",".join(header(inputs)), *(",".join(map(str, row)) for row in rows)]) + "\n"


BAD_TABLES = {
    "missing": (None, "bad.csv"),
    "empty": ("", "bad.csv"),
    "header only": ("x0,x1,y\n", "bad.csv"),
    "one row": ("x0,x1,y\n1,2,3\n", ""),
    "ragged": (table() + "1,2\n", "bad.csv:32"),
    "text in a numeric column": (table(cells={(7, 1): "seven"}), "bad.csv:9:2"),
    "infinite target": (table(cells={(7, 2): "inf"}), "bad.csv:9"),
    "no target at all": (table(cells={(row, 2): "" for row in range(30)}), "rows with a value in the target 'y'"),
    "duplicate columns": ("x0,x0,y\n1,2,3\n4,5,6\n", "x0"),
    "target not there": ("x0,x1,z\n" + "\n".join(f"{i},{i * i},{i}" for i in range(30)) + "\n", "'y'"),
    "dressed numbers as target": ("x0,y\n" + "\n".join(f'{i},"{i},000"' for i in range(30)) + "\n", "write numbers as"),
    "no input column": ("y\n1\n2\n3\n4\n", ""),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables(tmp_path, name):
    text, place = BAD_TABLES[name]
    if text is not None:
        (tmp_path / "bad.csv").write_text(text)
    assert place in refused(tmp_path, "fit", "bad.csv", "--target", "y", *FEW)


def test_random_bytes_as_table_and_model(tmp_path, toy):
    noise = random.Random(3).randbytes(5000)
    for name in ["noise.csv", "noise.parquet", "noise.csv.gz", "noise.feather", "noise.safetensors"]:
        (tmp_path / name).write_bytes(noise)
    for name in ["noise.csv", "noise.parquet", "noise.csv.gz", "noise.feather"]:
        assert name in refused(tmp_path, "fit", name, "--target", "y", *FEW)
    assert "noise.safetensors" in refused(tmp_path, "predict", "noise.safetensors", toy / "toy.csv", "--out", "p.csv")
    assert "noise.safetensors" in refused(tmp_path, "describe", "noise.safetensors")


def test_truncated_and_flipped_models(tmp_path, toy):
    whole = (toy / "fitted.safetensors").read_bytes()
    damaged = {"cut": whole[:len(whole) // 2], "short": whole[:5], "none": b""}
    for i, place in enumerate([3, 40, len(whole) // 3, len(whole) - 2]):
        damaged[f"flip{i}"] = whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1:]
    for name, content in damaged.items():
        (tmp_path / f"{name}.safetensors").write_bytes(content)
        assert name in refused(tmp_path, "describe", f"{name}.safetensors")
        if name in ("cut", "flip3"):
            refused(tmp_path, "predict", f"{name}.safetensors", toy / "toy.csv", "--out", "p.csv")


def test_outputs_that_cannot_be_written_are_refused_before_the_work(tmp_path, toy):
    refused(tmp_path, "fit", toy / "toy.csv", "--target", "y", "--model", "no/such/folder/m.safetensors")
    refused(tmp_path, "predict", toy / "fitted.safetensors", toy / "toy.csv", "--out", "no/such/p.csv")
    for name in ["toy.csv", "fitted.safetensors"]:
        (tmp_path / name).write_bytes((toy / name).read_bytes())
    for name in ["toy.csv", "./toy.csv", "fitted.safetensors"]:
        assert "of its own" in refused(tmp_path, "predict", "fitted.safetensors", "toy.csv", "--out", name)
        assert all((tmp_path / kept).read_bytes() == (toy / kept).read_bytes() for kept in ["toy.csv", "fitted.safetensors"])
    (tmp_path / "own.csv").write_text(table())
    assert "own.csv" in refused(tmp_path, "fit", "own.csv", "--target", "y", "--model", "own.csv")


def test_predict_wants_the_columns_of_the_fit(tmp_path, toy):
    (tmp_path / "other.csv").write_text("x0,z\n1,2\n")
    assert "x1" in refused(tmp_path, "predict", toy / "fitted.safetensors", "other.csv")


def test_an_error_names_the_foreign_data_and_no_function(tmp_path, toy):
    write_csv(tmp_path / "new.csv", header(2), toy_rows(50, seed=5))
    write_csv(tmp_path / "other.csv", ["a", "b", "c"], [[1, 2, 3], [4, 5, 6]])
    line = refused(tmp_path, "evaluate", toy / "fitted.safetensors", "new.csv", "--ood", "other.csv")
    assert line == ("error: the foreign data 'other.csv' (--ood): expected a column 'x0' as in training; received 3 other columns; "
                    "known: a, b, c; --rename gives a column its name, --fill gives all rows a value")
    line = refused(tmp_path, "predict", toy / "fitted.safetensors", "other.csv")
    assert line == ("error: expected a column 'x0' as in training; received 3 other columns; known: a, b, c; "
                    "--rename gives a column its name, --fill gives all rows a value")


ODD = {
    "all targets equal": (2, [[*row[:2], 3.5] for row in toy_rows(60)]),
    "duplicated rows": (2, toy_rows(30) * 4),
    "fewer rows than the rank": (2, toy_rows(12)),
    "one input": (1, toy_rows(60, 1)),
    "constant columns": (3, [[1.0, row[1], 7, row[2]] for row in toy_rows(60)]),
    "four hundred inputs": (400, toy_rows(60, 400)),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("method", ["dbk", "gp-exact"])
def test_odd_tables_are_fitted(tmp_path, name, method):
    inputs, rows = ODD[name]
    write_csv(tmp_path / "odd.csv", header(inputs), rows)
    budget = FEW if method == "dbk" else ["--iterations", 5]
    done = run(tmp_path, "fit", "odd.csv", "--target", "y", "--method", method, "--threads", 1, "--json", *budget)
    assert done.returncode == 0, done.stderr
    answers = predicted(tmp_path, "model.safetensors", "odd.csv", "--parts")
    parts = ["sd_noise", "sd_function"] if method == "dbk" else ["sd_aleatoric", "sd_epistemic"]
    assert list(answers) == ["mean", "sd", *parts, "lower", "upper"]
    assert len(answers["mean"]) == len(rows)
    targets = [row[-1] for row in rows]
    reach = 10 * (max(targets) - min(targets)) + 1
    for mean, sd, noise, function, lower, upper in zip(*answers.values()):
        assert math.isfinite(mean) and min(targets) - reach < mean < max(targets) + reach
        assert 0 < sd < reach and lower < mean < upper
        assert sd == pytest.approx(math.hypot(noise, function), rel=1e-9)


def test_all_columns_constant_is_refused(tmp_path):
    write_csv(tmp_path / "flat.csv", header(2), [[1, 2, i] for i in range(30)])
    refused(tmp_path, "fit", "flat.csv", "--target", "y", *FEW)


def fitted(folder, columns, rows, *words, method="dnn"):
    """The report of a fit, whose method matters little: what is read and said comes before it."""
    write_csv(folder / "t.csv", columns, rows)
    done = run(folder, "fit", "t.csv", "--target", columns[-1], "--method", method, "--model", "m", "--threads", 1, "--json", *FEW, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def answers(folder, columns, rows):
    write_csv(folder / "new.csv", columns, rows)
    return predicted(folder, "m", "new.csv")["mean"]


def test_rows_are_read_as_the_model_knows_them(tmp_path):
    """An answer does not depend on what its neighbours' cells look like."""
    codes = ["A1", "B2", "C3", "D4", "100", "01", "1.0"]
    fitted(tmp_path, ["code", "flag", "y"], [[codes[i % 7], ["yes", "no"][i % 2], i % 7] for i in range(210)])
    alone = [answers(tmp_path, ["code", "flag"], [[code, "yes"]])[0] for code in codes]
    assert len(set(alone)) == 7
    for some in (codes, codes[4:], codes[:0:-1], codes[5:]):
        together = answers(tmp_path, ["flag", "code"], [["yes", code] for code in some])
        # The network runs in float32, whose rounding depends on the size of the batch.
        assert together == pytest.approx([alone[codes.index(code)] for code in some], rel=1e-6)
    assert answers(tmp_path, ["code", "flag"], [["A1", 1]]) == alone[:1]
    assert "new.csv:3:2: expected yes or no" in refused_rows(tmp_path, ["code", "flag"], [["A1", "yes"], ["A1", "perhaps"]])


def refused_rows(folder, columns, rows):
    write_csv(folder / "new.csv", columns, rows)
    return refused(folder, "predict", "m", "new.csv")


def test_columns_that_nobody_needs_cannot_fail(tmp_path):
    rows = [[*row[:2], i, row[2]] for i, row in enumerate(toy_rows(60))]
    rows[7][2] = "n/k"
    columns = ["x0", "x1", "ref", "y"]
    write_csv(tmp_path / "t.csv", columns, rows)
    assert "t.csv:9:3" in refused(tmp_path, "fit", "t.csv", "--target", "y", *FEW)
    fitted(tmp_path, columns, rows, "--ignore", "ref", "--test-fraction", 0.2, method="auto")
    assert run(tmp_path, "evaluate", "m", "t.csv", "--split", "test").returncode == 0
    assert len(answers(tmp_path, columns[:3], [row[:3] for row in rows])) == 60
    for more in ([], ["--ignore", "x0"], ["--ignore", "ref"]):
        fitted(tmp_path, columns, rows, "--categorical", "ref,x0", "--test-fraction", 0.2, *more)
        done = run(tmp_path, "evaluate", "m", "t.csv", "--split", "test")
        assert done.returncode == 0, done.stderr
    known = fitted(tmp_path, columns, rows, "--categorical", "ref")
    assert any("identifier or free text" in note for note in known["notes"])
    assert not any("look like" in note for note in known["notes"])


def test_a_column_of_codes_is_declared(tmp_path):
    rows = [[[3000, 8001, 1204][i % 3], [5, -5, 0][i % 3]] for i in range(90)]
    fitted(tmp_path, ["zip", "y"], rows, "--categorical", "zip", "--split", "grouped", "--valid-fraction", 0)
    assert json.loads(run(tmp_path, "describe", "m", "--json").stdout)["encoder"]["columns"][0]["levels"] == ["1204", "3000", "8001"]
    assert len({round(mean, 9) for mean in answers(tmp_path, ["zip"], [row[:1] for row in rows])}) == 3
    assert "did you mean 'zip'" in refused(tmp_path, "fit", "t.csv", "--target", "y", "--categorical", "zipp", *FEW)


def test_a_name_with_a_comma(tmp_path):
    (tmp_path / "t.csv").write_text('x,"a, b",c,y\n' + "".join(f"{i},{i * i},{-i},{i}\n" for i in range(30)))
    words = ["fit", "t.csv", "--target", "y", "--method", "dnn", "--json", *FEW]
    done = run(tmp_path, *words, "--ignore", "a, b", "--ignore", "c")
    assert done.returncode == 0, done.stderr
    assert json.loads(run(tmp_path, "describe", "model.safetensors", "--json").stdout)["encoder"]["ignore"] == ["a, b", "c"]
    assert run(tmp_path, *words, "--ignore", "x,c").returncode == 0


def test_rows_without_a_target_are_left_out(tmp_path):
    rows = toy_rows(60)
    for i in (3, 20, 41):
        rows[i][2] = ""
    report = fitted(tmp_path, header(2), rows, "--test-fraction", 0.2)
    assert sum(report["rows"].values()) == 57 and "3 of 60 rows have no 'y'" in report["notes"][0]
    done = run(tmp_path, "evaluate", "m", "t.csv", "--json")
    assert json.loads(done.stdout)["n"] == 57 and "3 of 60 rows have no 'y'" in done.stderr
    assert run(tmp_path, "evaluate", "m", "t.csv", "--split", "test").returncode == 0
    assert len(run(tmp_path, "predict", "m", "t.csv").stdout.splitlines()) == 61


def test_few_inputs_in_many_rows(tmp_path):
    """A validation part of whole categories would say nothing of the others."""
    draw = random.Random(5)
    report = fitted(tmp_path, ["city", "y"], [["abc"[i % 3], i % 3 + draw.gauss(0, 0.1)] for i in range(300)], method="dbk")
    assert report["rows"]["valid"] == 30
    assert any("--split grouped" in note for note in report["notes"])
    again = run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "dbk", "--model", "m", "--threads", 1, "--json", *FEW, "--resume")
    assert json.loads(again.stdout)["notes"] == report["notes"]


def test_tables_come_through_a_pipe(tmp_path, toy):
    text = (toy / "toy.csv").read_text()
    done = run(tmp_path, "predict", toy / "fitted.safetensors", "-", input=text)
    assert done.stdout == run(tmp_path, "predict", toy / "fitted.safetensors", toy / "toy.csv").stdout != ""
    assert run(tmp_path, "fit", "-", "--target", "y", "--threads", 1, *FEW, input=text).returncode == 0
    assert "stdin: expected a header line" in run(tmp_path, "evaluate", "model.safetensors", "-", input="").stderr
    assert "name a file" in refused(tmp_path, "fit", toy / "toy.csv", "--target", "y", "--model", "-")


def test_kept_columns_stand_before_the_answer(tmp_path):
    """As the file has them where the model does not read them: a code keeps its zeros."""
    rows = [[f"{i:03}", f'"house ""{i}"", left"', *row] for i, row in enumerate(toy_rows(80))]
    fitted(tmp_path, ["code", "name", "x0", "x1", "y"], rows, "--ignore", "code,name")
    plain = run(tmp_path, "predict", "m", "t.csv").stdout.splitlines()
    kept = list(csv.reader(io.StringIO(run(tmp_path, "predict", "m", "t.csv", "--keep", "name,code,y,code").stdout)))
    assert kept[0] == ["name", "code", "y", *plain[0].split(",")]
    assert kept[8][:2] == ['house "7", left', "007"] and float(kept[8][2]) == pytest.approx(rows[7][4])
    assert [row[3:] for row in kept[1:]] == [line.split(",") for line in plain[1:]]
    assert run(tmp_path, "predict", "m", "t.csv", "--keep", "code", "--out", "p.parquet").returncode == 0
    assert "did you mean 'code'" in refused(tmp_path, "predict", "m", "t.csv", "--keep", "cod")
    write_csv(tmp_path / "mean.csv", ["x0", "x1", "mean"], [[0, 0, 0]])
    assert "other names for --keep" in refused(tmp_path, "predict", "m", "mean.csv", "--keep", "mean")


def test_notes_stand_in_the_json(tmp_path):
    rows = [[row[0], "" if i % 7 == 0 else row[1], 1, row[2]] for i, row in enumerate(toy_rows(60))]
    notes = "\n".join(fitted(tmp_path, ["x0", "x1", "k", "y"], rows, method="auto")["notes"])
    assert "'x1'" in notes and "missing" in notes and "'k' is constant" in notes
