"""A model file, its checkpoint and long work survive signals, limits, a second fit and a failing end."""

import contextlib
import json
import os
import resource
import signal
import stat
import subprocess
import time

import pytest
from conftest import FEW, TOOL, header, refused, run, toy_rows, write_csv

FIT = ["fit", "toy.csv", "--target", "y", "--method", "dbk", "--threads", "1", "--model", "m"]
ENDLESS = [*FIT, "--steps", "20000000", "--patience", "0", "--batch", "8", "--checkpoint-every", "0.1"]  # minutes to its first validation


@pytest.fixture
def folder(tmp_path):
    write_csv(tmp_path / "toy.csv", header(2), toy_rows(300))
    return tmp_path


@pytest.fixture
def fitted(folder):
    assert run(folder, *FIT, *FEW).returncode == 0
    return folder


STARTED = []


def start(folder, *words, **options):
    STARTED.append(subprocess.Popen([TOOL, *map(str, words)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options))
    return STARTED[-1]


@pytest.fixture(autouse=True)
def nothing_runs_on():
    """The fits here have no end of their own: a test that fails must not leave one behind."""
    yield
    while STARTED:
        STARTED.pop().kill()


def wait_for(condition, process, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def test_a_fit_that_fails_at_its_end_leaves_the_old_model(fitted):
    """The validation target is beyond every score; training does not notice."""
    old = (fitted / "m").read_bytes()
    write_csv(fitted / "wild.csv", header(2), [[0, 0, "1e308"], *toy_rows(40, seed=2)])
    done = run(fitted, *FIT, *FEW, "--valid", "wild.csv")
    assert done.returncode in (1, 2) and "error: " in done.stderr
    assert (fitted / "m").read_bytes() == old


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGXCPU"])
def test_a_signal_before_the_first_validation_leaves_the_old_model(fitted, name):
    old = (fitted / "m").read_bytes()
    process = start(fitted, *ENDLESS)
    wait_for((fitted / "m.ckpt").exists, process)
    process.send_signal(getattr(signal, name))
    out, log = process.communicate(timeout=60)
    assert process.returncode == 130 and out == ""
    assert "interrupted before anything was validated: m is left as it was, --resume goes on" in log
    assert (fitted / "m").read_bytes() == old
    assert names(fitted) == ["m", "m.ckpt", "toy.csv"]


@pytest.mark.parametrize("flags", [["--calibrate", "conformal"], ["--tune"], ["--valid-fraction", "0"],
                                   ["--method", "ensemble", "--of", "dbk"], ["--valid-fraction", "0.05"]])
def test_an_early_signal_leaves_the_old_model_whatever_follows_the_training(fitted, flags):
    old = (fitted / "m").read_bytes()
    endless = ENDLESS if "--method" not in flags else [*ENDLESS[:4], *ENDLESS[6:]]
    process = start(fitted, *endless, *flags)
    wait_for(lambda: any(p.name.startswith("m.ckpt") and p.stat().st_size > 10000 for p in fitted.iterdir()), process)
    process.send_signal(signal.SIGTERM)
    log = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and "m is left as it was, --resume goes on" in log, log
    assert (fitted / "m").read_bytes() == old and (fitted / "m.ckpt").exists()


def test_a_limit_on_processor_time_ends_a_fit_as_a_signal_does(folder):
    """The system repeats SIGXCPU each second; the hard limit lies further."""
    done = run(folder, *ENDLESS, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (3, 60)))
    assert done.returncode == 130 and "interrupted" in done.stderr, done.stderr


def test_without_an_old_model_an_early_signal_writes_none(folder):
    process = start(folder, *ENDLESS)
    wait_for((folder / "m.ckpt").exists, process)
    process.send_signal(signal.SIGINT)
    assert "before anything was validated: no model is written" in process.communicate(timeout=60)[1] and process.returncode == 130
    assert names(folder) == ["m.ckpt", "toy.csv"]


def test_signals_that_come_together_are_one(fitted):
    """timeout(1) signals its child and the child's group: the second one must not kill the fit that is saving."""
    process = start(fitted, *FIT, "--epochs", 1000000, "--patience", 0, "--batch", 300)
    wait_for((fitted / "m.ckpt").exists, process)
    time.sleep(1)  # some rounds: a validated state
    for name in (signal.SIGTERM, signal.SIGTERM, signal.SIGHUP, signal.SIGTERM):
        process.send_signal(name)
        time.sleep(0.001)
    assert process.wait(timeout=60) == 130, process.communicate()
    assert "interrupted" in process.communicate()[1]
    assert "stopped before its end" in run(fitted, "predict", "m", "toy.csv").stderr


@pytest.mark.parametrize("name", ["SIGHUP", "SIGINT", "SIGTERM", "SIGXCPU"])
def test_a_signal_that_the_parent_ignores_stays_ignored(folder, name):
    """nohup ignores SIGHUP, `trap '' INT` and `&` of a script SIGINT."""
    number = getattr(signal, name)
    process = start(folder, *ENDLESS, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
    wait_for((folder / "m.ckpt").exists, process)
    process.send_signal(number)
    before = (folder / "m.ckpt").stat().st_mtime_ns
    wait_for(lambda: (folder / "m.ckpt").stat().st_mtime_ns > before, process)
    process.kill()
    process.wait()


def test_a_round_killed_in_the_middle_resumes_to_the_same_bits(folder):
    write_csv(folder / "toy.csv", header(2), toy_rows(2000))
    words = [*FIT, "--epochs", "1", "--batch", "1", "--checkpoint-every", "0"]  # one validation, after 1,800 steps
    process = start(folder, *words)
    wait_for((folder / "m.ckpt").exists, process)
    process.kill()
    assert process.wait() == -signal.SIGKILL and (folder / "m.ckpt").exists()
    assert run(folder, *words, "--resume").returncode == 0
    resumed = (folder / "m").read_bytes()
    assert run(folder, *words).returncode == 0
    assert (folder / "m").read_bytes() == resumed and names(folder) == ["m", "toy.csv"]


def test_steps_are_counted_between_validations_too(folder):
    done = run(folder, *ENDLESS, "--time-limit", 3, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)["summary"]
    assert summary["stopped"] == "time" and summary["steps"] > 0
    assert summary["epochs"] == summary["best_epoch"] == summary["steps"] // 34  # of 270 rows, 8 at a time


def test_one_fit_a_model_file(folder):
    process = start(folder, *ENDLESS)
    wait_for((folder / "m.ckpt").exists, process)
    (folder / "link").symlink_to("m")
    for words in (FIT, [*FIT, "--resume"], [*FIT[:-1], "link"]):
        second = run(folder, *words, *FEW)
        assert second.returncode == 2 and second.stdout == "", second.stderr
        assert second.stderr.startswith("error: ") and f"process {process.pid} is writing it" in second.stderr
    process.kill()
    process.wait()
    assert (folder / "m.lock").exists()  # nobody was left to remove it
    assert run(folder, *FIT, *FEW).returncode == 0
    assert names(folder) == ["link", "m", "toy.csv"]


def test_a_folder_at_the_checkpoints_name_is_refused_and_stays(folder):
    (folder / "m.ckpt").mkdir()
    assert "m.ckpt: expected the name of a file; received a folder" in refused(folder, *FIT, *FEW)


def test_leftovers_of_killed_writers_go(folder):
    (folder / ".slimbayes-1-0.tmp").write_text("half a model")
    (folder / ".slimbayes-notes").write_text("mine")
    assert run(folder, *FIT, *FEW).returncode == 0
    assert names(folder) == [".slimbayes-notes", "m", "toy.csv"]


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def test_a_limit_on_file_sizes_is_an_error_and_costs_no_training(fitted):
    old, before = (fitted / "m").read_bytes(), names(fitted)
    for words in ([*FIT, *FEW], ["predict", "m", "toy.csv", "--out", "p.csv"]):
        done = run(fitted, *words, preexec_fn=small_files)
        assert done.returncode == 2 and "File too large; raise the limit on a file's size (ulimit -f)" in done.stderr
        assert (fitted / "m").read_bytes() == old and names(fitted) == before
    with open(fitted / "answers.csv", "w") as out:
        done = subprocess.run([TOOL, "predict", "m", "toy.csv"], cwd=fitted, stdout=out, stderr=subprocess.PIPE, text=True,
                              preexec_fn=small_files)
    assert done.returncode == 1 and "standard output could not be written" in done.stderr


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_fit(folder):
    done = run(folder, *FIT, "--steps", "4000000", "--patience", "0", "--batch", "8", "--time-limit", 3, "--checkpoint-every", "0.1",
               preexec_fn=small_files)
    assert done.returncode == 2 and "the fit goes on and tries again later" in done.stderr
    assert done.stderr.index("tries again later") < done.stderr.index("error: m: cannot write: File too large")


def test_a_replaced_model_keeps_its_mode(fitted):
    (fitted / "m").chmod(0o600)
    assert run(fitted, *FIT, *FEW).returncode == 0
    assert stat.S_IMODE((fitted / "m").stat().st_mode) == 0o600
    (fitted / "m").chmod(0o664)
    with contextlib.suppress(OSError):  # only root may give files away
        os.chown(fitted / "m", 1234, 1235)
    before = (fitted / "m").stat()
    assert run(fitted, *FIT, *FEW).returncode == 0
    after = (fitted / "m").stat()
    assert stat.S_IMODE(after.st_mode) == 0o664 and (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


def test_the_checkpoint_of_a_private_model_is_private(fitted):
    (fitted / "m").chmod(0o600)
    process = start(fitted, *ENDLESS)
    wait_for((fitted / "m.ckpt").exists, process)
    process.kill()
    process.wait()
    assert stat.S_IMODE((fitted / "m.ckpt").stat().st_mode) == 0o600


def test_links_and_long_names(folder):
    (folder / "loop").symlink_to("loop")
    assert "Too many levels of symbolic links" in refused(folder, *FIT[:-1], "loop", *FEW)
    assert "choose a shorter name" in refused(folder, *FIT[:-1], "m" * 300, *FEW)
    assert "choose a shorter name" in refused(folder, *FIT[:-1], "m" * 252, *FEW)  # its checkpoint's name is too long
