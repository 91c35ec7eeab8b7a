"""What a target says of the likelihood, and the likelihood of the method."""

import json

import numpy
import pytest
from conftest import refused, run, write_csv
from likelihoods import QUICK, SOME, labelled, ok


def test_compare_takes_the_methods_that_take_the_target(tmp_path):
    write_csv(tmp_path / "t.csv", ["u", "v", "c"], [[i % 7, i * i % 5, "ab"[i % 7 > 3]] for i in range(60)])
    report = json.loads(ok(tmp_path, "compare", "t.csv", "--target", "c", "--seeds", 1, "--steps", 10, "--rank", 5, "--threads", 1, "--json"))
    assert [each["method"] for each in report["methods"]] == ["auto", "vbll", "sv-dkl", "sv-rbf", "sv-dbk", "dnn", "rich-bll", "bll",
                                                              "last-layer-laplace", "ntk-sketch", "mc-dropout", "swag", "bbb", "full-rank", "low-rank",
                                                              "low-rank-svd", "low-rank-laplace", "rank-1", "fid-gp", "fid-gp-reparam", "ffg-u",
                                                                  "batch-ensemble", "f-sgvb-lrt", "ensemble", "logistic", "extra-trees", "constant"]
    assert all(len(each["runs"]) == 1 for each in report["methods"])


