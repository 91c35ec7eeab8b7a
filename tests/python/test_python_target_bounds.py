"""A target within known bounds: the keyword `bounds`."""

import numpy as np
import pytest
import sklearn

import slimbayes as sb

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")


def shares(rows, seed=1):
    draw = np.random.default_rng(seed)
    X = draw.uniform(-2, 2, (rows, 2))
    return X, 1 / (1 + np.exp(-2 * X[:, 0] + X[:, 1] - draw.normal(0, 1, rows)))


@pytest.mark.parametrize("bounds", [(0, 1), "0,1", [0.0, np.float64(1)], np.array([0, 1])], ids=str)
def test_answers_lie_within_bounds(bounds):
    X, y = shares(150)
    model = sb.Regressor("ridge", bounds=bounds).fit(X, y)
    far = 3 * X
    low, high = model.predict_interval(far, level=0.999)
    assert low.min() >= 0 and high.max() <= 1
    mean, sd = model.predict(far, return_std=True)
    assert mean.min() > 0 and mean.max() < 1 and sd.max() < 0.5
    same = sb.Regressor("ridge", bounds="0,1").fit(X, y)
    assert np.array_equal(same.predict(X), model.predict(X))


def test_one_bound_is_a_pair_with_none(tmp_path):
    X, y = shares(100)
    model = sb.Regressor("ridge", bounds=(0, None)).fit(X, 5 * y)
    low, _ = model.predict_interval(3 * X, level=0.999)
    assert low.min() > 0
    model.save(tmp_path / "m")
    assert np.array_equal(sb.load(tmp_path / "m").predict(X), model.predict(X))
    assert sklearn.clone(model).bounds == (0, None)


def test_wrong_bounds_are_refused():
    X, y = shares(50)
    for wrong in ((0,), (0, "1"), 1, (True, 2)):
        with pytest.raises(ValueError, match="expected a pair"):
            sb.Regressor("ridge", bounds=wrong).fit(X, y)
    with pytest.raises(ValueError, match="LOW below HIGH"):
        sb.Regressor("ridge", bounds=(1, 0)).fit(X, y)
    with pytest.raises(ValueError, match="received 1.5"):
        sb.Regressor("ridge", bounds=(0, 1)).fit(X, np.append(y[:-1], 1.5))


def test_the_torch_module_says_that_it_has_no_bounds():
    pytest.importorskip("torch")
    X, y = shares(60)
    with pytest.raises(TypeError, match="a target without bounds"):
        sb.Regressor("ridge", bounds=(0, 1)).fit(X, y).to_torch()
