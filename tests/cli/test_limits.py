"""What a table may take and what it may hold: exact cells, bounds on memory, paths that lead nowhere."""

import csv
import gzip
import io
import os
import shutil
import subprocess

import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from conftest import FEW, TOOL, header, refused, run, toy_rows, write_csv

LARGE = 2**53 + 1


def limited(folder, limits, *words, env=None):
    """The tool under limits of the shell's ulimit."""
    command = f'ulimit {limits} && exec "$0" "$@"'
    return subprocess.run(["bash", "-c", command, TOOL, *map(str, words)], cwd=folder, capture_output=True, text=True,
                          timeout=120, env=env)


def toy_typed(folder, name="t.parquet"):
    """toy.csv's kind of rows with columns that no double holds."""
    rows = toy_rows(40)
    table = pyarrow.table({
        "id": pyarrow.array([LARGE + i for i in range(40)], pyarrow.int64()),
        "when": pyarrow.array([1577881815123456789 + i for i in range(40)], pyarrow.timestamp("ns", tz="UTC")),
        "sure": [i % 2 == 0 for i in range(40)],
        **{column: [row[i] for row in rows] for i, column in enumerate(header(2))},
    })
    pyarrow.parquet.write_table(table, folder / name)
    return table


def test_kept_columns_are_those_of_the_file(tmp_path, toy):
    table = toy_typed(tmp_path)
    pyarrow.feather.write_feather(table, tmp_path / "t.feather")
    words = ["--keep", "id,when,sure,x0"]
    for data in ("t.parquet", "t.feather"):
        done = run(tmp_path, "predict", toy / "fitted.safetensors", data, *words)
        first = next(csv.DictReader(io.StringIO(done.stdout)))
        assert [first[name] for name in ("id", "when", "sure")] == [str(LARGE), "2020-01-01T12:30:15.123456789Z", "true"]
        for out in ("p.parquet", "p.feather"):
            assert run(tmp_path, "predict", toy / "fitted.safetensors", data, *words, "--out", out).returncode == 0
            read = pyarrow.parquet.read_table if out == "p.parquet" else pyarrow.feather.read_table
            answers = read(tmp_path / out)
            for name in ("id", "when", "sure", "x0"):
                assert answers[name].type == table[name].type
                assert answers[name].combine_chunks().equals(table[name].combine_chunks())


def test_kept_text_is_spelt_as_in_the_file(tmp_path):
    write_csv(tmp_path / "t.csv", ["land", "b", "x", "y"],
              [[["NA", "DE", ""][i % 3], ["yes", "no"][i % 2], f"{row[0]:+.3f}", row[2]] for i, row in enumerate(toy_rows(60))])
    assert run(tmp_path, "fit", "t.csv", "--target", "y", "--ignore", "land", "--model", "m", *FEW).returncode == 0
    kept = run(tmp_path, "predict", "m", "t.csv", "--keep", "land,b,x").stdout.splitlines()
    given = (tmp_path / "t.csv").read_text().splitlines()
    assert [line.split(",")[:3] for line in kept] == [line.split(",")[:3] for line in given]


def write_large(folder, name, column, values):
    """One kind of file or the other."""
    rows = toy_rows(len(values))
    if name.endswith(".csv"):
        target = column == "y"
        return write_csv(folder / name, ["x", column] if target else [column, "x", "y"],
                         [[row[0], v] if target else [v, row[0], row[2]] for v, row in zip(values, rows)])
    table = {"x": [row[0] for row in rows], column: pyarrow.array(values, pyarrow.uint64())}
    if column != "y":
        table["y"] = [row[2] for row in rows]
    pyarrow.parquet.write_table(pyarrow.table(table), folder / name)
    return folder / name


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_integers_beyond_2_53_are_said(tmp_path, name):
    """As inputs and as a target; as labels they stay apart."""
    write_large(tmp_path, name, "id", [2**63 + i for i in range(60)])
    done = run(tmp_path, "fit", name, "--target", "y", "--method", "dnn", "--model", "m", *FEW)
    assert done.returncode == 0 and "column 'id': integers beyond 2^53 are rounded" in done.stderr
    assert f"{2**63} (data row 1) to {2**63}: all training cells become one number" in done.stderr
    write_large(tmp_path, name, "id", [LARGE + 40 * i for i in range(60)])
    done = run(tmp_path, "fit", name, "--target", "y", "--method", "dnn", "--model", "m", *FEW)
    assert f"{LARGE} (data row 1) to {LARGE - 1}: different ones may become equal" in done.stderr
    assert "column 'id': integers beyond 2^53" in run(tmp_path, "predict", "m", name).stderr
    write_large(tmp_path, name, "y", [LARGE + 40 * i for i in range(60)])
    assert "the target 'y': integers beyond 2^53" in run(tmp_path, "fit", name, "--target", "y", "--method", "dnn", "--model", "m", *FEW).stderr
    labels = [2**53, LARGE, LARGE + 1]
    write_large(tmp_path, name, "y", [labels[i % 3] for i in range(90)])
    done = run(tmp_path, "fit", name, "--target", "y", "--likelihood", "softmax", "--method", "dnn", "--model", "m", *FEW)
    assert done.returncode == 0, done.stderr
    answer = run(tmp_path, "predict", "m", name).stdout.splitlines()[0]
    assert answer.startswith(",".join(f"p_{label}" for label in labels))
    for other in ("t.csv", "t.parquet"):
        write_large(tmp_path, other, "y", [labels[i % 3] for i in range(90)])
        assert run(tmp_path, "evaluate", "m", other).returncode == 0


