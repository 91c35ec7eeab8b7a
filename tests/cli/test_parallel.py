"""Independent fits beside each other: the same bytes for any number of workers, after any kill."""

import hashlib
import json
import random
import signal
import subprocess
import time

import pytest
from conftest import TOOL, header, run, toy_rows, write_csv

FEW = ["--steps", 300, "--hidden", 16, "--patience", 0]
FITS = {
    # dnn and dbk leave after the first fold
    "auto": ["--candidates", "constant,ridge,gp-exact,dnn,dbk", "--rank", 8, "--folds", 3, *FEW],
    "ensemble": ["--method", "ensemble", "--of", "dnn", "--members", 5, *FEW],
    "noise folds": ["--method", "dnn", "--steps", 2000, *FEW[2:]],
    "tuning": ["--method", "dbk", "--tune", "--rank", 8, "--alpha", 1, *FEW],
}
KILLS, TRIALS, RUNS = 4, 12, 20  # kills of each of the four kinds, in at most so many trials of at most so many runs each


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parallel")
    write_csv(folder / "t.csv", header(3), toy_rows(180, 3))
    return folder / "t.csv"


def words_of(table, kind, model, workers):
    return ["fit", table, "--target", "y", "--model", model, "--threads", workers, *FITS[kind]]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("kind", FITS)
def test_the_same_bytes_for_any_number_of_workers_and_after_any_kill(table, tmp_path, kind):
    whole = {}
    for workers in [1, 2, 5]:
        begin = time.monotonic()
        done = run(tmp_path, *words_of(table, kind, "whole", workers))
        seconds = time.monotonic() - begin
        assert done.returncode == 0, done.stderr
        whole[workers] = digest(tmp_path / "whole")
    assert len(set(whole.values())) == 1, whole
    draw, kills, trial = random.Random(kind), 0, 0
    while kills < KILLS:
        assert trial < TRIALS, f"expected {KILLS} kills while the fits of {kind} run; received {kills} in {trial} trials"
        hits = killed_and_resumed(tmp_path, lambda workers: words_of(table, kind, f"m{trial}", workers), draw, seconds)
        kills += hits
        seconds = seconds if hits else seconds / 2  # the whole fit was timed on a slower moment of this machine: kill sooner
        assert digest(tmp_path / f"m{trial}") == whole[1]
        assert not list(tmp_path.glob(f"m{trial}.ckpt*"))
        trial += 1
    print(f"{kind}: {kills} kills in {trial} trials")


def killed_and_resumed(folder, words_with, draw, seconds):
    """Kills a fit once its record stands on the disk and a part of seconds has passed, and what resumes it at times drawn in seconds;
    each with its own number of workers, until one ends by itself. Returns how many kills hit a fit that had begun."""
    kills = 0
    words = words_with(draw.choice([1, 2, 3]))
    record = folder / f"{words[words.index('--model') + 1]}.ckpt"
    for number in range(RUNS):  # each has more time than the one before: starting may take most of a short fit
        process = subprocess.Popen([TOOL, *map(str, words), "--checkpoint-every", "0.02"], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        while not record.exists() and process.poll() is None:
            time.sleep(0.01)
        try:
            _, said = process.communicate(timeout=draw.uniform(0, 0.8) * seconds * (1 + number / 5))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += record.exists()
        else:
            assert process.returncode == 0, said.decode()
            return kills
        words = [*words_with(draw.choice([1, 2, 3])), "--resume"]
    pytest.fail(f"expected a fit of {seconds:.1f} s to end within {RUNS} runs; {kills} were killed")


def test_compare_with_workers_says_what_one_says(table, tmp_path):
    words = ["compare", table, "--target", "y", "--seeds", 3, "--methods", "constant,ridge,bll,last-layer-laplace", "--json", *FEW]
    answers = []
    for workers in [1, 3]:
        done = run(tmp_path, *words, "--threads", workers)
        assert done.returncode == 0, done.stderr
        answers.append(without_seconds(json.loads(done.stdout)))
    assert answers[0] == answers[1]
    assert json.dumps(answers[0]).count("took a network that was trained before") >= 3


def without_seconds(value):
    if isinstance(value, list):
        return [without_seconds(one) for one in value]
    if isinstance(value, dict):
        return {name: without_seconds(one) for name, one in value.items() if "seconds" not in name}
    return value


def test_ctrl_c_keeps_the_members_that_are_finished(table, tmp_path):
    words = ["fit", table, "--target", "y", "--model", "m", "--threads", 2, "--method", "ensemble", "--of", "dnn", "--members", 500, *FEW]
    process = subprocess.Popen([TOOL, *map(str, words)], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    end = time.monotonic() + 60
    while len(list(tmp_path.glob("m.ckpt.*"))) < 6 and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said.decode()
    done = run(tmp_path, "describe", "m")
    assert "members of dnn" in done.stdout, done.stdout
