"""Traps that a reader of the package found: each gave a silent wrong answer or a raw exception once."""

import copy
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import slimbayes as sb
import toys

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")


def wide(rows=200, columns=12):
    X = np.random.default_rng(0).normal(size=(rows, columns))
    return X, X @ np.arange(1.0, columns + 1)


def test_a_loaded_model_reads_an_array_by_its_own_columns(tmp_path):
    X, _ = wide()
    X[:, 4] = 7  # a constant column is no input
    y = X @ np.arange(1.0, 13)
    model = sb.Regressor("ridge").fit(X, y)
    model.save(tmp_path / "m.safetensors")
    loaded = sb.load(tmp_path / "m.safetensors")
    assert (loaded.predict(X) == model.predict(X)).all() and loaded.score(X, y) > 0.999
    assert loaded.n_features_in_ == 12 and not hasattr(loaded, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 5 features, but Regressor is expecting 12"):
        loaded.predict(X[:, :5])


def test_a_loaded_model_of_a_frame_knows_its_names(tmp_path):
    X, y = wide(columns=3)
    frame = pd.DataFrame(X, columns=["z", "b", "a"])
    model = sb.Regressor("ridge").fit(frame, y)
    model.save(tmp_path / "m.safetensors")
    loaded = sb.load(tmp_path / "m.safetensors")
    assert (loaded.predict(frame) == model.predict(frame)).all()
    assert loaded.n_features_in_ == 3 and loaded.feature_names_in_.tolist() == ["z", "b", "a"]
    with pytest.warns(UserWarning, match="valid feature names"):
        assert (loaded.predict(X) == model.predict(frame)).all()
    sb.Regressor("ridge", ignore="b").fit(frame, y).save(tmp_path / "i.safetensors")
    loaded = sb.load(tmp_path / "i.safetensors")  # the file does not say where the ignored column was
    assert loaded.n_features_in_ == 2 and loaded.feature_names_in_.tolist() == ["z", "a"]
    with pytest.raises(ValueError, match="X has 3 features, but Regressor is expecting 2"):
        loaded.predict(X)
    with pytest.warns(UserWarning, match="valid feature names"):
        assert (loaded.predict(X[:, [0, 2]]) == loaded.predict(frame)).all()


def test_a_loaded_model_of_texts_knows_its_column(tmp_path):
    frame = pd.DataFrame({"words": ["a good film", "a bad film"] * 30, "other": range(60)})
    sb.Classifier("dnn", steps=5, text="words").fit(frame, [0, 1] * 30).save(tmp_path / "m.safetensors")
    loaded = sb.load(tmp_path / "m.safetensors")
    assert loaded.n_features_in_ == 1 and loaded.feature_names_in_.tolist() == ["words"]
    assert (loaded.predict(frame) == loaded.predict(frame[["words"]])).all()


def test_a_loaded_forecaster_knows_its_columns(tmp_path):
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"t": np.tile(np.arange(60), 2), "x": draw.normal(size=120), "g": np.repeat(["u", "v"], 60), "y": draw.normal(size=120)})
    model = sb.Forecaster("ridge", window=3, time="t", group="g").fit(frame, "y")
    model.save(tmp_path / "m.safetensors")
    loaded = sb.load(tmp_path / "m.safetensors")
    assert model.n_features_in_ == loaded.n_features_in_ == 3
    assert sorted(model.feature_names_in_) == sorted(loaded.feature_names_in_) == ["g", "t", "x"]
    assert (loaded.predict(frame) == model.predict(frame)).all()
    with pytest.raises(ValueError, match="a data frame with the columns"):  # a file does not know the order of an array
        loaded.predict(frame[["t", "x", "y"]].to_numpy())


def labelled(rows=300):
    X, y = wide(rows, 3)
    return X, np.array(["p", "q", "s"])[np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))]


def test_validation_rows_do_not_change_the_classes():
    X, label = labelled()
    some = label != "p"
    model = sb.Classifier("logistic").fit(X, label, valid=(X[some][:40], label[some][:40]))
    assert model.classes_.tolist() == ["p", "q", "s"] and model.score(X, label) > 0.8
    pixels = np.repeat(np.array([[20], [120], [240]], dtype=np.uint8), 16, axis=1).reshape(3, 4, 4)[np.searchsorted(["p", "q", "s"], label)]
    images = sb.Classifier("dnn", epochs=3).fit(pixels, label, valid=(pixels[some][:40], label[some][:40]))
    assert images.classes_.tolist() == ["p", "q", "s"] and set(images.predict(pixels)) <= {"p", "q", "s"}


