"""The library names options by tokens, `.valid_fraction`: the tool shows flags that it has, and never takes foreign text for a token."""

import json
import re

import pytest
from conftest import ROOT, run, toy_rows, write_csv

COMMANDS = ["fit", "compare", "predict", "evaluate", "report", "explain", "update", "forget", "merge", "export", "rank-advice", "bounds"]
FORGED = "`.class_rows`"  # what a token of an option looks like; no command below speaks of this option
FEW = ["--threads", 1, "--steps", 30]


def tokens_of(text):
    return set(re.findall(r"`\.([a-z0-9_]+)(?:=[^`]*)?`", text))


@pytest.fixture(scope="module")
def help_texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("help")
    methods = [m["name"] for m in json.loads(run(folder, "methods", "--json").stdout)]
    return [run(folder, *words, "--help").stdout for words in [[c] for c in COMMANDS] + [["fit", "--method", m] for m in methods]]


def test_every_token_of_the_sources_is_a_flag_of_the_tool(help_texts):
    flags = set(re.findall(r"^ +(--[a-z0-9-]+)", "".join(help_texts), re.M))
    named = set()
    for path in (ROOT / "slimbayes").rglob("*"):
        if path.suffix in (".h", ".cpp") and path.stem != "option_tokens":
            named |= tokens_of(path.read_text(encoding="utf-8"))
    assert len(named) > 60 and len(flags) > 100
    assert {f"--{name.replace('_', '-')}" for name in named} - flags == set()


def test_help_and_descriptions_hold_no_tokens(help_texts, tmp_path):
    texts = [*help_texts, run(tmp_path, "describe", "--json").stdout, run(tmp_path, "methods").stdout]
    for method in json.loads(texts[-2]):
        texts += [run(tmp_path, "describe", method["name"], *words).stdout for words in ([], ["--json"])]
    assert all(tokens_of(text) == set() for text in texts)
    assert any("--likelihood cox" in text for text in texts) and any("evaluate --ood" in text for text in texts)


@pytest.fixture(scope="module")
def forged(tmp_path_factory):
    """A table whose columns, classes and file name look like tokens, and its model."""
    folder = tmp_path_factory.mktemp("forged")
    labels = [f"high{FORGED}", f"low{FORGED}"]
    rows = [[x, f"{FORGED}{i % 3}", i, labels[y > 0]] for i, (x, _, y) in enumerate(toy_rows(90))]
    for name in f"{FORGED}.csv", "t.csv":
        write_csv(folder / name, [f"x{FORGED}", f"c{FORGED}", f"n{FORGED}", FORGED], rows)
    write_csv(folder / "bad.csv", [f"x{FORGED}", f"c{FORGED}", f"n{FORGED}"], [["1", "2", FORGED]])
    done = run(folder, "fit", f"{FORGED}.csv", "--target", FORGED, "--model", FORGED, *FEW)
    assert done.returncode == 0, done.stderr
    return folder


def untouched(done, code=0):
    """What a command printed, in which foreign texts must stand as they are."""
    text = done.stdout + done.stderr
    assert done.returncode == code, text
    assert "--class-rows" not in text and "``." not in text, text
    return text


@pytest.mark.parametrize("words", [
    ["fit", f"{FORGED}.csv", "--target", FORGED, "--model", f"m{FORGED}", "--test-fraction", 0.2, *FEW],
    ["fit", "t.csv", "--target", FORGED, "--model", "m", "--json", "--categorical", f"n{FORGED}", *FEW],
    ["fit", "t.csv", "--target", f"x{FORGED}", "--model", "m", "--json", *FEW],
    ["compare", "t.csv", "--target", FORGED, "--methods", "vbll,logistic", "--json", *FEW],
    ["predict", FORGED, f"{FORGED}.csv", "--keep", f"c{FORGED}"],
    ["evaluate", FORGED, "t.csv"], ["evaluate", FORGED, "t.csv", "--json"],
    ["report", FORGED, "t.csv", "--out", f"{FORGED}.html"], ["report", FORGED, "t.csv", "--json"],
    ["describe", f"./{FORGED}"], ["describe", f"./{FORGED}", "--json"]])
def test_foreign_texts_are_shown_as_they_are(forged, words):
    assert FORGED in untouched(run(forged, *words))


@pytest.mark.parametrize("words", [
    ["fit", f"absent{FORGED}.csv", "--target", "y"], ["fit", "t.csv", "--target", f"absent{FORGED}"],
    ["fit", "t.csv", "--target", "x", "--ignore", f"absent{FORGED}"], ["fit", "t.csv", "--method", FORGED],
    ["fit", "t.csv", "--target", FORGED, "--likelihood", "gaussian"], ["fit", "t.csv", "--target", "x", f"--{FORGED}"],
    ["fit", "t.csv", "--target", "x", "--scale", FORGED], ["fit", "t.csv", "--target", "x", "--steps", FORGED],
    ["predict", f"absent{FORGED}", "t.csv"], ["predict", FORGED, "bad.csv"], ["predict", FORGED, "t.csv", "--keep", f"absent{FORGED}"],
    ["predict", FORGED, "t.csv", "--rename", f"absent{FORGED}=x{FORGED}"], ["predict", FORGED, "t.csv", "--fill", f"x{FORGED}=1"],
    ["predict", FORGED, "t.csv", "--rename", f"{FORGED}=absent"], ["evaluate", FORGED, "t.csv", "--ood", f"absent{FORGED}.csv"],
    ["merge", FORGED, FORGED, "--out", "out"], ["export", FORGED, "--out", FORGED], [FORGED], ["describe", f"absent{FORGED}"]])
def test_mistakes_show_foreign_texts_as_they_are(forged, words):
    assert FORGED in untouched(run(forged, *words), code=2)


def test_the_page_sets_options_as_code_and_foreign_texts_as_text(forged):
    untouched(run(forged, "report", FORGED, "t.csv", "--out", "page.html", "--split", "all"))
    page = (forged / "page.html").read_text(encoding="utf-8")
    assert FORGED in page and "--class-rows" not in page and "``." not in page
    assert tokens_of(page) <= {"class_rows"} and "<code>--" in page
