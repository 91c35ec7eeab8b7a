"""Data frames and arrays of every kind give the same rows; what cannot be read is refused with a hint."""

import datetime

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
import torch
import toys
from scipy import sparse

import slimbayes as sb

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")
FAST = {"steps": 40, "seed": 3}


@pytest.fixture(scope="module")
def fitted():
    frame, y = toys.table()
    return sb.Regressor("dbk", **FAST).fit(frame, y)


def forms(frame):
    return {"polars": polars.from_pandas(frame), "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
            "categories": frame.astype({"kind": "category"}), "index": frame.set_index(np.arange(len(frame))[::-1]),
            "arrow types": frame.convert_dtypes(dtype_backend="pyarrow"), "reordered": frame[frame.columns[::-1]],
            "more columns": frame.assign(extra=1)}


@pytest.mark.parametrize("form", forms(toys.table(10)[0]))
def test_every_frame_gives_the_same_answers(fitted, form):
    frame, _ = toys.table(50, seed=9)
    assert (fitted.predict(forms(frame)[form]) == fitted.predict(frame)).all()


@pytest.mark.parametrize("form", ["polars", "pyarrow", "arrow types"])
def test_every_frame_gives_the_same_fit(fitted, form):
    frame, y = toys.table()
    again = sb.Regressor("dbk", **FAST).fit(forms(frame)[form], y)
    assert (again.predict(frame) == fitted.predict(frame)).all()


@pytest.mark.parametrize("X", [
    pytest.param(lambda X: np.asfortranarray(X), id="fortran"), pytest.param(lambda X: np.repeat(X, 2, axis=0)[::2], id="strides"),
    pytest.param(lambda X: X[:, ::-1][:, ::-1], id="negative strides"), pytest.param(lambda X: X.tolist(), id="lists"),
    pytest.param(lambda X: torch.from_numpy(X.copy()), id="tensor"), pytest.param(lambda X: X.astype(object), id="objects")])
def test_every_array_gives_the_same_answers(X):
    given, y = toys.matrix()
    model = sb.Regressor("dbk", **FAST).fit(given, y)
    assert (model.predict(X(given)) == model.predict(given)).all()
    assert (sb.Regressor("dbk", **FAST).fit(X(given), y).predict(given) == model.predict(given)).all()


@pytest.mark.parametrize("kind", ["float32", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "float16"])
def test_every_type_of_number_is_read_as_its_value(kind):
    draw = np.random.default_rng(0)
    X = draw.integers(0, 2 if kind == "bool" else 100, (1100, 3)).astype(kind)  # more rows than one block of the conversion
    y = X.astype(float) @ [1, 2, 3] + draw.normal(size=1100)
    model = sb.Regressor("ridge").fit(X, y)
    as_float = sb.Regressor("ridge").fit(X.astype(np.float64), y)
    assert (model.predict(X) == as_float.predict(X.astype(np.float64))).all()


def test_missing_cells_of_every_kind_are_the_same(fitted):
    frame, _ = toys.table(20, seed=5)
    frame = frame.astype({"a": object, "kind": object})
    answers = []
    for missing in (None, np.nan, pd.NA):
        holes = frame.copy()
        holes.loc[3, "a"] = holes.loc[4, "kind"] = missing
        answers.append(fitted.predict(holes))
    assert (answers[0] == answers[1]).all() and (answers[0] == answers[2]).all()
    assert np.isfinite(answers[0]).all()


def test_a_missing_time_is_a_missing_cell():
    frame, y = toys.table()
    frame["when"] = pd.date_range("2020-01-01", periods=len(frame), freq="D")
    frame.loc[5, "when"] = pd.NaT
    assert np.isfinite(sb.Regressor("ridge").fit(frame, y).predict(frame)).all()