def test_the_memory_of_a_table_is_bounded(tmp_path, toy):
    shutil.copy(toy / "fitted.safetensors", tmp_path / "m")
    text = "x0,x1\n" + "0.5,0.25\n" * 200_000
    (tmp_path / "t.csv").write_text(text)
    with gzip.open(tmp_path / "t.csv.gz", "wt") as packed:
        packed.write(text)
    for name in ("t.csv", "t.csv.gz"):
        line = refused(tmp_path, "predict", "m", name, "--max-table-memory", "1M")
        assert name in line and "at most 1.0 MB of memory" in line and "--max-table-memory" in line
        assert run(tmp_path, "predict", "m", name, "--max-table-memory", "1G", "--out", "p.parquet").returncode == 0
    done = run(tmp_path, "predict", "m", "-", "--max-table-memory", "1M", input=text)
    assert done.returncode == 2 and done.stderr.startswith("error: stdin: expected a table that takes at most 1.0 MB")


def test_a_shortage_of_memory_is_no_fault_of_the_file(tmp_path, toy):
    """Whatever is short, it is one line and a failure; with more the rows are answered."""
    (tmp_path / "t.csv").write_text("x0,x1\n" + "0.5,0.25\n" * 200_000)
    shutil.copy(toy / "fitted.safetensors", tmp_path / "m")
    codes = set()
    engine = os.environ | {"SLIMBAYES_ENGINE": "engine"}
    for megabytes, env in [*((megabytes, engine) for megabytes in (400, 500, 550, 600, 700)), (20, None), (60, None), (80, None), (100, None), (140, None)]:
        done = limited(tmp_path, f"-v {megabytes * 1024}", "predict", "m", "t.csv", "--out", "p.csv", "--threads", 1, env=env)
        codes.add(done.returncode)
        errors = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
        if done.returncode == 0:
            continue
        assert done.returncode == 1 and len(errors) == 1 and errors[0].startswith("error: "), done.stderr
        assert "t.csv: expected" not in errors[0] and "mistake in slimbayes" not in errors[0], errors
    assert 1 in codes
    assert run(tmp_path, "predict", "m", "t.csv", "--out", "p.csv", "--threads", 1).returncode == 0


def test_paths_that_lead_nowhere(tmp_path, toy):
    for name in ("loop", "loop.csv", "loop.parquet"):
        (tmp_path / name).symlink_to(name)
    shutil.copy(toy / "fitted.safetensors", tmp_path / "m")
    long = "n" * 300
    for name in ("loop", "loop.csv", "loop.parquet", long, long + ".csv", "m/t.csv"):
        assert name in refused(tmp_path, "predict", "m", name)
        assert name in refused(tmp_path, "fit", name, "--target", "y", *FEW)
    for name in ("loop", long + ".csv"):
        assert name in refused(tmp_path, "predict", "m", toy / "toy.csv", "--out", name + ".parquet")


def test_a_working_folder_that_was_removed(tmp_path, toy):
    """The libraries below the engine end the process there."""
    gone = tmp_path / "gone"
    gone.mkdir()
    command = 'rmdir "$PWD" && exec "$0" "$@"'
    words = [TOOL, "predict", toy / "fitted.safetensors", toy / "toy.csv"]
    done = subprocess.run(["bash", "-c", command, *words], cwd=gone, capture_output=True, text=True, timeout=120)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("shell-init")]
    assert done.returncode == 2 and len(lines) == 1 and lines[0].startswith("error: expected a working folder"), done.stderr
