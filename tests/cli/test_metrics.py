"""What evaluate says against scikit-learn's arithmetic on what predict says."""

import csv
import json

import pytest
import sklearn.metrics as metrics
from conftest import header, predicted, run, toy_rows, write_csv


def predictions(folder, table):
    return predicted(folder, "gp", table)


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Folder, the report of evaluate; near.csv and far.csv overlap, so that the AUROC is neither 0.5 nor 1."""
    folder = tmp_path_factory.mktemp("scored")
    write_csv(folder / "train.csv", header(2), toy_rows(120))
    write_csv(folder / "near.csv", header(2), toy_rows(80, seed=2))
    write_csv(folder / "far.csv", header(2), [[1.2 * a + 0.3, 1.2 * b, y] for a, b, y in toy_rows(70, seed=3)])
    words = ["--target", "y", "--method", "gp-exact", "--iterations", 20, "--threads", 1, "--model", "gp"]
    assert run(folder, "fit", "train.csv", *words).returncode == 0
    done = run(folder, "evaluate", "gp", "near.csv", "--ood", "far.csv", "--json")
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_errors(scored):
    folder, report = scored
    means = predictions(folder, "near.csv")["mean"]
    with open(folder / "near.csv") as file:
        targets = [float(row["y"]) for row in csv.DictReader(file)]
    assert report["mae"] == pytest.approx(metrics.mean_absolute_error(targets, means), rel=1e-9)
    assert report["rmse"] == pytest.approx(metrics.root_mean_squared_error(targets, means), rel=1e-9)


def test_auroc_of_the_epistemic_variance(scored):
    folder, report = scored
    near, far = (predictions(folder, name)["sd_epistemic"] for name in ("near.csv", "far.csv"))
    expected = metrics.roc_auc_score([0] * len(near) + [1] * len(far), near + far)
    assert 0.55 < expected < 0.99
    assert report["ood"]["auroc"]["epistemic_sd"] == pytest.approx(expected, abs=1e-9)
    assert report["ood"]["inverted"] == []
    truth, scores = [0] * len(near) + [1] * len(far), near + far
    assert report["ood"]["aupr"]["epistemic_sd"] == pytest.approx(metrics.average_precision_score(truth, scores), abs=1e-9)
    alarms, found, _ = metrics.roc_curve(truth, scores, drop_intermediate=False)
    at_95 = min(a for a, f in zip(alarms, found) if f >= 0.95)
    assert report["ood"]["fpr95"]["epistemic_sd"] == pytest.approx(at_95, abs=1e-9)
