"""update and forget: more rows and fewer rows without training."""

import json
import signal
import subprocess
import time

import pytest
from conftest import TOOL, header, predicted, refused, run, toy_rows, write_csv
from learned import fitted, rows  # noqa: F401, a fixture


def close(a, b, tolerance):
    return all(abs(x / y - 1) < tolerance for x, y in zip(a["sd_epistemic"], b["sd_epistemic"]))


@pytest.mark.parametrize("method", ["rich-bll", "bll", "last-layer-laplace", "dbk-exact"])
def test_rows_are_learned_and_forgotten(rows, method):
    fitted(rows, method, *(["--rank", "8"] if method == "dbk-exact" else []))
    before = predicted(rows, "m", "test.csv")
    done = run(rows, "update", "m", "more.csv", "--out", "n", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"model": "n", "method": method, "added": 60, "rows": 240, "notes": []}  # 180 of 200 train
    after = predicted(rows, "n", "test.csv")
    assert all(a < b for a, b in zip(after["sd_epistemic"], before["sd_epistemic"]))
    if method != "dbk-exact":
        assert after["mean"] == before["mean"]  # the network's own
    assert run(rows, "forget", "n", "more.csv").stdout == "n: forgot 60 rows, 180 in all\n"
    assert close(predicted(rows, "n", "test.csv"), before, 1e-7)


@pytest.mark.parametrize("method", ["rich-bll", "bll", "last-layer-laplace"])
def test_shards_of_classes_are_merged(tmp_path, method):
    def labelled(rows):
        return [[*row[:-1], "high" if row[-1] > 0.5 else "low" if row[-1] < -0.5 else "mid"] for row in rows]
    for name, count, seed in [("train", 200, 1), ("more", 60, 2), ("test", 40, 3)]:
        write_csv(tmp_path / f"{name}.csv", header(2), labelled(toy_rows(count, seed=seed)))
    fitted(tmp_path, method)
    assert run(tmp_path, "update", "m", "more.csv", "--shard", "--out", "s").stdout == "s: learned 60 rows, 60 in all\n"
    done = run(tmp_path, "merge", "m", "s", "--out", "all")
    assert done.stdout == "all: 2 models, 240 rows in all\n", done.stderr
    assert run(tmp_path, "update", "m", "more.csv").returncode == 0
    a, b = predicted(tmp_path, "all", "test.csv"), predicted(tmp_path, "m", "test.csv")
    for name in ("p_high", "p_low", "p_mid", "mutual_information"):
        assert all(abs(x - y) < 1e-6 for x, y in zip(a[name], b[name]))
    assert "both learned" in refused(tmp_path, "merge", "all", "s", "--out", "n")
    assert "--shard" in refused(tmp_path, "update", "m", "more.csv", "--shard")  # needs --out
    assert "file of its own" in refused(tmp_path, "update", "m", "more.csv", "--shard", "--out", "m")
    fitted(tmp_path, method, "--seed", "1")
    assert "same network" in refused(tmp_path, "merge", "m", "s", "--out", "n")


def test_rows_that_are_known_already_are_noted(rows):
    fitted(rows)
    assert "learned before" not in run(rows, "update", "m", "more.csv").stderr
    again = "rows repeat one that was learned before, or another one of these; each counts"
    assert f"note: 60 of 60 {again}" in run(rows, "update", "m", "more.csv").stderr
    twice = toy_rows(7, seed=5)
    write_csv(rows / "twice.csv", header(2), [*twice, *twice[:3]])
    assert f"note: 3 of 10 {again}" in run(rows, "update", "m", "twice.csv").stderr
    assert "gave up its split" in run(rows, "describe", "m").stdout
    refused_split = refused(rows, "evaluate", "m", "train.csv", "--split", "test")
    assert "gave up its split" in refused_split
    # A model around a network says how many rows it has learned itself, and repeats no note of the other fit.
    fitted(rows, "rich-bll")
    done = run(rows, "fit", "train.csv", "--network-from", "m", "--method", "bll", "--refit", "--noise", "mse", "--model", "b")
    assert done.returncode == 0 and "variance of the earlier layers" not in done.stderr and "b: 200 rows" in done.stdout, done.stdout + done.stderr


