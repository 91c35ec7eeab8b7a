"""`predict` by slimbayes_rows, the plugin without the tensor library: the same bytes as the engine writes, and what it leaves to the engine.
Of classes and counts the two agree to 1e-6; here they agree in all digits that are written."""

import os
import random
import shutil
import subprocess

import pytest
from conftest import FEW, TOOL, run

TARGETS = ["price", "kind", "visits"]


def houses(path, rows, seed=1, more=None):
    draw = random.Random(seed)
    lines = ["size,street,sold,garden,price,kind,visits"]
    for i in range(rows):
        size, street, garden = draw.uniform(40, 200), draw.choice(["north", "south", "park"]), draw.random() < 0.5
        price = 900 + 8 * size + 50 * garden + draw.gauss(0, 25)
        kind = "small" if size + draw.gauss(0, 15) < 90 else "middle" if size + draw.gauss(0, 15) < 140 else "large"
        lines.append(f"{'' if i % 13 == 5 else round(size, 1)},{street},2024-{1 + i % 12:02}-{1 + i % 28:02},{str(garden).lower()},{price:.2f},{kind},"
                     f"{int(draw.expovariate(40 / size))}")
    path.write_text("\n".join(lines + (more or [])) + "\n")
    return path


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The tool and the plugin without tensors, alone in a folder: a request that needs the engine fails there."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "lib").mkdir()
    shutil.copy(TOOL, folder / "slimbayes")
    shutil.copy(TOOL.parent / "lib" / "slimbayes_rows.so", folder / "lib")
    return folder / "slimbayes"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with a table, fresh rows and models by name."""
    folder = tmp_path_factory.mktemp("models")
    houses(folder / "houses.csv", 300)
    houses(folder / "new.csv", 120, seed=2)
    for name, target, *words in [
            ("dbk", "price", "--method", "dbk", *FEW), ("ridge", "price", "--method", "ridge"), ("logistic", "kind", "--method", "logistic"),
            ("auto", "price", "--candidates", "constant,ridge", "--time-limit", "20"), ("dnn", "kind", "--method", "dnn", *FEW),
            ("pool", "kind", "--candidates", "constant,logistic,extra-trees", "--trees", "20"),
            ("conformal", "price", "--method", "ridge", "--calibrate", "conformal"), ("sets", "kind", "--method", "logistic", "--calibrate", "conformal", "--calibration-fraction", "0.3"),
            ("counts", "visits", "--method", "vbll", "--likelihood", "poisson", *FEW)]:
        ignored = ",".join(other for other in TARGETS if other != target)
        done = run(folder, "fit", "houses.csv", "--target", target, "--ignore", ignored, "--model", f"{name}.safetensors", *words)
        assert done.returncode == 0, done.stderr
    return folder


def hours(path, towns=("north", "south"), skip=()):
    """Hours of towns: load, warm and the class busy. A row in `skip` is not there, which is a gap in time."""
    draw = random.Random(5)
    lines = ["town,time,load,warm,busy"]
    for town in towns:
        for i in range(130):
            load, warm = 5 + (i % 24) / 12 + draw.gauss(0, 0.2), draw.uniform(10, 14)
            if i not in skip:
                lines.append(f"{town},2024-03-{1 + i // 24:02}T{i % 24:02}:00:00,{load:.3f},{'' if i % 17 == 9 else round(warm, 2)},{'yes' if load > 6 else 'no'}")
    path.write_text("\n".join(lines) + "\n")


def opinions(path, rows):
    draw = random.Random(6)
    words = ["the", "film", "was", "a", "story", "\u00dcber", "of", "people"]
    lines = ["text,stars,liked"]
    for i in range(rows):
        text = " ".join(["Good" if i % 2 else "bad", *draw.choices(words, k=draw.randrange(9))])
        lines.append(f"{'??' if i % 20 == 9 else '' if i % 20 == 3 else text},{i % 2 * 2 + draw.uniform(-0.3, 0.3):.2f},{'yes' if i % 2 else 'no'}")
    path.write_text("\n".join(lines) + "\n")


SERIES = ["--window", "4", "--horizon", "2", "--time", "time", "--group", "town"]
TEXTS = ["--text", "text", "--longest", "6"]


@pytest.fixture(scope="module")
def sequences(tmp_path_factory):
    """A folder with models of windows and of texts by name, and what they answer."""
    folder = tmp_path_factory.mktemp("sequences")
    hours(folder / "hours.csv")
    hours(folder / "gaps.csv", towns=("south", "east"), skip=(40, 41, 90))
    opinions(folder / "texts.csv", 160)
    for name, data, target, *words in [
            ("lstm", "hours.csv", "load", *SERIES, "--ignore", "busy", "--method", "dbk", *FEW, "--calibrate", "conformal", "--calibration-fraction", "0.3"),
            ("filled", "hours.csv", "load", *SERIES, "--ignore", "busy", "--method", "ridge", "--fill-gaps"),
            ("busy", "hours.csv", "busy", *SERIES, "--method", "logistic", "--calibrate", "conformal", "--calibration-fraction", "0.3"),
            ("bag", "texts.csv", "stars", *TEXTS, "--method", "bag-of-words", *FEW),
            ("liked", "texts.csv", "liked", *TEXTS, "--method", "dnn", "--network", "bag_of_words", *FEW)]:
        done = run(folder, "fit", data, "--target", target, "--model", f"{name}.safetensors", *words)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name, data", [("lstm", "hours.csv"), ("lstm", "gaps.csv"), ("filled", "gaps.csv"), ("busy", "gaps.csv"), ("bag", "texts.csv"), ("liked", "texts.csv")])
def test_windows_and_texts_too(bare, sequences, name, data):
    request = ["predict", f"{name}.safetensors", data]
    alone, whole = subprocess.run([bare, *request], cwd=sequences, capture_output=True, text=True), by_engine(sequences, *request)
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, whole.stdout, whole.stderr)
    assert len(alone.stdout.splitlines()) > 100
    assert ("forecast_time" in alone.stdout) == (data != "texts.csv")
    assert "note: " in alone.stderr or data == "hours.csv"


def by_engine(folder, *words):
    return run(folder, *words, env=os.environ | {"SLIMBAYES_ENGINE": "engine"})


LEVELS = ["--level", "0.5,0.9"]  # of classes without calibration a level says nothing, which the engine notes


@pytest.mark.parametrize("name, words", [*((name, []) for name in ("dbk", "ridge", "auto", "logistic", "dnn", "pool", "conformal", "sets", "counts")),
                                         *((name, LEVELS) for name in ("dbk", "auto", "conformal", "sets", "counts"))],
                         ids=lambda given: given if isinstance(given, str) else "levels" if given else "plain")
def test_the_same_bytes_as_the_engine(bare, models, name, words):
    request = ["predict", f"{name}.safetensors", "new.csv", *words]
    alone = subprocess.run([bare, *request], cwd=models, capture_output=True, text=True)
    assert alone.returncode == 0, alone.stderr
    whole = by_engine(models, *request)
    assert (alone.stdout, alone.stderr) == (whole.stdout, whole.stderr)
    assert len(alone.stdout.splitlines()) == 121
    subprocess.run([bare, *request, "--out", "alone.csv"], cwd=models, check=True, capture_output=True)
    assert by_engine(models, *request, "--out", "whole.csv").returncode == 0
    assert (models / "alone.csv").read_bytes() == (models / "whole.csv").read_bytes()


def test_notes_are_those_of_the_engine(bare, models):
    houses(models / "odd.csv", 40, seed=3, more=["900,castle,2024-01-01,true,1,small,1", "80,,2024-01-02,,1,small,1"])
    for name in "ridge", "logistic":
        request = ["predict", f"{name}.safetensors", "odd.csv"]
        alone, whole = subprocess.run([bare, *request], cwd=models, capture_output=True, text=True), by_engine(models, *request)
        assert (alone.returncode, alone.stdout, alone.stderr) == (0, whole.stdout, whole.stderr)
        assert "outside the training range" in alone.stderr and "castle" in alone.stderr


@pytest.mark.parametrize("words", [["ridge.safetensors", "new.csv", "--keep", "size"], ["ridge.safetensors", "new.csv", "--keep-outside"],
                                   ["ridge.safetensors", "new.csv", "--out", "every_digit.parquet"], ["ridge.safetensors", "far.csv"], ["ridge.safetensors", "narrow.csv"], ["absent.safetensors", "new.csv"],
                                   ["new.csv", "ridge.safetensors"], ["logistic.safetensors", "new.csv", "--level", "0.5"],
                                   ["ridge.safetensors", "new.csv", "--rename", "size=extent"], ["ridge.safetensors", "new.csv", "--level", "0.5,0.5"]],
                         ids=lambda words: "-".join(word.strip("-") for word in words))
def test_the_engine_answers_the_rest(bare, models, words):
    houses(models / "far.csv", 10, seed=4, more=["1e12,north,2024-01-01,true,1,small,1"])
    (models / "narrow.csv").write_text("size\n80\n")
    alone = subprocess.run([bare, "predict", *words], cwd=models, capture_output=True, text=True)
    assert alone.returncode == 1 and "the engine could not be found" in alone.stderr and not alone.stdout
    both, whole = run(models, "predict", *words), by_engine(models, "predict", *words)
    assert (both.returncode, both.stdout, both.stderr) == (whole.returncode, whole.stdout, whole.stderr)


def test_standard_input_is_read_once(models):
    done = run(models, "predict", "ridge.safetensors", "-", input=(models / "new.csv").read_text())
    assert done.returncode == 0 and done.stdout == run(models, "predict", "ridge.safetensors", "new.csv").stdout


def test_a_full_disk_is_an_error_once(bare, models):
    for tool in bare, TOOL:
        with open("/dev/full", "w") as full:
            done = subprocess.run([tool, "predict", "ridge.safetensors", "new.csv"], cwd=models, stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1 and done.stderr.count("standard output could not be written") == 1, done.stderr
