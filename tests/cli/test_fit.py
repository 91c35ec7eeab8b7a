"""A fit's life: what it prints and saves, killed, interrupted, resumed; then predict, evaluate, compare, demo."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree

import pytest
from conftest import FEW, TOOL, header, predicted, refused, run, toy_rows, write_csv

LONG = ["fit", "long.csv", "--target", "y", "--method", "dbk", "--threads", "1", "--rank", "16", "--hidden", "16", "--patience", "0", "--json", "--checkpoint-every", "0.1"]


def test_fit_prints_one_object(toy):
    fit = json.loads((toy / "fit.json").read_text())
    assert fit["method"] == "dbk" and fit["model"] == "fitted.safetensors" and fit["seed"] == 0
    assert fit["rows"] == {"train": 210, "valid": 30, "test": 60}
    assert fit["options"]["steps"] == 50 and fit["options"]["rank"] == 128
    assert fit["test"]["n"] == 60 and fit["valid"]["n"] == 30 and fit["summary"]["steps"] > 0
    assert sorted(p.name for p in toy.iterdir()) == ["fit.json", "fitted.safetensors", "toy.csv"]


def test_describe_reads_the_model_file(toy):
    model = json.loads(run(toy, "describe", "fitted.safetensors", "--json").stdout)
    assert model["method"] == "dbk" and model["options"]["steps"] == 50 and model["parameters"] > 1000
    assert model["rows"] == {"train": 210, "valid": 30, "test": 60}
    text = run(toy, "describe", "fitted.safetensors").stdout
    assert "dbk" in text and "parameters" in text and "x0" in text


def test_the_same_seed_gives_the_same_file(tmp_path, toy):
    words = ["fit", toy / "toy.csv", "--target", "y", "--threads", 1, *FEW]
    for name, seed in [("a", 3), ("b", 3), ("c", 4)]:
        assert run(tmp_path, *words, "--model", name, "--seed", seed).returncode == 0
    table = str(toy / "toy.csv")
    answers = {name: run(tmp_path, "predict", name, table).stdout for name in "abc"}
    assert answers["a"] == answers["b"] != answers["c"]
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_predict_needs_no_target_and_writes_parquet(tmp_path, toy):
    rows = toy_rows(5, seed=9)
    write_csv(tmp_path / "new.csv", ["x1", "extra", "x0"], [[row[1], 0, row[0]] for row in rows])
    write_csv(tmp_path / "same.csv", header(2), rows)
    shuffled = run(tmp_path, "predict", toy / "fitted.safetensors", "new.csv", "--level", 0.8)
    plain = run(tmp_path, "predict", toy / "fitted.safetensors", "same.csv", "--level", 0.8)
    assert shuffled.returncode == 0 and shuffled.stdout == plain.stdout
    done = run(tmp_path, "predict", toy / "fitted.safetensors", "same.csv", "--level", 0.8, "--out", "p.parquet")
    assert done.returncode == 0 and done.stdout == ""
    parquet = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "p.parquet").to_pydict()
    for column, cells in parquet.items():  # text has nine digits
        text = [row[column] for row in csv.DictReader(io.StringIO(plain.stdout))]
        assert [float(cell) for cell in text] == pytest.approx(cells, rel=1.1e-8)
        assert all(len(re.sub(r"e.*|[-.]", "", cell).lstrip("0")) <= 9 for cell in text), text
    inner, outer = parquet, [list(map(float, row.values())) for row in csv.DictReader(io.StringIO(plain.stdout))]
    assert all(low <= exact for (*_, low, _), exact in zip(outer, inner["lower"]))  # rounded to hold what it held
    assert all(high >= exact for (*_, high), exact in zip(outer, inner["upper"]))


def test_text_shows_an_sd_beside_a_large_mean(tmp_path):
    """Nine digits of a mean of 1e10 would show nothing of an sd of 0.1."""
    write_csv(tmp_path / "t.csv", header(2), [[a, b, repr(1e10 + y)] for a, b, y in toy_rows(100)])
    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--threads", 1, *FEW)
    assert done.returncode == 0, done.stderr
    exact = predicted(tmp_path, "model.safetensors", "t.csv")
    rows = list(csv.DictReader(io.StringIO(run(tmp_path, "predict", "model.safetensors", "t.csv").stdout)))
    for i, row in enumerate(rows):
        assert float(row["mean"]) == pytest.approx(exact["mean"][i], abs=1e-5 * exact["sd"][i], rel=0)


def test_evaluate_agrees_with_fit_and_with_hand_arithmetic(tmp_path, toy):
    fit = json.loads((toy / "fit.json").read_text())
    scored = json.loads(run(toy, "evaluate", "fitted.safetensors", "toy.csv", "--split", "test", "--json").stdout)
    for key, value in fit["test"].items():
        assert scored[key] == pytest.approx(value, rel=1e-9), key
    whole = json.loads(run(toy, "evaluate", "fitted.safetensors", "toy.csv", "--json").stdout)
    answers = predicted(tmp_path, toy / "fitted.safetensors", toy / "toy.csv")
    answers = [dict(zip(answers, row)) for row in zip(*answers.values())]
    with open(toy / "toy.csv") as file:
        targets = [float(row["y"]) for row in csv.DictReader(file)]
    errors = [abs(float(a["mean"]) - y) for a, y in zip(answers, targets)]
    inside = [float(a["lower"]) <= y <= float(a["upper"]) for a, y in zip(answers, targets)]
    assert whole["mae"] == pytest.approx(sum(errors) / 300, rel=1e-9)
    assert whole["coverage"] == pytest.approx(sum(inside) / 300, abs=1e-12)


def test_evaluate_split_wants_the_fitted_table(tmp_path, toy):
    write_csv(tmp_path / "other.csv", header(2), toy_rows(300, seed=2))
    assert "--split" in refused(tmp_path, "evaluate", toy / "fitted.safetensors", "other.csv", "--split", "test")


def test_ood_scores_see_a_far_table(tmp_path, toy):
    write_csv(tmp_path / "far.csv", header(2), [[x + 50, y - 50, z] for x, y, z in toy_rows(50)])
    words = ["fit", toy / "toy.csv", "--target", "y", "--method", "gp-exact", "--iterations", 20, "--threads", 1]
    assert run(tmp_path, *words, "--model", "gp").returncode == 0
    done = run(tmp_path, "evaluate", "gp", toy / "toy.csv", "--ood", "far.csv", "--json")
    auroc = json.loads(done.stdout)["ood"]["auroc"]
    assert auroc and all(value > 0.99 for value in auroc.values())


def test_a_fit_that_fails_or_succeeds_beside_an_old_checkpoint(tmp_path, toy):
    old = tmp_path / "m.ckpt"
    old.write_bytes(b"of another fit")
    words = ["fit", toy / "toy.csv", "--threads", 1, "--model", "m", *FEW]
    assert run(tmp_path, *words, "--target", "z").returncode == 2
    assert old.read_bytes() == b"of another fit"
    assert run(tmp_path, *words, "--target", "y").returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m"]


@pytest.fixture
def long_table(tmp_path):
    write_csv(tmp_path / "long.csv", header(2), toy_rows(400))
    return tmp_path


def wait_for(condition, process):
    for _ in range(1200):
        if condition():
            return
        assert process.poll() is None, "the fit ended before it could be disturbed"
        time.sleep(0.05)
    process.kill()
    pytest.fail("waited too long")


def test_killed_and_resumed_gives_the_same_bits(long_table):
    words = [*LONG, "--steps", "6000"]
    assert run(long_table, *words, "--model", "whole.safetensors").returncode == 0
    process = subprocess.Popen([TOOL, *words, "--model", "m.safetensors"], cwd=long_table, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    wait_for((long_table / "m.safetensors.ckpt").exists, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (long_table / "m.safetensors").exists()
    refused(long_table, *words, "--model", "m.safetensors", "--resume", "--seed", "5")
    resumed = run(long_table, *words, "--model", "m.safetensors", "--resume")
    assert resumed.returncode == 0 and re.search(r"note: resumed from step [1-9]\d* of \d+", resumed.stderr), resumed.stderr
    assert not (long_table / "m.safetensors.ckpt").exists()
    assert (long_table / "whole.safetensors").read_bytes() == (long_table / "m.safetensors").read_bytes()


def test_a_model_that_cannot_be_written_costs_no_training(long_table):
    words = [*LONG, "--steps", "6000", "--model", "m.safetensors"]
    process = subprocess.Popen([TOOL, *words], cwd=long_table, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for((long_table / "m.safetensors.ckpt").exists, process)
    (long_table / "m.safetensors").mkdir()
    log = process.communicate(timeout=120)[1]
    assert process.returncode == 2 and "m.safetensors.ckpt is kept: --resume goes on from it" in log
    (long_table / "m.safetensors").rmdir()
    assert run(long_table, *words, "--resume").returncode == 0
    assert not (long_table / "m.safetensors.ckpt").exists()


def test_resume_says_what_it_finds(tmp_path, toy):
    words = ["fit", toy / "toy.csv", "--target", "y", "--threads", 1, "--model", "m", *FEW]
    assert "no checkpoint 'm.ckpt' to go on from: starting anew" in run(tmp_path, *words, "--resume").stderr
    line = refused(tmp_path, *words, "--resume", "--seed", 3, "--alpha", 1)
    assert "received one of another: options, seed;" in line


def test_resume_of_a_finished_fit_changes_nothing(tmp_path, toy):
    words = ["fit", toy / "toy.csv", "--target", "y", "--threads", 1, "--json", *FEW]
    first = run(tmp_path, *words)
    stamp = os.stat(tmp_path / "model.safetensors").st_mtime_ns
    second = run(tmp_path, *words, "--resume")
    assert second.returncode == 0
    one, two = json.loads(first.stdout), json.loads(second.stdout)
    assert one["summary"].pop("seconds") > 0 and two["summary"].pop("seconds") == 0 and one == two
    assert os.stat(tmp_path / "model.safetensors").st_mtime_ns == stamp
    refused(tmp_path, *words, "--resume", "--seed", 8)
    assert os.stat(tmp_path / "model.safetensors").st_mtime_ns == stamp
    assert run(tmp_path, *words, "--seed", 8).returncode == 0
    assert os.stat(tmp_path / "model.safetensors").st_mtime_ns != stamp


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_interrupt_keeps_the_best_so_far(long_table, name):
    words = [*LONG, "--steps", "200000"]
    process = subprocess.Popen([TOOL, *words], cwd=long_table, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    checkpoint = long_table / "model.safetensors.ckpt"
    wait_for(lambda: checkpoint.exists() and b"best.0" in checkpoint.read_bytes(), process)  # a round is validated
    process.send_signal(getattr(signal, name))
    out, log = process.communicate(timeout=60)
    assert process.returncode == 130 and out == "" and "interrupted" in log and "--resume goes on" in log
    assert run(long_table, "predict", "model.safetensors", "long.csv").returncode == 0
    model = json.loads(run(long_table, "describe", "model.safetensors", "--json").stdout)
    assert model["summary"]["stopped"] == "interrupted" and "fingerprint" not in model


def test_compare_lists_every_method_and_survives_a_failing_one(tmp_path, toy):
    words = ["compare", toy / "toy.csv", "--target", "y", "--seeds", 2, "--threads", 1, *FEW]
    done = run(tmp_path, *words, "--methods", "dbk,gp-exact", "--max-rows", 10, "--json")
    assert done.returncode == 1 and "error: gp-exact failed" in done.stderr, done.stderr  # the others are shown
    dbk, gp, ridge, constant = json.loads(done.stdout)["methods"]
    assert [run["seed"] for run in dbk["runs"]] == [0, 1] and dbk["sd"]["nll"] > 0
    assert (ridge["method"], constant["method"], len(ridge["runs"])) == ("ridge", "constant", 1)
    assert gp["runs"] == [] and "max_rows" in gp["failed"]
    text = run(tmp_path, *words, "--methods", "map,dbk").stdout.splitlines()
    assert text[0].split()[:3] == ["method", "mae", "rmse"] and text[1].startswith("dnn") and "*" in text[1] + text[2]
    refused(tmp_path, "compare", toy / "toy.csv", "--target", "z", *FEW)


def test_a_budget_of_steps_takes_the_place_of_the_presets_epochs(tmp_path, toy):
    words = ["fit", toy / "toy.csv", "--target", "y", "--preset", "paper", "--threads", 1, "--json"]
    done = run(tmp_path, *words, "--method", "dbk", "--steps", 30, "--model", "m")
    assert done.returncode == 0, done.stderr
    assert 20 <= json.loads(done.stdout)["summary"]["steps"] <= 40
    line = refused(tmp_path, *words, "--method", "dbk", "--steps", 30, "--epochs", 2, "--model", "other")
    assert "--steps or as --epochs" in line
    assert "received 'gp-exact'" in refused(tmp_path, *words, "--method", "gp-exact", "--model", "other")


def test_generate_is_seeded(tmp_path):
    one, two, other = (run(tmp_path, "generate", "steps", "--rows", 50, "--seed", seed).stdout for seed in (1, 1, 2))
    assert one == two != other
    assert one.splitlines()[0] == "x,y,true_mean,true_sd" and len(one.splitlines()) == 51
    refused(tmp_path, "generate", "stepz")


def test_demo_leaves_a_model_and_a_picture(tmp_path):
    share = tmp_path / "share"
    share.mkdir()
    write_csv(share / "toy.csv", header(2), toy_rows(150))
    done = run(tmp_path, "demo", "--steps", 50, "--rows", 200, "--out", "shown", env={**os.environ, "SLIMBAYES_SHARE": str(share)})
    assert done.returncode == 0, done.stderr
    assert all(method in done.stdout for method in ("dbk", "dnn", "gp-exact"))
    assert sorted(p.name for p in (tmp_path / "shown").iterdir()) == ["bands.svg", "model.safetensors"]
    picture = xml.etree.ElementTree.parse(tmp_path / "shown" / "bands.svg").getroot()
    assert sum(1 for node in picture.iter() if node.tag.endswith("clipPath")) == 3
    assert "Bands on data whose noise is known: steps with noise of sd 0.4 |sin 10x|" in [node.text for node in picture.iter()]


def test_a_training_that_fails_names_no_function(tmp_path):
    """Targets whose squared sum is beyond float32: libtorch's loss is not finite at once. The engine's, in float64, is."""
    write_csv(tmp_path / "far.csv", header(2), [[*row[:-1], 1e17 * row[-1]] for row in toy_rows(400)])
    line = refused(tmp_path, "fit", "far.csv", "--target", "y", "--method", "dbk", "--target-scale", "centred", "--learning-rate", 1, "--steps", 30,
                   "--engine", "libtorch", code=1)
    assert line.startswith("error: expected a finite loss; received ") and "lower the learning rate" in line


def test_a_fit_that_learnt_nothing_says_so(tmp_path):
    rows = toy_rows(200)
    write_csv(tmp_path / "noise.csv", header(2), [[*row[:-1], other[-1]] for row, other in zip(rows, toy_rows(200, seed=5))])
    write_csv(tmp_path / "toy.csv", header(2), rows)
    words = ["--target", "y", "--method", "gp-exact", "--model", "m", "--threads", 1]
    noise, toy = run(tmp_path, "fit", "noise.csv", *words), run(tmp_path, "fit", "toy.csv", *words)
    assert "no better than that of one answer for every row" in noise.stderr, noise.stderr
    assert toy.returncode == 0 and "one answer for every row" not in toy.stderr


def test_training_keeps_its_share_beside_an_input_in_most_rows(tmp_path):
    """800 of 1,000 rows share an input: dealt together they would leave training a few rows."""
    rows = [[0.5, 0.5, i % 7] if i < 800 else row for i, row in enumerate(toy_rows(1000))]
    write_csv(tmp_path / "t.csv", header(2), rows)
    words = ["fit", "t.csv", "--target", "y", "--method", "dbk", "--model", "m", "--test-fraction", 0.1, "--threads", 1, "--json", *FEW]
    for seed in range(3):
        fit = json.loads(run(tmp_path, *words, "--split-seed", seed).stdout)
        assert fit["rows"] == {"train": 800, "valid": 100, "test": 100}
        assert any("800 of 1000 rows repeat 1 input too often" in note for note in fit["notes"]), fit["notes"]
    done = run(tmp_path, *words, "--split", "grouped")
    assert json.loads(done.stdout)["rows"] == {"train": 960, "valid": 20, "test": 20}
    assert "they stay in training" in done.stderr
