"""What a fit says, and in which order: whether its scores and intervals can be trusted, then the data."""

import csv
import io
import json
import math
import random

from conftest import run, write_csv

NAMES = ["a", "b", "c", "d", "e", "y"]


def skewed(count, seed):
    """A positive cost whose logarithm is uncertain by 0.9: a network learns the training rows and is sure of itself."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        x = [round(draw.uniform(-1, 1), 4) for _ in range(5)]
        mean = 0.8 * x[0] + 0.5 * math.sin(3 * x[1]) + 0.3 * x[2] * x[3]
        rows.append([*x, round(1.6 + math.exp(mean + draw.gauss(0, 0.9)), 3)])
    return rows


def fitted(folder, *words):
    done = run(folder, "fit", *words, "--model", "m", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_an_overconfident_fit_says_so_and_gets_a_cross_fitted_noise(tmp_path):
    write_csv(tmp_path / "train.csv", NAMES, skewed(500, 1))
    write_csv(tmp_path / "new.csv", NAMES, skewed(3000, 2))
    words = ["train.csv", "--target", "y", "--method", "vbll", "--steps", 4000, "--test-fraction", 0.1, "--seed", 1]
    plain, log = fitted(tmp_path, *words, "--noise-folds", 0)
    assert "outside their 95 % intervals, where 2.5 are expected" in log
    scored = json.loads(run(tmp_path, "evaluate", "m", "new.csv", "--json").stdout)
    assert scored["coverage"] < 0.9, scored
    assert "would not help" not in log  # 4,000 steps say nothing of the 20,000 of the default
    assert "outside their 95 % intervals" in plain["notes"][0]
    fit, log = fitted(tmp_path, *words)
    assert fit["noise"]["folds"] == 5 and "the noise was estimated by 5-fold cross-fitting on 450 rows" in log
    scored = json.loads(run(tmp_path, "evaluate", "m", "new.csv", "--json").stdout)
    assert scored["coverage"] > 0.9, scored


def test_evaluate_says_it_too(tmp_path):
    write_csv(tmp_path / "train.csv", NAMES, skewed(500, 1))
    write_csv(tmp_path / "new.csv", NAMES, skewed(2000, 2))
    fitted(tmp_path, "train.csv", "--target", "y", "--method", "vbll", "--steps", 4000, "--noise-folds", 0)
    done = run(tmp_path, "evaluate", "m", "new.csv")
    assert "of 2000 rows lie outside their 95 % intervals, where 100 are expected" in done.stderr, done.stderr
    assert "is no better than that of one answer for every row" in done.stderr and "do not rely on the answers" in done.stderr
    seen = run(tmp_path, "evaluate", "m", "train.csv")
    assert "lie outside" not in seen.stderr, seen.stderr


def test_an_input_in_many_rows_counts_once(tmp_path):
    """A quarter of the rows is one and the same, whose target no other row tells."""
    draw = random.Random(5)
    rows = [[x, 2 * x + draw.gauss(0, 0.1)] for x in (draw.gauss(0, 1) for _ in range(1200))]
    write_csv(tmp_path / "train.csv", ["x", "y"], rows[:300])
    write_csv(tmp_path / "new.csv", ["x", "y"], rows[300:] + [[0.5, 9]] * 300)
    fitted(tmp_path, "train.csv", "--target", "y", "--method", "ridge")
    done = run(tmp_path, "evaluate", "m", "new.csv", "--json")
    scored = json.loads(done.stdout)
    assert scored["different_inputs"] == 901 and scored["coverage"] < 0.75
    assert 0.93 < scored["coverage_of_inputs"] < 0.97
    assert "rows with identical inputs share one error: of the 901 different inputs, each counted once, 9" in done.stderr
    assert "too narrow" not in done.stderr
    assert "coverage of the 901 different inputs" in run(tmp_path, "evaluate", "m", "new.csv").stdout


def test_rows_that_lack_an_input_are_spread_over_the_parts(tmp_path):
    """Rows that differ only in x, of which a seventh lack it: they are not identical inputs."""
    draw = random.Random(11)
    rows = []
    for i in range(700):
        x, group = draw.uniform(0, 10), draw.choice("abc")
        rows.append(["" if i % 7 == 0 else round(x, 3), group, round(2 * x + draw.gauss(0, 1), 3)])
    write_csv(tmp_path / "t.csv", ["x", "g", "y"], rows)
    for seed in range(3):
        fit, log = fitted(tmp_path, "t.csv", "--target", "y", "--method", "dnn", "--steps", 20, "--test-fraction", 0.1, "--split-seed", seed)
        assert fit["rows"] == {"train": 560, "valid": 70, "test": 70}
        missing = int(log.split("column 'x': ")[1].split(" of 560")[0])
        assert abs(missing - 80) <= 12, log  # three groups of 33 would give 100, 67 or 34
    grouped = fitted(tmp_path, "t.csv", "--target", "y", "--method", "dnn", "--steps", 20, "--split", "grouped")[1]
    assert "column 'x': 100 of 630" in grouped  # each group is too large to be held out


def test_a_forecast_that_is_hardly_better_than_a_constant_is_noted(tmp_path):
    draw = random.Random(3)
    write_csv(tmp_path / "t.csv", NAMES, [[*row[:5], row[0] + draw.gauss(0, 3)] for row in skewed(400, 4)])
    fit, log = fitted(tmp_path, "t.csv", "--target", "y", "--method", "gp-exact", "--calibrate", "conformal")
    assert fit["valid"]["rmse"] > 0.9 * fit["valid"]["rmse_constant"]
    assert "of one number for every row" in log or "one answer for every row" in log


def test_a_short_fit_is_not_told_that_more_steps_would_not_help(tmp_path):
    write_csv(tmp_path / "t.csv", NAMES, skewed(400, 9))
    log = fitted(tmp_path, "t.csv", "--target", "y", "--method", "dbk", "--steps", 5)[1]
    assert "more --steps or another --method may help" in log and "would not help" not in log


def test_wild_cells_of_several_columns_are_named(tmp_path):
    rows = skewed(200, 10)
    for i in range(3):
        rows[5 + i][i] = -99999
    write_csv(tmp_path / "t.csv", NAMES, rows)
    log = fitted(tmp_path, "t.csv", "--target", "y", "--method", "dnn", "--steps", 20, "--valid-fraction", 0, "--noise-folds", 0)[1]
    assert "3 columns have cells far beyond the others" in log and "('a' -99999 (data row 6), 'b' -99999 (data row 7), " in log


def test_a_rare_event_in_a_series_is_told_the_way_out(tmp_path):
    write_csv(tmp_path / "t.csv", ["t", "x", "y"], [[i, i % 7, int(i > 110)] for i in range(120)])
    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--window", 4, "--time", "t", "--model", "m")
    assert done.returncode == 2 and "--likelihood gaussian fits them as numbers" in done.stderr


def test_a_good_fit_has_none_of_these_notes(tmp_path):
    rows = [[*row[:5], math.sin(3 * row[0]) + row[1]] for row in skewed(300, 5)]
    write_csv(tmp_path / "t.csv", NAMES, rows)
    fit, log = fitted(tmp_path, "t.csv", "--target", "y", "--method", "gp-exact", "--test-fraction", 0.2)
    assert fit["notes"] == [] and "note" not in log, log


def test_like_notes_on_columns_are_one(tmp_path):
    draw = random.Random(6)
    rows = [["" if draw.random() < 0.2 else value for value in row[:4]] + [7, row[5]] for row in skewed(200, 7)]
    write_csv(tmp_path / "t.csv", NAMES, rows)
    fit, log = fitted(tmp_path, "t.csv", "--target", "y", "--method", "dnn", "--steps", 50)
    notes = [line for line in log.splitlines() if "column" in line]
    assert len(notes) == 2 and "column 'e' is constant" in notes[0], log
    assert "note: 4 columns lack some of the 180 training cells: imputed with the mean, each with an indicator ('a' " in notes[1]


def test_a_rare_label_stays_in_training(tmp_path):
    """Whichever of the 62 rows the split holds out, each of three classes has a training row."""
    rows = [[*row[:5], "xyz"[i % 2] if i < 60 else "rare"] for i, row in enumerate(skewed(62, 8))]
    write_csv(tmp_path / "t.csv", NAMES, rows)
    said = 0
    for seed in range(12):
        words = ["t.csv", "--target", "y", "--method", "vbll", "--steps", 10, "--rank", 5, "--valid-fraction", 0.6, "--split-seed", seed]
        fit, log = fitted(tmp_path, *words)
        said += "all rows of class 'rare' (2 rows in all) had been held out; 1 row was moved into training" in log
    assert said > 0


def test_lower_bounds_of_a_positive_target_are_raised_to_zero_with_a_note(tmp_path):
    write_csv(tmp_path / "t.csv", NAMES, skewed(200, 12))
    fitted(tmp_path, "t.csv", "--target", "y", "--method", "dnn", "--steps", 50)
    done = run(tmp_path, "predict", "m", "t.csv")
    assert "lower bounds at 95 % were raised to 0, because no training target was below (the least is 1.6" in done.stderr, done.stderr
    assert min(float(row["lower"]) for row in csv.DictReader(io.StringIO(done.stdout))) == 0
    write_csv(tmp_path / "t.csv", NAMES, [[*row[:5], row[5] - 5] for row in skewed(200, 12)])
    fitted(tmp_path, "t.csv", "--target", "y", "--method", "dnn", "--steps", 50)
    assert "raised to 0" not in run(tmp_path, "predict", "m", "t.csv").stderr
