"""Missing cells with a spelling of their own (--na), and tables whose wrong cells are named all at once."""

import json

import pyarrow
import pyarrow.parquet as parquet
import pytest
from conftest import FEW, predicted, refused, run, toy_rows, write_csv


def marked(folder, name, marks, rows=120):
    """A table that has each of the marks in every fifth row of x0."""
    table = [[marks[i // 5 % len(marks)] if i % 5 == 0 else row[0], *row[1:]] for i, row in enumerate(toy_rows(rows))]
    return write_csv(folder / name, ["x0", "x1", "y"], table)


def fit(folder, *words):
    done = run(folder, "fit", *words, "--target", "y", "--threads", 1, "--json", *FEW)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_mark_is_a_missing_cell_to_every_command(tmp_path):
    marked(tmp_path, "marks.csv", ["-", "-999"])
    marked(tmp_path, "empty.csv", [""])
    fit(tmp_path, "empty.csv", "--model", "plain", "--method", "rich-bll")
    summary = fit(tmp_path, "marks.csv", "--model", "m", "--method", "rich-bll", "--na", "-,-999", "--valid", "marks.csv")
    assert any("'x0'" in note and "missing" in note for note in summary["notes"])
    fit(tmp_path, "marks.csv", "--model", "m", "--method", "rich-bll", "--na=-", "--na", "-999")
    expected = predicted(tmp_path, "plain", "empty.csv")
    assert predicted(tmp_path, "m", "marks.csv") == expected
    assert predicted(tmp_path, "m", "empty.csv") == expected
    assert json.loads(run(tmp_path, "describe", "m", "--json").stdout)["fit"]["na"] == ["-", "-999"]
    assert "also missing -, -999" in run(tmp_path, "describe", "m").stdout
    for command in (["evaluate", "m", "marks.csv", "--ood", "marks.csv"], ["update", "m", "marks.csv", "--out", "u"],
                    ["fit", "marks.csv", "--network-from", "m", "--model", "around"],
                    ["predict", "around", "marks.csv", "--out", "a.csv"],
                    ["compare", "marks.csv", "--target", "y", "--methods", "bll", "--seeds", 1, "--na", "-,-999", *FEW]):
        done = run(tmp_path, *command)
        assert done.returncode == 0, done.stderr
    kept = run(tmp_path, "predict", "m", "marks.csv", "--keep", "x0").stdout.splitlines()
    assert kept[1].startswith("-,") and kept[6].startswith("-999,")  # as the file has them


def test_a_mark_in_typed_files_and_in_fill(tmp_path):
    marked(tmp_path, "marks.csv", ["-999"])
    fit(tmp_path, "marks.csv", "--model", "m", "--na", "-999,-")
    columns = {"x0": [0.5, -999.0, None], "x1": [0.1, 0.2, 0.2]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "new.parquet")
    mean = predicted(tmp_path, "m", "new.parquet")["mean"]
    assert mean[1] == pytest.approx(mean[2]) and mean[0] != pytest.approx(mean[1])
    write_csv(tmp_path / "short.csv", ["x1"], [[0.2]])
    assert predicted(tmp_path, "m", "short.csv", "--fill", "x0=-")["mean"] == pytest.approx(mean[1:2])


def test_wrong_cells_of_all_columns_are_named_in_one_error(tmp_path):
    rows = toy_rows(100)
    for i in range(2, 39):
        rows[i][0] = f"{100 + i} km"
    rows[50][1] = rows[60][1] = "-"
    write_csv(tmp_path / "t.csv", ["range", "seats", "y"], rows)
    error = refused(tmp_path, "fit", "t.csv", "--target", "y", *FEW)
    assert error.startswith("error: t.csv:4:1: expected numbers in column 'range', as in most of its cells; received "
                            "'102 km' (data row 3), '103 km' (4), '104 km' (5), ...: 37 of 100 cells; expected numbers in "
                            "column 'seats', as in most of its cells; received '-' (data row 51): 2 of 100 cells; ")
    for advice in ["'102 km' as 102", "fit --na '-' reads such cells as missing", "--categorical 'range,seats'"]:
        assert advice in error
    for i in range(2, 39):
        rows[i][0] = 100 + i
    write_csv(tmp_path / "t.csv", ["range", "seats", "y"], rows)
    fit(tmp_path, "t.csv", "--na", "-", "--model", "m")
    rows[0][0], rows[1][1] = "far", "many"
    write_csv(tmp_path / "new.csv", ["range", "seats", "y"], rows)
    error = refused(tmp_path, "predict", "m", "new.csv", "--out", "p.csv")
    assert error.startswith("error: new.csv:2:1: ") and "'far'" in error and "'many'" in error


def test_marks_need_a_table(tmp_path):
    assert "--na" in refused(tmp_path, "fit", "train-images-idx3-ubyte.gz", "--na", "-")


def test_a_mark_of_other_bytes_than_utf8_is_refused_before_the_training(tmp_path):
    write_csv(tmp_path / "t.csv", ["x", "y"], [[i, i % 7 / 2] for i in range(40)])
    line = refused(tmp_path, "fit", "t.csv", "--target", "y", "--model", "m", "--na", b"\xc3".decode(errors="surrogateescape"))
    assert "texts in UTF-8 for --na" in line


def test_marks_are_not_advised_for_a_column_without_other_cells(tmp_path):
    write_csv(tmp_path / "t.csv", ["x", "y"], [[i, i % 2] for i in range(40)])
    write_csv(tmp_path / "v.csv", ["x", "y"], [[i, ["false", "true"][i % 2]] for i in range(40)])
    line = refused(tmp_path, "fit", "t.csv", "--target", "y", "--valid", "v.csv", "--model", "m")
    assert "40 of 40 cells" in line and "--na" not in line
