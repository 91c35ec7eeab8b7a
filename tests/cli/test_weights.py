"""Weights of rows, from the user's column to the posterior and the scores."""

import json
import math
import random

import pytest
from conftest import predicted, refused, run, write_csv

HEADER = ["a", "b", "w", "y"]
PLAIN = ["--target", "y", "--threads", 1]


def rows(count, weights, seed=1):
    draw = random.Random(seed)
    out = []
    for i in range(count):
        a, b = draw.uniform(-1, 1), draw.uniform(-1, 1)
        out.append([a, b, weights[i % len(weights)], 3 + a - 0.5 * b + draw.gauss(0, 0.2)])
    return out


def fitted(folder, name, table, *words):
    write_csv(folder / f"{name}.csv", HEADER, table)
    done = run(folder, "fit", f"{name}.csv", "--model", name, *PLAIN, *words)
    assert done.returncode == 0, done.stderr
    return done


def answers(folder, name):
    write_csv(folder / "new.csv", ["a", "b"], [[0.1, 0.2], [-0.7, 0.4], [0.9, -0.9]])
    return predicted(folder, name, "new.csv")


@pytest.mark.parametrize("method", [["--method", "ridge"], ["--method", "dbk", "--steps", 40, "--rank", 4]], ids=["ridge", "dbk"])
def test_a_row_of_weight_0_is_a_missing_row(tmp_path, method):
    table = rows(100, [1, 0, 2.5, 1])
    done = fitted(tmp_path, "all", table, "--weights", "w", *method)
    assert "25 of 100 rows have the weight 0 in 'w': left out" in done.stderr
    fitted(tmp_path, "some", [row for row in table if row[2] > 0], "--weights", "w", *method)
    assert answers(tmp_path, "all") == answers(tmp_path, "some")


@pytest.mark.parametrize("method", [["--method", "ridge"], ["--method", "dbk", "--steps", 40, "--rank", 4]], ids=["ridge", "dbk"])
def test_equal_weights_of_importance_are_none(tmp_path, method):
    table = rows(80, [2])
    done = fitted(tmp_path, "twos", table, "--weights", "w", *method)
    assert "the weights in 'w' are all equal: each row counts once" in done.stderr
    fitted(tmp_path, "none", table, "--ignore", "w", *method)
    assert answers(tmp_path, "twos") == answers(tmp_path, "none")


def test_counts_are_repeated_rows_and_importance_keeps_the_number_of_rows(tmp_path):
    table = rows(60, [1, 3, 2])
    own = ["--method", "ridge", "--valid", "valid.csv", "--noise-folds", 0]  # folds would take repeated rows for one input
    write_csv(tmp_path / "valid.csv", HEADER, rows(20, [1], seed=2))
    done = fitted(tmp_path, "counts", table, "--weights", "w", "--weights-are", "counts", *own)
    assert "60 rows in training, weighted by 'w', count as 120 (--weights-are counts)" in done.stderr
    done = fitted(tmp_path, "importance", table, "--weights", "w", *own)
    assert "60 rows in training, weighted by 'w': means over them are as sure as those over" in done.stderr
    fitted(tmp_path, "repeated", [row for row in table for _ in range(row[2])], "--ignore", "w", *own)
    counts, importance, repeated = (answers(tmp_path, name) for name in ("counts", "importance", "repeated"))
    for name in ("mean", "sd"):
        assert all(math.isclose(x, y, rel_tol=1e-5) for x, y in zip(counts[name], repeated[name]))
    sure = json.loads(run(tmp_path, "describe", "counts", "--json").stdout)["fit"]
    assert sure["weights"] == "w" and sure["weights_are"] == "counts"
    assert importance["mean"] != counts["mean"] or importance["sd"] != counts["sd"]


def test_the_model_says_what_weighed_its_rows_and_predicts_without(tmp_path):
    fitted(tmp_path, "m", rows(60, [1, 2]), "--weights", "w", "--method", "ridge")
    text = run(tmp_path, "describe", "m").stdout
    assert "weights      w, as importance" in text and "  w  weight of the row" in text
    done = run(tmp_path, "predict", "m", "m.csv")
    assert done.returncode == 0 and "'w'" not in done.stderr
    dry = json.loads(run(tmp_path, "fit", "m.csv", *PLAIN, "--weights", "w", "--dry-run").stdout)
    assert dry["inputs"]["weights"] == "w" and dry["inputs"]["weights_are"] == "importance"


