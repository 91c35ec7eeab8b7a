"""Regressor and CountRegressor with several targets: shapes of all answers, missing targets, what binds the targets, files, refusals."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
import toys
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import slimbayes as sb

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")

CORRELATION = 0.8


def targets(rows=150, seed=0):
    """Inputs [n, 3] and two targets [n, 2] with linear means, whose errors are normal with the correlation 0.8."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(rows, 3))
    errors = draw.multivariate_normal([0, 0], [[1, CORRELATION], [CORRELATION, 1]], rows)
    return X, np.column_stack([X[:, 0] + errors[:, 0], 10 - 2 * X[:, 1] + 3 * errors[:, 1]])


def frame_of(X, Y, names=("a", "b")):
    return pd.DataFrame(X, columns=["u", "v", "w"]).assign(**{name: Y[:, i] for i, name in enumerate(names)})


@pytest.fixture(scope="module")
def model():
    return sb.Regressor("ridge", valid_fraction=0.3).fit(*targets())


def test_every_answer_has_an_axis_of_the_targets(model):
    X, Y = targets()
    mean, sd = model.predict(X, return_std=True)
    assert mean.shape == sd.shape == Y.shape and mean.dtype == np.float64 and (sd > 0).all()
    assert np.array_equal(model.predict(X), mean)
    ends = model.predict_interval(X, level=0.9)
    assert [end.shape for end in ends] == [(150, 2)] * 2 and (ends[0] < mean).all() and (mean < ends[1]).all()
    assert model.predict_quantiles(X, 0.5).shape == (150, 2) and model.predict_quantiles(X, []).shape == (150, 2, 0)
    assert np.allclose(model.predict_quantiles(X, [0.05, 0.95]), np.stack(ends, axis=-1))
    dist = model.predict_dist(X)
    assert np.array_equal(dist.mean, mean) and np.allclose(dist.sd, sd) and dist.epistemic_var.shape == (150, 2)
    assert {scores.shape for scores in model.ood_scores(X).values()} == {(150, 2)}
    assert model.sample(X, n=7).shape == (7, 150, 2)
    low, high = model.region(X, level=0.9)
    assert low.shape == high.shape == (150, 2)
    assert model.probability(X, {"y0": (">", 0)}).shape == (150,)
    assert model.n_features_in_ == 3 and model.target_names_ == ["y0", "y1"]
    assert "y0, y1" in model._repr_html_()


def test_a_frame_of_answers_names_the_targets(model):
    X, Y = targets()
    answers = model.predict_frame(X, quantiles=[0.25])
    assert {"y0.mean", "y0.sd", "y1.lower", "y1.upper", "y1.q0.25"} <= set(answers.columns) and len(answers) == 150
    assert np.allclose(answers[["y0.mean", "y1.mean"]], model.predict(X))
    named = sb.Regressor("ridge").fit(frame_of(X, Y), ["a", "b"])
    kept = named.predict_frame(frame_of(X, Y).set_index(np.arange(150) + 5), keep="u")
    assert kept.columns[0] == "u" and {"a.mean", "b.sd"} <= set(kept.columns) and kept.index[0] == 5


def test_the_correlation_of_the_errors_is_found(model):
    r = model.error_correlation_
    assert r.shape == (2, 2) and np.array_equal(r, r.T) and (np.diag(r) == 1).all()
    assert r[0, 1] == pytest.approx(CORRELATION, abs=0.2)
    unbound = sb.Regressor("ridge", valid_fraction=0.3).fit(targets()[0], np.column_stack([targets()[1][:, 0], targets(seed=1)[0][:, 0]]))
    assert abs(unbound.error_correlation_[0, 1]) < 0.5


def test_probabilities_are_those_of_a_normal_copula(model):
    """Above both medians with 1/4 + arcsin(r) / 2 pi; one condition alone has the probability of the target's own quantile."""
    X = targets()[0][:1]
    middle = model.predict_quantiles(X, 0.5)[0]
    r = model.error_correlation_[0, 1]
    both = model.probability(X, {"y0": (">", middle[0]), "y1": (">", middle[1])})
    assert both[0] == pytest.approx(0.25 + np.arcsin(r) / (2 * np.pi), abs=1e-5)
    low, high = model.predict_quantiles(X, [0.3, 0.7])[0, 0]
    assert model.probability(X, {"y0": ("<=", low)})[0] == pytest.approx(0.3, abs=1e-6)
    assert model.probability(X, {"y0": [(">", low), ("<=", high)]})[0] == pytest.approx(0.4, abs=1e-6)
    for same, other in ((">=", ">"), ("<", "<=")):  # no row is exactly at a bound
        assert model.probability(X, {"y0": (same, low)}) == model.probability(X, {"y0": (other, low)})


