"""Columns of yes and no: texts, booleans and 0/1 mean the same, in the tool's files and in frames, as inputs and as classes."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import slimbayes as sb
import toys

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")

WORDS = {"yes": ("no", "yes"), "TRUE": ("FALSE", "TRUE"), "True": ("False", "True"), "1": ("0", "1")}
FITS = {"inputs": ("y", sb.Regressor, "ridge"), "classes": ("t", sb.Classifier, "logistic")}


def columns(target, rows=80):
    draw = np.random.default_rng(0)
    x, b = draw.normal(size=rows), draw.random(rows) < 0.5
    noise = 0.3 * draw.normal(size=rows)
    return {"x": x, "b": b, target: x + 2 * b + noise if target == "y" else x + b + noise > 0.5}


def spelled(data, change):
    return {name: change(cells) if cells.dtype == bool else cells for name, cells in data.items()}


def written(path, data, words):
    pd.DataFrame(spelled(data, lambda bits: np.where(bits, words[1], words[0]))).to_csv(path, index=False)
    return path


def frames(folder, data):
    """The same rows as a user may hold them."""
    for name, words in WORDS.items():
        yield f"read_csv of {name}", pd.read_csv(written(folder / "frame.csv", data, words))
    kinds = {"booleans": lambda bits: bits, "int": lambda bits: bits.astype(int), "float": lambda bits: bits.astype(float),
             "nullable": lambda bits: pd.array(bits, dtype="boolean"), "categories": lambda bits: pd.Categorical(np.where(bits, "Yes", "No"))}
    for name, change in kinds.items():
        yield name, pd.DataFrame(spelled(data, change))
    yield "pyarrow", pa.table(data)
    yield "pyarrow texts", pa.table(spelled(data, lambda bits: np.where(bits, "true", "false").tolist()))
    polars = pytest.importorskip("polars")
    yield "polars", polars.DataFrame(data)
    yield "polars int", polars.DataFrame(spelled(data, lambda bits: bits.astype(np.int8)))


@pytest.mark.parametrize("what", FITS)
@pytest.mark.parametrize("words", WORDS)
def test_a_model_of_the_tool_takes_every_frame(tmp_path, what, words):
    target, _, method = FITS[what]
    data = columns(target)
    written(tmp_path / "train.csv", data, WORDS[words])
    toys.tool(tmp_path, "fit", "train.csv", "--target", target, "--method", method, "--model", "m", "--threads", 1)
    model = sb.load(tmp_path / "m")
    expected = json.loads(toys.tool(tmp_path, "evaluate", "m", "train.csv", "--json"))["nll"]
    for name, frame in frames(tmp_path, data):
        assert model.evaluate(frame)["nll"] == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize("what", FITS)
def test_a_model_of_every_frame_takes_files_of_the_tool(tmp_path, what):
    target, estimator, method = FITS[what]
    data = columns(target)
    files = [written(tmp_path / f"{name}.csv", data, words) for name, words in WORDS.items()]
    for i, (name, frame) in enumerate(frames(tmp_path, data)):
        model = estimator(method).fit(frame, target)
        model.save(tmp_path / "m")
        expected = model.evaluate(frame)["nll"]
        for file in files[i % 2 :: 2]:  # of all pairs, half: each takes a second
            found = json.loads(toys.tool(tmp_path, "evaluate", "m", file, "--json"))["nll"]
            assert found == pytest.approx(expected, abs=1e-9), (name, file.name)


def test_another_value_is_refused_in_a_sentence(tmp_path):
    data = columns("y")
    model = sb.Regressor("ridge").fit(pd.DataFrame(data), "y")
    for cells in (np.arange(80), np.where(data["b"], "yes", "perhaps"), data["b"] + 0.5):
        with pytest.raises(ValueError, match="^expected a boolean column 'b' as in training; received a "):
            model.predict(pd.DataFrame({"x": data["x"], "b": cells}))


def test_no_message_names_a_function(tmp_path):
    X, y = toys.matrix(30)
    model = sb.Regressor("ridge").fit(X, y)
    calls = [lambda: model.predict(X[:, :2]), lambda: sb.Regressor("ridge", split="no").fit(X, y), lambda: sb.Regressor("dbk", rank=0).fit(X, y),
             lambda: sb.load(tmp_path / "absent"), lambda: model.predict_interval(X, level=2), lambda: sb.compare(X, y, ["ridge"], seeds=0),
             lambda: sb.Regressor("vbll", likelihood="student").fit(X, y), lambda: sb.Regressor("ridge", window=3, time="t").fit(X, y)]
    for call in calls:
        with pytest.raises((ValueError, TypeError, OSError)) as raised:
            call()
        assert not str(raised.value).startswith("[") and "] expected" not in str(raised.value), str(raised.value)
