"""Rows far from the training rows: those without an answer, those outside the training range, foreign tables."""

import csv
import io
import json
import random

import pytest
from conftest import FEW, header, refused, run, toy_rows, write_csv

FAR = [1e200, -1e300, 1e9, 3e6]


def lines_of(folder, *words):
    done = run(folder, "predict", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def cells(line):
    return [float(cell) if cell[-1:].isdigit() else cell for cell in line.split(",")]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with toy.csv (two inputs in [-1, 1]) and a model of every kind of answer."""
    folder = tmp_path_factory.mktemp("models")
    rows = toy_rows(120)
    write_csv(folder / "toy.csv", header(2), rows)
    write_csv(folder / "classes.csv", header(2), [[a, b, "high" if y > 0 else "low"] for a, b, y in rows])
    write_csv(folder / "counts.csv", header(2), [[a, b, max(0, round(2 * y + 3))] for a, b, y in rows])
    fits = {
        "dbk": ["toy.csv"], "dnn": ["toy.csv", "--method", "dnn"],
        "plain": ["toy.csv", "--method", "dnn", "--network", "mlp"], "deep": ["toy.csv", "--network", "mlp"],
        "vbll": ["toy.csv", "--method", "vbll"], "classes": ["classes.csv"],
        "counts": ["counts.csv", "--likelihood", "poisson"],
        "ensemble": ["toy.csv", "--method", "ensemble", "--members", 2],
    }
    for name, words in fits.items():
        done = run(folder, "fit", *words, "--target", "y", "--model", name, "--threads", 1, *FEW)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", ["dbk", "deep", "dnn", "plain", "vbll", "classes", "counts", "ensemble"])
def test_each_answer_is_finite_or_its_row_is_named(models, tmp_path, name):
    good = [[0.5, -0.5], [0.1, 0.2], [-0.3, ""]]
    write_csv(tmp_path / "good.csv", header(2)[:2], good)
    write_csv(tmp_path / "new.csv", header(2)[:2], [good[0], [0, FAR[0]], good[1], [FAR[1], 1], good[2], [FAR[2], FAR[3]]])
    alone, _ = lines_of(tmp_path, models / name, "good.csv")
    together, log = lines_of(tmp_path, models / name, "new.csv")
    for row, line in zip((0, 1, 3, 5), alone, strict=True):  # to rounding, which may depend on the rows beside
        assert cells(together[row]) == [pytest.approx(x, rel=1e-9) if isinstance(x, float) else x for x in cells(line)]
    assert all(set(together[i]) == {","} for i in (2, 4, 6))
    assert "3 of 6 rows without an answer, left blank" in log
    for part in ("data row 2:", "column 'x1'; received 1e+200", "data row 4:", "column 'x0'; received -1e+300", "data row 6:"):
        assert part in log
    skipped, log = lines_of(tmp_path, models / name, "new.csv", "--on-bad-row", "skip", "--keep", "x0")
    assert len(skipped) == 4 and "left out" in log and [float(line.split(",")[0]) for line in skipped[1:]] == [0.5, 0.1, -0.3]
    assert "new.csv: data row 2: " in refused(tmp_path, "predict", models / name, "new.csv", "--on-bad-row", "error")


def test_a_table_of_bad_rows_alone(models, tmp_path):
    write_csv(tmp_path / "new.csv", header(2)[:2], [[1e200, 0]] * 5)
    lines, log = lines_of(tmp_path, models / "dbk", "new.csv")
    assert len(lines) == 6 and "5 of 5 rows without an answer" in log and "; and 2 more" in log
    assert lines_of(tmp_path, models / "dbk", "new.csv", "--on-bad-row", "skip")[0] == lines[:1]
    assert lines_of(tmp_path, models / "dbk", "new.csv", "--out", "p.parquet")[0] == []


def test_events_outside_their_domain_have_no_answer(tmp_path):
    assert run(tmp_path, "generate", "cox", "--rows", 100, "--out", "t.csv").returncode == 0
    words = ["--likelihood", "cox", "--domain", "0:1,0:2", "--ignore", "true_intensity", "--model", "m", "--steps", 5]
    assert run(tmp_path, "fit", "t.csv", *words).returncode == 0
    names = (tmp_path / "t.csv").read_text().splitlines()[0].split(",")[:2]
    write_csv(tmp_path / "new.csv", names, [[0.5, 0.5], [1e200, 0], [0.5, ""], [0.1, 1.9], [-0.1, 0.2]])
    lines, log = lines_of(tmp_path, "m", "new.csv")
    assert [line == ",,," for line in lines[1:]] == [False, True, True, False, True]
    assert "3 of 5 rows without an answer" in log and "received 1e+200" in log and "a missing cell" in log


def test_evaluate_wants_an_answer_to_every_row(models, tmp_path):
    rows = toy_rows(30, seed=3)
    write_csv(tmp_path / "good.csv", header(2), rows)
    write_csv(tmp_path / "new.csv", header(2), [*rows, [0, 1e200, 1]])
    refusal = refused(tmp_path, "evaluate", models / "dbk", "new.csv")
    assert "data row 31: " in refusal and "--on-bad-row skip" in refusal
    assert "data row 31: " in refused(tmp_path, "evaluate", models / "dbk", "good.csv", "--ood", "new.csv")
    done = run(tmp_path, "evaluate", models / "dbk", "new.csv", "--json", "--on-bad-row", "skip")
    assert done.returncode == 0 and "1 of 31 rows without an answer, left out: data row 31" in done.stderr
    report = json.loads(done.stdout)
    assert report.pop("left_out") == 1
    good = json.loads(run(tmp_path, "evaluate", models / "dbk", "good.csv", "--json").stdout)
    assert report.pop("outside")["rows"] == good.pop("outside")["rows"] + 1  # the row left out is told of too
    assert report == good


def test_a_held_out_cell_that_is_too_far_has_no_answer(tmp_path):
    rows = toy_rows(60)
    rows[7][0] = 1e9
    write_csv(tmp_path / "t.csv", header(2), rows)
    for seed in range(20):  # in the training rows it gives the range, and a note
        words = ["fit", "t.csv", "--target", "y", "--test-fraction", 0.4, "--split-seed", seed, "--model", "m", *FEW]
        done = run(tmp_path, *words)
        assert done.returncode == 0, done.stderr
        if "without an answer" in done.stderr:
            break
    assert "1 of 24 rows without an answer" in done.stderr and "data row 8: " in done.stderr and "'x0'; received 1" in done.stderr


def test_rows_outside_the_training_range_are_told(models, tmp_path):
    with open(models / "toy.csv") as file:
        x0 = [float(row["x0"]) for row in csv.DictReader(file)]
    low, high = min(x0), max(x0)
    half = (high - low) / 2
    write_csv(tmp_path / "new.csv", ["x1", "x0"], [[0, 0], [0, high + 2 * half], [5, low - 1000 * half], ["", high]])
    lines, log = lines_of(tmp_path, models / "dbk", "new.csv", "--keep-outside")
    answers = list(csv.DictReader(io.StringIO("\n".join(lines))))
    assert list(answers[0])[-1] == "outside"
    assert [float(row["outside"]) for row in answers] == pytest.approx([0, 2, 1000, 0])
    note = next(line for line in log.splitlines() if "training range" in line)
    assert "2 of 4 rows lie outside the training range: 'x0' (2 rows; data row 3 lies 1000 half-ranges beyond)" in note
    assert "'x1' (1 row; data row 3 lies" in note and log.count("training range") == 1
    assert "--keep-outside shows" in lines_of(tmp_path, models / "dbk", "new.csv")[1]
    write_csv(tmp_path / "near.csv", header(2)[:2], [[0.1, -0.2], [low, high / 2]])
    assert "training range" not in lines_of(tmp_path, models / "dbk", "near.csv")[1]
    write_csv(tmp_path / "clash.csv", [*header(2)[:2], "outside"], [[0, 0, 0]])
    assert "other names for --keep" in refused(tmp_path, "predict", models / "dbk", "clash.csv", "--keep", "outside",
                                               "--keep-outside")


def test_evaluate_counts_the_rows_outside(models, tmp_path):
    write_csv(tmp_path / "new.csv", header(2), [*toy_rows(3, seed=2), [50, 0, 1], [60, -70, 1]])
    done = run(tmp_path, "evaluate", models / "dbk", "new.csv", "--json")
    far = json.loads(done.stdout)["outside"]
    assert far["rows"] == 2 and {name: column["rows"] for name, column in far["columns"].items()} == {"x0": 2, "x1": 1}
    assert 55 < far["columns"]["x0"]["farthest"] < 65 and "2 of 5 rows lie outside" in done.stderr


def test_what_tells_a_foreign_table(tmp_path):
    """The spread of dbk's weights is noise that varies with x: it is no score of the epistemic uncertainty."""
    draw = random.Random(1)
    house = lambda low, high: (lambda a, b: [a, b, 100 + a / 10 + 5 * b + draw.gauss(0, 20 + a / 50)])(  # noqa: E731
        draw.uniform(low, high), draw.randint(1, 8))
    write_csv(tmp_path / "t.csv", ["size", "rooms", "y"], [house(500, 4000) for _ in range(200)])
    write_csv(tmp_path / "far.csv", ["size", "rooms", "y"], [house(45000, 55000) for _ in range(60)])
    expected = {"dbk": {"total_sd", "outside", "distance"}, "dnn": {"outside", "distance"},
                "vbll": {"epistemic_sd", "outside", "distance"}, "ensemble": {"epistemic_sd", "outside", "distance"}}
    for method, names in expected.items():
        fit = ["fit", "t.csv", "--target", "y", "--method", method, "--model", "m", "--threads", 1, "--steps", 300]
        fit += ["--members", 2] if method == "ensemble" else []
        assert run(tmp_path, *fit).returncode == 0
        ood = json.loads(run(tmp_path, "evaluate", "m", "t.csv", "--ood", "far.csv", "--json").stdout)["ood"]
        assert set(ood["auroc"]) == names and set(ood["inverted"]) <= names - {"outside", "distance"}
        assert ood["auroc"]["outside"] == 1 and ood["auroc"]["distance"] == 1
        text = run(tmp_path, "evaluate", "m", "t.csv", "--ood", "far.csv").stdout
        told = [line.split()[0] for line in text.splitlines() if "inverted: lower on the foreign data" in line]
        assert told == ood["inverted"]
        assert all(value < 0.5 for name, value in ood["auroc"].items() if name in told)


def test_describe_says_what_the_parts_of_dbk_are():
    facts = json.loads(run(None, "describe", "dbk", "--json").stdout)
    for part in ("|L^T phi(x)|", "noise that varies with the inputs"):
        assert part in facts["parts"]
