"""Names, labels, paths and model files come from anywhere: their text commands no terminal, data stay."""

import json
import pathlib
import subprocess

import pytest
from conftest import TOOL, raw_on_terminal, run, toy_rows, write_csv

ESCAPE, C1, BIDI = "\x1b[2J\x1b]0;title\x07", "\u009b31m", "\u202ereversed\u2066\u200e\u200f\u061c"
EVIL = ESCAPE + C1 + BIDI
FORBIDDEN = [chr(c) for first, end in [(0, 9), (11, 13), (14, 32), (127, 0xA0), (0x202A, 0x202F),
                                       (0x2066, 0x206A), (0x200E, 0x2010), (0x061C, 0x061D)] for c in range(first, end)]


def on_terminal(folder, *words, code=0):
    return raw_on_terminal(folder, words, code)


def harmless(text):
    """Without the tool's own bold and its line of progress."""
    for own in ("\x1b[1m", "\x1b[0m", "\x1b[K"):
        text = text.replace(own, "")
    found = [c for c in FORBIDDEN if c in text]
    assert not found, (found, text)
    return text


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """A table whose columns, classes and file names hold escapes, and its model."""
    folder = tmp_path_factory.mktemp("evil")
    labels = [f"high{EVIL}", f"low{EVIL}"]
    rows = [[x, f"{EVIL}{i % 3}", labels[y > 0]] for i, (x, _, y) in enumerate(toy_rows(90))]
    write_csv(folder / f"{EVIL.replace('/', '')}.csv", [f"x{EVIL}", f"c{EVIL}", f"y{EVIL}"], rows)
    write_csv(folder / "t.csv", [f"x{EVIL}", f"c{EVIL}", f"y{EVIL}"], rows)
    done = run(folder, "fit", "t.csv", "--target", f"y{EVIL}", "--model", "m", "--threads", 1, "--steps", 30)
    assert done.returncode == 0, done.stderr
    harmless(done.stdout + done.stderr)
    return folder


@pytest.mark.parametrize("words", [
    ["fit", "t.csv", "--target", f"y{EVIL}", "--model", f"again{EVIL}", "--threads", 1, "--steps", 30,
     "--test-fraction", 0.2],
    ["fit", f"{EVIL}.csv", "--target", f"y{EVIL}", "--model", "m2", "--threads", 1, "--steps", 30, "--json"],
    ["compare", "t.csv", "--target", f"y{EVIL}", "--methods", "vbll,sv-dkl", "--threads", 1, "--steps", 10],
    ["predict", "m", "t.csv", "--keep", f"c{EVIL}"],
    ["evaluate", "m", "t.csv", "--ood", f"{EVIL}.csv"],
    ["evaluate", "m", "t.csv", "--json"],
    ["describe", "m"],
    ["describe", "m", "--json"],
])
def test_a_terminal_gets_no_commands(evil, words):
    harmless(on_terminal(evil, *words))


@pytest.mark.parametrize("words", [
    ["predict", "m", f"absent{EVIL}.csv"], ["predict", f"absent{EVIL}", "t.csv"],
    ["describe", f"./absent{EVIL}"], ["fit", "t.csv", "--target", f"absent{EVIL}"],
    ["fit", "t.csv", "--target", f"y{EVIL}", "--ignore", f"no{EVIL}"],
    [EVIL], ["evaluate", "m", "t.csv", "--split", EVIL], ["fit", "t.csv", "--target", "y", f"--{EVIL}"],
])
def test_errors_hold_none_wherever_they_go(evil, words):
    harmless(on_terminal(evil, *words, code=2))
    done = run(evil, *words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    harmless(done.stderr)


def test_a_cell_that_is_quoted_holds_none(evil):
    (evil / "bad.csv").write_text(f"x,y\n1,2\n3,4\n5,6\n{EVIL},8\n")
    done = run(evil, "fit", "bad.csv", "--target", "y")
    assert done.returncode == 2 and "bad.csv:5" in done.stderr
    harmless(done.stderr)


def test_a_page_holds_none(evil):
    done = run(evil, "report", "m", "t.csv", "--out", "page.html")
    assert done.returncode == 0, done.stderr
    harmless((evil / "page.html").read_text())


def test_data_in_a_pipe_stay_as_they_are(evil):
    done = run(evil, "predict", "m", "t.csv", "--keep", f"c{EVIL}")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and EVIL in lines[0] and EVIL in lines[1]
    assert f"y{EVIL}" in json.loads(run(evil, "describe", "m", "--json").stdout)["encoder"]["target"]
    harmless(run(evil, "describe", "m").stdout)  # for a person, wherever it goes


def test_wide_letters_and_accents_stay(tmp_path):
    write_csv(tmp_path / "t.csv", ["日本語", "naïve", "y"], toy_rows(60))
    done = run(tmp_path, "fit", "t.csv", "--target", "y", "--model", "m", "--threads", 1, "--steps", 10)
    assert done.returncode == 0, done.stderr
    text = on_terminal(tmp_path, "describe", "m")
    assert "日本語" in text and "naïve" in text


def test_paths_that_lead_nowhere_are_one_line(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    write_csv(tmp_path / "t.csv", ["x", "y"], [[i, i] for i in range(20)])
    for model in ("loop", "a" * 300, "a/" * 3000):
        for words in (["describe", model], ["evaluate", model, "t.csv"], ["predict", model, "t.csv"]):
            done = run(tmp_path, *words)
            assert done.returncode == 2, (words[0], done.stderr)
            assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
            assert "filesystem" not in done.stderr


def test_a_working_folder_that_is_gone_is_one_line(tmp_path):
    gone = pathlib.Path(tmp_path / "gone")
    gone.mkdir()
    for words in ("describe m.safetensors", "evaluate m.safetensors t.csv"):
        done = subprocess.run(f"cd '{gone}' && rmdir '{gone}' && exec '{TOOL}' {words}", shell=True,
                              capture_output=True, text=True)
        gone.mkdir()
        assert done.returncode == 2 and done.stdout == ""
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
