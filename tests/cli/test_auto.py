"""`fit` without a method: several candidates, one answer."""

import json
import random
import re

import pytest
from conftest import header, predicted, refused, run, toy_rows, write_csv
from skewed import COLUMNS, skewed_rows

PLAIN = ["--candidates", "constant,ridge", "--threads", 1]


def ok(folder, *words):
    done = run(folder, *words)
    assert done.returncode == 0, done.stderr
    return done


def report(folder, *words):
    return json.loads(ok(folder, "evaluate", *words, "--json").stdout)


def test_a_skewed_cost_with_messy_columns(tmp_path):
    """Ten seeds beside scikit-learn's rivals: experiments/skewed."""
    write_csv(tmp_path / "train.csv", COLUMNS, skewed_rows(500, 1))
    write_csv(tmp_path / "fresh.csv", COLUMNS, skewed_rows(3000, 1001))
    done = ok(tmp_path, "fit", "train.csv", "--target", "cost", "--threads", 1, "--model", "m")
    assert "of log y: held-out NLL" in done.stdout and "left out: " in done.stdout
    lines = [["--log-target", "never"], ["--log-target", "always"]]
    for i, words in enumerate(lines):
        ok(tmp_path, "fit", "train.csv", "--target", "cost", "--candidates", "ridge", "--model", f"ridge{i}", *words)
    rivals = [report(tmp_path, f"ridge{i}", "fresh.csv")["mae"] for i in range(2)]
    assert report(tmp_path, "m", "fresh.csv")["mae"] <= 1.02 * min(rivals)
    answers = predicted(tmp_path, "m", "fresh.csv")
    costs = [row[-1] for row in skewed_rows(3000, 1001)]
    inside = [low <= y <= high for low, y, high in zip(answers["lower"], costs, answers["upper"])]
    order = sorted(range(3000), key=answers["mean"].__getitem__)
    for quarter in range(4):
        share = sum(inside[i] for i in order[750 * quarter:750 * (quarter + 1)]) / 750
        assert 0.92 <= share <= 0.98, (quarter, share)
    assert min(answers["lower"]) > 0


@pytest.fixture(scope="module")
def wild(tmp_path_factory):
    """train.csv and fresh.csv: a straight line of which one row in a hundred is wrong by 60 times the noise."""
    folder = tmp_path_factory.mktemp("wild")
    for name, count, seed in [("train.csv", 800, 1), ("fresh.csv", 4000, 2)]:
        draw = random.Random(seed)
        rows = []
        for _ in range(count):
            x = [draw.gauss(0, 1) for _ in range(3)]
            off = 60 if draw.random() < 0.01 else 1
            rows.append([*x, x[0] - 0.5 * x[1] + 0.2 * off * draw.gauss(0, 1)])
        write_csv(folder / name, header(3), rows)
    ok(folder, "fit", "train.csv", "--target", "y", "--model", "m", *PLAIN)
    return folder


def test_a_few_wild_rows_do_not_ruin_the_answer(wild):
    ok(wild, "fit", "train.csv", "--target", "y", "--model", "gaussian", "--tails", "gaussian", *PLAIN)
    ours, gaussian = report(wild, "m", "fresh.csv"), report(wild, "gaussian", "fresh.csv")
    assert ours["nll"] < gaussian["nll"] - 0.5
    assert 0.93 <= ours["coverage"] <= 0.975 and gaussian["coverage"] > 0.98
    assert ours["width"] < 0.6 * gaussian["width"]
    text = ok(wild, "describe", "m").stdout
    assert "wild rows with an sd" in text, text


def test_it_names_the_targets_that_look_wrong(tmp_path):
    rows = toy_rows(120)
    rows[16][-1] = 15
    write_csv(tmp_path / "t.csv", header(2), rows)
    done = ok(tmp_path, "fit", "t.csv", "--target", "y", "--model", "m", *PLAIN)
    assert "the target 'y' is more than five sd from what the other rows predict in 1 row: 15 in data row 17; look" in done.stderr
    write_csv(tmp_path / "clean.csv", header(2), toy_rows(120))
    assert "five sd" not in ok(tmp_path, "fit", "clean.csv", "--target", "y", "--model", "n", *PLAIN).stderr


def test_an_answer_that_is_no_gaussian_has_a_median(wild):
    answers = predicted(wild, "m", "fresh.csv")
    assert list(answers)[:3] == ["mean", "median", "sd"]
    assert all(low < median < high for low, median, high in zip(answers["lower"], answers["median"], answers["upper"]))


def test_it_says_what_it_tried_and_what_it_left_out(tmp_path):
    write_csv(tmp_path / "t.csv", header(2), toy_rows(120))
    words = ["fit", "t.csv", "--target", "y", "--candidates", "ridge,gp-exact,dnn", "--threads", 1, "--steps", 60, "--model"]
    facts = json.loads(ok(tmp_path, *words, "m", "--json").stdout)["summary"]["facts"]
    assert any(fact.startswith("gp-exact: held-out NLL") and "weight" in fact for fact in facts), facts
    short = json.loads(ok(tmp_path, *words, "short", "--json", "--time-limit", 1e-6).stdout)["summary"]["facts"]
    assert any(fact.startswith("left out: gp-exact, dnn (no time left)") for fact in short), short
    assert ok(tmp_path, *words, "again").returncode == 0
    assert (tmp_path / "m").read_bytes() == (tmp_path / "again").read_bytes()  # the same seed, the same bits