def test_rows_of_another_kind_are_noted(rows):
    """Targets in another unit and inputs outside of the training range are learned, with a note."""
    fitted(rows)
    assert "note" not in run(rows, "update", "m", "more.csv", "--out", "n").stderr
    more = toy_rows(60, seed=2)
    write_csv(rows / "unit.csv", header(2), [[a, b, 1000 * y] for a, b, y in more])
    for words in ([], ["--shard"]):
        done = run(rows, "update", "m", "unit.csv", "--out", "n", *words)
        assert done.returncode == 0 and done.stdout.startswith("n: learned 60 rows"), done.stderr
        assert "note: the targets of these 60 rows lie far from the model's answers, by " in done.stderr
        assert "check that unit and columns are those of the training" in done.stderr
    write_csv(rows / "one.csv", header(2), [*more[:-1], [*more[-1][:2], 1e3]])  # one outlier, which a median passes over
    assert "lie far from" not in run(rows, "update", "m", "one.csv", "--out", "n").stderr
    write_csv(rows / "far.csv", header(2), [[50, b, y] for _, b, y in more])
    told = run(rows, "update", "m", "far.csv", "--out", "n").stderr
    assert "note: 60 of 60 rows lie outside the training range: 'x0'" in told


def test_forget_may_leave_out_what_was_not_learned(rows):
    fitted(rows, "bll")  # 20 of 200 rows validate
    line = refused(rows, "forget", "m", "train.csv")
    assert "20 of 200 that it has not" in line and "--on-unknown skip" in line
    assert "'blank'" in refused(rows, "forget", "m", "train.csv", "--on-unknown", "blank")
    assert run(rows, "update", "m", "more.csv").returncode == 0
    line = refused(rows, "forget", "m", "train.csv", "--on-unknown", "skip", "--out", "n")
    assert "180 of 200 rows with the cells of learned ones beside 20 that it has not learned" in line and "--duplicates" in line
    done = run(rows, "forget", "m", "train.csv", "--on-unknown", "skip", "--duplicates", "--out", "n")
    assert "note: 20 of 200 rows were not learned and are left out" in done.stderr
    assert done.stdout == "n: forgot 180 rows known by equal cells alone, 60 in all\n"
    # What is left is the shard of the rows of the update.
    assert run(rows, "update", "m", "more.csv", "--shard", "--out", "s").returncode == 0
    assert close(predicted(rows, "n", "test.csv"), predicted(rows, "s", "test.csv"), 1e-5)
    done = run(rows, "forget", "n", "test.csv", "--on-unknown", "skip", "--json")  # a withdrawal that was done before
    note = "40 of 40 rows were not learned and are left out"
    told = {"model": "n", "method": "bll", "forgotten": 0, "left_out": 40, "rows": 60, "notes": [note]}
    assert json.loads(done.stdout) == {**told, "equal_rows_left": 0}
    assert run(rows, "forget", "n", "more.csv").stdout == "n: forgot 60 rows, 0 in all\n"
    fitted(rows, "vbll")
    assert "exact posterior" in refused(rows, "forget", "m", "train.csv", "--on-unknown", "skip")


def test_a_row_beside_which_others_lose_their_digits_is_refused(rows):
    write_csv(rows / "wild.csv", header(2), [[0.1, 0.2, 1e17]])
    more = ["--mean", "posterior"]
    for method, words in (("bll", more), ("rich-bll", more), ("dbk-exact", ["--rank", "8"])):
        fitted(rows, method, *words)
        before = (rows / "m").read_bytes()
        line = refused(rows, "update", "m", "wild.csv")
        assert "keep their digits" in line and "leave such rows out" in line, line
        assert (rows / "m").read_bytes() == before
    fitted(rows, "bll")  # whose mean is the network's: the target does not count
    before = predicted(rows, "m", "test.csv")
    assert run(rows, "update", "m", "wild.csv").returncode == 0 and run(rows, "forget", "m", "wild.csv").returncode == 0
    assert close(predicted(rows, "m", "test.csv"), before, 1e-7)


