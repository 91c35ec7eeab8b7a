"""Classes from the command line; metrics against scikit-learn's on what predict says."""

import csv
import json
import math
import random

import numpy
import pytest
import sklearn.metrics as metrics
from conftest import predicted, refused, run, write_csv
from likelihoods import LEVELS, QUICK, SMALL, column, flowers, ok, records


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """A folder with three- and two-class models and tables of new rows."""
    folder = tmp_path_factory.mktemp("classes")
    for name, levels in (("three", LEVELS), ("two", ["no thanks", "please"])):
        write_csv(folder / f"{name}.csv", ["a", "b", "kind"], flowers(300, 1, levels))
        write_csv(folder / f"{name}_new.csv", ["a", "b", "kind"], flowers(200, 2, levels))
        ok(folder, "fit", f"{name}.csv", "--target", "kind", "--method", "vbll", "--model", name, *QUICK)
    return folder


def scored(folder, name):
    answers = predicted(folder, name, f"{name}_new.csv")
    report = json.loads(ok(folder, "evaluate", name, f"{name}_new.csv", "--json"))
    with open(folder / f"{name}_new.csv") as file:
        truth = [row["kind"] for row in csv.DictReader(file)]
    return answers, report, truth


def test_classes_against_scikit_learn(classes):
    answers, report, truth = scored(classes, "three")
    assert list(answers) == [f"p_{level}" for level in LEVELS] + ["entropy", "mutual_information", "label"]
    p = numpy.stack([column(answers, f"p_{level}") for level in LEVELS], 1)
    assert p.sum(1) == pytest.approx(1, abs=1e-9)
    assert answers["label"] == [LEVELS[k] for k in p.argmax(1)]
    assert column(answers, "entropy") == pytest.approx(-(p * numpy.log(p)).sum(1), abs=1e-9)
    assert (column(answers, "mutual_information") >= 0).all()
    y = numpy.array([LEVELS.index(t) for t in truth])
    assert report["n"] == 200
    assert report["accuracy"] == pytest.approx(metrics.accuracy_score(truth, answers["label"]))
    assert report["classes"] == LEVELS
    assert report["confusion"] == metrics.confusion_matrix(truth, answers["label"], labels=LEVELS).tolist()
    assert report["f1_macro"] == pytest.approx(metrics.f1_score(truth, answers["label"], average="macro"))
    assert report["base_rate"] == max(truth.count(level) for level in LEVELS) / 200
    assert report["nll"] == pytest.approx(metrics.log_loss(y, p, labels=[0, 1, 2]), rel=1e-9)
    assert report["brier"] == pytest.approx(((p - numpy.eye(3)[y]) ** 2).sum(1).mean(), rel=1e-9)
    assert report["accuracy"] > 0.7 and report["nll"] < 0.75  # the best constant has 1.1
    top, right = p.max(1), p.argmax(1) == y
    order = numpy.argsort(top)  # equal masses by rank; no two confidences are equal
    parts = [order[[math.floor(rank * 15 / 200) == k for rank in range(200)]] for k in range(15)]
    gaps = [abs(right[part].mean() - top[part].mean()) for part in parts]
    assert report["ece"] == pytest.approx(sum(gap * len(part) / 200 for gap, part in zip(gaps, parts)), rel=1e-9)
    assert report["mce"] == pytest.approx(max(gaps), rel=1e-9)


def test_two_classes_are_ranked_too(classes):
    answers, report, truth = scored(classes, "two")
    score, y = column(answers, "p_please"), [t == "please" for t in truth]
    assert report["auroc"] == pytest.approx(metrics.roc_auc_score(y, score), rel=1e-9)
    assert report["aupr"] == pytest.approx(metrics.average_precision_score(y, score), rel=1e-9)
    assert report["nll"] == pytest.approx(metrics.log_loss(y, score), rel=1e-9)
    assert report["auroc"] > 0.8


def test_labels_coded_as_numbers_are_classes_where_asked_for(tmp_path, classes):
    rows = [[a, b, LEVELS.index(kind)] for a, b, kind in flowers(300, 1, LEVELS)]
    write_csv(tmp_path / "coded.csv", ["a", "b", "label"], rows)
    words = ["fit", "coded.csv", "--target", "label", "--method", "vbll", "--model", "m", *QUICK]
    ok(tmp_path, *words, "--likelihood", "softmax")
    coded = records(ok(tmp_path, "predict", "m", "coded.csv"))
    named = records(ok(classes, "predict", "three", "three.csv"))
    assert coded["p_2"] == named["p_red"]  # the same classes by other names: the same bits
    ok(tmp_path, *words)
    assert "mean" in records(ok(tmp_path, "predict", "m", "coded.csv"))


