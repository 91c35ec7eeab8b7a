"""What a person sees on a terminal: nothing is wider than the window, whatever its size; off a terminal nothing is cut."""

import re
import unicodedata

import pytest
from conftest import header, raw_on_terminal, run, toy_rows, write_csv

COMMANDS = ["fit", "predict", "evaluate", "report", "explain", "update", "forget", "export", "compare", "rank-advice", "bounds", "methods", "describe",
            "generate", "demo"]
SIZES = [60, 80, 200]


def on_terminal(folder, columns, *words, code=0, **variables):
    """Everything that the tool writes to a terminal of so many columns, its escape codes removed."""
    text = raw_on_terminal(folder, words, code, columns, variables)
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\r\n", "\n")


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text if not unicodedata.combining(c))


def too_wide(text, columns):
    return [part for line in text.split("\n") for part in line.split("\r") if width(part) > columns]


def words_of(text):
    return text.replace("\\\n", " ").replace(", ", ",").split()


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminal")
    write_csv(folder / "toy.csv", header(2), toy_rows(200))
    wide = [[*row, "日本語の列" if i % 2 else "ordinary"] for i, row in enumerate(toy_rows(60))]
    write_csv(folder / "wide.csv", ["x0", "x1", "y", "名前"], wide)
    return folder


@pytest.mark.parametrize("columns", SIZES)
def test_help_and_descriptions_wrap_by_words(tmp_path, columns):
    texts = [["--help"], ["methods"], *([command, "--help"] for command in COMMANDS), ["describe", "dbk"],
             ["describe", "ensemble"], ["fit", "--method", "vbll", "--help"]]
    for words in texts:
        text = on_terminal(tmp_path, columns, *words)
        assert too_wide(text, columns) == [], words
        assert "".join(words_of(text)) == "".join(words_of(run(tmp_path, *words).stdout)), words


@pytest.mark.parametrize("columns", [30, *SIZES])
def test_progress_stays_on_one_row(tables, columns):
    words = ["fit", "toy.csv", "--target", "y", "--method", "dbk", "--threads", 1, "--steps", 400, "--patience", 0, "--model", f"m{columns}"]
    text = on_terminal(tables, columns, *words)
    drawn = [part for part in text.split("\r") if " % " in part]
    assert len(drawn) > 1 and all(part.startswith("dbk ") for part in drawn)
    assert too_wide(text, columns) == []
    assert not any("\n" in part for part in text.split("\r")[1:-1])  # each is drawn over the one before
    if columns == 200:
        assert all("steps/s" in part and "loss" in part and "[" in part for part in drawn)
    if columns >= 60:
        assert all("left" in part and "valid" in part for part in drawn)


def test_a_wide_table_goes_on_below(tables):
    words = ["compare", "toy.csv", "--target", "y", "--methods", "dbk,dnn,vbll,pp-dkl,sv-dkl", "--seeds", 2, "--threads", 1,
             "--steps", 20, "--rank", 8]
    names = ["mae", "rmse", "nll", "crps", "coverage", "width", "seconds", "fits"]
    for columns, blocks in ((60, 3), (80, 2), (200, 1)):
        text = on_terminal(tables, columns, *words)
        assert too_wide(text, columns) == []
        heads = [line.split() for line in text.split("\n") if line.startswith("method ")]
        assert [name for head in heads for name in head[1:]] == names  # each column once, in its order
        assert (len(heads) == 1) == (blocks == 1) and len(heads) >= blocks
        assert sum(line.startswith("pp-dkl ") for line in text.split("\n") if "%" not in line) == len(heads)
    plain = run(tables, *words)
    assert plain.stdout.split("\n")[0].split() == ["method", *names]


def test_notes_and_errors_wrap_by_words(tables):
    words = ["fit", "wide.csv", "--target", "y", "--method", "dbk", "--threads", 1, "--steps", 2, "--rank", 8, "--model", "w"]
    text = on_terminal(tables, 40, *words)
    notes = [line for line in run(tables, *words).stderr.splitlines() if line.startswith("note: ")]
    assert notes and too_wide(text, 40) == []
    assert all(" ".join(note.split()) in " ".join(text.split()) for note in notes)
    line = run(tables, "fit", "toy.csv", "--target", "z").stderr
    error = on_terminal(tables, 40, "fit", "toy.csv", "--target", "z", code=2)
    assert line.count("\n") == 1 and too_wide(error, 40) == [] and error.split() == line.split()


def test_the_variable_columns_overrides_the_window(tmp_path):
    text = on_terminal(tmp_path, 200, "methods", COLUMNS="50")
    assert too_wide(text, 50) == [] and max(map(width, text.split("\n"))) > 40


def test_the_progress_line_says_what_ends_the_fit(tmp_path):
    """Where nothing improves, patience ends the fit long before the budget."""
    noise = [[*row[:2], (i * 7919) % 101] for i, row in enumerate(toy_rows(200))]
    write_csv(tmp_path / "noise.csv", header(2), noise)
    words = ["fit", "noise.csv", "--target", "y", "--method", "dbk", "--model", "m", "--noise-folds", 0, "--steps", 200000]
    text = on_terminal(tmp_path, 200, *words, "--patience", 60)
    assert re.search(r"ends in \d+ s if nothing improves", text), text[-2000:]
    text = on_terminal(tmp_path, 200, *words, "--patience", 0, "--time-limit", 2)
    left = [int(seconds) for seconds in re.findall(r"(\d+) s left", text)]
    assert left and max(left) <= 2 and "if nothing improves" not in text
