"""`--network realmlp`: the network for tables whose target has little noise, with its recipe."""

import json
import math
import random
import shutil

import pytest
from conftest import ROOT, header, predicted, refused, run, write_csv

FIT = ["fit", "t.csv", "--target", "strength", "--method", "bll", "--network", "realmlp", "--epochs", 6, "--threads", 1, "--model", "m"]


@pytest.fixture(scope="module")
def concrete(tmp_path_factory):
    """The table of the examples and a short fit of it, `m`."""
    folder = tmp_path_factory.mktemp("realmlp")
    shutil.copy(ROOT / "examples" / "data" / "concrete.csv", folder / "t.csv")
    target = (folder / "t.csv").read_text().splitlines()[0].split(",")[-1]
    words = [target if word == "strength" else word for word in FIT]
    done = run(folder, *words, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"]["trained_by"] == "engine"
    return folder, words


def test_the_recipe_stands_where_an_option_is_not_given(concrete):
    folder, words = concrete
    options = json.loads(run(folder, *words, "--dry-run").stdout)["options"]
    assert (options["epochs"], options["hidden"], options["blocks"], options["beta2"]) == (6, 256, 3, 0.95)
    assert (options["schedule"], options["learning_rate"], options["patience"]) == ("cosine-log", 0.01, 0)
    assert "cosine-log" in run(folder, "describe", "m").stdout


def test_rows_one_by_one_have_the_answers_of_the_table(concrete):
    folder, _ = concrete
    lines = (folder / "t.csv").read_text().splitlines()
    (folder / "some.csv").write_text("\n".join(lines[:21]) + "\n")
    together = predicted(folder, "m", "some.csv")
    for i in range(20):
        (folder / "one.csv").write_text(f"{lines[0]}\n{lines[i + 1]}\n")
        assert predicted(folder, "m", "one.csv") == {name: values[i:i + 1] for name, values in together.items()}


def test_a_far_row_is_finite_and_less_certain(concrete):
    folder, _ = concrete
    lines = (folder / "t.csv").read_text().splitlines()
    columns = len(lines[0].split(","))
    (folder / "far.csv").write_text("\n".join([lines[0], ",".join(["1e6"] * columns), ",".join(["-1e6"] * columns)]) + "\n")
    usual = sorted(predicted(folder, "m", "t.csv")["sd_epistemic"])
    far = predicted(folder, "m", "far.csv")
    assert all(math.isfinite(value) for value in far["mean"])
    assert min(far["sd_epistemic"]) > usual[len(usual) // 2]


def test_it_learns_what_has_no_noise(tmp_path):
    draw = random.Random(1)
    rows = [[a, b, math.sin(3 * a) * math.exp(b)] for a, b in ((draw.uniform(-1, 1), draw.uniform(-1, 1)) for _ in range(600))]
    write_csv(tmp_path / "t.csv", header(2), rows)
    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--method", "dnn", "--network", "realmlp", "--hidden", 64, "--threads", 1,
               "--test-fraction", 0.2, "--noise-folds", 0, "--model", "m", "--json")
    assert done.returncode == 0, done.stderr
    sd = (sum(y * y for *_, y in rows) / len(rows)) ** 0.5
    assert json.loads(done.stdout)["test"]["rmse"] < 0.02 * sd


def test_options_of_other_networks_are_refused(concrete):
    folder, words = concrete
    assert "options of the network realmlp; received --heads" in refused(folder, *words, "--heads", 2)
    assert "at least one layer of the network realmlp" in refused(folder, *words, "--blocks", 0)
