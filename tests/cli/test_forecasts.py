"""What a forecast is of: the times of kept columns, the actual target, gaps in time, persistence, mixed offsets."""

import csv
import json

import pyarrow.parquet as parquet
import pytest
from conftest import refused, run, write_csv
from inputs import series

DATA = ["--target", "y", "--window", "6", "--time", "time", "--method", "dnn"]
SHORT = ["--steps", "150", "--hidden", "16", "--blocks", "1"]
STEP = ["--steps", "20", "--hidden", "8", "--blocks", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forecasts")
    series(folder / "air.csv")
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "gap.csv", rows[0], rows[1:201] + rows[202:])  # without the hour 200
    done = run(folder, "fit", "air.csv", *DATA, *SHORT, "--test-fraction", "0.2", "--model", "m.safetensors")
    assert done.returncode == 0, done.stderr
    (folder / "fit.out").write_text(done.stdout)
    done = run(folder, "fit", "gap.csv", *DATA, *SHORT, "--fill-gaps", "--json", "--model", "filled.safetensors")
    assert done.returncode == 0, done.stderr
    (folder / "filled.json").write_text(done.stdout)
    return folder


def table(path):
    return list(csv.DictReader(path.open()))


def predicted(folder, model, data, *words):
    done = run(folder, "predict", model, data, *words)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.splitlines())), done.stderr


def test_kept_columns_say_which_time_they_are_of_and_actual_is_that_of_the_forecast(folder):
    known = {row["time"]: row for row in table(folder / "air.csv")}
    found, said = predicted(folder, "m.safetensors", "air.csv", "--keep", "y,x")
    assert list(found[0])[:5] == ["last_time", "y", "x", "forecast_time", "actual"]
    for row in found:
        assert (row["y"], row["x"]) == (known[row["last_time"]]["y"], known[row["last_time"]]["x"])
        assert row["last_time"] < row["forecast_time"]
        assert row["actual"] == "" if row is found[-1] else float(row["actual"]) == float(known[row["forecast_time"]]["y"])
    assert "note: the kept columns are those of last_time, the last row that a window sees; the answer is for forecast_time" in said
    found, said = predicted(folder, "m.safetensors", "air.csv")
    assert list(found[0])[:2] == ["forecast_time", "actual"] and "last_time" not in said


def test_actual_is_left_out_where_the_table_has_none(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "six.csv", rows[0], rows[-6:])
    found, _ = predicted(folder, "m.safetensors", "six.csv")
    assert list(found[0])[:2] == ["forecast_time", "mean"]


def test_the_mean_error_of_actual_is_that_of_evaluate(folder):
    found, _ = predicted(folder, "m.safetensors", "air.csv", "--keep", "y")
    errors = [abs(float(row["mean"]) - float(row["actual"])) for row in found if row["actual"]]
    report = json.loads(run(folder, "evaluate", "m.safetensors", "air.csv", "--json").stdout)
    assert len(errors) == report["n"] and abs(sum(errors) / len(errors) - report["mae"]) < 1e-6
    last = [abs(float(row["y"]) - float(row["actual"])) for row in found if row["actual"]]
    assert abs(sum(last) / len(last) - report["persistence"]["mae"]) < 1e-6


def test_a_class_is_shown_by_its_name(tmp_path):
    series(tmp_path / "air.csv", hours=200)
    rows = list(csv.reader((tmp_path / "air.csv").open()))
    write_csv(tmp_path / "air.csv", rows[0], [[t, x, "high" if float(y) > 0 else "low"] for t, x, y in rows[1:]])
    done = run(tmp_path, "fit", "air.csv", *DATA, *SHORT, "--model", "m.safetensors")
    assert done.returncode == 0, done.stderr
    assert "validation windows: accuracy " in done.stdout and ", of persistence " in done.stdout
    found, _ = predicted(tmp_path, "m.safetensors", "air.csv")
    known = {row["time"]: row["y"] for row in table(tmp_path / "air.csv")}
    assert all(row["actual"] == known.get(row["forecast_time"], "") for row in found)
    report = json.loads(run(tmp_path, "evaluate", "m.safetensors", "air.csv", "--json").stdout)
    assert 0.5 < report["persistence"]["accuracy"] < 1 and report["persistence"]["model_accuracy"] == report["accuracy"]