def test_draws_have_the_marginals_and_the_correlation(model):
    X = targets()[0][:3]
    draws = model.sample(X, n=4000, seed=3)
    mean, sd = model.predict(X, return_std=True)
    scores = (draws - mean) / sd
    assert (np.abs(scores.mean(0)) < 5 / np.sqrt(4000)).all() and np.allclose(scores.std(0), 1, atol=0.1)
    assert np.corrcoef(scores[:, 0].T)[0, 1] == pytest.approx(model.error_correlation_[0, 1], abs=0.05)
    assert np.array_equal(draws, model.sample(X, n=4000, seed=3)) and not np.array_equal(draws, model.sample(X, n=4000))
    low, high = model.region(X, level=0.8)
    inside = ((low <= draws) & (draws <= high)).all(-1).mean()
    assert inside == pytest.approx(0.8, abs=0.04)


def test_a_missing_target_leaves_out_no_row_of_the_other():
    X, Y = targets()
    some = Y.copy()
    some[::3, 1] = np.nan
    all_of, part = (sb.Regressor("ridge").fit(X, given) for given in (Y, some))
    assert np.array_equal(all_of.predict(X)[:, 0], part.predict(X)[:, 0])
    assert not np.array_equal(all_of.predict(X)[:, 1], part.predict(X)[:, 1])
    known = ~np.isnan(some[:, 1])
    mean = part.predict(X)
    expected = [sklearn.metrics.r2_score(Y[:, 0], mean[:, 0]), sklearn.metrics.r2_score(Y[known, 1], mean[known, 1])]
    assert part.score(X, some) == pytest.approx(np.mean(expected))
    report = part.evaluate(X, some)
    assert [one["n"] for one in report["targets"]] == [150, known.sum()] and report["joint"]["n"] == known.sum()
    some[:2] = np.nan
    empty = sb.Regressor("ridge").fit(X, some)
    assert any("without any of the targets" in note for note in empty.notes_)
    objects = np.where(np.isnan(some), None, some.astype(object))  # None is a missing target, too
    assert np.array_equal(sb.Regressor("ridge").fit(X, objects).predict(X), empty.predict(X))


def test_scores_are_those_of_scikit_learn(model):
    X, Y = targets(seed=1)
    assert model.score(X, Y) == pytest.approx(sklearn.metrics.r2_score(Y, model.predict(X)))
    report = model.evaluate(X, Y, level=0.9)
    assert [one["target"] for one in report["targets"]] == ["y0", "y1"] and report["region"] == "correlation"
    assert report["targets"][1]["rmse"] == pytest.approx(np.sqrt(np.mean((model.predict(X) - Y)[:, 1] ** 2)))
    assert report["joint"]["nll_gain"] > 0 and report["joint"]["complete"] == 150
    low, high = model.region(X, level=0.9)
    assert report["joint"]["region_coverage"] == pytest.approx(((low <= Y) & (Y <= high)).all(1).mean())
    assert {one["target"] for one in model.valid_report_["targets"]} == {"y0", "y1"}


def test_columns_of_a_frame_are_targets():
    X, Y = targets()
    frame = frame_of(X, Y)
    inputs = frame[["u", "v", "w"]]
    named = sb.Regressor("ridge").fit(frame, ["a", "b"])
    beside = sb.Regressor("ridge").fit(inputs, frame[["a", "b"]])
    assert named.target_names_ == beside.target_names_ == ["a", "b"]
    assert list(named.feature_names_in_) == list(beside.feature_names_in_) == ["u", "v", "w"]
    assert np.allclose(named.predict(inputs), beside.predict(inputs))
    assert np.array_equal(named.predict(frame), named.predict(inputs))
    assert named.evaluate(frame) == named.evaluate(inputs, frame[["b", "a"]]) == named.evaluate(frame, ["a", "b"])
    one = sb.Regressor("ridge").fit(frame.drop(columns="b"), ["a"])
    assert one.predict(inputs).shape == (150,) and not hasattr(one, "target_names_")
    taken = sb.Regressor("ridge").fit(frame, frame[["a", "b"]].assign(a=1 - frame["a"]))  # a and b of X are inputs
    assert taken.target_names_ == ["a_", "b_"] and len(taken.feature_names_in_) == 5