BAD = {
    "negative count": (labelled([3, 4, -1] * 10), ["--likelihood", "poisson"], "row 3: expected counts"),
    "fractional count": (labelled([3, 4, 1.5] * 10), ["--likelihood", "poisson"], "received 1.5"),
    "one class": (labelled(["a"] * 30), [], "at least two classes"),
    "lone class": (labelled(["a", "b"] * 15 + ["c"]), [], "one row of class 'c'"),
    "three for bernoulli": (labelled(["a", "b", "c"] * 10), ["--likelihood", "bernoulli"], "two classes"),
    "text counted": (labelled(["a", "b"] * 15), ["--likelihood", "poisson"], "needs numbers"),
    "domain of a regression": (labelled([1, 2, 3] * 10), ["--domain", "0:1"], "--likelihood cox"),
    "calibrated counts": (labelled([1, 2, 4] * 40), ["--likelihood", "poisson", "--calibrate", "conformal", "--level", 0.5],
                          "a regression or classes to calibrate"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_targets(tmp_path, case):
    rows, words, part = BAD[case]
    write_csv(tmp_path / "bad.csv", ["u", "v", "y"], rows)
    assert part in refused(tmp_path, "fit", "bad.csv", "--target", "y", "--method", "vbll", *QUICK, *words)


def test_methods_without_the_task_name_those_with_it(tmp_path):
    write_csv(tmp_path / "t.csv", ["u", "v", "y"], labelled(["a", "b"] * 15))
    for method in ("dbk", "pp-dkl", "gp-exact"):
        line = refused(tmp_path, "fit", "t.csv", "--target", "y", "--method", method)
        assert "classification" in line and "dnn, rich-bll, bll, last-layer-laplace, ntk-sketch, mc-dropout, swag, bbb, full-rank, low-rank, low-rank-svd, low-rank-laplace, rank-1, fid-gp, fid-gp-reparam, ffg-u, batch-ensemble, f-sgvb-lrt, ensemble, logistic, extra-trees, constant take it (--method)" in line


def test_the_target_chooses_the_method(tmp_path):
    write_csv(tmp_path / "t.csv", ["u", "v", "y"], labelled(["a", "b"] * 15))
    ok(tmp_path, "fit", "t.csv", "--target", "y", "--model", "m", *QUICK)
    assert json.loads(ok(tmp_path, "describe", "m", "--json"))["method"] == "auto"
    write_csv(tmp_path / "c.csv", ["u", "v", "y"], labelled([3, 4, 1] * 10))
    ok(tmp_path, "fit", "c.csv", "--target", "y", "--likelihood", "poisson", "--model", "m", *QUICK)
    assert json.loads(ok(tmp_path, "describe", "m", "--json"))["method"] == "auto"
    write_csv(tmp_path / "e.csv", ["x1", "x2"], SOME)
    ok(tmp_path, "fit", "e.csv", "--likelihood", "cox", "--domain", "0:1,0:2", "--model", "m", "--steps", 30)
    assert json.loads(ok(tmp_path, "describe", "m", "--json"))["method"] == "sv-rbf"
    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--focus", 1, *QUICK)
    assert done.returncode == 2 and "focus" in done.stderr
    tuned = json.loads(ok(tmp_path, "fit", "t.csv", "--target", "y", "--method", "vbll", "--tune", "--model", "m", "--json", *QUICK))["tuning"]
    assert tuned["options"] == ["beta"] and len(tuned["tried"]) == 4
    cox = ["fit", "e.csv", "--likelihood", "cox", "--domain", "0:1,0:2", "--model", "m", "--steps", 30]
    assert json.loads(ok(tmp_path, *cox, "--tune", "--json"))["tuning"]["options"] == ["beta"]
    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "vbll", "--tune", "--beta", 1, *QUICK)
    assert done.returncode == 2 and "something left to choose" in done.stderr


def test_compare_refuses_methods_without_the_task_before_any_fit(tmp_path):
    write_csv(tmp_path / "t.csv", ["u", "v", "y"], labelled(["a", "b"] * 15))
    line = refused(tmp_path, "compare", "t.csv", "--target", "y", "--methods", "vbll,dbk")
    assert "methods for classification; received 'dbk'; auto, vbll" in line


def test_heavy_tails(tmp_path):
    draw = numpy.random.default_rng(0)
    u = draw.uniform(-1, 1, 900)
    write_csv(tmp_path / "t.csv", ["u", "y"], zip(u, numpy.sin(3 * u) + 0.1 * draw.standard_t(3, 900)))
    nll = {}
    for likelihood in ("gaussian", "student"):
        fit = ["fit", "t.csv", "--target", "y", "--likelihood", likelihood, "--test-fraction", 0.5, "--rank", 16, "--steps", 1500, "--threads", 1, "--json"]
        report = json.loads(ok(tmp_path, *fit, "--model", f"{likelihood}.m", *(["--method", "dbk"] * (likelihood == "gaussian"))))
        nll[likelihood] = report["test"]["nll"]["value"] if isinstance(report["test"]["nll"], dict) else report["test"]["nll"]
    assert nll["student"] < nll["gaussian"] - 0.05
    model = json.loads(ok(tmp_path, "describe", "student.m", "--json"))
    assert model["method"] == "dbk" and "student" in json.dumps(model)
    assert "median" in ok(tmp_path, "predict", "student.m", "t.csv").splitlines()[0]


def test_who_takes_a_student(tmp_path):
    write_csv(tmp_path / "t.csv", ["u", "y"], [[i % 7, i * i % 5 + 0.5] for i in range(60)])
    fit = ["fit", "t.csv", "--target", "y", "--likelihood", "student"]
    for method, words in (("dnn", []), ("ensemble", ["--of", "dnn"])):
        assert ("--of dbk makes members that take it; " * (method == "ensemble")) + "dbk, pp-dkl, ensemble take it (--method)" in refused(tmp_path, *fit, "--method", method, *words)
    assert "auto finds heavy tails by itself" in refused(tmp_path, *fit, "--method", "auto")
    ok(tmp_path, *fit, "--method", "ensemble", "--of", "pp-dkl", "--members", 2, "--model", "m", *QUICK)
    compared = ["compare", "t.csv", "--target", "y", "--likelihood", "student", "--methods", "dbk,pp-dkl", "--seeds", 1, "--json", *QUICK]
    assert [each["method"] for each in json.loads(ok(tmp_path, *compared))["methods"]] == ["dbk", "pp-dkl"]
    assert "methods for --likelihood student; received 'dnn'" in refused(tmp_path, *compared[:6], "--methods", "dbk,dnn")