def test_a_second_fit_has_its_own_classes():
    X, label = labelled()
    other = pd.DataFrame(X).assign(sp=np.where(X[:, 0] > 0, "x", "z"))
    model = sb.Classifier("logistic").fit(X, np.where(X[:, 0] > 0, "a", "b"))
    model.fit(other, "sp")
    assert model.classes_.tolist() == ["x", "z"] and set(model.predict(other)) == {"x", "z"}
    with pytest.raises(ValueError, match="finite"):
        model.fit(np.full_like(X, np.inf), label)
    assert model.classes_.tolist() == ["x", "z"]


@pytest.mark.parametrize("kind", [">f8", ">f4", ">i4", ">u2"])
def test_numbers_of_another_byte_order_are_the_same_numbers(kind):
    X, y = wide()
    X = np.round(10 * X + 50).clip(0)
    model = sb.Regressor("ridge").fit(X, y)
    assert (model.predict(X.astype(kind)) == model.predict(X)).all()
    assert (sb.Regressor("ridge").fit(X.astype(kind), y.astype(">f8")).predict(X) == model.predict(X)).all()


def test_a_class_is_not_made_up_for_a_row_without_an_answer():
    X, label = labelled()
    model = sb.Classifier("logistic").fit(X, label)
    X = X[:3].copy()
    X[1, 0] = 1e30
    assert np.isnan(model.predict_proba(X)[1]).all()
    with pytest.raises(sb.DataError, match="row 2"):
        model.predict(X)


def test_lists_keep_numbers_beside_texts():
    rows = [[float(i % 60), "ab"[i % 2]] for i in range(300)]
    y = [3 * i % 60 + (i % 2) for i, _ in enumerate(rows)]
    model = sb.Regressor("ridge").fit(rows, y)
    as_objects = sb.Regressor("ridge").fit(np.array(rows, dtype=object), y)
    assert (model.predict(rows[:50]) == as_objects.predict(rows[:50])).all()
    with pytest.raises(ValueError, match="NaN"):
        sb.Classifier("logistic").fit(wide(300, 2)[0], ["a", "b", float("nan")] * 100)


def test_the_name_of_another_column_is_no_target():
    X, y = wide(columns=2)
    frame = pd.DataFrame(X, columns=["u", "v"]).assign(y=y, other=-y)
    model = sb.Regressor("ridge").fit(frame.drop(columns="other"), "y")
    for ask in model.evaluate, model.report, model.update:
        with pytest.raises(ValueError, match="'y'.*received 'other'"):
            ask(frame, "other")


def test_large_whole_numbers_stay_apart():
    X, y = wide(300, 2)
    labels = np.array([5, 2**53, 2**53 + 1])[np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))]
    model = sb.Classifier("logistic").fit(X, labels)
    assert len(model.classes_) == 3 and model.score(X, labels) > 0.8


def test_predictions_warn_of_what_the_tool_notes():
    frame, y = toys.table()
    model = sb.Regressor("ridge").fit(frame, y)
    with pytest.warns(sb.Note, match="not seen in training") as caught:
        model.predict(frame.assign(kind="violet"))
    assert all(w.filename == __file__ for w in caught)
    with pytest.warns(sb.Note, match="outside the training range"):
        model.predict(frame.assign(a=frame["a"] + 100))


def test_masked_cells_are_missing_cells():
    X, y = wide()
    model = sb.Regressor("ridge").fit(X, y)
    masked, holes = np.ma.array(X, mask=X > 1), np.where(X > 1, np.nan, X)
    assert (model.predict(masked) == model.predict(holes)).all()


@pytest.mark.parametrize("categories", [[1, 2, 3], [1.5, 2.5, 3.5], [False, True]])
def test_categories_may_be_numbers(categories):
    X, y = wide(300, 1)
    kinds = pd.Categorical.from_codes(np.arange(300) % len(categories), categories)
    frame = pd.DataFrame({"x": X[:, 0], "kind": kinds})
    assert sb.Regressor("ridge").fit(frame, y + 5 * kinds.codes).score(frame, y + 5 * kinds.codes) > 0.99


def test_whatever_has_the_stream_is_a_frame():
    class Foreign:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    X, y = wide(columns=2)
    table = pa.table({"u": X[:, 0], "v": X[:, 1]})
    model = sb.Regressor("ridge").fit(Foreign(table), y)
    assert (model.predict(Foreign(table)) == model.predict(table)).all() and model.feature_names_in_.tolist() == ["u", "v"]


@pytest.mark.parametrize("given", [{"beta": float("nan")}, {"level": "high"}, {"threads": "two"}, {"threads": 1.5}, {"preset": 3}, {"method": 5},
                                   {"tune": [1]}, {"seed": None}, {"seed": float("inf")}, {"seed": 2**64}, {"ignore": 3}])