def test_a_changed_model_says_what_it_is(rows):
    fitted(rows, "bll")
    assert run(rows, "update", "m", "more.csv", "--shard", "--out", "s").returncode == 0
    assert "a shard: it has learned the rows in summary alone" in run(rows, "describe", "s").stdout
    assert run(rows, "merge", "m", "s", "--out", "all").returncode == 0
    assert "a shard" not in run(rows, "describe", "all").stdout
    # The file of a stream of updates grows by its rows alone.
    told = lambda: json.loads(run(rows, "describe", "all", "--json").stdout)  # noqa: E731
    length = len(told()["data_hash"])
    for _ in range(3):
        assert run(rows, "update", "all", "more.csv").returncode == 0
    assert len(told()["data_hash"]) == length


def test_a_shard_of_a_sampled_model_forgets(rows):
    fitted(rows, "bll", "--subsample", "100")
    assert run(rows, "update", "m", "more.csv", "--shard", "--out", "s").returncode == 0
    write_csv(rows / "one.csv", header(2), toy_rows(60, seed=2)[:1])
    write_csv(rows / "rest.csv", header(2), toy_rows(60, seed=2)[1:])
    assert run(rows, "forget", "s", "one.csv").stdout == "s: forgot 1 row, 59 in all\n"
    assert run(rows, "update", "m", "rest.csv", "--shard", "--out", "r").returncode == 0
    assert close(predicted(rows, "s", "test.csv"), predicted(rows, "r", "test.csv"), 1e-5)


def test_merge_wants_two_models(tmp_path):
    assert "slimbayes merge [OPTIONS] MODEL MODEL...\n" in run(tmp_path, "merge", "--help").stdout
    line = refused(tmp_path, "merge", "--out", "all", "m")
    assert "expected `slimbayes merge MODEL MODEL...`; received 1 MODEL" in line


def test_a_killed_update_leaves_the_model_before_or_after(rows):
    fitted(rows)
    write_csv(rows / "one.csv", header(2), toy_rows(1, seed=9))
    counts = []
    for k in range(8):
        process = subprocess.Popen([TOOL, "update", "m", "one.csv"], cwd=rows, stdout=subprocess.DEVNULL)
        time.sleep(0.05 + 0.1 * k)
        process.send_signal(signal.SIGKILL)
        process.wait()
        told = json.loads(run(rows, "describe", "m", "--json").stdout)
        counts.append(told["summary"]["rows"])
        assert run(rows, "predict", "m", "test.csv").returncode == 0
    assert all(later - earlier in (0, 1) for earlier, later in zip([180, *counts], counts))
    assert run(rows, "update", "m", "one.csv").returncode == 0


def test_what_cannot_be_updated_is_refused(rows):
    fitted(rows, "vbll")
    assert "rich-bll, bll" in refused(rows, "update", "m", "more.csv")
    fitted(rows, "bll", "--calibrate", "conformal", "--calibration-fraction", "0.3")
    assert "calibration" in refused(rows, "update", "m", "more.csv")
    fitted(rows, "bll")
    write_csv(rows / "other.csv", ["a", "b", "y"], toy_rows(5))
    assert "'x0'" in refused(rows, "update", "m", "other.csv")
    bytes_before = (rows / "m").read_bytes()
    assert "60 of 60 that it has not, the first data row 1" in refused(rows, "forget", "m", "more.csv")
    assert (rows / "m").read_bytes() == bytes_before


