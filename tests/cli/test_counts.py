"""Counts from the command line; metrics against scikit-learn's on what predict says."""

import json
import math

import numpy
import pytest
import sklearn.metrics as metrics
from conftest import predicted, run
from likelihoods import SMALL, column, ok, records


def test_counts(tmp_path):
    ok(tmp_path, "generate", "counts", "--rows", 600, "--out", "train.csv")
    ok(tmp_path, "generate", "counts", "--rows", 300, "--seed", 1, "--out", "new.csv")
    ok(tmp_path, "fit", "train.csv", "--target", "y", "--likelihood", "poisson", "--method", "sv-rbf", "--model", "m",
       "--ignore", "true_mean,true_sd", "--steps", 1500, *SMALL)
    answers = predicted(tmp_path, "m", "new.csv", "--level", 0.8, "--quantiles", "0.1,0.5,0.9")
    report = json.loads(ok(tmp_path, "evaluate", "m", "new.csv", "--level", 0.8, "--json"))
    new = records((tmp_path / "new.csv").read_text())
    y, mean, lower, upper = column(new, "y"), *(column(answers, name) for name in ("mean", "lower", "upper"))
    assert report["mae"] == pytest.approx(metrics.mean_absolute_error(y, mean), rel=1e-9)
    assert report["rmse"] == pytest.approx(metrics.root_mean_squared_error(y, mean), rel=1e-9)
    assert report["coverage"] == pytest.approx(((lower <= y) & (y <= upper)).mean())
    assert report["coverage"] > 0.75
    assert (lower == numpy.floor(lower)).all() and (upper >= lower).all()
    median = column(answers, "q0.5")
    assert (column(answers, "q0.1") == lower).all() and (column(answers, "q0.9") == upper).all()
    assert (median == numpy.floor(median)).all() and (lower <= median).all() and (median <= upper).all()
    sd = numpy.hypot(column(answers, "sd_aleatoric"), column(answers, "sd_epistemic"))
    assert column(answers, "sd") == pytest.approx(sd, rel=1e-9)
    assert column(answers, "sd_aleatoric") ** 2 == pytest.approx(mean, rel=1e-9)
    assert numpy.corrcoef(mean, column(new, "true_mean"))[0, 1] > 0.95
    truth = column(new, "true_mean")
    best = (truth - y * numpy.log(truth) + numpy.array([math.lgamma(k + 1) for k in y])).mean()
    assert best - 0.05 < report["nll"] < best + 0.1


def test_the_mean_of_a_rate_that_nothing_is_known_of_is_said(tmp_path):
    ok(tmp_path, "generate", "counts", "--rows", 300, "--out", "train.csv")
    ok(tmp_path, "fit", "train.csv", "--target", "y", "--likelihood", "poisson", "--method", "sv-dbk", "--network", "mlp",
       "--model", "m", "--ignore", "true_mean,true_sd", "--steps", 200, *SMALL)
    (tmp_path / "near.csv").write_text("x\n0\n1\n")
    near = run(tmp_path, "predict", "m", "near.csv")
    assert near.returncode == 0 and "above the 95 % interval" not in near.stderr
    (tmp_path / "far.csv").write_text("x\n0\n1\n" + "".join(f"{x}\n" for x in range(20, 100, 4)))
    far = run(tmp_path, "predict", "m", "far.csv")
    assert far.returncode == 0
    mean, upper = (column(records(far.stdout), name) for name in ("mean", "upper"))
    above = int((mean > upper).sum())
    assert above > 0
    assert f"in {above} of 22 rows" in far.stderr and "the mean lies above the 95 % interval" in far.stderr
    # The rows near the data keep their answers, whatever stands beside them.
    assert mean[:2] == pytest.approx(column(records(near.stdout), "mean"), rel=1e-6)