def test_fit_and_compare_print_the_metrics_of_classes(tmp_path, classes):
    words = ["--target", "kind", "--test-fraction", 0.2, "--steps", 50, *SMALL]
    report = json.loads(ok(tmp_path, "fit", classes / "two.csv", "--method", "sv-rbf", *words, "--json"))
    assert 0 <= report["test"]["accuracy"] <= 1 and "brier" in report["valid"]
    text = ok(tmp_path, "fit", classes / "two.csv", "--method", "sv-rbf", *words)
    assert "accuracy" in text and "standardised" not in text and ", validation NLL" in text
    assert "f1 of 'please'" in text and "brier, summed over classes" in text and "true \\ predicted" in text
    assert report["test"]["base_class"] in ("no thanks", "please")
    assert f"base_rate, '{report['test']['base_class']}' for every row" in text
    text = ok(tmp_path, "compare", classes / "two.csv", "--methods", "vbll,sv-rbf", "--seeds", 1, *words)
    assert "accuracy" in text and "vbll" in text and "sv-rbf" in text
    assert "base rate" in text and "brier: summed over the classes" in text


def test_equal_values_are_no_best(tmp_path):
    """One row in fifty is of the other class and the input says nothing: every method answers 'no'."""
    draw = random.Random(7)
    write_csv(tmp_path / "t.csv", ["a", "ill"], [[draw.uniform(-1, 1), "yes" if i % 50 == 0 else "no"] for i in range(600)])
    words = ["compare", "t.csv", "--target", "ill", "--methods", "vbll,sv-rbf,sv-dkl", "--seeds", 1, "--steps", 30, *SMALL]
    done = run(tmp_path, *words)
    head, *lines = done.stdout.split("\n\n")[0].split("\n")
    end = head.index("accuracy") + len("accuracy")
    cells = [line[:end + 1].split()[1] for line in lines if line and not line.startswith("scored on")]
    assert len(cells) == 6 and len(set(cells)) == 1 and "*" not in cells[0]
    rates = [method["runs"][0] for method in json.loads(run(tmp_path, *words, "--json").stdout)["methods"]]
    assert {run["base_rate"] for run in rates} == {run["accuracy"] for run in rates} and len(rates) == 6  # three plain ones too
    assert float(cells[0]) == pytest.approx(rates[0]["accuracy"], abs=1e-4)
    assert f"the accuracy of 'no' (the commonest class of the test rows) for every row: {cells[0]}" in done.stdout


def test_yes_and_no_keep_their_words(tmp_path):
    rows = [[i % 7, i * i % 5, "Yes" if i % 7 > 3 else "no"] for i in range(60)]
    write_csv(tmp_path / "t.csv", ["u", "v", "c"], rows)
    ok(tmp_path, "fit", "t.csv", "--target", "c", "--method", "vbll", "--model", "m", *QUICK)
    answers = records(ok(tmp_path, "predict", "m", "t.csv"))
    assert list(answers)[:2] == ["p_Yes", "p_no"] and set(answers["label"]) <= {"Yes", "no"}
    spelt = [[*row[:2], row[2].upper()] for row in rows]  # read by their meaning
    write_csv(tmp_path / "upper.csv", ["u", "v", "c"], spelt)
    assert ok(tmp_path, "evaluate", "m", "upper.csv", "--json") == ok(tmp_path, "evaluate", "m", "t.csv", "--json")
    write_csv(tmp_path / "rare.csv", ["u", "v", "c"], [*rows, [1, 1, "maybe"]])
    assert "row 61" in refused(tmp_path, "evaluate", "m", "rare.csv")