def test_the_candidates_of_classes_are_pooled(tmp_path):
    draw = random.Random(1)
    rows = [(draw.gauss(0, 1), draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(400)]
    lines = [f"{a},{b},{c},{'yes' if 2 * a + 1.5 * ((b > 0) == (c > 0)) + draw.gauss(0, 1) > 0.7 else 'no'}" for a, b, c in rows]
    (tmp_path / "t.csv").write_text("a,b,c,y\n" + "\n".join(lines) + "\n")
    words = ["fit", "t.csv", "--target", "y", "--candidates", "constant,logistic,extra-trees", "--threads", 1, "--model"]
    out = ok(tmp_path, *words, "m.safetensors").stdout
    assert re.search(r"probabilities of the pool to the power [\d.]+", out), out
    assert re.search(r"constant: held-out NLL .*not used", out), out
    text = ok(tmp_path, "describe", "m.safetensors").stdout
    assert "pooled: the product of the probabilities to the power weight x" in text, text


def test_describe_shows_the_candidates_as_a_table(tmp_path):
    write_csv(tmp_path / "t.csv", header(2), toy_rows(120))
    words = ["fit", "t.csv", "--target", "y", "--candidates", "constant,ridge,gp-exact,dnn", "--threads", 1, "--model"]
    ok(tmp_path, *words, "m", "--time-limit", 1e-6)
    text, facts = ok(tmp_path, "describe", "m").stdout, json.loads(ok(tmp_path, "describe", "m", "--json").stdout)
    table = text[text.index("\ncandidates\n"):].splitlines()[2:]
    assert table[0].split() == ["candidate", "held-out", "NLL", "weight", "note"], text
    scored = [one for one in facts["portfolio"] if not one["left_out"]]
    left = [one for one in facts["portfolio"] if one["left_out"]]
    weights = []
    for line in table[1:1 + len(scored)]:
        name, nll, weight = line.split()[:3]
        one = next(one for one in scored if one["method"] == name)
        assert float(nll) == pytest.approx(one["nll"], abs=6e-5)
        weights.append(one["weight"])
        assert weight == ("-" if one["weight"] == 0 else f"{one['weight']:.2f}"), line
    assert left and weights == sorted(weights, reverse=True)
    assert f"  left out, {left[-1]['left_out']}: " in text and "dnn" in text[text.index("left out, "):]
    assert ": held-out NLL" not in text and facts["summary"]["facts"]  # the facts once, as a table
    assert f"best_score         {facts['summary']['best_score']:.6g}\n" in text


def test_the_most_certain_rows_have_the_error_of_the_report(tmp_path):
    write_csv(tmp_path / "t.csv", COLUMNS, skewed_rows(300, 1))
    ok(tmp_path, "fit", "t.csv", "--target", "cost", "--model", "m", "--log-target", "always", *PLAIN)
    told = report(tmp_path, "m", "t.csv")
    for by in told["selective"]["by"].values():
        assert by["mae"][0] == pytest.approx(told["mae"]) and by["rmse"][0] == pytest.approx(told["rmse"])


def test_classes_have_folds_up_to_more_rows(tmp_path):
    """Unless the time is short: then one set of validation rows scores the candidates."""
    draw = random.Random(3)
    rows = [[round(draw.gauss(0, 1), 3), draw.choice("ab"), round(draw.gauss(0, 1), 3)] for _ in range(3200)]
    write_csv(tmp_path / "t.csv", ["u", "kind", "v"], rows)
    folds = {("kind",): 3200, ("kind", "--time-limit", 30): 320, ("v",): 320}
    for (target, *limit), held in folds.items():
        plain = ["--candidates", "constant,logistic" if target == "kind" else "constant,ridge", "--threads", 1]
        ok(tmp_path, "fit", "t.csv", "--target", target, "--model", "m", *plain, *limit)
        summary = json.loads(ok(tmp_path, "describe", "m", "--json").stdout)["summary"]
        assert summary["valid_rows"] == held, (target, limit)


def test_wrong_words_are_one_line(tmp_path):
    write_csv(tmp_path / "t.csv", header(2), toy_rows(60))
    words = ["fit", "t.csv", "--target", "y", "--model", "m"]
    assert "did you mean 'ridge'?" in refused(tmp_path, *words, "--candidates", "rigde")
    assert "expected candidates other than auto" in refused(tmp_path, *words, "--candidates", "auto,ridge")
    assert "folds" in refused(tmp_path, *words, "--folds", 1)
    assert "'focus'" in refused(tmp_path, *words, "--focus", 1)  # dbk has it, which is no candidate of 60 rows
    assert "without negative values" in refused(tmp_path, *words, "--log-target", "always")
