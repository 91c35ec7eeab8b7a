"""Models of several targets: fit, predict with joint draws, regions and probabilities, evaluate, describe, and what is refused."""

import csv
import io
import json
import math
import random
import re
import signal
import statistics
import subprocess
import time

import pytest
from conftest import TOOL, predicted, refused, run, write_csv
from test_json_keys import fields, paths

HEADER = ["x1", "x2", "a", "b", "c"]
PAIR = ["--target", "a,b", "--ignore", "c", "--method", "ridge", "--threads", 1]
THREE = ["--target", "a,b,c", "--method", "dnn", "--steps", 60, "--threads", 1]


def rows(count, seed=1, missing=True):
    """Errors of a and b with the correlation 0.8; some targets are missing."""
    draw = random.Random(seed)
    table = []
    for i in range(count):
        x1, x2, first = draw.uniform(-1, 1), draw.uniform(-1, 1), draw.gauss(0, 1)
        second = 0.8 * first + 0.6 * draw.gauss(0, 1)
        row = [x1, x2, 2 + x1 + 0.5 * first, 1 - x2 + 0.5 * second, "yes" if x1 + draw.gauss(0, 0.5) > 0 else "no"]
        for column, every in ((2, 17), (3, 13), (4, 11)):
            if missing and i % every == 0 and i > 0:
                row[column] = ""
        table.append(row)
    return table


