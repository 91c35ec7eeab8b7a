"""Counts from the command line; metrics against scikit-learn's on what predict says."""

import json
import math

import numpy
import pytest
import sklearn.metrics as metrics
from conftest import predicted, refused, run, write_csv
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


def drawn_with_dispersion(rows, seed, dispersion=1.2):
    """x, y: the rate is exp(1.5 + sin 3x), times a gamma variable of the variance `dispersion`."""
    draw = numpy.random.default_rng(seed)
    x = draw.uniform(-1, 1, rows)
    y = draw.poisson(numpy.exp(1.5 + numpy.sin(3 * x)) * draw.gamma(1 / dispersion, dispersion, rows))
    return list(zip(x, y))


def test_overdispersed_counts(tmp_path):
    write_csv(tmp_path / "train.csv", ["x", "y"], drawn_with_dispersion(1500, 0))
    write_csv(tmp_path / "new.csv", ["x", "y"], drawn_with_dispersion(1500, 1))
    nll = {}
    for likelihood in ("poisson", "negative-binomial"):
        fit = ["fit", "train.csv", "--target", "y", "--likelihood", likelihood, "--model", f"{likelihood}.m", "--steps", 800, *SMALL]
        ok(tmp_path, *fit, *(["--method", "vbll"] * (likelihood == "poisson")))
        report = json.loads(ok(tmp_path, "evaluate", f"{likelihood}.m", "new.csv", "--level", 0.9, "--json"))
        nll[likelihood] = report["nll"]
    assert nll["negative-binomial"] < nll["poisson"] - 0.1
    assert report["coverage"] > 0.87
    model = json.loads(ok(tmp_path, "describe", "negative-binomial.m", "--json"))
    assert model["method"] == "vbll" and "negative-binomial" in json.dumps(model)
    answers = predicted(tmp_path, "negative-binomial.m", "new.csv")
    mean, aleatoric = column(answers, "mean"), column(answers, "sd_aleatoric")
    assert (aleatoric**2 > 1.5 * mean).all()  # m + a m^2 at a dispersion of about 1.2
    sd = numpy.hypot(aleatoric, column(answers, "sd_epistemic"))
    assert column(answers, "sd") == pytest.approx(sd, rel=1e-9)


def test_who_takes_overdispersed_counts(tmp_path):
    write_csv(tmp_path / "t.csv", ["x", "y"], drawn_with_dispersion(60, 0))
    takers = "vbll, sv-dkl, sv-rbf, sv-dbk, ensemble take it (--method)"
    for likelihood in ("negative-binomial", "zero-inflated-poisson"):
        fit = ["fit", "t.csv", "--target", "y", "--likelihood", likelihood, "--method"]
        for method in ("auto", "low-rank", "constant"):
            line = refused(tmp_path, *fit, method)
            assert f"--likelihood {likelihood}" in line and takers in line, line
        assert "--of vbll makes members that take it" in refused(tmp_path, *fit, "ensemble", "--of", "low-rank")
        assert "--likelihood poisson" in refused(tmp_path, *fit, "auto")


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
