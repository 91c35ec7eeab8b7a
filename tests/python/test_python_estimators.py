"""The estimators keep scikit-learn's contract, and their keywords are the library's options."""

import inspect
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import toys
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import slimbayes as sb

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")

ONE_ROW = "its data have a class with a single row, which the library refuses: it could not be both learned and held out"
WHOLE = "its targets are not whole numbers, which counts are"
WEIGHTS = {"check_sample_weight_equivalence_on_dense_data": (
    "weights of importance keep the number of rows, and the validation rows of a table with repeated rows are others; "
    "test_python_weights.py has what holds")}
ESTIMATORS = {
    "regressor": (sb.Regressor("dbk-exact", steps=150), WEIGHTS),
    "classifier": (sb.Classifier("dnn", steps=60), WEIGHTS | dict.fromkeys(
        ["check_dont_overwrite_parameters", "check_f_contiguous_array_estimator", "check_methods_sample_order_invariance",
         "check_methods_subset_invariance", "check_fit2d_1feature", "check_dict_unchanged", "check_fit2d_predict1d"], ONE_ROW)),
    "counts": (sb.CountRegressor("vbll", steps=60), WEIGHTS | {
        "check_regressors_train": "it sets alpha, an option of another method", **dict.fromkeys(
            ["check_n_features_in_after_fitting", "check_regressor_data_not_an_array", "check_fit_idempotent",
             "check_fit_check_is_fitted", "check_n_features_in", "check_regressor_multioutput"], WHOLE)}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_scikit_learns_own_checks(name):
    estimator, expected = ESTIMATORS[name]
    results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    assert len(results) > 45
    # What is listed really fails: an entry that is mended must go.
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(expected)


def test_pipelines_cross_validation_and_grids():
    X, y = toys.matrix()
    pipe = make_pipeline(StandardScaler(), sb.Regressor("ridge"))
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.3
    grid = GridSearchCV(sb.Regressor("dbk", steps=60), {"rank": [4, 16]}, cv=2).fit(X, y)
    assert grid.best_params_["rank"] in (4, 16) and np.isfinite(grid.predict(X)).all()


def test_keywords_are_the_options_of_the_library():
    parameters = inspect.signature(sb.Regressor).parameters
    described = {o["name"]: o for o in sb.describe("dbk")["options"]}
    assert set(described) <= set(parameters) and parameters["rank"].default is None
    assert parameters["valid_fraction"].default == 0.1 and "window" not in parameters and "window" in inspect.signature(sb.Forecaster).parameters
    assert described["rank"]["doc"].split(";")[0][:30] in " ".join(sb.Regressor.__doc__.split())
    assert "--" not in sb.Regressor.__doc__.replace("----------", "")
    given = clone(sb.Regressor("dbk", rank=7, ignore=["a"]).set_params(beta=0.5))
    assert (given.rank, given.beta, given.ignore, given.method) == (7, 0.5, ["a"], "dbk")


@pytest.mark.parametrize(("given", "error", "text"), [
    ({"rnak": 3}, TypeError, "received rnak"), ({"method": "dbkk"}, ValueError, "nearest|did you mean|dbk"),
    ({"method": "dbk", "rank": -1}, ValueError, "rank"), ({"method": "dbk", "rank": "many"}, ValueError, "rank"),
    ({"valid_fraction": 2}, ValueError, "valid_fraction"), ({"seed": -1}, ValueError, "seed"), ({"seed": 1.5}, ValueError, "seed"),
    ({"method": "ridge", "rank": 3}, ValueError, "rank"), ({"ignore": "nothing"}, ValueError, "nothing")])
def test_a_wrong_keyword_is_refused_with_its_name(given, error, text):
    X, y = toys.matrix(50)
    with pytest.raises(error, match=text):
        sb.Regressor(**given).fit(X, y)


def test_numbers_have_intervals_quantiles_and_two_variances():
    frame, y = toys.table()
    model = sb.Regressor("ridge").fit(frame, y)
    mean, sd = model.predict(frame, return_std=True)
    dist = model.predict_dist(frame)
    assert np.allclose(sd**2, dist.aleatoric_var + dist.epistemic_var) and (dist.mean == mean).all() and np.allclose(dist.sd, sd)
    low, high = model.predict_interval(frame, level=0.9)
    quantiles = model.predict_quantiles(frame, [0.05, 0.5, 0.95])
    assert np.allclose(quantiles[:, 0], low) and np.allclose(quantiles[:, 2], high) and np.allclose(quantiles[:, 1], dist.median)
    report = model.evaluate(frame, y, level=0.9)
    assert report["coverage"] == pytest.approx(np.mean((low <= y) & (y <= high)))
    assert report["rmse"] == pytest.approx(np.sqrt(np.mean((mean - y) ** 2)))
    assert model.score(frame, y) == pytest.approx(1 - report["rmse"] ** 2 / np.var(y))
    assert set(model.ood_scores(frame)) == {"distance", "epistemic_sd", "outside"}
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_quantiles(frame, 1.5)


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [False, True], [2.0, 7.0], [3, 5, 11], ["a", "b", "é"]])
def test_classes_come_back_as_they_were_given(labels, tmp_path):
    X, y = toys.matrix(300)
    given = np.array(labels)[np.digitize(y, np.quantile(y, np.arange(1, len(labels)) / len(labels)))]
    model = sb.Classifier("logistic").fit(X, given)
    assert model.classes_.tolist() == sorted(labels) and model.predict_proba(X).shape == (300, len(labels))
    assert (model.predict(X) == given).mean() > 0.7 and model.score(X, given) == (model.predict(X) == given).mean()
    assert model.evaluate(X, given)["accuracy"] == pytest.approx(model.score(X, given))
    model.save(tmp_path / "m.safetensors")
    loaded = sb.load(tmp_path / "m.safetensors")
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all() and loaded.predict(X).tolist() == model.predict(X).tolist()