@pytest.mark.parametrize("name", ["last_time", "actual", "forecast_time"])
def test_a_column_with_the_name_of_an_answer_is_refused(folder, name):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "named.csv", [*rows[0], name], [[*row, "a"] for row in rows[1:]])
    assert f"other names for --keep than those of the answer; received '{name}'; rename that column" in refused(folder, "predict", "m.safetensors", "named.csv", "--keep", name)
    done = run(folder, "fit", "named.csv", *DATA, *STEP, "--group", name, "--model", "named.safetensors")
    assert done.returncode == 0, done.stderr
    assert f"other names of groups than those of the answer; received '{name}'" in refused(folder, "predict", "named.safetensors", "named.csv")


def test_a_gap_is_noted_with_its_cost_its_place_and_what_fills_it(folder):
    said = run(folder, "predict", "m.safetensors", "gap.csv").stderr
    assert "1 gap in time (steps other than 3600 s): no window reaches over it, which costs 6 of 395 windows; it is after 2020-01-09T07:00:00; a fit with --fill-gaps inserts the missing rows" in said
    said = run(folder, "fit", "gap.csv", *DATA, *STEP, "--model", "cut.safetensors").stderr
    assert "it is after 2020-01-09T07:00:00; --fill-gaps inserts the missing rows" in said


def test_filled_gaps_cost_no_forecast(folder):
    report = json.loads((folder / "filled.json").read_text())
    assert any("1 row inserted at 1 gap in time (it is after 2020-01-09T07:00:00): missing inputs are carried forward" in note for note in report["notes"])
    assert report["rows"]["train"] == 353 and not any("imputed with the mean" in note for note in report["notes"])
    found, said = predicted(folder, "filled.safetensors", "gap.csv", "--keep", "x")
    assert len(found) == 395 and "1 row inserted at 1 gap in time" in said
    by_time = {row["forecast_time"]: row for row in found}
    known = {row["time"]: row for row in table(folder / "air.csv")}
    assert by_time["2020-01-09T08:00:00"]["actual"] == "" and by_time["2020-01-09T08:00:00"]["x"] == known["2020-01-09T07:00:00"]["x"]
    after = by_time["2020-01-09T09:00:00"]  # its window ends in the inserted row
    assert after["last_time"] == "2020-01-09T08:00:00" and after["x"] == "" and after["actual"] != ""
    assert abs(float(after["mean"]) - float(after["actual"])) < 1.5
    scored = json.loads(run(folder, "evaluate", "filled.safetensors", "gap.csv", "--json").stdout)
    assert scored["n"] == 393


def test_without_gaps_the_answers_have_the_same_bits(folder):
    done = run(folder, "fit", "air.csv", *DATA, *SHORT, "--test-fraction", "0.2", "--fill-gaps", "--model", "same.safetensors")
    assert done.returncode == 0 and done.stdout.replace("same", "m").split(" in ")[0] == (folder / "fit.out").read_text().split(" in ")[0]
    for model in ("m", "same"):
        assert run(folder, "predict", f"{model}.safetensors", "air.csv", "--out", f"{model}.parquet").returncode == 0
    assert parquet.read_table(folder / "m.parquet").equals(parquet.read_table(folder / "same.parquet"))


def test_a_wild_time_inserts_nothing(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "wild.csv", rows[0], [*rows[1:], ["9999-12-31T16:00:00", *rows[-1][1:]]])
    done = run(folder, "predict", "filled.safetensors", "wild.csv")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 396
    assert "--fill-gaps leaves it: it inserts whole numbers of steps below a window (6)" in done.stderr


def test_update_and_forget_fill_gaps_too(folder):
    done = run(folder, "fit", "gap.csv", "--target", "y", "--window", "6", "--time", "time", "--method", "bll", "--fill-gaps", *SHORT, "--model", "bll.safetensors")
    assert done.returncode == 0, done.stderr
    series(folder / "more.csv", start=500, hours=60, seed=3)
    rows = list(csv.reader((folder / "more.csv").open()))
    write_csv(folder / "more.csv", rows[0], rows[1:30] + rows[31:])
    done = run(folder, "update", "bll.safetensors", "more.csv", "--out", "updated.safetensors", "--json")
    assert done.returncode == 0, done.stderr
    assert any("1 row inserted at 1 gap in time" in note for note in json.loads(done.stdout)["notes"])
    assert run(folder, "forget", "updated.safetensors", "more.csv", "--out", "again.safetensors").returncode == 0
    for model in ("bll", "again"):
        assert run(folder, "predict", f"{model}.safetensors", "gap.csv", "--out", f"{model}.csv").returncode == 0
    for one, two in zip(table(folder / "bll.csv"), table(folder / "again.csv")):
        assert abs(float(one["sd"]) - float(two["sd"])) < 1e-6 * float(one["sd"])