def test_options_of_a_wrong_type_are_value_errors(given):
    X, y = wide(60, 2)
    with pytest.raises(ValueError, match="expected"):
        sb.Regressor(**({"method": "dbk"} | given)).fit(X, y)


def test_a_notebook_shows_the_card():
    X, y = wide()
    model = sb.Regressor("ridge")
    assert "<table>" not in model._repr_mimebundle_()["text/html"]
    assert "x0, x1" in model.fit(X, y)._repr_mimebundle_()["text/html"] and model._repr_html_() == model._repr_mimebundle_()["text/html"]


def test_images_are_for_classifiers():
    with pytest.raises(ValueError, match="Classifier takes them"):
        sb.Regressor("dnn").fit(np.zeros((20, 8, 8), dtype=np.uint8), np.arange(20.0))


def test_a_loaded_model_keeps_its_likelihood(tmp_path):
    X, y = wide()
    sb.Regressor("ridge", likelihood="gaussian").fit(X, y).save(tmp_path / "g.safetensors")
    sb.Regressor("dbk", likelihood="student", steps=20).fit(X[:60], y[:60]).save(tmp_path / "s.safetensors")
    assert sb.load(tmp_path / "s.safetensors").likelihood == "student" and sb.load(tmp_path / "g.safetensors").likelihood == "gaussian"


def test_answers_do_not_share_memory():
    X, y = wide()
    dist = sb.Regressor("ridge").fit(X, y).predict_dist(X)
    before = copy.copy(dist.median)
    dist.mean[:] = 0
    assert (dist.median == before).all()


SCRIPT = """
import signal, sys, warnings
sys.path[:0] = {paths!r}
import slimbayes as sb, toys
warnings.simplefilter("always")
X, y = toys.matrix(2000)
class Late(Exception): pass
def late(*_): raise Late()
signal.signal(signal.SIGALRM, late)
model = sb.Regressor("dbk", epochs=10**6, patience=0)
sb.Regressor("ridge").fit(X, y)  # loads everything: an import may catch what a signal raises
signal.alarm(1)
try:
    model.fit(X, y)
    print("a model")
except Late:
    print("late")
"""


def test_another_signals_exception_is_raised():
    paths = [str(toys.ROOT / "build" / "python"), str(toys.ROOT / "tests" / "python")]
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(paths=paths)], capture_output=True, text=True, timeout=100)
    assert done.stdout == "late\n", done.stderr
    assert signal.SIGALRM and os.name == "posix"


def test_a_forked_child_computes_with_one_thread():
    import multiprocessing

    X, y = wide(100, 3)
    sb.Regressor("dbk", steps=20, threads=2).fit(X, y)
    pipe, child = multiprocessing.get_context("fork").Pipe()
    forked = multiprocessing.get_context("fork").Process(
        target=lambda: child.send(sb.Regressor("dbk", steps=20, threads=2).fit(X, y).predict(X).shape))
    forked.start()
    assert pipe.poll(60) and pipe.recv() == (100,)
    forked.join(60)


def test_a_fit_needs_no_gradients_of_the_caller():
    import torch

    X, y = wide(100, 3)
    expected = sb.Regressor("dbk", steps=20).fit(X, y).predict(X)
    for off in torch.no_grad(), torch.inference_mode():
        with off:
            assert (sb.Regressor("dbk", steps=20).fit(X, y).predict(X) == expected).all()


def test_an_ignored_column_may_hold_anything():
    X, y = wide(100, 2)
    frame = pd.DataFrame(X).assign(mixed=[1, "1"] * 50)
    assert sb.Regressor("ridge", ignore=["mixed", 0]).fit(frame, y).score(frame, y) > 0.5
    with pytest.raises(sb.DataError, match="mixed"):
        sb.Regressor("ridge").fit(frame, y)


@pytest.mark.parametrize("given", [{"method": "dbk", "preset": "papr"}, {"preset": "papr"}, {"method": "ridge", "preset": "paper"}])
def test_an_unknown_preset_is_refused(given):
    X, y = wide(60, 2)
    with pytest.raises(ValueError, match="preset"):
        sb.Regressor(**given).fit(X, y)


def test_a_column_with_the_targets_name_is_noted():
    X, y = wide(60, 2)
    frame = pd.DataFrame(X, columns=["u", "v"]).assign(price=y)
    with pytest.warns(sb.Note, match=r"fit\(X, 'price'\)"):
        sb.Regressor("ridge").fit(frame, frame["price"])
