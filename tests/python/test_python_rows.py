"""A few rows of numbers are answered without a table: the answers, notes and errors are those of a table."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import slimbayes as sb
from sklearn.exceptions import NotFittedError
from toys import matrix

NAMES = ["x0", "x1", "x2"]


@pytest.fixture(scope="module", params=["dbk", "ridge", "auto", "conformal", "gap"])
def fitted(request):
    X, y = matrix(300)
    options = {"dbk": {"steps": 40, "hidden": 16, "rank": 12}, "auto": {"candidates": "constant,ridge"},
               "conformal": {"calibrate": "conformal"}}.get(request.param, {})
    if request.param == "gap":
        X[::7, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sb.Regressor({"conformal": "ridge", "gap": "ridge"}.get(request.param, request.param), **options).fit(X, y), X


def by_table(model, call, *given):
    """The answer to rows by way of a table."""
    other = copy.copy(model)
    other._number_rows = lambda X: None
    return getattr(other, call)(*given)


@pytest.mark.filterwarnings("ignore::slimbayes.Note")
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_answers_are_those_of_a_table(fitted, kind):
    model, X = fitted
    rows = X[[3, 1, 5]].astype(kind)
    for case in rows, rows[:1], np.asfortranarray(rows), rows[::-1]:
        assert model._number_rows(case).predict(case, True) is not None
        np.testing.assert_allclose(model.predict(case), by_table(model, "predict", case), rtol=1e-13)
        for found, known in zip(model.predict(case, return_std=True), by_table(model, "predict", case, True)):
            np.testing.assert_allclose(found, known, rtol=1e-13)
        for level in None, 0.5:
            for found, known in zip(model.predict_interval(case, level), by_table(model, "predict_interval", case, level)):
                np.testing.assert_allclose(found, known, rtol=1e-12)


def test_rows_with_something_to_say_go_through_a_table(fitted):
    model, X = fitted
    far, gap = np.array([[50.0, 0, 0]]), np.array([[0.0, np.nan, 0]])
    for odd in far, gap:
        assert model._number_rows(odd).predict(odd, False) is None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(model.predict(odd), by_table(model, "predict", odd), rtol=1e-13)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.predict(far)
        assert np.isnan(model.predict(np.array([[1e12, 0, 0]])))
    assert any("outside the training range" in str(one.message) for one in said)


def test_other_arrays_are_no_rows_of_numbers(fitted):
    model, X = fitted
    assert model._number_rows(np.zeros((1, 3), int)) is None
    assert model._number_rows(X) is None
    assert model._number_rows(X[0]) is None
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:1, :2])
    with pytest.raises(ValueError):
        model.predict(X[:0])
    with pytest.raises(ValueError, match="level"):
        model.predict_interval(X[:1], level=2)
    with pytest.raises(NotFittedError):
        sb.Regressor().predict(X[:1])


@pytest.mark.filterwarnings("ignore::slimbayes.Note")
def test_names_of_a_frame_are_still_asked_for():
    X, y = matrix(100)
    model = sb.Regressor("ridge").fit(pd.DataFrame(X, columns=NAMES), y)
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(X[:1])
    assert model._number_rows(X[:1]) is None


@pytest.mark.filterwarnings("ignore::slimbayes.Note")
def test_a_model_is_pickled_copied_and_refitted_after_rows(fitted):
    model, X = fitted
    before = model.predict(X[1:2])
    for other in pickle.loads(pickle.dumps(model)), copy.deepcopy(model):
        assert other.predict(X[1:2]) == before
    again = copy.deepcopy(model).fit(*matrix(300, seed=3))
    assert again.predict(X[1:2]) == pytest.approx(by_table(again, "predict", X[1:2]), rel=1e-13)
    assert again.predict(X[1:2]) != before


def test_an_interval_has_the_note_of_a_table():
    """What the parts of an sd mean is said beside an interval, once a program."""
    X, y = matrix(100)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = sb.Regressor("auto", candidates="constant,ridge").fit(X, y)
        said.clear()
        model.predict_interval(X[:1])
        few = [str(one.message) for one in said]
        said.clear()
        by_table(model, "predict_interval", X[:1])
    assert few == [str(one.message) for one in said] != []