def test_a_prior_sd_wants_a_fixed_prior(rows):
    for method in ("bll", "rich-bll", "ntk-gp", "ntk-sketch", "last-layer-laplace"):
        line = refused(rows, "fit", "train.csv", "--target", "y", "--method", method, "--prior-sd", 3, "--model", "m")
        assert "prior fixed for a prior_sd" in line and "add --prior fixed" in line


def test_a_model_replaces_models_alone(rows):
    fitted(rows, "bll")
    assert run(rows, "update", "m", "more.csv", "--shard", "--out", "s").returncode == 0
    kept = (rows / "test.csv").read_bytes()
    for words in (["merge", "m", "s", "--out", "test.csv"], ["update", "m", "more.csv", "--out", "test.csv"],
                  ["fit", "train.csv", "--target", "y", "--model", "test.csv"]):
        assert "a new file or a model" in refused(rows, *words)
    assert (rows / "test.csv").read_bytes() == kept
    assert "'s' twice" in refused(rows, "merge", "m", "s", "s", "--out", "n")
    assert "a file of its own" in refused(rows, "fit", "train.csv", "--network-from", "m", "--model", "m")
    fitted(rows, "bll", "--mean", "posterior")
    assert "the same option mean" in refused(rows, "merge", "m", "s", "--out", "n")


def test_rows_equal_to_learned_ones_are_not_forgotten_in_silence(rows):
    fitted(rows, "bll")
    assert run(rows, "update", "m", "more.csv").returncode == 0
    write_csv(rows / "mixed.csv", header(2), [*toy_rows(60, seed=2)[:3], *toy_rows(40, seed=3)])
    before = (rows / "m").read_bytes()
    line = refused(rows, "forget", "m", "mixed.csv", "--on-unknown", "skip")
    assert "3 of 43 rows with the cells of learned ones beside 40" in line and (rows / "m").read_bytes() == before
    # Of a row that was learned twice, one stays.
    write_csv(rows / "one.csv", header(2), toy_rows(60, seed=2)[:1])
    assert run(rows, "update", "m", "one.csv").returncode == 0
    done = run(rows, "forget", "m", "one.csv", "--json")
    told = json.loads(done.stdout)
    assert told["equal_rows_left"] == 1 and "1 row with the same cells as these, learned too, stays" in told["notes"][0]


def test_rows_that_are_encoded_alike_are_told_apart(tmp_path):
    train = [[x, y, "red" if i % 2 else "blue"] for i, (x, _, y) in enumerate(toy_rows(80))]
    write_csv(tmp_path / "train.csv", ["x0", "y", "colour"], train)
    for colour in ("green", "violet"):
        write_csv(tmp_path / f"{colour}.csv", ["x0", "y", "colour"], [[0.5, 1, colour]])
    fitted(tmp_path, "bll")
    for colour in ("green", "violet"):
        assert run(tmp_path, "update", "m", f"{colour}.csv", "--shard", "--out", colour).returncode == 0
    done = run(tmp_path, "merge", "m", "green", "violet", "--out", "all")
    assert done.returncode == 0 and "count twice" not in done.stderr, done.stderr
    assert run(tmp_path, "update", "m", "green.csv").returncode == 0
    assert "1 of 1 that it has not" in refused(tmp_path, "forget", "m", "violet.csv")
    assert "learned before" not in run(tmp_path, "update", "m", "violet.csv").stderr


def test_a_read_only_model_is_not_replaced(rows):
    fitted(rows, "bll")
    assert run(rows, "update", "m", "more.csv", "--shard", "--out", "s").returncode == 0
    before = (rows / "m").read_bytes()
    (rows / "m").chmod(0o444)
    for words in (["update", "m", "test.csv"], ["forget", "m", "train.csv"], ["merge", "m", "s", "--out", "m"],
                  ["fit", "train.csv", "--target", "y", "--model", "m"]):
        line = refused(rows, *words)
        assert "read-only" in line and "chmod u+w" in line, line
    assert (rows / "m").read_bytes() == before and run(rows, "update", "m", "test.csv", "--out", "n").returncode == 0
