"""What evaluate says of the uncertainty, against numpy's and scikit-learn's arithmetic on what predict says."""

import json
import math
import os
import re
import xml.etree.ElementTree as xml

import numpy
import pytest
import sklearn.metrics as metrics
from conftest import header, predicted, refused, run, toy_rows, write_csv
from likelihoods import LEVELS, QUICK, SMALL, column, flowers, ok, records

SHARES = [1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A folder with a model gp, one without an epistemic part (dnn), and tables of new and of foreign rows."""
    folder = tmp_path_factory.mktemp("numbers")
    write_csv(folder / "train.csv", header(2), toy_rows(120))
    write_csv(folder / "near.csv", header(2), toy_rows(83, seed=2))
    write_csv(folder / "far.csv", header(2), [[1.2 * a + 0.3, 1.2 * b, y] for a, b, y in toy_rows(70, seed=3)])
    ok(folder, "fit", "train.csv", "--target", "y", "--method", "gp-exact", "--iterations", 20, "--threads", 1, "--model", "gp")
    ok(folder, "fit", "train.csv", "--target", "y", "--method", "dnn", "--steps", 200, "--threads", 1, "--model", "dnn")
    return folder


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    for name, seed, shift in (("old", 1, 0), ("new", 2, 0), ("far", 3, 1)):
        write_csv(folder / f"{name}.csv", ["a", "b", "kind"], [[a + shift, b, kind] for a, b, kind in flowers(300, seed, LEVELS)])
    ok(folder, "fit", "old.csv", "--target", "kind", "--method", "vbll", "--model", "m", *QUICK)
    ok(folder, "fit", "old.csv", "--target", "kind", "--method", "dnn", "--model", "dnn", "--steps", 200, "--threads", 1)
    return folder


def evaluated(folder, *words):
    return json.loads(ok(folder, "evaluate", *words, "--json"))


def kept_means(uncertainty, loss):
    """The mean loss of the kept rows by sorting; the scores are all different."""
    assert len(set(uncertainty)) == len(uncertainty)
    order = numpy.argsort(uncertainty)
    return [loss[order[:math.ceil(share * len(loss) - 1e-9)]].mean() for share in SHARES]


def check_ranking(ood, score, near, far):
    truth, scores = [0] * len(near) + [1] * len(far), [*near, *far]
    assert ood["auroc"][score] == pytest.approx(metrics.roc_auc_score(truth, scores), abs=1e-9)
    assert ood["aupr_ood"][score] == ood["aupr"][score]
    assert ood["aupr_ood"][score] == pytest.approx(metrics.average_precision_score(truth, scores), abs=1e-9)
    negated = metrics.average_precision_score(1 - numpy.array(truth), -numpy.array(scores))
    assert ood["aupr_in"][score] == pytest.approx(negated, abs=1e-9)
    alarms, found, _ = metrics.roc_curve(truth, scores, drop_intermediate=False)
    assert ood["tpr5"][score] == pytest.approx(max(f for a, f in zip(alarms, found) if a <= 0.05), abs=1e-9)
    assert ood["ratio"][score] == pytest.approx(numpy.mean(far) / numpy.mean(near), rel=1e-9)
    assert (ood["n"], ood["n_foreign"]) == (len(near), len(far))
    assert ood["foreign_share"] == pytest.approx(len(far) / len(scores))


def test_numbers(numbers):
    answers, far = predicted(numbers, "gp", "near.csv", "--level", 0.9), predicted(numbers, "gp", "far.csv")
    report = evaluated(numbers, "gp", "near.csv", "--level", 0.9, "--ood", "far.csv")
    y = column(records((numbers / "near.csv").read_text()), "y")
    mean, sd, epistemic = (column(answers, name) for name in ("mean", "sd", "sd_epistemic"))
    error, z = y - mean, 1.6448536269514722
    assert report["coverage_epistemic"] == pytest.approx((abs(error) <= z * epistemic).mean())
    assert report["width_epistemic"] == pytest.approx((2 * z * epistemic).mean(), rel=1e-9)
    assert report["coverage_epistemic"] < report["coverage"]
    curve = report["calibration_curve"]
    assert curve["coverage"][17] == pytest.approx(report["coverage"]) and curve["level"][17] == pytest.approx(0.9)
    assert curve["coverage_epistemic"][17] == pytest.approx(report["coverage_epistemic"])
    assert curve["area"] == pytest.approx(numpy.abs(numpy.subtract(curve["coverage"], curve["level"])).mean())

    selective = report["selective"]
    assert selective["score"] == "epistemic_sd" and selective["share"] == SHARES
    assert selective["rows"] == [83, 79, 75, 71, 67, 63, 59]
    nll = 0.5 * numpy.log(2 * numpy.pi * sd**2) + 0.5 * (error / sd) ** 2
    for score, uncertainty in (("epistemic_sd", epistemic), ("total_sd", sd)):
        found = selective["by"][score]
        assert found["mae"] == pytest.approx(kept_means(uncertainty, abs(error)), rel=1e-9)
        assert found["rmse"] == pytest.approx(numpy.sqrt(kept_means(uncertainty, error**2)), rel=1e-9)
        assert found["nll"] == pytest.approx(kept_means(uncertainty, nll), rel=1e-9)
    assert found["mae"][0] == pytest.approx(report["mae"], rel=1e-12) and found["rmse"][0] == pytest.approx(report["rmse"], rel=1e-12)
    assert found["gain_share"]["mae"] == pytest.approx(1 - found["mae"][6] / found["mae"][0])
    check_ranking(report["ood"], "epistemic_sd", epistemic, column(far, "sd_epistemic"))


def test_a_constant_sd_selects_nothing_and_has_no_epistemic_interval(numbers):
    report = evaluated(numbers, "dnn", "near.csv")
    assert not any(key.startswith(("coverage_ep", "width_ep")) for key in report)
    assert "coverage_epistemic" not in report["calibration_curve"]
    by = report["selective"]["by"]
    assert list(by) == ["total_sd"] and by["total_sd"]["constant"]
    assert set(by["total_sd"]["mae"]) == {by["total_sd"]["mae"][0]} and by["total_sd"]["gain"]["nll"] == 0
    text = ok(numbers, "evaluate", "dnn", "near.csv")
    assert "selective prediction: total_sd is the same for every row and selects none" in text
    assert "epistemic sd alone" not in text and "coverage at 95 %, epistemic sd alone" in ok(numbers, "evaluate", "gp", "near.csv")


def test_classes(classes):
    answers, far = predicted(classes, "m", "new.csv"), predicted(classes, "m", "far.csv")
    report = evaluated(classes, "m", "new.csv", "--ood", "far.csv")
    p = numpy.stack([column(answers, f"p_{level}") for level in LEVELS], 1)
    y = numpy.array([LEVELS.index(kind) for kind in records((classes / "new.csv").read_text())["kind"]])
    wrong, nll = p.argmax(1) != y, -numpy.log(p[numpy.arange(300), y])
    scores = {"mutual_information": column(answers, "mutual_information"), "entropy": column(answers, "entropy"), "max_softmax": 1 - p.max(1)}
    assert set(report["errors"]["aupr_err"]) == set(scores)
    assert report["errors"]["wrong"] == wrong.sum() and report["errors"]["rate"] == pytest.approx(1 - report["accuracy"])
    for name, score in scores.items():
        assert report["errors"]["aupr_err"][name] == pytest.approx(metrics.average_precision_score(wrong, score), rel=1e-9)
        assert report["errors"]["aupr_succ"][name] == pytest.approx(metrics.average_precision_score(~wrong, -score), rel=1e-9)
        found = report["selective"]["by"][name]
        assert found["accuracy"] == pytest.approx(kept_means(score, 1.0 - wrong), rel=1e-9)
        assert found["nll"] == pytest.approx(kept_means(score, nll), rel=1e-9)
    assert report["selective"]["score"] == "mutual_information"
    assert report["selective"]["by"]["entropy"]["gain"]["accuracy"] > 0
    for bins in (10, 20, 30):  # equal masses by rank; no two confidences are equal
        parts = [part for part in numpy.split(numpy.argsort(p.max(1)), [math.ceil(300 * k / bins) for k in range(1, bins)])]
        gaps = [len(part) / 300 * abs((~wrong)[part].mean() - p.max(1)[part].mean()) for part in parts]
        assert report[f"ece_{bins}"] == pytest.approx(sum(gaps), rel=1e-9)
    bins = report["reliability"]
    assert sum(bins["rows"]) == 300 and len(bins["rows"]) == 15
    assert report["ece"] == pytest.approx(sum(n * abs(a - c) / 300 for n, a, c in zip(bins["rows"], bins["accuracy"], bins["confidence"])))
    check_ranking(report["ood"], "mutual_information", scores["mutual_information"], column(far, "mutual_information"))
    check_ranking(report["ood"], "entropy", scores["entropy"], column(far, "entropy"))


def test_a_score_without_information_has_the_values_of_chance(classes):
    done = run(classes, "evaluate", "dnn", "new.csv", "--ood", "far.csv", "--json")
    assert "NaN" not in done.stdout and "null" not in done.stdout
    report = json.loads(done.stdout)
    errors, ood = report["errors"], report["ood"]
    assert errors["aupr_err"]["mutual_information"] == pytest.approx(errors["rate"])
    assert errors["aupr_succ"]["mutual_information"] == pytest.approx(report["accuracy"])
    assert ood["aupr_ood"]["mutual_information"] == pytest.approx(ood["foreign_share"]) == ood["chance"]["aupr_ood"]
    assert ood["aupr_in"]["mutual_information"] == pytest.approx(ood["chance"]["aupr_in"])
    assert ood["ratio_absent"]["mutual_information"] == "the mean of the score over the data is 0"
    assert "negative" in ood["ratio_absent"]["energy"] and not {"energy", "mutual_information"} & set(ood["ratio"])
    text = ok(classes, "evaluate", "dnn", "new.csv", "--ood", "far.csv")
    assert "accuracy by entropy" in text and "accuracy by mutual_information" not in text
    assert re.search(r"^by chance +0\.5000 +0\.9500 +0\.0500 +0\.5000 +0\.5000 +1$", text, re.MULTILINE)


def test_without_an_error_there_is_nothing_to_find(classes):
    rows = [row.split(",") for row in (classes / "new.csv").read_text().splitlines()[1:]]
    labels = predicted(classes, "m", "new.csv")["label"]
    write_csv(classes / "right.csv", ["a", "b", "kind"], [[a, b, label] for (a, b, _), label in zip(rows, labels)])
    errors = evaluated(classes, "m", "right.csv")["errors"]
    assert errors == {"wrong": 0, "rate": 0, "absent": "no row is wrong"}
    assert "0 of 300 rows wrong, so that there is nothing to tell apart" in ok(classes, "evaluate", "m", "right.csv")


def test_the_order_of_the_rows_has_no_effect(classes):
    lines = (classes / "new.csv").read_text().splitlines()
    (classes / "turned.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    straight, turned = evaluated(classes, "m", "new.csv"), evaluated(classes, "m", "turned.csv")
    for score in straight["selective"]["by"]:
        assert straight["selective"]["by"][score]["accuracy"] == turned["selective"]["by"][score]["accuracy"]
        assert straight["errors"]["aupr_err"][score] == pytest.approx(turned["errors"]["aupr_err"][score], rel=1e-12)


def test_counts(tmp_path):
    ok(tmp_path, "generate", "counts", "--rows", 300, "--out", "t.csv")
    ok(tmp_path, "fit", "t.csv", "--target", "y", "--likelihood", "poisson", "--method", "sv-rbf", "--model", "m",
       "--ignore", "true_mean,true_sd", "--steps", 200, *SMALL)
    report, answers = evaluated(tmp_path, "m", "t.csv", "--plots", "p"), predicted(tmp_path, "m", "t.csv")
    error = abs(column(records((tmp_path / "t.csv").read_text()), "y") - column(answers, "mean"))
    by = report["selective"]["by"]
    assert report["selective"]["score"] == "log_rate_sd" and set(by) == {"log_rate_sd", "total_sd"}
    assert by["total_sd"]["mae"] == pytest.approx(kept_means(column(answers, "sd"), error), rel=1e-9)
    assert by["log_rate_sd"]["nll"][0] == pytest.approx(report["nll"], rel=1e-9)
    assert os.listdir(tmp_path / "p") == ["selective.svg"]


@pytest.mark.parametrize(("model", "data", "names"), [
    ("numbers gp", "near.csv", ["calibration.svg", "selective.svg"]), ("classes m", "new.csv", ["reliability.svg", "selective.svg"])])
def test_plots(request, tmp_path, model, data, names):
    fixture, model = model.split()
    folder = request.getfixturevalue(fixture)
    text = ok(folder, "evaluate", model, data, "--plots", tmp_path / "a" / "b")
    assert sorted(os.listdir(tmp_path / "a" / "b")) == names
    for name in names:
        assert str(tmp_path / "a" / "b" / name) in text
        image = xml.parse(tmp_path / "a" / "b" / name).getroot()
        assert image.tag == "{http://www.w3.org/2000/svg}svg"
        assert "nan" not in (tmp_path / "a" / "b" / name).read_text() and "inf" not in (tmp_path / "a" / "b" / name).read_text().replace("information", "")
    if "reliability.svg" in names:
        circles = xml.parse(tmp_path / "a" / "b" / "reliability.svg").getroot().iter("{http://www.w3.org/2000/svg}circle")
        assert sum(1 for _ in circles) == 15 + 1  # and one in the legend
    plain, plotted = (ok(folder, "evaluate", model, data, "--json", *words) for words in ([], ["--plots", tmp_path]))
    assert plain == plotted


def test_a_folder_for_plots_that_cannot_be_written(numbers, tmp_path):
    (tmp_path / "file").write_text("")
    assert "expected a folder that can be made for --plots" in refused(numbers, "evaluate", "gp", "near.csv", "--plots", tmp_path / "file" / "p")
    (tmp_path / "selective.svg").mkdir()
    assert "selective.svg" in refused(numbers, "evaluate", "gp", "near.csv", "--plots", tmp_path)


def test_events_have_no_plots(tmp_path):
    write_csv(tmp_path / "e.csv", ["x"], [[i / 60] for i in range(60)])
    ok(tmp_path, "fit", "e.csv", "--likelihood", "cox", "--domain", "0:1", "--method", "sv-rbf", "--model", "m", "--steps", 50, *SMALL)
    write_csv(tmp_path / "new.csv", ["x"], [[i / 50] for i in range(50)])
    assert "a model of numbers, classes or counts for --plots" in refused(tmp_path, "evaluate", "m", "new.csv", "--plots", "p")
    assert "selective" not in evaluated(tmp_path, "m", "e.csv")
