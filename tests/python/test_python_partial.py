"""`partial_fit` fits first, then learns rows exactly; estimators of other methods do not have it."""

import numpy as np
import pandas as pd
import pytest
import slimbayes as sb
import toys
from sklearn.utils.estimator_checks import check_estimator

pytestmark = pytest.mark.filterwarnings("ignore")


def test_later_calls_learn_rows_as_update_does():
    X, y = toys.matrix(300)
    model = sb.Regressor("bll", steps=60)
    assert model.partial_fit(X[:200], y[:200]) is model
    whole = sb.Regressor("bll", steps=60).fit(X[:200], y[:200])
    assert (model.predict(X) == whole.predict(X)).all()
    for part in np.split(np.arange(200, 300), 4):
        model.partial_fit(X[part], y[part])
    later = whole.update(X[200:], y[200:]).predict_dist(X)
    assert np.allclose(model.predict_dist(X).epistemic_var, later.epistemic_var) and np.allclose(model.predict(X), later.mean)
    assert (model.fit(X[:200], y[:200]).predict_dist(X).epistemic_var > later.epistemic_var).all()  # fit begins anew


def test_a_frame_names_its_target_in_each_call(tmp_path):
    frame, y = toys.table()
    frame = frame.assign(price=y)
    model = sb.Regressor("dbk-exact", steps=60).partial_fit(frame[:200], "price").partial_fit(frame[200:250], "price").partial_fit(frame[250:])
    model.save(tmp_path / "m.safetensors")
    again = sb.load(tmp_path / "m.safetensors")
    more = again.partial_fit(frame[:5].assign(a=0.5)).predict_dist(frame)
    assert (more.epistemic_var <= model.predict_dist(frame).epistemic_var * (1 + 1e-9)).all()


def test_a_first_call_may_name_the_classes():
    X, y = toys.matrix(300)
    label = np.array(["low", "middle", "high"])[np.digitize(y, [-1, 0.5])]
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=label)
    model = sb.Classifier("last-layer-laplace", steps=60).partial_fit(X[:200], label[:200], classes=["low", "high", "middle"])
    assert model.classes_.tolist() == ["high", "low", "middle"]
    model.partial_fit(X[200:250], label[200:250]).partial_fit(X[250:], label[250:], classes=model.classes_)
    one = label == "low"
    model.partial_fit(X[one] + 0.01, label[one])  # rows of one class
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, label, classes=["low", "high"])
    for rows, y in (X, label), (frame, "label"):
        with pytest.raises(ValueError, match="every class in the first call.*'none'.* rows of .'high', 'low', 'middle'"):
            sb.Classifier("bll", steps=60).partial_fit(rows, y, classes=["low", "middle", "high", "none"])


@pytest.mark.parametrize(("model", "text"), [
    (sb.Regressor(), "received auto; dbk-exact, .*rich-bll"), (sb.Regressor("ridge"), "received ridge"),
    (sb.Classifier("deterministic"), "received dnn; rich-bll, bll, last-layer-laplace, ntk-sketch have one; fit this one again"),
    (sb.Regressor("bll", calibrate="conformal"), "without conformal calibration")])
def test_other_estimators_do_not_have_it_and_say_why(model, text):
    X, y = toys.matrix(60)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match=f"partial_fit: expected .*{text}"):
        model.partial_fit(X, y)


def test_a_fitted_model_decides_by_its_own_method():
    X, y = toys.matrix(60)
    model = sb.Regressor("ridge").fit(X, y).set_params(method="bll")
    assert not hasattr(model, "partial_fit") and hasattr(sb.Regressor("nngp"), "partial_fit")
    assert {m["name"] for m in sb.methods() if m["updates"]} == {"dbk-exact", "rich-bll", "bll", "last-layer-laplace", "ntk-sketch"}


def test_scikit_learns_own_checks_of_a_classifier():
    results = check_estimator(sb.Classifier("bll", steps=20), on_fail=None, on_skip=None)
    failed = {r["check_name"] for r in results if r["status"] == "failed"}
    passed = {r["check_name"] for r in results if r["status"] == "passed"}
    assert "check_estimators_partial_fit_n_features" in passed and "check_n_features_in_after_fitting" in passed, failed


@pytest.mark.parametrize("method", ["bll", "rich-bll"])
def test_the_mean_moves_only_where_it_is_that_of_the_posterior(method):
    X, y = toys.matrix(240)
    for mean, moves in ("network", False), ("posterior", True):
        model = sb.Regressor(method, mean=mean, steps=50, noise_folds=0).partial_fit(X[:150], y[:150])
        before = model.predict(X, return_std=True)
        after = model.partial_fit(X[150:], y[150:] + 1).predict(X, return_std=True)
        assert (np.abs(after[0] - before[0]).max() > 1e-3) == moves and np.mean(after[1]) < np.mean(before[1])
