"""Events from the command line."""

import json
import math

import numpy
import pytest
from conftest import refused, write_csv
from likelihoods import QUICK, SOME, column, labelled, ok, records


def test_events_recover_their_intensity(tmp_path):
    ok(tmp_path, "generate", "cox", "--rows", 1500, "--out", "events.csv")
    words = ["fit", "events.csv", "--likelihood", "cox", "--domain", "0:1,0:2", "--ignore", "true_intensity"]
    report = json.loads(ok(tmp_path, *words, "--method", "sv-rbf", "--model", "m", "--test-fraction", 0.1, "--json",
                           "--steps", 1200, "--rank", 49, "--threads", 1))
    assert report["test"]["nll"] < report["test"]["nll_uniform"] - 0.05
    assert report["test"]["nll_uniform"] == pytest.approx(math.log(2))
    events = records((tmp_path / "events.csv").read_text())
    count = len(events["x1"])
    assert report["test"]["expected"] == pytest.approx(count, rel=0.05)
    assert "  domain       0:1,0:2\n" in ok(tmp_path, "describe", "m")
    answers = records(ok(tmp_path, "predict", "m", "events.csv"))
    assert list(answers) == ["mean", "sd", "lower", "upper"]
    truth, mean = column(events, "true_intensity"), column(answers, "mean")
    assert numpy.corrcoef(mean, truth)[0, 1] > 0.9
    # Per unit of the user's area: the average of 1 / intensity over the events is the area over the count.
    assert (1 / mean).mean() == pytest.approx(2 / count, rel=0.1)
    assert ((column(answers, "lower") <= truth) & (truth <= column(answers, "upper"))).mean() > 0.5


def test_compare_takes_events_without_a_target(tmp_path):
    ok(tmp_path, "generate", "cox", "--rows", 300, "--out", "events.csv")
    words = ["compare", "events.csv", "--domain", "0:1,0:2", "--ignore", "true_intensity", "--methods", "vbll,sv-rbf",
             "--seeds", 2, "--steps", 20, "--rank", 9, "--threads", 1, "--json"]
    vbll, rbf = json.loads(ok(tmp_path, *words, "--likelihood", "cox"))["methods"]
    assert math.isfinite(vbll["mean"]["nll"]) and math.isfinite(rbf["mean"]["nll"])
    assert "--target" in refused(tmp_path, *words)


EVENTS = {
    "outside": ("0:1,0:2", [*SOME, [0.5, 2.5]], "row 41: expected 'x2' inside its domain 0:2; received 2.5"),
    "one axis": ("0:1", SOME, "a domain of 2 axes"),
    "upside down": ("0:1,2:0", SOME, "LOW:HIGH"),
    "no number": ("0:1,a:b", SOME, "LOW:HIGH"),
    "missing": ("0:1,0:2", [*SOME, ["", 0.1]], "a missing cell"),
}


@pytest.mark.parametrize("case", EVENTS)
def test_bad_events(tmp_path, case):
    domain, rows, part = EVENTS[case]
    write_csv(tmp_path / "e.csv", ["x1", "x2"], rows)
    words = ["fit", "e.csv", "--likelihood", "cox", "--method", "sv-rbf", *QUICK]
    assert part in refused(tmp_path, *words, "--domain", domain)
    assert "--domain" in refused(tmp_path, *words)
    assert "--target" in refused(tmp_path, *words, "--domain", domain, "--target", "x1")


def test_a_target_is_named_but_for_events(tmp_path):
    write_csv(tmp_path / "t.csv", ["u", "v", "y"], labelled([1, 2, 3] * 10))
    assert "--target" in refused(tmp_path, "fit", "t.csv")