def test_a_column_of_one_target_stays_one_target(model):
    X, Y = targets()
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        one = sb.Regressor("ridge").fit(X, Y[:, :1])
    assert one.predict(X).shape == (150,)
    again = sklearn.clone(model).fit(X, Y).fit(X, Y[:, 0])  # nothing of the fit before is left
    assert again.predict(X).shape == (150,) and not hasattr(again, "error_correlation_") and not hasattr(again, "models_")


def test_each_target_has_an_estimator_of_its_own(model, tmp_path):
    X, Y = targets()
    alone = model.models_
    assert list(alone) == ["y0", "y1"]
    for i, one in enumerate(alone.values()):
        assert np.array_equal(one.predict(X), model.predict(X)[:, i])
        assert np.array_equal(np.stack(one.predict_interval(X)), np.stack(model.predict_interval(X))[..., i])
    assert alone["y1"].evaluate(X, Y[:, 1])["rmse"] == pytest.approx(model.evaluate(X, Y)["targets"][1]["rmse"])
    alone["y0"].save(tmp_path / "m.safetensors")
    assert np.array_equal(sb.load(tmp_path / "m.safetensors").predict(pd.DataFrame(X, columns=["x0", "x1", "x2"])), model.predict(X)[:, 0])


def test_files_and_pickles_have_the_same_bits(model, tmp_path):
    X, Y = targets()
    model.save(tmp_path / "m.safetensors")
    loaded = sb.load(tmp_path / "m.safetensors")
    assert isinstance(loaded, sb.Regressor) and loaded.method == "ridge" and loaded.n_features_in_ == 3 and loaded.ignore is None
    for again in (loaded, pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.predict(X), model.predict(X)) and np.array_equal(again.error_correlation_, model.error_correlation_)
        assert np.array_equal(again.sample(X, 2, seed=1), model.sample(X, 2, seed=1))
        assert again.evaluate(X, Y) == model.evaluate(X, Y)
    with pytest.raises(ValueError, match="one of several"):
        from slimbayes.serve import Model

        Model(tmp_path / "m.safetensors")


def test_pipelines_and_grids_take_a_matrix():
    X, Y = targets()
    pipe = make_pipeline(StandardScaler(), sb.Regressor("ridge"))
    grid = GridSearchCV(pipe, {"regressor__scale": ["standard", "min-max"]}, cv=2).fit(X, Y)
    assert grid.predict(X).shape == Y.shape and 0 < grid.best_score_ < 1
    assert grid.score(X, Y) == pytest.approx(sklearn.metrics.r2_score(Y, grid.predict(X)))


def test_weights_and_validation_rows_are_those_of_one_target():
    X, Y = targets()
    plain = sb.Regressor("ridge").fit(X, Y)
    weight = np.random.default_rng(5).integers(0, 4, 150).astype(float)
    assert np.array_equal(sb.Regressor("ridge").fit(X, Y, sample_weight=np.full(150, 2.0)).predict(X), plain.predict(X))
    weighted = sb.Regressor("ridge").fit(X, Y, sample_weight=weight)
    assert not np.array_equal(weighted.predict(X), plain.predict(X))
    assert [one["n"] for one in weighted.evaluate(X, Y, sample_weight=weight)["targets"]] == [(weight > 0).sum()] * 2
    own = targets(60, seed=2)
    model = sb.Regressor("ridge").fit(X, Y, valid=own)
    assert [one["n"] for one in model.valid_report_["targets"]] == [60, 60]
    named = sb.Regressor("ridge").fit(frame_of(X, Y), ["a", "b"], valid=frame_of(*own))
    assert named.valid_report_["joint"]["n"] == 60