BAD = {
    "a column is missing": (lambda f: f.drop(columns="a"), ValueError, "'a'"),
    "texts for numbers": (lambda f: f.assign(a="word"), ValueError, "'a'"),
    "several types": (lambda f: f.assign(a=["x", 1, 2.5] + [3] * (len(f) - 3)), sb.DataError, "one type in column 'a'"),
    "infinite": (lambda f: f.assign(a=np.inf), sb.DataError, "expected finite numbers in column 'a'"),
    "no rows": (lambda f: f.iloc[:0], sb.DataError, "received none"),
    "no columns": (lambda f: f[[]], ValueError, "expected"),
    "a name twice": (lambda f: pd.concat([f, f[["a"]]], axis=1), sb.DataError, "a name twice"),
    "a series": (lambda f: f["a"], ValueError, "Expected 2D array"),
    "sparse": (lambda f: sparse.csr_matrix(f[["a", "b"]].to_numpy()), TypeError, "Sparse data"),
    "lists in cells": (lambda f: f.assign(a=[[1]] * len(f)), sb.DataError, "'a'"),
    "another number of features": (lambda f: f[["a", "b"]].to_numpy(), ValueError, "X has 2 features, but Regressor is expecting 5"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_read_is_one_exception_with_a_hint(fitted, case):
    change, error, text = BAD[case]
    frame, _ = toys.table(20)
    with pytest.raises(error, match=text.replace("'", ".").replace("(", ".")):
        fitted.predict(change(frame))
    assert np.isfinite(fitted.predict(frame)).all()


BAD_TARGETS = {
    "none": (None, "the target y is None"), "nan": (np.r_[np.nan, np.zeros(19)], "Input y contains NaN"),
    "infinite": (np.r_[np.inf, np.zeros(19)], "Input y contains infinity"), "short": (np.zeros(5), "inconsistent numbers of samples"),
    "three axes": (np.zeros((20, 2, 2)), "1d array"), "texts": (np.array(["a"] * 20), "expected numbers as y"),
    "no such column": ("nothing", "expected the name of a column as y")}


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_what_is_no_target_is_refused(case):
    y, text = BAD_TARGETS[case]
    with pytest.raises(ValueError, match=text):
        sb.Regressor("ridge").fit(toys.table(20)[0], y)


def test_a_column_of_targets_is_taken_with_a_warning():
    X, y = toys.matrix()
    with pytest.warns(UserWarning, match="column-vector y"):
        column = sb.Regressor("ridge").fit(X, y[:, None])
    assert (column.predict(X) == sb.Regressor("ridge").fit(X, y).predict(X)).all()


def test_the_target_may_be_a_column_of_the_frame():
    frame, y = toys.table()
    named = sb.Regressor("ridge").fit(frame.assign(price=y), "price")
    assert (named.predict(frame) == sb.Regressor("ridge").fit(frame, y).predict(frame)).all()
    assert "price" not in named.feature_names_in_
    assert named.evaluate(frame.assign(price=y))["rmse"] == named.evaluate(frame, y)["rmse"]


def test_a_target_with_the_name_of_a_column_gets_another():
    frame, y = toys.table()
    model = sb.Regressor("ridge").fit(frame, y.rename("a"))
    assert model._facts["target"] == "a_" and np.isfinite(model.predict(frame)).all()


def test_columns_of_times_and_texts_are_inputs():
    frame, y = toys.table()
    frame["day"] = [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(10 * v)) for v in y]
    assert sb.Regressor("ridge").fit(frame, y).score(frame, y) > 0.9


def test_an_array_for_a_frame_is_taken_by_position_with_a_warning():
    X, y = toys.matrix()
    model = sb.Regressor("ridge").fit(pd.DataFrame(X, columns=["u", "v", "w"]), y)
    with pytest.warns(UserWarning, match="valid feature names"):
        by_position = model.predict(X)
    assert (by_position == model.predict(pd.DataFrame(X, columns=["u", "v", "w"]))).all()


def test_a_row_without_an_answer_is_nan_with_a_warning():
    X, y = toys.matrix()
    model = sb.Regressor("dbk", **FAST).fit(X, y)
    far = X[:3].copy()
    far[1, 0] = 1e30
    with pytest.warns(sb.Note, match="data row 2"):
        mean, sd = model.predict(far, return_std=True)
    assert np.isnan(mean).tolist() == np.isnan(sd).tolist() == [False, True, False]


def test_the_answers_as_a_frame_of_the_same_library(fitted):
    frame, _ = toys.table(20)
    answers = fitted.predict_frame(frame, level=0.9)
    assert list(answers.columns) == ["mean", "sd", "lower", "upper"] and (answers["mean"] == fitted.predict(frame)).all()
    assert isinstance(fitted.predict_frame(polars.from_pandas(frame)), polars.DataFrame)
    assert fitted.predict_frame(pa.Table.from_pandas(frame)).column_names == ["mean", "sd", "lower", "upper"]
    kept = fitted.predict_frame(frame, keep=["kind", "n"])
    assert kept["kind"].astype(str).tolist() == frame["kind"].tolist() and kept["n"].tolist() == frame["n"].tolist()


@pytest.mark.parametrize("form", ["floats", "ints beside floats", "booleans beside floats", "large", "nullable"])
def test_few_rows_of_numbers_are_read_as_many(form):
    X, y = toys.matrix(200)
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    if form == "ints beside floats":
        frame["u"] = (10 * frame["u"]).round().astype(int)
    elif form == "booleans beside floats":
        frame["v"] = frame["v"] > 0
    elif form == "large":
        frame["u"] = (2**53 + np.arange(200)).astype(np.int64)
    elif form == "nullable":
        frame = frame.convert_dtypes()
    model = sb.Regressor("ridge").fit(frame, y)
    assert np.allclose(model.predict(frame.iloc[:5]), model.predict(frame)[:5], rtol=1e-12)
