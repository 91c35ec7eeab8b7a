"""fit, predict, evaluate and compare on windows of a time series."""

import csv
import json

import pytest
from conftest import refused, run, write_csv
from inputs import series

DATA = ["fit", "air.csv", "--target", "y"]
WINDOWS = ["--window", "6", "--time", "time"]
FIT = [*DATA, *WINDOWS, "--model", "m.safetensors"]
SHORT = ["--steps", "150", "--hidden", "16", "--blocks", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("series")
    series(folder / "air.csv")
    done = run(folder, *FIT, "--method", "dnn", "--test-fraction", "0.2", "--json", "--calibrate", "conformal", *SHORT)
    assert done.returncode == 0, done.stderr
    (folder / "fit.json").write_text(done.stdout)
    (folder / "fit.err").write_text(done.stderr)
    return folder


def answers(folder, table, *words):
    done = run(folder, "predict", "m.safetensors", table, *words)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.splitlines())), done.stderr


def test_a_fit_learns_the_series(folder):
    report = json.loads((folder / "fit.json").read_text())
    assert report["test"]["rmse_standardized"] < 0.5 and report["test"]["n"] > 60
    assert sum(report["rows"].values()) < 395 - 3 * 5  # between the parts windows are left out
    assert any("split by time" in note for note in report["notes"])
    assert any("where the future is like" in note for note in report["notes"])  # conformal


def test_a_part_of_the_windows_has_the_rows_that_they_see_last(folder):
    rows = list(csv.DictReader((folder / "air.csv").read_text().splitlines()))
    found, _ = answers(folder, "air.csv", "--split", "test")
    assert len(found) == json.loads((folder / "fit.json").read_text())["test"]["n"]
    assert all(float(rows[int(row["row"])]["y"]) == pytest.approx(float(row["actual"])) for row in found)  # the row after that one


def test_predict_answers_with_the_time_of_each_forecast(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "last.csv", rows[0], rows[-8:])  # three windows of six
    found, _ = answers(folder, "last.csv", "--keep", "x")
    assert [row["forecast_time"] for row in found] == ["2020-01-17T14:00:00", "2020-01-17T15:00:00", "2020-01-17T16:00:00"]
    assert [row["x"] for row in found] == [row[1] for row in rows[-3:]]  # of the last row that a window sees
    assert all(float(row["lower"]) < float(row["mean"]) < float(row["upper"]) for row in found)


def test_an_answer_is_that_of_the_window_alone(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "few.csv", rows[0], rows[100:110])
    few, _ = answers(folder, "few.csv")
    every, _ = answers(folder, "air.csv")
    by_time = {row["forecast_time"]: row for row in every}
    for row in few:
        assert abs(float(row["mean"]) - float(by_time[row["forecast_time"]]["mean"])) < 1e-5


def test_rows_in_another_order_are_sorted_with_a_note(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "mixed.csv", rows[0], rows[120:100:-1])
    found, said = answers(folder, "mixed.csv")
    assert [row["forecast_time"] for row in found] == sorted(row["forecast_time"] for row in found)
    assert "not in the order of their times" in said


def test_a_gap_is_no_part_of_a_window(folder):
    series(folder / "gap.csv", hours=60, gap=30)
    found, said = answers(folder, "gap.csv")
    assert len(found) == 2 * 25 and "1 gap in time" in said


def test_groups_are_series_of_their_own(tmp_path):
    for city, seed in (("oslo", 1), ("rome", 2)):
        series(tmp_path / f"{city}.csv", hours=150, seed=seed, city=city)
    text = (tmp_path / "oslo.csv").read_text() + "\n".join((tmp_path / "rome.csv").read_text().splitlines()[1:]) + "\n"
    (tmp_path / "air.csv").write_text(text)
    assert "one row for each time" in refused(tmp_path, *FIT, *SHORT)
    done = run(tmp_path, *FIT, "--group", "city", "--method", "dnn", *SHORT)
    assert done.returncode == 0, done.stderr
    found, _ = answers(tmp_path, "air.csv")
    assert [row["city"] for row in found] == ["oslo"] * 145 + ["rome"] * 145