def test_a_conformal_region_holds_its_level():
    model = sb.Regressor("ridge", calibrate="conformal", calibration_fraction=0.3).fit(*targets(600))
    X, Y = targets(2000, seed=7)
    low, high = model.region(X, level=0.9)
    assert ((low <= Y) & (Y <= high)).all(1).mean() == pytest.approx(0.9, abs=0.08)
    assert model.evaluate(X, Y)["region"] == "conformal"


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_targets_beside_a_frame_that_has_their_columns(library):
    X, Y = targets()
    frame = frame_of(X, Y)
    to = {"pandas": lambda rows: rows, "polars": lambda rows: pytest.importorskip("polars").from_pandas(rows),
          "pyarrow": lambda rows: pytest.importorskip("pyarrow").Table.from_pandas(rows)}[library]
    model = sb.Regressor("ridge", valid_fraction=0.3).fit(frame, ["a", "b"])
    named = model.evaluate(to(frame), ["a", "b"])
    assert model.evaluate(to(frame), Y) == named == model.evaluate(to(frame[["u", "v", "w"]]), Y)
    other = frame.assign(a=0.0, b="none")  # what is in them does not count
    assert model.evaluate(to(other), frame[["b", "a"]]) == named and model.score(to(other), Y) == model.score(frame, Y)
    one = sb.Regressor("ridge", ignore=["b"]).fit(frame, "a")
    assert one.evaluate(to(other), Y[:, 0])["rmse"] == one.evaluate(frame)["rmse"]


def test_targets_share_a_network(tmp_path):
    X, Y = targets(200)
    shared, apart = (sb.Regressor("bll", steps=60, valid_fraction=0.3, share_network=share).fit(X, Y) for share in (True, False))
    assert shared.predict(X).shape == Y.shape and not np.allclose(shared.predict(X), apart.predict(X))
    assert any("network is shared by 2 targets (share_network)" in note for note in shared.notes_), shared.notes_
    shared.save(tmp_path / "m.safetensors")
    again = sb.load(tmp_path / "m.safetensors")
    assert again.share_network is True and np.array_equal(again.predict(X), shared.predict(X))
    one = shared.models_["y0"]
    assert one.share_network is False and np.array_equal(one.predict(X), shared.predict(X)[:, 0])
    one.save(tmp_path / "one.safetensors")
    assert sb.load(tmp_path / "one.safetensors").share_network is False
    with pytest.raises(ValueError, match="several targets of a table for share_network; received one target"):
        sb.Regressor("bll", share_network=True).fit(X, Y[:, 0])
    for cls in sb.CountRegressor, sb.Classifier, sb.Forecaster:
        with pytest.raises(TypeError, match="expected a keyword of this class; received share_network"):
            cls(share_network=True)


def test_counts_have_several_targets():
    X, _ = toys.matrix(150)
    draw = np.random.default_rng(0)
    Y = draw.poisson(np.exp(0.5 * X[:, :2] + 1))
    model = sb.CountRegressor("vbll", steps=40).fit(X, Y)
    ends = model.predict_interval(X)
    assert model.predict(X).shape == (150, 2) and (np.stack(ends) == np.round(ends)).all()
    draws = model.sample(X, 2)
    assert (draws == np.round(draws)).all() and (draws >= 0).all()
    below, exactly, above = (model.probability(X[:3], {"y0": (sign, 2)}) for sign in ("<", "=", ">"))
    assert np.allclose(below + exactly + above, 1, atol=1e-6) and (exactly > 0.01).all()
    assert np.array_equal(model.probability(X[:3], {"y0": (">=", 2)}), model.probability(X[:3], {"y0": (">", 1)}))
    with pytest.raises(ValueError, match="a whole number of the counts 'y0'"):
        model.probability(X[:3], {"y0": ("=", 1.5)})


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda m, X, Y: m.update(X, Y), ValueError, "update: expected a model of one target"),
    (lambda m, X, Y: m.forget(X, Y), ValueError, "forget: expected a model of one target"),
    (lambda m, X, Y: m.shard(X, Y), ValueError, "shard: expected a model of one target"),
    (lambda m, X, Y: m.merge(m), ValueError, "merge: expected a model of one target"),
    (lambda m, X, Y: m.report(X, Y), ValueError, r"report: expected a model of one target; .* y0, y1; models_\['y0'\]"),
    (lambda m, X, Y: m.card(), ValueError, "card: expected a model of one target"),
    (lambda m, X, Y: m.to_torch(), TypeError, "expected a model of one target"),
    (lambda m, X, Y: m.export_onnx("m.onnx"), TypeError, "expected a model of one target"),
    (lambda m, X, Y: m.partial_fit(X, Y), AttributeError, "partial_fit: expected a model of one target"),
    (lambda m, X, Y: m.probability(X, {}), ValueError, "conditions as a dict"),
    (lambda m, X, Y: m.probability(X, {"y0": ("!=", 1)}), ValueError, "expected .operator, number.*> >= < <= = ==; received"),
    (lambda m, X, Y: m.probability(X, {"y0": ("=", 1)}), ValueError, "expected a bound of the number 'y0'"),
    (lambda m, X, Y: m.probability(X, {"y0": (">", float("nan"))}), ValueError, "a number after the operator of 'y0'"),
    (lambda m, X, Y: m.probability(X, {"y7": (">", 1)}), ValueError, "y7"),
    (lambda m, X, Y: m.probability(X, {"y0": (">", "high")}), ValueError, "a bound of y0"),
    (lambda m, X, Y: m.sample(X, -1), ValueError, "for n"),
    (lambda m, X, Y: m.sample(X, 0), ValueError, "at least one draw"),
    (lambda m, X, Y: m.evaluate(X, Y[:, 0]), ValueError, "expected the 2 targets y0, y1"),
    (lambda m, X, Y: m.evaluate(X, "y0"), ValueError, "received 'y0'"),
    (lambda m, X, Y: m.evaluate(X, pd.DataFrame({"y1": Y[:, 0], "other": Y[:, 1]})), ValueError, "rename them, or give an array"),
    (lambda m, X, Y: m.score(X, np.column_stack([Y, Y])), ValueError, "received 4 columns")])