def test_an_evaluation_says_whether_it_weighs(tmp_path):
    fitted(tmp_path, "m", rows(60, [1, 2]), "--weights", "w", "--method", "ridge")
    write_csv(tmp_path / "more.csv", HEADER, rows(40, [1, 0], seed=3))
    done = run(tmp_path, "evaluate", "m", "more.csv", "--json")
    assert "the rows are weighted by 'w'; 20 rows of weight 0 are left out" in done.stderr
    assert json.loads(done.stdout)["n"] == 20
    write_csv(tmp_path / "without.csv", ["a", "b", "y"], [[a, b, y] for a, b, _, y in rows(40, [1], seed=3)])
    done = run(tmp_path, "evaluate", "m", "without.csv", "--json")
    assert "the data have no column 'w' of weights: each row counts once" in done.stderr
    assert json.loads(done.stdout)["n"] == 40


def test_a_comparison_takes_weights(tmp_path):
    write_csv(tmp_path / "t.csv", HEADER, rows(80, [1, 0, 2]))
    done = run(tmp_path, "compare", "t.csv", "--target", "y", "--methods", "ridge", "--weights", "w", "--seeds", 1, "--json", "--threads", 1)
    assert done.returncode == 0, done.stderr


def test_windows_have_the_weight_of_the_row_that_they_predict(tmp_path):
    table = [[i, math.sin(i / 5), 0 if i % 4 == 3 else 1 + i % 2, math.sin(i / 5 + 0.2)] for i in range(120)]
    write_csv(tmp_path / "s.csv", ["t", "x", "w", "y"], table)
    words = ["--window", 4, "--time", "t", "--method", "dnn", "--steps", 20, "--weights", "w"]
    done = run(tmp_path, "fit", "s.csv", *PLAIN, "--model", "m", *words)
    assert done.returncode == 0, done.stderr
    # Rows 4 to 119 are predicted, a quarter of them without weight.
    assert "29 of 116 windows have the weight 0 in 'w': left out" in done.stderr
    assert "'w'" not in run(tmp_path, "predict", "m", "s.csv").stderr


@pytest.mark.parametrize(("cell", "text"), [("-1", "received -1"), ("", "received a missing cell"), ("heavy", "heavy"), ("inf", "inf"),
                                            ("1e308", "received 1e+308; sums of larger ones overflow: divide all weights by one number (only their "
                                             "proportions count, unless --weights-are counts)")])
def test_a_bad_weight_is_named(tmp_path, cell, text):
    table = rows(30, [1])
    table[11][2] = cell
    write_csv(tmp_path / "t.csv", HEADER, table)
    error = refused(tmp_path, "fit", "t.csv", *PLAIN, "--weights", "w", "--model", "m")
    assert text in error and ("data row 12" in error or "t.csv:13" in error), error


def test_refused_weights(tmp_path):
    write_csv(tmp_path / "t.csv", HEADER, rows(30, [0]))
    words = ["fit", "t.csv", "--model", "m"]
    assert "some weights above 0 in the column 'w'" in refused(tmp_path, *words, *PLAIN, "--weights", "w")
    assert "did you mean 'w'?" in refused(tmp_path, *words, *PLAIN, "--weights", "ww")
    assert "a column of weights beside the target" in refused(tmp_path, *words, "--target", "w", "--weights", "w")
    assert "expected --weights, a column, with --weights-are" in refused(tmp_path, *words, *PLAIN, "--weights-are", "counts")
    assert "received an empty name" in refused(tmp_path, *words, *PLAIN, "--weights", "")
    assert "expected --weights-are to be one of importance, counts; received" in refused(tmp_path, *words, *PLAIN, "--weights", "w", "--weights-are", "shares")
    assert "no weights for --likelihood cox" in refused(tmp_path, *words, "--likelihood", "cox", "--domain", "0:1", "--weights", "w")
    (tmp_path / "rows").mkdir()
    error = refused(tmp_path, *words, *PLAIN, "--weights", "w", "--cache", "rows", "--method", "dnn")
    assert "received --weights" in error, error


def test_an_update_is_refused(tmp_path):
    fitted(tmp_path, "m", rows(60, [1, 2]), "--weights", "w", "--method", "bll", "--steps", 20)
    assert "a model that was fitted without weights" in refused(tmp_path, "update", "m", "m.csv", "--out", "n")
