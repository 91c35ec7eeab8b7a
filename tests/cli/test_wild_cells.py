"""Single cells far beyond all others, as typing errors make them: the fit is that of the other rows, and a note names them."""

import csv
import io
import json
import random

import pytest
from conftest import run, write_csv

PLAIN = ["--candidates", "constant,ridge", "--threads", 1]
HEADER = ["x", "z", "y"]


def line(count, seed):
    draw = random.Random(seed)
    rows = [[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(count)]
    return [[*x, 50 + 10 * x[0] + 2 * draw.gauss(0, 1)] for x in rows]


def ok(folder, *words):
    done = run(folder, *words)
    assert done.returncode == 0, done.stderr
    return done


def width_and_error(folder, rows, *words):
    """The mean width of the intervals, the largest error of the median, the coverage, and what the fit said."""
    write_csv(folder / "t.csv", HEADER, rows)
    fresh = line(400, 99)
    write_csv(folder / "fresh.csv", HEADER, fresh)
    done = ok(folder, "fit", "t.csv", "--target", "y", "--model", "m", *words)
    log = done.stderr + done.stdout
    answers = list(csv.DictReader(io.StringIO(ok(folder, "predict", "m", "fresh.csv").stdout)))
    low, high, median = ([float(a[name]) for a in answers] for name in ("lower", "upper", "median"))
    inside = sum(a <= row[-1] <= b for a, b, row in zip(low, high, fresh)) / len(fresh)
    error = max(abs(m - 50 - 10 * row[0]) for m, row in zip(median, fresh))
    return sum(b - a for a, b in zip(low, high)) / len(fresh), error, inside, log


@pytest.mark.parametrize("column", [0, 1, 2], ids=HEADER)
@pytest.mark.parametrize("values", [[1e6], [-1e4], [1e15], [1e12, -1e5, 3e9]], ids=str)
def test_wild_cells_do_not_move_the_answer(tmp_path, column, values):
    rows = line(300, 1)
    clean, _, _, log = width_and_error(tmp_path, rows, *PLAIN)
    assert "far beyond" not in log
    for i, value in enumerate(values):
        rows[37 + 80 * i][column] = value
    width, error, inside, log = width_and_error(tmp_path, rows, *PLAIN)
    assert error < 0.6 and 0.9 <= inside <= 0.99 and width < 1.2 * clean, (error, inside, width, clean)
    note = next(line for line in log.splitlines() if "far beyond the other cells" in line)
    assert "(data row 38)" in note and f"'{HEADER[column]}'" in note and "--wild-cells keep" in note
    assert f"{300 - len(values)} rows" in log


def test_the_fit_is_that_of_the_other_rows(tmp_path):
    rows = line(200, 1)
    for name, kept in ("all", rows[:50] + [[0.1, 0.2, 1e9]] + rows[50:]), ("rest", rows):
        write_csv(tmp_path / f"{name}.csv", HEADER, kept)
        words = ["fit", f"{name}.csv", "--target", "y", "--method", "ridge", "--valid-fraction", 0, "--model", name]
        ok(tmp_path, *words)
    write_csv(tmp_path / "new.csv", HEADER[:2], [row[:2] for row in line(20, 3)])
    assert ok(tmp_path, "predict", "all", "new.csv").stdout == ok(tmp_path, "predict", "rest", "new.csv").stdout


def test_keep_fits_them(tmp_path):
    rows = line(300, 1)
    rows[37][-1] = 1e6
    width, _, _, log = width_and_error(tmp_path, rows, *PLAIN, "--wild-cells", "keep")
    assert "300 rows" in log and "leaves the row out" not in log and width > 100


def test_validation_data_of_their_own_are_cleaned_too(tmp_path):
    valid = line(100, 5)
    valid[3][-1] = 1e12
    write_csv(tmp_path / "valid.csv", HEADER, valid)
    _, error, _, log = width_and_error(tmp_path, line(300, 1), *PLAIN, "--valid", "valid.csv")
    assert error < 0.6 and "validation data: the target 'y': 1000000000000 (data row 4) lies far beyond" in log


def test_a_wild_row_has_a_density(tmp_path):
    rows, fresh = line(300, 1), line(100, 2)
    rows[37][-1] = 1e6
    fresh[0][-1] = 1e12
    write_csv(tmp_path / "t.csv", HEADER, rows)
    write_csv(tmp_path / "fresh.csv", HEADER, fresh)
    ok(tmp_path, "fit", "t.csv", "--target", "y", "--model", "m", *PLAIN)
    report = json.loads(ok(tmp_path, "evaluate", "m", "fresh.csv", "--json").stdout)
    assert report["nll"] < 6, report


def test_a_wild_test_row_does_not_end_the_fit(tmp_path):
    rows = [[f"{i / 60:.4f}", f"{(i * 7 % 60) / 60:.4f}", f"{i / 30:.4f}"] for i in range(120)]
    rows[17][1] = "1e9"
    write_csv(tmp_path / "t.csv", ["a", "b", "y"], rows)
    held = 0
    for seed in range(8):
        done = run(tmp_path, "fit", "t.csv", "--target", "y", "--model", "m", "--method", "ridge", "--test-fraction", 0.3, "--split-seed", seed)
        assert done.returncode == 0, done.stderr
        held += "data row 18" in done.stderr and "no answer" in done.stderr.lower() or "without an answer" in done.stderr
    assert held >= 1, done.stderr
