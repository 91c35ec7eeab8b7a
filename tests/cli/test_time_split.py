"""Tables that are split by time (--split time)."""

import datetime
import json

from conftest import FEW, refused, run, toy_rows, write_csv


def dated(folder, name="t.csv", days=range(100)):
    first = datetime.date(2020, 1, 1)
    rows = [[str(first + datetime.timedelta(day)), *row] for day, row in zip(days, toy_rows(len(days)))]
    return write_csv(folder / name, ["date", "x0", "x1", "y"], rows[::-1])


def test_the_latest_rows_are_held_out(tmp_path):
    dated(tmp_path)
    words = ["t.csv", "--target", "y", "--split", "time", "--ignore", "date", "--threads", 1, "--json"]
    done = run(tmp_path, "fit", *words, "--test-fraction", 0.2, "--method", "dbk", "--model", "m", *FEW)
    assert done.returncode == 0, done.stderr
    notes = json.loads(done.stdout)["notes"]
    assert "split by time ('date'): 70 training rows up to 2020-03-10, 10 validation rows from 2020-03-11, 20 test rows from 2020-03-21" in notes
    score = json.loads(run(tmp_path, "evaluate", "m", "t.csv", "--split", "test", "--json").stdout)
    assert score["n"] == 20
    done = run(tmp_path, "compare", *words, "--time", "date", "--methods", "ridge", "--seeds", 1)
    assert done.returncode == 0, done.stderr


def test_what_has_no_split_by_time_is_refused(tmp_path):
    dated(tmp_path)
    words = ["t.csv", "--target", "y", "--split", "time"]
    done = run(tmp_path, "compare", *words, "--methods", "ridge", "--repeats", 2)
    assert done.returncode == 2 and "one split by time, as --split time makes it" in done.stderr
    (tmp_path / "cache").mkdir()
    assert "--split time, which needs the times of all rows" in refused(tmp_path, "fit", *words, "--method", "dnn", "--cache", "cache")
    assert "--split time holds out" in refused(tmp_path, "fit", "t.csv", "--target", "y", "--time", "date")
    write_csv(tmp_path / "plain.csv", ["x", "y"], [[i, i % 7] for i in range(40)])
    assert "one column of dates for --split time; received none" in refused(tmp_path, "fit", "plain.csv", *words[1:])
    assert "images, which have no times" in refused(tmp_path, "fit", "train-images-idx3-ubyte.gz", "--split", "time")


def test_a_calibration_by_time_says_what_it_rests_on(tmp_path):
    rows = [[f"2019-{1 + i // 28:02}-{1 + i % 28:02}", i % 7, i % 5] for i in range(300)]
    write_csv(tmp_path / "t.csv", ["day", "x", "y"], rows)
    words = ["fit", "t.csv", "--target", "y", "--likelihood", "gaussian", "--method", "ridge", "--model", "m", "--calibrate", "conformal"]
    said = run(tmp_path, *words, "--split", "time").stderr
    assert "calibrated on rows before those that will be predicted: the level holds where the future is like them" in said
    assert "calibrated on rows" not in run(tmp_path, *words).stderr


def test_a_wild_date_is_in_no_part(tmp_path):
    dated(tmp_path, days=[*range(40), 65700, *range(41, 100)])
    words = ["fit", "t.csv", "--target", "y", "--split", "time", "--time", "date", "--ignore", "date", "--test-fraction", 0.1, "--method", "ridge", "--model", "m"]
    said = run(tmp_path, *words).stderr
    assert "2199-11-18 (data row 60) lies far beyond the others, 2020-01-01 to 2020-04-09: the fit leaves the row out" in said
    assert "10 test rows from 2020-03-31" in said
    assert "10 test rows from 2020-04-01" in run(tmp_path, *words, "--wild-cells", "keep").stderr