def test_evaluate_knows_the_parts_of_the_split(folder):
    report = json.loads((folder / "fit.json").read_text())
    done = run(folder, "evaluate", "m.safetensors", "air.csv", "--split", "test", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["n"] == report["rows"]["test"] and abs(found["nll"] - report["test"]["nll"]) < 1e-9


def test_the_horizon_is_counted_from_the_last_row_seen(folder):
    done = run(folder, *DATA, *WINDOWS, "--method", "dnn", "--horizon", "5", "--model", "far.safetensors", *SHORT)
    assert done.returncode == 0, done.stderr
    done = run(folder, "predict", "far.safetensors", "air.csv")
    assert done.stdout.splitlines()[1].startswith("2020-01-01T10:00:00,")


def test_compare_fits_the_methods_that_take_windows(folder):
    done = run(folder, "compare", "air.csv", "--target", "y", "--window", "6", "--time", "time", "--methods", "dnn,dbk-exact,vbll", "--seeds", "1", *SHORT)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in ("dnn", "dbk-exact", "vbll"))
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.split()}
    header, plain = lines["method"], lines["persistence"]
    assert float(plain[header.index("rmse")].strip("*")) > 0 and plain[header.index("nll")] == "-" and plain[-1] == "-"
    assert "test examples" in done.stdout
    report = json.loads(run(folder, "compare", "air.csv", "--target", "y", "--window", "6", "--time", "time", "--methods", "dnn", "--seeds", "1", "--json", *SHORT).stdout)
    assert report["forecasts"]["persistence"]["mae"] > 0 and "persistence" not in [each["method"] for each in report["methods"]]


@pytest.mark.parametrize(("words", "sentence"), [
    (["--time", "time", "--window", "500"], "at least 501 rows that follow each other in steps of 3600 s, for a window of 500 and a horizon of 1; received at most 400"),
    ([*WINDOWS, "--horizon", "500"], "whose 'y' is in the table, 500 rows after the last that they see (runs of 506 rows); received none in 395 windows; the longest run without a gap has 400 rows"),
    ([*WINDOWS, "--valid-fraction", "0.01"], "of 7 windows or more; received a part of 4 of the 394 windows"),
    ([*WINDOWS, "--split", "random"], "windows overlap"),
    (["--window", "6", "--time", "tim"], "did you mean 'time'?"),
    (["--window", "6"], "a column of times for --window"),
    ([*WINDOWS, "--network", "convnet"], "lstm and transformer take it"),
    ([*WINDOWS, "--network", "transformer", "--hidden", "8", "--heads", "3"], "received --hidden 8 and --heads 3; --heads 2 divides it"),
    ([*WINDOWS, "--blocks", "0"], "at least one layer of the network lstm; received --blocks 0"),
    ([*WINDOWS, "--domain", "0:1"], "received --domain"),
    ([*WINDOWS, "--heads", "3"], "options of the network lstm; received --heads, which belongs to transformer; leave it out, or take --network transformer"),
    ([*WINDOWS, "--method", "gp-exact", "--iterations", "2"], "dbk, dbk-exact"),
    ([*WINDOWS, "--method", "sv-rbf"], "expected an input that sv-rbf takes, table; received windows"),
    ([*WINDOWS, "--text", "x"], "one kind of input"),
    ([*WINDOWS, "--crop", "2"], "--crop, which belongs to 'Images'"),
    (["--horizon", "5"], "--horizon, which belongs to 'Windows of a time series'"),
    ([*WINDOWS, "--ignore", "y"], "not among the ignored columns"),
    (["--time", "time"], "--window with --time"),
])
def test_what_does_not_fit_is_one_sentence(folder, words, sentence):
    line = refused(folder, *DATA, "--model", "no.safetensors", *words)
    assert sentence in line


def test_two_rows_of_one_time_are_refused_with_their_place(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "twice.csv", rows[0], [*rows[1:20], rows[19], *rows[20:40]])
    line = refused(folder, "predict", "m.safetensors", "twice.csv")
    assert "data row 20" in line and "the model was fitted on a single series" in line and "--" not in line


