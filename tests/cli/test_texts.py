"""fit, predict and evaluate on a column of text."""

import csv
import json

import pytest
from conftest import refused, run
from inputs import reviews

FIT = ["fit", "reviews.csv", "--target", "label", "--text", "text", "--model", "m.safetensors"]
SHORT = ["--steps", "150", "--hidden", "16", "--blocks", "1", "--heads", "2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    reviews(folder / "reviews.csv", 300)
    done = run(folder, *FIT, "--test-fraction", "0.2", "--json", *SHORT)
    assert done.returncode == 0, done.stderr
    (folder / "fit.json").write_text(done.stdout)
    return folder


def answers(folder, text, *words):
    (folder / "new.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run(folder, "predict", "m.safetensors", "new.csv", *words)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.splitlines())), done.stderr


def test_two_numbers_are_classes_and_are_learnt(folder):
    report = json.loads((folder / "fit.json").read_text())
    assert report["method"] == "auto" and report["test"]["accuracy"] > 0.9


def test_predict_needs_the_text_alone(folder):
    found, _ = answers(folder, "text,id\na good story,7\nthe bad film,8\n", "--keep", "id")
    assert [row["label"] for row in found] == ["1", "0"] and [row["id"] for row in found] == ["7", "8"]


def test_an_answer_does_not_depend_on_its_neighbours(folder):
    alone, _ = answers(folder, "text\na good story\n")
    beside, _ = answers(folder, "text\na good story\nthe film was a story of people and the film was a story of people\n")
    assert abs(float(alone[0]["p_1"]) - float(beside[0]["p_1"])) < 1e-6


def test_empty_unknown_and_odd_texts_are_answered_with_a_note(folder):
    found, said = answers(folder, 'text\n""\nzzz qqq\n"ＧＯＯＤ film"\n')
    assert len(found) == 3 and all(0 <= float(row["p_1"]) <= 1 for row in found)
    assert "1 of 3 rows has no word in 'text'" in said and "1 of 3 rows has no word of the vocabulary" in said
    assert found[2]["label"] == "1"  # full-width letters are letters


def test_bytes_that_are_no_utf8_are_one_sentence_or_an_answer(folder):
    (folder / "bytes.csv").write_bytes(b"text\ngood \xff\xfe film\n")
    done = run(folder, "predict", "m.safetensors", "bytes.csv")
    assert done.returncode in (0, 2)
    if done.returncode == 2:
        assert len(done.stderr.splitlines()) == 1 and "bytes.csv" in done.stderr


def test_a_text_of_numbers_is_text(folder):
    found, _ = answers(folder, "text\n1\n2\n")
    assert len(found) == 2


@pytest.mark.parametrize(("words", "sentence"), [
    (["--text", "txt"], "did you mean 'text'?"),
    (["--text", "text", "--network", "lstm"], "transformer and bag_of_words take it"),
    (["--text", "text", "--method", "gp-exact"], "expected an input that gp-exact takes, table; received text"),
    (["--text", "text", "--window", "3"], "one kind of input"),
    (["--text", "text", "--vocabulary", "0"], "vocabulary"),
    (["--text", "text", "--heads", "3"], "received --hidden 64 and --heads 3; --heads 2 divides it"),
    (["--text", "text", "--scale", "standard"], "received --scale, which belongs to 'Target and columns'"),
    (["--text", "text", "--ignore", "text"], "received --ignore"),
    (["--text", "text", "--activation", "tanh"], "--activation, which belongs to tabular_resnet, mlp; leave it out"),
])
def test_what_does_not_fit_is_one_sentence(folder, words, sentence):
    assert sentence in refused(folder, *FIT[:4], "--model", "no.safetensors", *words)
