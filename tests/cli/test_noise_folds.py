"""Small tables on the command line: the noise by cross-fitting, what is said of it, and that it can be left out."""

import json

from conftest import FEW, header, refused, run, toy_rows, write_csv

WORDS = ["fit", "small.csv", "--target", "y", "--method", "dnn", "--hidden", "8", "--steps", "300", "--json"]


def fitted(folder, *more):
    done = run(folder, *WORDS, *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_ten_rows_cover_the_rows_to_come_and_say_what_they_rest_on(tmp_path):
    write_csv(tmp_path / "small.csv", header(2), toy_rows(10))
    write_csv(tmp_path / "new.csv", header(2), toy_rows(500, seed=2))
    fit, log = fitted(tmp_path)
    assert fit["noise"]["folds"] == 5 and fit["noise"]["rows"] == 10 and fit["noise"]["var"] > 0
    note = "only 1 validation row: the noise was estimated by 5-fold cross-fitting on 10 rows: an sd of at least "
    assert note in log and any(note in each for each in fit["notes"])
    scored = json.loads(run(tmp_path, "evaluate", "model.safetensors", "new.csv", "--json").stdout)
    assert scored["coverage"] > 0.6 and scored["nll_standardized"] < 4  # without folds 0.40 and 6.2
    text = run(tmp_path, "describe", "model.safetensors").stdout
    assert "noise        5-fold cross-fitting on 10 rows: an sd of at least " in text
    assert json.loads(run(tmp_path, "describe", "model.safetensors", "--json").stdout)["noise"] == fit["noise"]
    again, log = fitted(tmp_path, "--resume")
    assert "finished already" in log and again["notes"] == fit["notes"]


def test_noise_folds_can_be_chosen_and_left_out(tmp_path):
    write_csv(tmp_path / "small.csv", header(2), toy_rows(10))
    fit, log = fitted(tmp_path, "--noise-folds", 0)
    assert fit["noise"]["folds"] == 0 and fit["noise"]["sd"] is None and "only 1 validation row: the sd may be far too small; --noise-folds 5" in log
    assert "cross-fitting on" not in run(tmp_path, "describe", "model.safetensors").stdout
    assert "noise_folds" in refused(tmp_path, *WORDS, "--noise-folds", 3, "--resume")
    assert fitted(tmp_path, "--noise-folds", 3)[0]["noise"]["folds"] == 3
    assert "at least 2 noise folds" in refused(tmp_path, *WORDS, "--noise-folds", 1)
    assert "--noise-folds to be an integer from 0 to 1000" in refused(tmp_path, *WORDS, "--noise-folds", -1)


def test_compare_takes_them_too(tmp_path):
    write_csv(tmp_path / "small.csv", header(2), toy_rows(20))
    words = ["compare", "small.csv", "--target", "y", "--methods", "dnn", "--seeds", 1, "--hidden", 8, "--json", *FEW]
    widths = [json.loads(run(tmp_path, *words, "--noise-folds", folds).stdout)["methods"][0]["mean"]["width"] for folds in (0, 5)]
    assert widths[0] < widths[1]


def test_a_target_whose_variance_is_no_number_is_refused_before_the_fit(tmp_path):
    for scale in (1e155, 1e-155, 1e-310):
        write_csv(tmp_path / "small.csv", header(2), [[a, b, y * scale] for a, b, y in toy_rows(30)])
        line = refused(tmp_path, *WORDS)
        assert "a standard deviation of 'y' from 1e-140 to 1e+140" in line and "rescale the target" in line
    rows = toy_rows(30)
    write_csv(tmp_path / "small.csv", header(2), [*rows[:-1], [0.5, 0.5, 1e300]])
    for seed in (0, 1, 2, 3):  # wherever the row falls
        line = refused(tmp_path, *WORDS, "--split-seed", seed, "--test-fraction", 0.3, "--wild-cells", "keep")
        assert "rescale the target" in line or "data row 30" in line