def test_numbers_that_may_be_labels_or_may_not(tmp_path):
    write_csv(tmp_path / "t.csv", ["u", "v", "c"], [[i % 7, i * i % 5, int(i % 7 > 3)] for i in range(60)])
    done = run(tmp_path, "fit", "t.csv", "--target", "c", "--model", "m", "--steps", 20)
    first, second = [line for line in done.stderr.splitlines() if line.startswith("note:")][:2]
    assert {first, second} == {"note: the target 'c' holds 0 and 1 alone, which are taken as two classes; --likelihood gaussian fits them as numbers",
                               "note: classification by auto; --method chooses another"}
    assert list(records(ok(tmp_path, "predict", "m", "t.csv")))[:2] == ["p_0", "p_1"]
    ok(tmp_path, "fit", "t.csv", "--target", "c", "--likelihood", "gaussian", "--model", "m", "--steps", 20)
    assert list(records(ok(tmp_path, "predict", "m", "t.csv")))[0] == "mean"
    assert "--likelihood gaussian makes a regression" in refused(tmp_path, "fit", "t.csv", "--target", "c", "--method", "dbk", "--model", "d")
    write_csv(tmp_path / "w.csv", ["u", "v", "y"], [[i % 7, i * i % 5, i / 7] for i in range(60)])
    words = ["fit", "w.csv", "--target", "y", "--method", "vbll", "--model", "w", *QUICK]
    assert "60 numbers, 60 of them once" in refused(tmp_path, *words, "--likelihood", "softmax")
    assert "two classes" in refused(tmp_path, *words, "--likelihood", "bernoulli")


def test_a_class_that_is_new(tmp_path, classes):
    write_csv(tmp_path / "new.csv", ["a", "b", "kind"], [[0, 0, "red"], [0, 0, "violet"]])
    line = refused(tmp_path, "evaluate", classes / "three", "new.csv")
    assert "row 2" in line and "violet" in line
    assert len(records(ok(tmp_path, "predict", classes / "three", "new.csv"))["label"]) == 2


def test_a_level_means_nothing_to_classes(tmp_path, classes):
    write_csv(tmp_path / "new.csv", ["a", "b"], [[0, 0]])
    assert "--level says nothing of these classes" in run(tmp_path, "predict", classes / "three", "new.csv", "--level", 0.8).stderr


def test_an_ensemble_and_the_plain_network_classify(tmp_path, classes):
    nll = {}
    for name, words in (("dnn", ["--method", "dnn"]), ("ensemble", ["--method", "ensemble", "--of", "vbll", "--members", 2, "--rank", 16])):
        ok(tmp_path, "fit", classes / "three.csv", "--target", "kind", "--model", name, "--steps", 400, "--threads", 1, *words)
        report = json.loads(ok(tmp_path, "evaluate", name, classes / "three_new.csv", "--json"))
        nll[name] = report["nll"]
        assert report["nll"] < report["nll_constant"] and report["classes"] == LEVELS
        answers = predicted(tmp_path, name, classes / "three_new.csv")
        probabilities = numpy.stack([answers[f"p_{level}"] for level in LEVELS])
        assert numpy.allclose(probabilities.sum(0), 1) and (numpy.array(answers["mutual_information"]) >= 0).all()
        assert (max(answers["mutual_information"]) > 0) == (name == "ensemble")  # one network has no epistemic part


def test_calibrated_classes_are_answered_by_sets(tmp_path):
    write_csv(tmp_path / "old.csv", ["a", "b", "kind"], flowers(1200, 1, LEVELS))
    write_csv(tmp_path / "new.csv", ["a", "b", "kind"], flowers(1000, 2, LEVELS))
    fit = ok(tmp_path, "fit", "old.csv", "--target", "kind", "--method", "dnn", "--model", "m", "--steps", 400, "--threads", 1,
             "--calibrate", "conformal", "--calibration-fraction", 0.4, "--level", 0.8)
    assert "conformal sets at 80 %: classes up to a summed probability of" in fit and "from 480 rows" in fit
    report = json.loads(ok(tmp_path, "evaluate", "m", "new.csv", "--level", 0.8, "--json"))
    sets = [set(filter(None, text.split("|"))) for text in records(ok(tmp_path, "predict", "m", "new.csv", "--level", 0.8))["set"]]
    with open(tmp_path / "new.csv") as file:
        truth = [row["kind"] for row in csv.DictReader(file)]
    coverage = sum(kind in held for kind, held in zip(truth, sets)) / len(sets)
    assert report["coverage"] == pytest.approx(coverage) and coverage == pytest.approx(0.8, abs=5 * 0.022)
    assert report["set_size"] == pytest.approx(sum(map(len, sets)) / len(sets))
    assert all(held <= set(LEVELS) for held in sets)
    assert "at least 19 calibration rows" in refused(tmp_path, "fit", "old.csv", "--target", "kind", "--calibrate", "conformal",
                                                     "--calibration-fraction", 0.01)
