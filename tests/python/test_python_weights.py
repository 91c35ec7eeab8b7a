"""Weights of rows: scikit-learn's `sample_weight`, and the column `weights` of a frame."""

import numpy as np
import pandas as pd
import pytest
import sklearn
import toys
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import slimbayes as sb

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")

METHODS = [sb.Regressor("ridge"), sb.Regressor("dbk", steps=30, rank=4)]


def uneven(rows, seed=5):
    """Whole weights from 0 to 3."""
    return np.random.default_rng(seed).integers(0, 4, rows).astype(float)


def same(a, b, X):
    return all(np.array_equal(x, y) for x, y in zip(a.predict(X, return_std=True), b.predict(X, return_std=True)))


@pytest.mark.parametrize("model", METHODS, ids=lambda model: model.method)
def test_a_row_of_weight_0_is_a_missing_row(model):
    X, y = toys.matrix(120)
    weight = uneven(120)
    all_rows = sklearn.clone(model).fit(X, y, sample_weight=weight)
    some = sklearn.clone(model).fit(X[weight > 0], y[weight > 0], sample_weight=weight[weight > 0])
    assert same(all_rows, some, X)
    assert any("have the weight 0 in 'sample_weight': left out" in note for note in all_rows.notes_)


@pytest.mark.parametrize("model", METHODS, ids=lambda model: model.method)
def test_equal_weights_are_none_and_others_are_not(model):
    X, y = toys.matrix(100)
    plain = sklearn.clone(model).fit(X, y)
    assert same(sklearn.clone(model).fit(X, y, sample_weight=np.full(100, 2.0)), plain, X)
    assert same(sklearn.clone(model).fit(X, y, 0.1), plain, X)  # one number stands for every row
    assert not same(sklearn.clone(model).fit(X, y, sample_weight=uneven(100) + 0.5), plain, X)


def test_counts_are_repeated_rows():
    X, y = toys.matrix(60)
    own = toys.matrix(30, seed=1)
    times = uneven(60).astype(int)
    counts = sb.Regressor("ridge", weights_are="counts", noise_folds=0).fit(X, y, times, valid=(*own, np.ones(30)))
    repeated = sb.Regressor("ridge", noise_folds=0).fit(X.repeat(times, axis=0), y.repeat(times), valid=own)
    for a, b in zip(counts.predict(X, return_std=True), repeated.predict(X, return_std=True)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_column_of_a_frame_weighs_as_the_array_does():
    frame, y = toys.table(120)
    weight = uneven(120)
    named = sb.Regressor("ridge", weights="w").fit(frame.assign(w=weight), y)
    given = sb.Regressor("ridge").fit(frame, y, sample_weight=weight)
    assert same(named, given, frame)  # neither reads weights to predict
    assert list(named.feature_names_in_) == list(given.feature_names_in_) == list(frame.columns)
    assert given.n_features_in_ == frame.shape[1]
    by_name = sb.Regressor("ridge").fit(frame.assign(price=y), "price", sample_weight=weight)
    assert same(by_name, given, frame)
    with pytest.raises(ValueError, match="received both"):
        sb.Regressor("ridge", weights="w").fit(frame.assign(w=weight), y, sample_weight=weight)


def test_the_name_of_the_column_clashes_with_none():
    frame, y = toys.table(80)
    frame = frame.assign(sample_weight=frame["a"] ** 2)
    model = sb.Regressor("ridge").fit(frame, y, sample_weight=uneven(80) + 1)
    assert "sample_weight" in list(model.feature_names_in_) and np.isfinite(model.predict(frame)).all()


def test_classes_whose_rows_have_no_weight_are_none():
    X, y = toys.matrix(90)
    labels = np.where(y > 0, "up", "down").astype(object)
    labels[:6] = "sideways"
    weight = np.ones(90)
    weight[:6] = 0
    model = sb.Classifier("dnn", steps=20).fit(X, labels, sample_weight=weight)
    some = sb.Classifier("dnn", steps=20).fit(X[6:], labels[6:])
    assert list(model.classes_) == ["down", "up"]
    assert np.array_equal(model.predict_proba(X), some.predict_proba(X))
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=labels)
    frame.loc[10:14, "label"] = None  # without their labels the rows are left out, and so are their weights
    named = sb.Classifier("dnn", steps=20).fit(frame, "label", sample_weight=weight)
    known = frame["label"].notna().to_numpy()
    given = sb.Classifier("dnn", steps=20).fit(frame[["a", "b", "c"]][known], labels[known], sample_weight=weight[known])
    assert np.array_equal(named.predict_proba(frame[["a", "b", "c"]]), given.predict_proba(frame[["a", "b", "c"]]))


@pytest.mark.parametrize(("weight", "text"), [
    (np.ones(9), r"sample_weight.shape == \(9,\), expected \(50,\)"),
    (np.full(50, 1e308), r"fit: expected sample_weight up to 1e\+100; received 1e\+308 of row 1; .*divide all weights"),
    (-np.ones(50), "Negative values in data passed to `sample_weight`"),
    (np.full(50, np.nan), "sample_weight contains NaN"), (np.full(50, np.inf), "sample_weight contains infinity"),
    (np.zeros(50), "at least one non-zero"), ("w", "the keyword weights='w'"), (np.ones((50, 2)), "1D array")])