def lines(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """pair and pair.json: ridge of two numbers, 300 rows; three: a network for two numbers and a class; one: of a alone. Only read."""
    folder = tmp_path_factory.mktemp("several")
    write_csv(folder / "t.csv", HEADER, rows(300))
    write_csv(folder / "new.csv", HEADER, rows(400, seed=2, missing=False))
    write_csv(folder / "few.csv", HEADER, rows(10, seed=3, missing=False))
    (folder / "rows").mkdir()
    for name, words in (("pair", [*PAIR, "--test-fraction", 0.2]), ("three", [*THREE, "--test-fraction", 0.2]),
                        ("one", ["--target", "a", "--ignore", "b,c", "--method", "ridge"])):
        done = run(folder, "fit", "t.csv", *words, "--model", name, "--json")
        assert done.returncode == 0, done.stderr
        (folder / f"{name}.json").write_text(done.stdout)
    return folder


def report_of(folder, *words):
    done = run(folder, *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_fit_says_what_each_target_and_all_together_are_worth(folder, tmp_path):
    report = json.loads((folder / "pair.json").read_text())
    assert [one["target"] for one in report["targets"]] == ["a", "b"]
    matrix = report["correlation"]["matrix"]
    assert matrix[0][1] == matrix[1][0] and 0.4 < matrix[0][1] < 0.95 and matrix[0][0] == matrix[1][1] == 1
    assert report["test"]["lower"] == "joint" and report["test"]["nll_joint"] < report["test"]["nll_independent"]
    write_csv(tmp_path / "t.csv", HEADER, rows(150))
    text = run(tmp_path, "fit", "t.csv", *PAIR, "--model", "m", "--test-fraction", 0.2).stdout
    assert "m: 2 targets" in text and "a: ridge: " in text and "b: ridge: " in text
    assert "correlation of errors" in text and "joint nll of test " in text and "is lower, by" in text


def test_the_keys_of_json_are_those_of_the_page(folder):
    metrics = fields("evaluate --json")
    joint = fields("evaluate --json of several targets")
    known = joint | {f"targets[].{path}": True for path in metrics}
    for model in "pair", "three":
        found = paths(report_of(folder, "evaluate", model, "t.csv", "--split", "test"), known)
        assert found <= set(known)
        assert {path for path, absent in joint.items() if not absent} | {"joint.region_coverage", "split", "region"} <= found
    fit = fields("fit --json of several targets")
    known = fit | {f"targets[].{path}": True for path in fields("fit --json")}
    known |= {f"targets[].{part}.{path}": True for part in ("test", "valid") for path in metrics}
    known |= {path.replace("joint.", f"{part}.", 1): True for part in ("test", "valid") for path in joint if path.startswith("joint.")}
    for model in "pair", "three":
        found = paths(json.loads((folder / f"{model}.json").read_text()), known)
        assert found <= set(known), found - set(known)
        assert {path for path, absent in fit.items() if not absent} <= found


def test_predict_has_the_columns_of_each_target(folder):
    answers = predicted(folder, "three", "new.csv", "--keep", "x1", "--level", "0.5,0.9", "--quantiles", "0.25")
    names = ["a.mean", "a.sd", "a.lower_50", "a.upper_90", "b.lower_90", "a.q0.25", "c.p_yes", "c.label", "x1"]
    assert set(names) <= set(answers) and len(answers["a.mean"]) == 400
    assert not any(name.startswith("c.q") for name in answers)
    report = report_of(folder, "predict", "three", "few.csv", "--keep", "a")
    assert report["task"] == "joint" and report["targets"] == ["a", "b", "c"] and len(report["rows"]) == 10
    assert isinstance(report["rows"][0]["a"], float) and "b.upper" in report["rows"][0]
    part = predicted(folder, "three", "t.csv", "--split", "test")
    assert len(part["row"]) == json.loads((folder / "three.json").read_text())["rows"]["test"]
    alone = predicted(folder, "one", "few.csv")
    assert "mean" in alone and "a.mean" not in alone


def test_text_keeps_the_intervals_from_getting_narrower(folder):
    exact = predicted(folder, "pair", "new.csv", "--region")
    rounded = lines(run(folder, "predict", "pair", "new.csv", "--region").stdout)
    for side, wider in (("lower", lambda x, y: x <= y), ("upper", lambda x, y: x >= y)):
        for column in f"a.{side}", f"b.region_{side}":
            assert all(wider(float(row[column]), x) for row, x in zip(rounded, exact[column]))


def test_draws_have_the_correlation_of_the_model(folder):
    done = run(folder, "predict", "pair", "few.csv", "--draws", 2000, "--seed", 3)
    assert done.returncode == 0, done.stderr
    draws = lines(done.stdout)
    assert list(draws[0]) == ["row", "draw", "a", "b"] and len(draws) == 20000
    assert [draws[0]["row"], draws[0]["draw"], draws[-1]["row"], draws[-1]["draw"]] == ["1", "1", "10", "2000"]
    first = [row for row in draws if row["row"] == "1"]
    r = json.loads((folder / "pair.json").read_text())["correlation"]["matrix"][0][1]
    assert abs(statistics.correlation([float(row["a"]) for row in first], [float(row["b"]) for row in first]) - r) < 0.06
    again = run(folder, "predict", "pair", "few.csv", "--draws", 2000, "--seed", 3).stdout
    assert again == done.stdout and run(folder, "predict", "pair", "few.csv", "--draws", 2000).stdout != again
    report = report_of(folder, "predict", "three", "few.csv", "--draws", 2)
    assert len(report["rows"]) == 20 and report["rows"][0]["c"] in ("yes", "no") and "levels" not in report


def test_a_region_holds_its_level(folder):
    answers = predicted(folder, "pair", "new.csv", "--region", "--level", 0.8)
    truth = rows(400, seed=2, missing=False)
    inside = [all(answers[f"{name}.region_lower"][i] <= row[at] <= answers[f"{name}.region_upper"][i] for name, at in (("a", 2), ("b", 3)))
              for i, row in enumerate(truth)]
    assert 0.68 < sum(inside) / len(inside) < 0.92
    assert all(low < one for low, one in zip(answers["a.region_lower"], answers["a.lower"]))  # it is wider than one interval


def test_a_probability_is_the_share_of_draws(folder):
    conditions = "a>2, b<=1,c=yes"
    got = predicted(folder, "three", "few.csv", "--probability", conditions)["probability"]
    draws = lines(run(folder, "predict", "three", "few.csv", "--draws", 4000).stdout)
    for i, p in enumerate(got):
        own = [float(row["a"]) > 2 and float(row["b"]) <= 1 and row["c"] == "yes" for row in draws if row["row"] == str(i + 1)]
        assert abs(p - sum(own) / len(own)) < 0.04
    assert any(0.05 < p < 0.95 for p in got)
    twice = predicted(folder, "three", "few.csv", "--probability", "a >2", "--probability", "b< 1,c=yes")["probability"]
    assert all(math.isclose(x, y, abs_tol=1e-12) for x, y in zip(got, twice))


def test_bounds_of_counts_are_exact(tmp_path):
    draw = random.Random(4)
    table = [[draw.uniform(-1, 1), *(sum(draw.random() < 0.3 for _ in range(8)) for _ in range(2))] for _ in range(150)]
    write_csv(tmp_path / "t.csv", ["x", "number of", "visits"], table)
    words = ["--target", "number of,visits", "--likelihood", "poisson", "--method", "constant", "--model", "m", "--threads", 1]
    done = run(tmp_path, "fit", "t.csv", *words)
    assert done.returncode == 0, done.stderr

    def share(conditions):
        return predicted(tmp_path, "m", "t.csv", "--probability", conditions)["probability"][0]

    below, exactly, above = share("number of<2"), share("number of=2"), share("number of > 2")
    assert 0.1 < exactly < 0.5 and math.isclose(below + exactly + above, 1, abs_tol=1e-6)
    assert share("number of>=2") == share("number of>1") and share("number of<=1") == below
    assert share("visits>=0") == 1
    assert "a whole number of the counts 'visits'" in refused(tmp_path, "predict", "m", "t.csv", "--probability", "visits=1.5")


def test_a_class_that_is_a_number_may_be_spelt_in_another_way(tmp_path):
    write_csv(tmp_path / "t.csv", ["x", "a", "alarm"], [[x, a, int(c == "yes")] for x, _, a, _, c in rows(120, missing=False)])
    done = run(tmp_path, "fit", "t.csv", "--target", "a,alarm", "--method", "constant", "--model", "m", "--threads", 1)
    assert done.returncode == 0, done.stderr
    one, spelt, other = (predicted(tmp_path, "m", "t.csv", "--probability", f"alarm={value}")["probability"][0] for value in ("1", "1.0", "0"))
    assert one == spelt and math.isclose(one + other, 1)
    assert "a class of the target 'alarm'" in refused(tmp_path, "predict", "m", "t.csv", "--probability", "alarm=2")


def test_a_probability_tells_of_a_class_beside_numbers(folder):
    def told(conditions):
        return run(folder, "predict", "three", "few.csv", "--probability", conditions).stderr

    note = "the probability takes the class of 'c' as independent of the other targets"
    assert note in told("a>2,c=yes") and note not in told("a>2,b<1") + told("c=yes")


def test_evaluate_has_a_column_for_each_target_and_the_joint_scores(folder):
    report = report_of(folder, "evaluate", "pair", "t.csv", "--split", "test")
    fit = json.loads((folder / "pair.json").read_text())
    for own, of_fit in zip(report["targets"], fit["targets"]):
        assert math.isclose(own["nll"], of_fit["test"]["nll"], rel_tol=1e-9) and own["n"] == of_fit["test"]["n"]
    assert math.isclose(report["joint"]["nll_joint"], fit["test"]["nll_joint"], rel_tol=1e-9)
    assert math.isclose(report["joint"]["nll_gain"], report["joint"]["nll_independent"] - report["joint"]["nll_joint"], abs_tol=1e-9)
    text = run(folder, "evaluate", "three", "new.csv").stdout
    assert text.splitlines()[0].split() == ["a", "b", "c"] and text.splitlines()[1].split() == ["rows", "400", "400", "400"]
    accuracy = next(line for line in text.splitlines() if line.startswith("accuracy"))
    assert accuracy.split()[1:3] == ["-", "-"] and float(accuracy.split()[3]) > 0.5
    assert "joint regions at 95 %" in text
    energy = next(line for line in text.splitlines() if line.startswith("energy score")).split()[2:]
    assert all(re.fullmatch(r"0\.[1-9]\d\d|[1-9]\.\d\d", score) for score in energy), energy  # three digits, by draws
    gain, error = re.search(r"lower nll: joint, by (\S+) \+- (\S+) \(", text).groups()
    assert len(gain.split(".")[1]) == len(error.split(".")[1]) and len(error.replace(".", "").lstrip("0")) in (2, 3), text
    done = run(folder, "evaluate", "pair", "t.csv")
    assert "these data were fitted on" in done.stderr


def test_describe_names_targets_correlation_and_regions(folder, tmp_path):
    facts = report_of(folder, "describe", "three")
    assert set(facts) == {"kind", "file", "bytes", "rows", "correlation", "region", "targets"}
    assert [one["target"] for one in facts["targets"]] == ["a", "b", "c"] and all(one["method"] == "dnn" for one in facts["targets"])
    fit = json.loads((folder / "three.json").read_text())
    assert facts["correlation"] == fit["correlation"] and facts["correlation"]["targets"] == ["a", "b"]
    assert facts["region"]["by"] == "correlation" and 1.96 <= facts["region"]["factor"] <= 2.24 and facts["region"]["level"] == 0.95
    assert facts["rows"]["test"] == fit["rows"]["test"]
    text = run(folder, "describe", "three").stdout
    assert "correlation of errors" in text and f"{facts['correlation']['matrix'][0][1]:.2f}" in text and "joint regions, by the correlation" in text
    write_csv(tmp_path / "t.csv", HEADER, rows(300))
    done = run(tmp_path, "fit", "t.csv", *PAIR, "--calibrate", "conformal", "--calibration-fraction", 0.3, "--model", "m")
    assert done.returncode == 0, done.stderr
    facts = report_of(tmp_path, "describe", "m")
    assert facts["region"]["by"] == "conformal" and facts["region"]["rows"] > 50 and facts["region"]["factor"] > 1.5
    assert report_of(tmp_path, "evaluate", "m", "t.csv")["region"] == "conformal"


def begun(folder, file, *words):
    """The tool in a fit that has written this file."""
    process = subprocess.Popen([TOOL, *map(str, words)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not (folder / file).exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    return process


def test_killed_and_resumed_it_ends_in_the_same_bits(tmp_path):
    write_csv(tmp_path / "t.csv", HEADER, rows(150))
    fit = ["fit", "t.csv", *THREE, "--patience", 0]
    assert run(tmp_path, *fit, "--model", "whole").returncode == 0
    process = begun(tmp_path, "m.target-1", *fit, "--model", "m", "--checkpoint-every", 0)
    process.kill()
    process.communicate()
    done = run(tmp_path, *fit, "--model", "m", "--resume")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert not list(tmp_path.glob("m.target-*"))
    done = run(tmp_path, *fit, "--model", "m", "--resume")
    assert done.returncode == 0 and "m is finished already" in done.stderr and "joint nll" in done.stdout


def test_a_fit_of_other_targets_is_not_gone_on_from(folder, tmp_path):
    write_csv(tmp_path / "t.csv", HEADER, rows(150))
    other = ["fit", "t.csv", "--target", "b,a", "--ignore", "c", "--method", "ridge", "--threads", 1, "--resume", "--model"]
    (tmp_path / "pair").write_bytes((folder / "pair").read_bytes())
    error = refused(tmp_path, *other, "pair")
    assert "one of the targets 'a', 'b', where this fit is of the targets 'b', 'a'" in error, error
    assert "name the same in --target, in that order, or leave --resume out to fit anew, or name another --model" in error, error
    assert "ignore" not in error
    fit = ["fit", "t.csv", "--method", "dnn", "--steps", 10000000, "--patience", 0, "--threads", 1, "--checkpoint-every", 0, "--model", "m"]
    process = begun(tmp_path, "m.target-1.ckpt", *fit, "--target", "a,b")
    process.kill()
    process.communicate()
    done = run(tmp_path, *fit, "--target", "a,x2", "--resume")
    error = done.stderr.splitlines()[-1]  # behind the notes on the columns
    assert done.returncode == 2 and error.startswith("error: target a: ") and "one of the targets 'a', 'b', where this fit is of the targets 'a', 'x2'" in error, error


def test_an_interrupted_fit_keeps_its_parts(tmp_path):
    write_csv(tmp_path / "t.csv", HEADER, rows(150))
    words = ["fit", "t.csv", "--target", "a,b", "--ignore", "c", "--method", "dnn", "--steps", 10000000, "--patience", 0, "--threads", 1]
    process = begun(tmp_path, "m.target-1.ckpt", *words, "--model", "m", "--checkpoint-every", 0)
    process.send_signal(signal.SIGINT)
    out, log = process.communicate(timeout=60)
    assert process.returncode == 130 and out == "" and "interrupted in the target 1 of 2, a" in log
    assert (tmp_path / "m.target-1.ckpt").exists() and not (tmp_path / "m").exists() and "--resume goes on" in log


def test_a_column_with_a_comma_in_its_name_is_one_target(tmp_path):
    table = [[x1, a] for x1, _, a, _, _ in rows(60, missing=False)]
    write_csv(tmp_path / "t.csv", ["x", '"a,b"'], table)
    done = run(tmp_path, "fit", "t.csv", "--target", "a,b", "--method", "ridge", "--model", "m", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["method"] == "ridge", done.stderr
    assert "mean" in predicted(tmp_path, "m", "t.csv")


@pytest.mark.parametrize(("words", "text"), [
    (["--target", "a,b,a"], "each column once in --target"),
    (["--target", "a,bb"], "'bb'"),
    (["--target", "a,b", "--ignore", "b"], "--ignore"),
    (["--target", "a,b", "--window", 4, "--time", "x1"], "the rows of a table as inputs for several targets"),
    (["--target", "a,b", "--text", "c"], "the rows of a table as inputs for several targets"),
    (["--target", "a,b", "--cache", "rows", "--method", "dnn"], "several targets keeps all rows in memory, without --cache"),
    (["--target", "a,c", "--method", "ridge"], "target c: "),
    (["--target", "a,b", "--valid-fraction", 0], "held-out rows"),
    (["--target", "a,b", "--likelihood", "a=student,b=gaussian"], "expected one --likelihood, which holds for all targets; received 'a=student,b=gaussian'"),
], ids=lambda value: value[1] if isinstance(value, list) else None)
def test_a_fit_that_cannot_be_is_refused(folder, words, text):
    error = refused(folder, "fit", "t.csv", "--model", "never", *words)
    assert text in error, error


@pytest.mark.parametrize("words", [
    ["update", "pair", "t.csv", "--out", "n"], ["forget", "pair", "t.csv", "--out", "n"], ["merge", "pair", "three", "--out", "n"],
    ["export", "pair", "--out", "n"], ["export", "pair", "--onnx", "n"], ["report", "pair", "t.csv"], ["bounds", "pair", "t.csv"],
    ["rank-advice", "pair"], ["explain", "pair", "t.csv"], ["evaluate", "pair", "t.csv", "--folds", 3]], ids=lambda words: "-".join(map(str, words)))
def test_a_command_for_one_target_says_so(folder, words):
    error = refused(folder, *words)
    assert "expected a model of one target; received one of 'a', 'b'" in error and "predict, evaluate and describe" in error, error


@pytest.mark.parametrize(("words", "text"), [
    (["predict", "pair", "few.csv", "--rename", "z=x1"], "for --rename"),
    (["predict", "pair", "few.csv", "--keep-outside"], "for --keep-outside"),
    (["predict", "pair", "few.csv", "--region", "--level", "0.5,0.9"], "one --level for --region"),
    (["predict", "pair", "few.csv", "--draws", 3, "--region"], "without columns of the answer"),
    (["predict", "pair", "few.csv", "--draws", 3, "--level", 0.9], "--draws without --level: draws are of the whole distribution; received both"),
    (["predict", "pair", "few.csv", "--level", 0.95, "--draws", 3], "--draws without --level"),
    (["predict", "pair", "few.csv", "--draws", 0], "--draws"),
    (["predict", "pair", "few.csv", "--seed", 3], "--draws"),
    (["predict", "pair", "few.csv", "--probability", "zz>3"], "the targets are a, b"),
    (["predict", "pair", "few.csv", "--probability", "a=3"], "a bound of the number 'a'"),
    (["predict", "pair", "few.csv", "--probability", "a>x"], "a number after the operator of 'a'"),
    (["predict", "pair", "few.csv", "--probability", "a>3,zz>1"], "'3,zz>1'"),
    (["predict", "three", "few.csv", "--probability", "c>yes"], "= and a class of the target 'c'"),
    (["predict", "three", "few.csv", "--probability", "c=perhaps"], "'perhaps'"),
    (["evaluate", "pair", "t.csv", "--ood", "new.csv"], "for --ood"),
    (["predict", "one", "few.csv", "--draws", 3], "--target a,b"),
    (["predict", "one", "few.csv", "--region"], "--target a,b"),
    (["predict", "one", "few.csv", "--probability", "a>3"], "--target a,b"),
    (["compare", "t.csv", "--target", "a,b", "--methods", "ridge"], "compare the methods on each target by itself"),
], ids=lambda value: "-".join(map(str, value)) if isinstance(value, list) else None)
def test_a_question_that_cannot_be_answered_is_refused(folder, words, text):
    error = refused(folder, *words)
    assert text in error, error


def test_help_shows_an_example(folder):
    text = run(folder, "fit", "--help").stdout
    assert "--target no2,pm10,alarm" in text and "It holds for all of several targets" in " ".join(text.split())
    text = run(folder, "predict", "--help").stdout
    assert "--probability" in text and "--draws" in text and "Several targets" in text
