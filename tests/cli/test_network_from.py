"""--network-from: a variance for a trained network."""

import json

from conftest import predicted, refused, run, toy_rows, write_csv
from learned import fitted, rows  # noqa: F401, a fixture


def test_a_variance_for_a_trained_network(rows):
    fitted(rows, "dnn", "--test-fraction", "0.2")
    done = run(rows, "fit", "train.csv", "--network-from", "m", "--method", "rich-bll", "--model", "r", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == {"train": 140, "valid": 20, "test": 40}  # of the network's fit
    a, b = predicted(rows, "m", "test.csv"), predicted(rows, "r", "test.csv")
    assert a["mean"] == b["mean"] and min(b["sd_epistemic"]) > 0
    done = run(rows, "fit", "train.csv", "--network-from", "m", "--ridge", "1e-5", "--model", "s")  # rich-bll by default
    assert "variance of the earlier layers: computed exactly from the gradients of 140 rows by the " in done.stdout
    assert "noise sd of the scaled target: " in done.stdout and "A^T A" not in done.stdout
    assert done.returncode == 0 and predicted(rows, "s", "test.csv") == b, done.stderr
    done = run(rows, "fit", "more.csv", "--network-from", "m", "--method", "bll", "--model", "t")
    assert done.returncode == 0 and "split anew" in done.stderr
    assert "prior sd of the last layer's weights" in done.stdout and "prior sd" not in done.stderr
    # Nothing of the network's own training is reported as if it were of these rows.
    assert done.stdout.startswith("t: 42 rows, nothing trained\n")
    trained = json.loads(run(rows, "describe", "m", "--json").stdout)["summary"]
    note = f"the network is that of 'm', trained there in {trained['steps']} steps on 140 rows"
    assert f"{note} (standardised validation MSE {trained['best_score']:.4f}), of which nothing was measured here" in done.stderr
    assert "fit these examples" not in done.stderr and "far from the model's answers" not in done.stderr
    write_csv(rows / "grams.csv", ["x0", "x1", "y"], [[a, b, 1000 * y + 500] for a, b, y in toy_rows(160, seed=9)])
    other = run(rows, "fit", "grams.csv", "--network-from", "m", "--method", "bll", "--model", "w")
    assert "the targets of these 160 rows lie far from the model's answers" in other.stderr, other.stderr
    assert "the network may not fit these examples" in other.stderr and "more --steps" not in other.stderr
    done = run(rows, "fit", "train.csv", "--network-from", "t", "--method", "bll", "--model", "u")
    assert "the network is that of 't', which did not train it itself" in done.stderr
    done = run(rows, "fit", "more.csv", "--network-from", "m", "--method", "swag", "--averaged", "3", "--model", "v")
    assert done.returncode == 0 and "v: 42 rows, 6 steps" in done.stdout  # two in each of its 3 epochs
    assert "cannot change it" not in done.stderr and "no validation examples" not in done.stderr
    hidden = json.loads(run(rows, "describe", "m", "--json").stdout)["options"]["hidden"]
    def refused_options(method, *flags):
        done = run(rows, "fit", "train.csv", "--network-from", "m", "--method", method, *flags, "--model", "x")
        assert done.returncode == 0, done.stderr
        found = [line.rpartition("; ")[2] for line in done.stderr.splitlines() if "the network is that of" in line]
        return found[0], json.loads(run(rows, "describe", "x", "--json").stdout)["options"]
    other = ["--hidden", str(hidden + 3)]
    note, options = refused_options("bll", *other, "--learning-rate", ".5")
    assert note == "--learning-rate and --hidden cannot change it"
    assert options["hidden"] == hidden and options["learning_rate"] != 0.5
    assert refused_options("bll", *other, "--batch", 9, "--blocks", 5)[0] == "--batch, --hidden and --blocks cannot change it"
    assert "cannot change" not in refused_options("bll", "--hidden", hidden)[0]
    note, options = refused_options("bll", "--preset", "paper", *other)
    assert note == "--hidden cannot change it" and options["hidden"] == hidden and options["noise"] == "mse"
    # swag goes on with the training: a batch is its own, a rate is not.
    note, options = refused_options("swag", *other, "--batch", 9, "--learning-rate", ".5", "--averaged", 3)
    assert note == "--learning-rate and --hidden cannot change it" and options["batch"] == 9
    done = run(rows, "fit", "train.csv", "--network-from", "m", "--method", "mc-dropout", "--dropout", ".2", "--model", "y")
    assert done.returncode == 2 and "a network with dropout layers" in done.stderr and "--dropout 0.1" in done.stderr


def test_rows_that_trained_the_network_calibrate_nothing(rows):
    fitted(rows, "dnn")
    line = refused(rows, "fit", "train.csv", "--network-from", "m", "--calibrate", "conformal", "--model", "r")
    assert "a network whose fit kept rows for calibration" in line
    fitted(rows, "dnn", "--calibrate", "conformal", "--calibration-fraction", "0.3")
    around = ["fit", "train.csv", "--network-from", "m", "--method", "bll"]
    done = run(rows, *around, "--calibrate", "conformal", "--model", "r", "--json")
    assert done.returncode == 0 and "split anew" not in done.stderr, done.stderr
    split = json.loads(run(rows, "describe", "m", "--json").stdout)["rows"]
    assert json.loads(run(rows, "describe", "r", "--json").stdout)["rows"] == split and split["calibration"] > 40
    # What a fit leaves out it says.
    done = run(rows, *around, "--model", "s")
    assert f"note: {split['calibration']} rows of the calibration of that network's fit are left out" in done.stderr
    done = run(rows, *around, "--valid", "test.csv", "--model", "s")
    assert f"note: {split['valid']} rows of the validation of that network's fit are left out" in done.stderr
    done = run(rows, "fit", "more.csv", "--network-from", "m", "--method", "bll", "--valid", "test.csv", "--model", "t")
    assert done.returncode == 0 and "split anew" not in done.stderr, done.stderr


def test_what_has_no_such_network_is_refused(rows):
    fitted(rows, "vbll")
    assert "linear output layer" in refused(rows, "fit", "train.csv", "--network-from", "m", "--model", "r")
    fitted(rows, "dnn")
    line = refused(rows, "fit", "train.csv", "--network-from", "m", "--method", "dbk", "--model", "r")
    assert "rich-bll" in line
    assert "leave --target out" in refused(rows, "fit", "train.csv", "--target", "y", "--network-from", "m", "--model", "r")
    assert "with fit" in refused(rows, "compare", "train.csv", "--network-from", "m")
