"""Classes are those of the user's values, whatever way they come in and go out."""

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
import slimbayes as sb

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")

X = pd.DataFrame(np.random.default_rng(1).normal(size=(200, 2)), columns=["a", "b"])
THREE = np.digitize(X["a"], [-0.5, 0.5])
LABELS = {
    "whole numbers": THREE, "numbers with gaps": np.array([3, 8, 5])[THREE], "floats": THREE / 1.0, "texts": np.array(["u", "v", "w"])[THREE],
    "booleans": THREE > 1, "zero and one": (THREE > 1).astype(int), "texts of numbers": np.array(["7", "3", "11"])[THREE],
    "beyond int64": np.array([1, 2**63 + 1, 2**64 - 1], dtype=np.uint64)[THREE]}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("frame_of", [lambda f: f, polars.from_pandas, lambda f: pa.Table.from_pandas(f, preserve_index=False)], ids=["pandas", "polars", "pyarrow"])
def test_a_column_of_labels_is_read_as_an_array_of_them(kind, frame_of):
    labels = LABELS[kind]
    frame = frame_of(X.assign(t=labels))
    by_name, by_array = sb.Classifier("logistic").fit(frame, "t"), sb.Classifier("logistic").fit(frame_of(X), labels)
    assert by_name.classes_.tolist() == by_array.classes_.tolist() == np.unique(labels).tolist()
    assert (by_name.predict_proba(frame) == by_array.predict_proba(frame_of(X))).all()
    assert by_name.evaluate(frame)["accuracy"] == (by_name.predict(frame) == labels).mean() > 0.9
    assert np.array_equal(np.asarray(by_name.predict_frame(frame)["label"]), by_name.predict(frame))


def test_categories_are_their_values():
    frame = X.assign(t=pd.Categorical(THREE))
    model = sb.Classifier("logistic").fit(frame, "t", valid=(frame[:50], "t"))
    assert model.classes_.tolist() == [0, 1, 2] and model.score(frame, frame["t"]) > 0.9
    assert model.evaluate(frame)["accuracy"] == model.score(frame, THREE)


def test_a_frame_of_validation_rows_has_its_own_labels():
    frame = X.assign(t=THREE)
    model = sb.Classifier("logistic").fit(frame, "t", valid=frame[::-1][:60])
    assert model.valid_report_["n"] == 60 and model.valid_report_["accuracy"] > 0.9
    with pytest.raises(ValueError, match="expected a data frame, whose column y names"):
        sb.Classifier("logistic").fit(X.to_numpy(), "x1")
    with pytest.raises(ValueError, match="expected valid as a pair"):
        sb.Classifier("logistic").fit(X, THREE, valid=X[::-1])
    assert sb.Classifier("logistic").fit(X, THREE, valid=(X, THREE)).valid_report_["n"] == 200


@pytest.mark.parametrize("labels", [
    pd.array(THREE, dtype="Int64"), pd.Series(np.array(["u", "v", "w"])[THREE], dtype=object), pd.Series(THREE > 1, dtype=object),
    pd.Series(THREE, dtype=object), pd.array(THREE > 1, dtype="boolean")], ids=["Int64", "texts", "booleans", "ints", "boolean"])
def test_rows_without_a_label_are_left_out(labels):
    frame = X.assign(t=labels)
    whole = sb.Classifier("logistic").fit(frame, "t")
    assert (whole.predict(X) == np.array(list(labels))).mean() > 0.9 and len(whole.classes_) == len(set(labels))
    frame.loc[[3, 50], "t"] = None
    for one in frame, pa.Table.from_pandas(frame, preserve_index=False), polars.from_pandas(frame):
        with pytest.warns(sb.Note, match="2 of 200 rows have no 't'"):
            model = sb.Classifier("logistic").fit(one, "t")
        assert model.classes_.tolist() == whole.classes_.tolist() and sum(model._facts["rows"].values()) == 198

@pytest.mark.parametrize("labels", [[2**53 + 1, 2**53 + 4], np.array([1, 2**63 + 1], dtype=np.uint64), [-1, 1], ["true", "false"], [-1.0, 1.0], [True, False]], ids=str)
def test_labels_of_images_come_back_from_a_file(labels, tmp_path):
    half = np.arange(60) % 2
    pixels, y = np.repeat(half * 200, 16).reshape(60, 4, 4).astype(np.uint8), np.array(labels)[half]
    model = sb.Classifier("dnn", epochs=2).fit(pixels, y)
    model.save(tmp_path / "m.safetensors")
    loaded = sb.load(tmp_path / "m.safetensors")
    assert loaded.classes_.tolist() == model.classes_.tolist() and (loaded.predict(pixels) == model.predict(pixels)).all()
    assert loaded.evaluate(pixels, y)["accuracy"] == model.score(pixels, y) == loaded.score(pixels, y)


@pytest.mark.parametrize("given", ["array", "column"])
@pytest.mark.parametrize(("labels", "missing"), [(np.array(["u", "v", "w"])[THREE], "u"), (np.array([0, 1, -999])[THREE], "-999"),
                                                 (np.array([0, 7, 9])[THREE], "7")])
def test_a_label_that_is_declared_missing_is_no_class(given, labels, missing, tmp_path):
    data = (X, labels) if given == "array" else (X.assign(t=labels), "t")
    model = sb.Classifier("logistic", na=missing).fit(*data)
    known = [label for label in np.unique(labels).tolist() if str(label) != missing]
    assert model.classes_.tolist() == known
    assert model.predict_proba(X).shape == (len(X), 2)
    model.save(tmp_path / "m.safetensors")
    assert sb.load(tmp_path / "m.safetensors").classes_.tolist() == known
    kept = labels.astype(str) != missing
    assert (model.predict(X[kept]) == labels[kept]).mean() > 0.9


def test_an_unknown_column_of_labels_is_refused():
    with pytest.raises(ValueError, match="the name of a column as y; received 'z'; the columns are a, b"):
        sb.Classifier("logistic").fit(X, "z")
    with pytest.raises(ValueError, match="likelihood='softmax' takes whole numbers as classes"):
        sb.compare(X, THREE, ["logistic"], seeds=1)


def test_notes_of_classes_do_not_speak_of_rounding():
    model = sb.Classifier("logistic").fit(X, THREE)
    assert "rounding" not in " ".join(model.report(X, THREE).facts["notes"])


@pytest.mark.parametrize("scale, advice", [(1, r"X.astype\('uint8'\)$"), (1 / 255, r"\(255 \* X\).astype")])
def test_the_advice_on_images_is_that_of_their_range(scale, advice):
    pixels = np.random.default_rng(0).integers(0, 256, (8, 4, 4)) * scale
    with pytest.raises(sb.DataError, match=advice):
        sb.Classifier("dnn").fit(pixels.astype(np.float32), np.arange(8) % 2)
