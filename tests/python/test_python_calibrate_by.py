"""calibrate_by: intervals that hold their level in each group of a column."""

import numpy as np
import pandas as pd
import pytest
import slimbayes as sb

pytestmark = pytest.mark.filterwarnings("ignore")


def frame_of(rows, seed):
    draw = np.random.default_rng(seed)
    x, wide = draw.normal(size=rows), np.arange(rows) % 4 == 0
    return pd.DataFrame({"x": x, "region": np.where(wide, "b", "a")}), x + draw.normal(size=rows) * np.where(wide, 1.5, 0.3)


def test_intervals_are_those_of_the_groups(tmp_path):
    X, y = frame_of(800, 1)
    model = sb.Regressor("ridge", ignore="region", calibrate="conformal", calibrate_by="region", calibration_fraction=0.4).fit(X, y)
    new = pd.DataFrame({"x": [0.0, 0.0], "region": ["a", "b"]})
    lower, upper = model.predict_interval(new, level=0.9)
    assert upper[1] - lower[1] > 3 * (upper[0] - lower[0])
    quantiles = model.predict_quantiles(new, [0.05, 0.95])
    assert np.allclose(quantiles[:, 0], lower) and np.allclose(quantiles[:, 1], upper)
    model.save(tmp_path / "m.safetensors")
    assert np.allclose(sb.load(tmp_path / "m.safetensors").predict_quantiles(new, [0.05, 0.95]), quantiles)
    with pytest.raises(ValueError, match="region"):
        model.predict_interval(new[["x"]], level=0.9)