def test_times_in_another_order_are_refused_with_a_way_out(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "slashes.csv", rows[0], [[f"{i % 28 + 1:02}/01/2020 {i // 28:02}:00", *row[1:]] for i, row in enumerate(rows[1:])])
    line = refused(folder, "fit", "slashes.csv", *FIT[2:])
    assert "ISO 8601 times (2014-12-31 or 2014-12-31T23:00:00)" in line and "'01/01/2020 00:00'" in line and "--time year,month,day" in line
    line = refused(folder, "predict", "m.safetensors", "slashes.csv")
    assert "slashes.csv:2:1: expected ISO dates (2014-12-31 or 2014-12-31T23:00:00) in column 'time'; received '01/01/2020 00:00'" in line and "--" not in line


def test_one_row_is_answered_a_step_later(tmp_path):
    series(tmp_path / "air.csv", hours=60)
    words = [*DATA, "--window", "1", "--time", "time", "--method", "dnn", "--model", "m.safetensors", *SHORT]
    assert run(tmp_path, *words).returncode == 0
    rows = list(csv.reader((tmp_path / "air.csv").open()))
    write_csv(tmp_path / "one.csv", rows[0], rows[1:2])
    found, _ = answers(tmp_path, "one.csv")
    assert [row["forecast_time"] for row in found] == ["2020-01-01T01:00:00"]


def test_a_forecast_of_times_with_offsets_is_marked_as_utc(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "local.csv", rows[0], [[row[0] + "+08:00", *row[1:]] for row in rows[1:9]])
    found, said = answers(folder, "local.csv")
    assert "column 'time': expected times without an offset from UTC, as in training; received times with one, read as UTC" in said
    assert "received times with one" in run(folder, "evaluate", "m.safetensors", "local.csv").stderr
    assert [row["forecast_time"] for row in found] == ["2019-12-31T22:00:00Z", "2019-12-31T23:00:00Z", "2020-01-01T00:00:00Z"]
    found, said = answers(folder, "air.csv")
    assert not any(row["forecast_time"].endswith("Z") for row in found) and "UTC" not in said


def test_describe_shows_the_time_the_calendar_and_the_network(folder):
    text = run(folder, "describe", "m.safetensors").stdout
    for line in ("calendar     hour of the day, day of the week", "time  time of the row, which orders the series", "network            auto: lstm", "\nwindows\n"):
        assert line in text, text
    assert "ignored" not in text


def test_the_words_are_those_of_windows(folder):
    assert not any("validation row" in note for note in json.loads((folder / "fit.json").read_text())["notes"])
    done = run(folder, *DATA, *WINDOWS, "--method", "dnn", "--model", "words.safetensors", "--test-fraction", "0.1", "--valid-fraction", "0.05", *SHORT)
    assert done.returncode == 0, done.stderr
    said = done.stderr + done.stdout
    assert "validation windows: the sd may be too small" in said and "test windows\n" in said and " windows, " in done.stdout
    assert "validation row" not in said and "test row" not in said


def test_rows_in_other_steps_than_in_training_are_refused(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "daily.csv", rows[0], rows[1::24])
    assert "rows in steps of 3600 s, as in training; received steps of 86400 s" in refused(folder, "predict", "m.safetensors", "daily.csv")


def test_windows_without_a_target_are_counted(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    for row in rows[101:150]:
        row[2] = ""
    write_csv(folder / "holes.csv", rows[0], rows[1:])
    done = run(folder, "evaluate", "m.safetensors", "holes.csv", "--json")
    assert "50 of 395 windows have no 'y' to compare with" in done.stderr
    assert "1 of 395 windows has no 'y' to compare with" in (folder / "fit.err").read_text()


def test_too_few_rows_for_a_window_are_refused(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "short.csv", rows[0], rows[1:5])
    line = refused(folder, "predict", "m.safetensors", "short.csv")
    assert "at least 6 rows that follow each other in steps of 3600 s, for a window of 6; received at most 4; give more rows" in line
    write_csv(folder / "six.csv", rows[0], rows[1:7])
    line = refused(folder, "evaluate", "m.safetensors", "six.csv")
    assert "1 row after the last that they see (runs of 7 rows); received none in 1 window; the longest run without a gap has 6 rows" in line and "--" not in line