def test_a_wrong_weight_is_refused(weight, text):
    X, y = toys.matrix(50)
    with pytest.raises(ValueError, match=text):
        sb.Regressor("ridge").fit(X, y, sample_weight=weight)


def test_what_cannot_have_weights_says_so():
    X, y = toys.matrix(60)
    images = np.zeros((20, 8, 8), np.uint8)
    with pytest.raises(ValueError, match="no sample_weight with images"):
        sb.Classifier("dnn").fit(images, np.arange(20) % 2, sample_weight=np.ones(20))
    with pytest.raises(ValueError, match=r"valid as \(X, y, sample_weight\)"):
        sb.Regressor("ridge").fit(X, y, sample_weight=np.ones(60), valid=(X, y))
    with pytest.raises(ValueError, match="no sample_weight"):
        sb.Regressor("ridge").fit(X, y, valid=(X, y, np.ones(60)))
    with pytest.raises(ValueError, match="partial_fit: expected no sample_weight"):
        sb.Regressor("bll", steps=20).partial_fit(X, y, sample_weight=np.ones(60))
    weighted = sb.Regressor("bll", steps=20).fit(X, y, sample_weight=uneven(60) + 1)
    assert not hasattr(weighted, "partial_fit")
    with pytest.raises(ValueError, match="fitted without weights"):
        weighted.update(X, y)
    with pytest.raises(ValueError, match="fitted without weights"):
        sb.Regressor("ridge").fit(X, y).evaluate(X, y, sample_weight=np.ones(60))


def test_an_evaluation_takes_weights():
    X, y = toys.matrix(100)
    weight = uneven(100)
    model = sb.Regressor("ridge").fit(X, y, sample_weight=weight)
    assert model.evaluate(X, y, sample_weight=weight)["n"] == (weight > 0).sum()
    with pytest.warns(sb.Note, match="no column 'sample_weight' of weights: each row counts once"):
        assert model.evaluate(X, y)["n"] == 100
    # scikit-learn's own score.
    assert model.score(X, y, sample_weight=weight) == pytest.approx(model.score(X[weight > 0], y[weight > 0], sample_weight=weight[weight > 0]))


def test_a_model_of_an_array_is_read_again(tmp_path):
    X, y = toys.matrix(80)
    X = np.column_stack([X, uneven(80) + 1])
    model = sb.Regressor("ridge", weights="x3").fit(X, y)
    model.save(tmp_path / "m.safetensors")
    again = sb.load(tmp_path / "m.safetensors")
    assert again.n_features_in_ == 4 and np.array_equal(again.predict(X), model.predict(X))
    other = sb.Regressor("ridge").fit(X[:, :3], y, sample_weight=X[:, 3])
    other.save(tmp_path / "m.safetensors")
    assert sb.load(tmp_path / "m.safetensors").n_features_in_ == 3
    assert np.array_equal(other.predict(X[:, :3]), model.predict(X))


def test_pipelines_grids_and_routing_pass_weights_on():
    X, y = toys.matrix(90)
    weight = uneven(90) + 0.5
    direct = sb.Regressor("ridge").fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    pipe = Pipeline([("scale", StandardScaler()), ("model", sb.Regressor("ridge"))]).fit(X, y, model__sample_weight=weight)
    assert np.array_equal(pipe.predict(X), direct.predict(StandardScaler().fit_transform(X)))
    grid = GridSearchCV(sb.Regressor("ridge"), {"scale": ["standard", "min-max"]}, cv=2).fit(X, y, sample_weight=weight)
    plain = GridSearchCV(sb.Regressor("ridge"), {"scale": ["standard", "min-max"]}, cv=2).fit(X, y)
    assert not np.array_equal(grid.predict(X), plain.predict(X))
    with sklearn.config_context(enable_metadata_routing=True):
        model = sb.Regressor("ridge").set_fit_request(sample_weight=True)
        routed = Pipeline([("scale", StandardScaler().set_fit_request(sample_weight=False)), ("model", model)])
        assert np.array_equal(routed.fit(X, y, sample_weight=weight).predict(X), pipe.predict(X))


def test_a_comparison_takes_weights():
    frame, y = toys.table(100)
    found = sb.compare(frame, y, ["ridge"], seeds=1, sample_weight=uneven(100))
    assert np.isfinite(found.loc["ridge", "nll"]) and not found.attrs["failures"]
    assert any("have the weight 0" in note for note in found.attrs["notes"])
    with pytest.raises(ValueError, match="received both"):
        sb.compare(frame.assign(w=1.0), y, ["ridge"], seeds=1, sample_weight=uneven(100), weights="w")


def test_a_series_has_weights():
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"t": np.arange(150.0), "v": np.sin(np.arange(150) / 5) + 0.1 * draw.normal(size=150)})
    model = sb.Forecaster("dnn", window=5, time="t", steps=20).fit(frame, "v", sample_weight=uneven(150))
    assert np.isfinite(model.predict(frame)).all()
    with pytest.raises(ValueError, match="no sample_weight for forecasts"):
        model.score(frame, sample_weight=np.ones(150))