def test_what_several_targets_do_not_have_says_so(model, call, error, text):
    X, Y = targets(20)
    with pytest.raises(error, match=text):
        call(model, X, Y)


@pytest.mark.parametrize(("fit", "text"), [
    (lambda X, Y: sb.Regressor("ridge").fit(X, Y[:9]), "inconsistent numbers of samples"),
    (lambda X, Y: sb.Regressor("ridge").fit(X, np.where(Y > 10, np.inf, Y)), "contains infinity"),
    (lambda X, Y: sb.Regressor("ridge").fit(X, np.where(Y > 10, "high", "low")), "Classifier takes classes"),
    (lambda X, Y: sb.Regressor("ridge").fit(X, Y * [1, np.nan]), "y1"),
    (lambda X, Y: sb.Regressor("ridge", valid_fraction=0).fit(X, Y), "held-out rows"),
    (lambda X, Y: sb.Regressor("ridge").fit(X, pd.DataFrame(Y, columns=["a,b", "c"])), "without a comma"),
    (lambda X, Y: sb.Regressor("ridge").fit(X, pd.DataFrame(Y, columns=["c", "c"])), "different names"),
    (lambda X, Y: sb.Regressor("ridge").fit(frame_of(X, Y), ["a", "c"]), "received 'c'"),
    (lambda X, Y: sb.Regressor("ridge", ignore=["a"]).fit(frame_of(X, Y), ["a", "b"]), "ignore"),
    (lambda X, Y: sb.Regressor("ridge").fit(X, Y, valid=(X, Y[:, 0])), "validation rows with the targets of the fit"),
    (lambda X, Y: sb.Regressor("ridge").fit(X, Y[:, 0], valid=(X, Y)), "validation rows with the targets of the fit"),
    (lambda X, Y: sb.Regressor("ridge").fit(X, Y, valid=(X, np.column_stack([Y, Y]))), "received 4 columns"),
    (lambda X, Y: sb.Regressor("bll", steps=20).partial_fit(X, Y), "partial_fit: expected one target"),
    (lambda X, Y: sb.Classifier("logistic").fit(X, Y > 0), "y should be a 1d array.* fit a model for each column"),
    (lambda X, Y: sb.Classifier("logistic").fit(frame_of(X, Y > 0), ["a", "b"]), "one target; received the columns a, b"),
    (lambda X, Y: sb.Forecaster("dnn", window=3).fit(X, Y), "y should be a 1d array"),
    (lambda X, Y: sb.Regressor("ridge").fit(X, Y[:, 0]).region(X), "region: expected a model of several targets"),
    (lambda X, Y: sb.Regressor("ridge").fit(X, Y[:, 0]).sample(X), "sample: expected a model of several targets"),
    (lambda X, Y: sb.Regressor("ridge").fit(X, Y[:, 0]).probability(X, {"y0": (">", 0)}), "probability: expected a model of several"),
    (lambda X, Y: sb.compare(X, Y, ["ridge"], seeds=1), "y should be a 1d array")])
def test_a_wrong_fit_of_several_targets_is_refused(fit, text):
    X, Y = targets(60)
    with pytest.raises(ValueError, match=text):
        fit(X, Y)