def test_fit_and_evaluate_print_persistence_beside_the_model(folder):
    told = (folder / "fit.out").read_text()
    scored = run(folder, "evaluate", "m.safetensors", "air.csv", "--split", "test")
    for line in ("mae of persistence ", "rmse of persistence ", "mae of seasonal persistence (24 steps) ", "rmse of seasonal persistence (24 steps) "):
        assert line in told and line in scored.stdout
    assert "is no better than" not in scored.stderr
    report = json.loads(run(folder, "evaluate", "m.safetensors", "air.csv", "--split", "test", "--json").stdout)
    assert set(report["persistence"]) == {"n", "mae", "rmse", "mae_standardized", "rmse_standardized", "model_mae"}
    assert report["persistence"]["model_mae"] == pytest.approx(report["mae"]) and report["seasonal_persistence"]["season"] == "24 steps"
    assert "validation windows: mae " in run(folder, "fit", "air.csv", *DATA, *STEP, "--model", "short.safetensors").stdout


def test_compare_says_how_long_the_season_is(folder):
    done = run(folder, "compare", "air.csv", *DATA[:-2], "--methods", "constant", "--test-fraction", "0.2")
    assert done.returncode == 0, done.stderr
    assert "\npersistence  " in done.stdout and "\nseasonal persistence (24 steps)  " in done.stdout


def test_few_test_windows_are_noted(folder):
    sentence = "note: the scores rest on 14 test windows: too few to rank methods; a larger --test-fraction holds out more"
    words = ["air.csv", *DATA[:-2], "--test-fraction", "0.05"]
    for command in (["fit", *words, "--method", "constant", "--model", "few.safetensors"], ["compare", *words, "--methods", "constant"],
                    ["evaluate", "few.safetensors", "air.csv", "--split", "test"]):
        done = run(folder, *command)
        assert done.stderr.count(sentence) == 1, done.stderr
    assert "too few to rank" not in run(folder, "evaluate", "m.safetensors", "air.csv", "--split", "test").stderr


def test_a_model_no_better_than_persistence_is_noted(folder):
    done = run(folder, "fit", "air.csv", *DATA, "--steps", "1", "--hidden", "8", "--blocks", "1", "--test-fraction", "0.2", "--model", "poor.safetensors")
    assert "on the 73 test windows the model's MAE, " in done.stderr and "is no better than that of the last target that a window sees, 0.4922" in done.stderr
    said = run(folder, "evaluate", "poor.safetensors", "air.csv", "--split", "test").stderr
    assert "note: on the 73 test windows the model's MAE, " in said


def test_times_without_an_offset_beside_others_with_one_are_noted(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "mixed.csv", rows[0], [[row[0] + ("" if i % 10 == 3 else "Z"), *row[1:]] for i, row in enumerate(rows[1:])])
    sentence = "note: column 'time': 40 of 400 times without an offset from UTC (the first in data row 4) beside others with one: read as UTC"
    done = run(folder, "fit", "mixed.csv", *DATA, *STEP, "--model", "mixed.safetensors")
    assert done.returncode == 0 and sentence in done.stderr
    for command in ("predict", "evaluate"):
        assert run(folder, command, "mixed.safetensors", "mixed.csv").stderr.count(sentence) == 1


def test_an_offset_of_twenty_five_hours_is_no_time(folder):
    rows = list(csv.reader((folder / "air.csv").open()))
    write_csv(folder / "far.csv", rows[0], [[row[0] + "+25:00", *row[1:]] for row in rows[1:]])
    assert "ISO 8601 times (2014-12-31 or 2014-12-31T23:00:00) or numbers in 'time'; received a categorical column ('2020-01-01T00:00:00+25:00', ...)" in refused(folder, "fit", "far.csv", *DATA, "--model", "far.safetensors")
    assert "far.csv:2:1: expected ISO dates" in refused(folder, "predict", "m.safetensors", "far.csv")


def test_fill_gaps_belongs_to_windows(folder):
    assert "--fill-gaps, which belongs to 'Windows of a time series'" in refused(folder, "fit", "air.csv", "--target", "y", "--fill-gaps", "--model", "no.safetensors")