def test_conformal_sets_hold_their_level():
    X, y = toys.matrix(2000)
    given = np.where(y > 0, "high", "low")
    model = sb.Classifier("logistic", calibrate="conformal").fit(X[:1000], given[:1000])
    sets = model.predict_set(X[1000:], level=0.8)
    assert sets.dtype == bool and 0.75 < sets[np.arange(1000), np.searchsorted(model.classes_, given[1000:])].mean() < 0.86
    assert (model.predict_set(X[1000:], 0.8, randomised=False) >= sets).all()
    with pytest.raises(ValueError, match="conformal"):
        sb.Classifier("logistic").fit(X, given).predict_set(X)


def test_counts_have_intervals_of_whole_numbers():
    X, y = toys.matrix(400)
    counts = np.random.default_rng(0).poisson(np.exp(0.5 * X[:, 0] + 1))
    model = sb.CountRegressor("vbll", steps=300).fit(X, counts)
    low, high = model.predict_interval(X)
    assert (low == np.round(low)).all() and 0.85 < ((low <= counts) & (counts <= high)).mean()
    assert np.corrcoef(model.predict(X), np.exp(0.5 * X[:, 0] + 1))[0, 1] > 0.8


def test_update_forget_and_merge_are_those_of_all_rows():
    X, y = toys.matrix(400)
    model = sb.Regressor("bll", steps=60, valid_fraction=0.2).fit(X[:200], y[:200])
    first = model.predict_dist(X).epistemic_var
    east = model.shard(X[200:], y[200:])
    model.update(X[200:], y[200:])
    more = model.predict_dist(X).epistemic_var
    assert (more < first).all()
    again = pickle.loads(pickle.dumps(model)).forget(X[200:], y[200:])
    assert np.allclose(again.predict_dist(X).epistemic_var, first)
    assert np.allclose(again.merge(east).predict_dist(X).epistemic_var, more)
    with pytest.raises(ValueError, match="dnn"):
        sb.Regressor("dnn", steps=20).fit(X, y).update(X, y)


def test_compare_ranks_methods_on_common_splits():
    frame, y = toys.table()
    found = sb.compare(frame.assign(price=y), "price", ["ridge", "dbk"], seeds=1, repeats=2, test_fraction=0.3)
    assert {"ridge", "dbk", "constant"} <= set(found.index) and found["nll"].is_monotonic_increasing
    assert found.index[-1] == "constant" and len(found.attrs["runs"]["ridge"]) == 2
    with pytest.raises(TypeError, match="rank"):
        sb.compare(frame, y, rank=3)


def test_a_comparison_takes_options_of_a_method():
    frame, y = toys.table(120)
    methods = ["ridge", ("dbk", {"rank": 2, "steps": 20}), ("dbk", {"rank": 4, "steps": 20})]
    found = sb.compare(frame, y, methods, seeds=1)
    assert {"ridge", "dbk(rank=2, steps=20)", "dbk(rank=4, steps=20)"} <= set(found.index)
    assert found["nll"].nunique() == len(found)
    for wrong in [("dbk", {"rnk": 2})], [5], [("dbk",)]:
        with pytest.raises(TypeError, match="compare: expected"):
            sb.compare(frame, y, wrong, seeds=1)


def test_own_validation_rows_take_the_place_of_a_fraction():
    X, y = toys.matrix(300)
    model = sb.Regressor("dnn", steps=60).fit(X[:200], y[:200], valid=(X[200:], y[200:]))
    assert model.valid_report_["n"] == 100


def test_a_networks_file_serves_another_method(tmp_path):
    X, y = toys.matrix(300)
    net = sb.Regressor("dnn", steps=200).fit(X, y.copy())
    net.save(tmp_path / "net.safetensors")
    rich = sb.Regressor("rich-bll").fit(X, y, network_from=str(tmp_path / "net.safetensors"))
    assert np.allclose(rich.predict(X), net.predict(X), rtol=1e-5)


def test_the_stubs_are_those_of_the_library():
    text = subprocess.run([sys.executable, toys.ROOT / "scripts" / "python_stubs.py"], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(toys.ROOT / "build" / "python")}).stdout
    assert (toys.ROOT / "python" / "slimbayes" / "__init__.pyi").read_text() == text


def test_the_pages_of_the_classes_are_those_of_the_docstrings():
    done = subprocess.run([sys.executable, toys.ROOT / "scripts" / "python_pages.py", "--check"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(toys.ROOT / "build" / "python")})
    assert done.returncode == 0, done.stderr
