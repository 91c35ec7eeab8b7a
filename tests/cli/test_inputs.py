"""Bad and odd input: a clear line and nothing left behind, or a sane fit."""

import math
import random

import pytest
from conftest import FEW, header, refused, run, toy_rows, write_csv


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
    "missing target": (table(cells={(7, 2): ""}), "bad.csv: row 8"),
    "nan target": (table(cells={(7, 2): "nan"}), "bad.csv: row 8"),
    "duplicate columns": ("x0,x0,y\n1,2,3\n4,5,6\n", "x0"),
    "target not there": ("x0,x1,z\n" + "\n".join(f"{i},{i * i},{i}" for i in range(30)) + "\n", "'y'"),
    "text target": ("x0,y\n" + "\n".join(f"{i},{'ab'[i % 2]}" for i in range(30)) + "\n", "classification"),
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
    done = run(tmp_path, "predict", "model.safetensors", "odd.csv")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "mean,sd,sd_aleatoric,sd_epistemic,lower,upper" and len(lines) == len(rows) + 1
    targets = [row[-1] for row in rows]
    reach = 10 * (max(targets) - min(targets)) + 1
    for line in lines[1:]:
        mean, sd, aleatoric, epistemic, lower, upper = map(float, line.split(","))
        assert math.isfinite(mean) and min(targets) - reach < mean < max(targets) + reach
        assert 0 < sd < reach and lower < mean < upper
        assert sd == pytest.approx(math.hypot(aleatoric, epistemic), rel=1e-9)


def test_all_columns_constant_is_refused(tmp_path):
    write_csv(tmp_path / "flat.csv", header(2), [[1, 2, i] for i in range(30)])
    refused(tmp_path, "fit", "flat.csv", "--target", "y", *FEW)
