"""What answers look like: their index, their times, their words."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import slimbayes as sb
import toys
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from slimbayes import _library

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")


def hourly(rows=240):
    time = np.arange(rows)
    return pd.DataFrame({"date": pd.date_range("2024-01-01", periods=rows, freq="h"), "y": np.sin(time / 5) + 0.1 * np.cos(time**2)})


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_forecasts_have_the_time_zone_of_the_frame(zone):
    frame = hourly()
    model = sb.Forecaster("ridge", window=12, time="date").fit(frame, "y")
    frame["date"] = frame["date"].dt.tz_localize(zone)
    found = model.predict_frame(frame, keep=["date"])
    assert found["forecast_time"].dtype == found["last_time"].dtype == frame["date"].dtype
    assert (found["last_time"] == found["date"]).all()
    assert (found["forecast_time"] - found["last_time"] == pd.Timedelta(hours=1)).all()
    polars = pytest.importorskip("polars")
    assert model.predict_frame(polars.from_pandas(frame)).schema["forecast_time"].time_zone == zone
    assert model.predict_frame(pa.Table.from_pandas(frame)).schema.field("forecast_time").type.tz == zone


def test_a_validation_series_keeps_its_rows_without_a_target():
    """Windows see such a row; without it, none would reach over its place."""
    valid = hourly(100)
    valid.loc[40, "y"] = np.nan
    model = sb.Forecaster("ridge", window=12, time="date").fit(hourly(), "y", valid=valid)
    assert model.valid_report_["n"] == 100 - 12 - 1  # of 100 - 12 windows one predicts the missing cell


def test_an_adaptive_forecaster_follows_its_series():
    frame = hourly(300)
    options = {"window": 12, "time": "date", "calibrate": "adaptive", "steps": 50, "hidden": 16, "level": 0.9}
    model = sb.Forecaster("dnn", **options).fit(frame[:240], "y")
    last = frame[-40:]
    before = model.predict_interval(last, level=0.9)
    mean = model.predict(last)
    with pytest.warns(UserWarning, match="only the adaptive intervals follow"):
        model.update(frame[228:])  # 12 rows of context, 60 new ones
    after = model.predict_interval(last, level=0.9)
    assert np.array_equal(model.predict(last), mean) and not np.allclose(after, before)
    assert model._facts["adaptive"] and "adaptive" in model._repr_html_()


def test_the_logarithm_of_a_probability():
    X = np.random.default_rng(0).normal(size=(90, 2))
    label = np.where(X[:, 0] > 0, "up", "down")
    model = sb.Classifier("logistic").fit(X, label)
    assert np.allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)


def test_a_report_speaks_of_keywords_as_python_has_them():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = sb.Regressor("ridge").fit(X, X[:, 0] + 0.1 * X[:, 1])
    notes = " ".join(model.report(X[::-1] + 0.01, 9 * X[:, 1]).facts["notes"])
    assert "calibrate='conformal'" in notes
    facts = sb.Regressor("ridge", test_fraction=0).fit(X, X[:, 0]).report(X, X[:, 0]).facts
    assert facts["warnings"] and not re.search("--[a-z]", notes + json.dumps(facts))


def test_answers_keep_the_index_of_the_frame():
    frame, y = hourly(60)[["y"]], np.arange(60.0)
    assert sb.Regressor("ridge").fit(frame, y).predict_frame(frame.iloc[20:30]).index.tolist() == list(range(20, 30))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_pipeline_hands_frames_with_their_index_on(library):
    frame, y = toys.table()
    frame = frame[["a", "b"]].set_index(pd.MultiIndex.from_product([range(100), ["x", "y", "z"]]))
    pipe = make_pipeline(StandardScaler(), sb.Regressor("ridge")).set_output(transform=library).fit(frame, y)
    found = pipe[-1].predict_frame(pipe[:-1].transform(frame[::-2]))
    assert pipe[-1].feature_names_in_.tolist() == ["a", "b"] and type(found).__module__.startswith(library)
    assert library == "polars" or found.index.equals(frame[::-2].index)
    assert (np.asarray(found["mean"]) == pipe.predict(frame[::-2])).all()


def test_the_frame_has_quantiles_calibrated_as_the_interval():
    frame, y = hourly()[["y"]], np.random.default_rng(1).normal(size=240)
    plain = sb.Regressor("ridge").fit(frame, y)
    found = plain.predict_frame(frame, quantiles=[0.05, 0.5])
    assert np.allclose(found[["q0.05", "q0.5"]], plain.predict_quantiles(frame, [0.05, 0.5]))
    calibrated = sb.Regressor("ridge", calibrate="conformal").fit(frame, y)
    found = calibrated.predict_frame(frame, level=0.9, quantiles=(0.05, 0.95))
    assert np.allclose(found["q0.05"], found["lower"]) and np.allclose(found["q0.95"], found["upper"])
    found = calibrated.predict_frame(frame, quantiles=(0.05, 0.5, 0.95))
    assert (found[["q0.05", "q0.5", "q0.95"]] == calibrated.predict_quantiles(frame, [0.05, 0.5, 0.95])).all(axis=None)
    with pytest.raises(ValueError, match="calibration rows enough for the quantile 0.001"):
        calibrated.predict_quantiles(frame, 0.001)
    with pytest.raises(ValueError, match="above 0 and below 1 for quantiles"):
        plain.predict_frame(frame, quantiles=[1.5])


def test_groups_and_numbered_times_stay_whole_numbers():
    frame = pd.DataFrame({"step": np.tile(np.arange(60), 2), "place": np.repeat([3, 5], 60), "y": hourly(120)["y"]})
    model = sb.Forecaster("ridge", window=4, time="step", group="place").fit(frame, "y")
    found = model.predict_frame(frame)
    assert model.predict_quantiles(frame, [0.1, 0.9]).shape == (len(found), 2)
    frame["place"] = frame["place"].astype("category")
    named = sb.Forecaster("ridge", window=4, time="step", group="place").fit(frame, "y").predict_frame(frame)
    assert named["place"].dtype == np.int64 and named["place"].tolist() == found["place"].tolist()
    assert found["place"].dtype == found["forecast_time"].dtype == np.int64 and found["forecast_time"].max() == 60


def test_no_quantiles_are_an_empty_array():
    frame, y = hourly(60)[["y"]], np.arange(60.0)
    assert sb.Regressor("ridge").fit(frame, y).predict_quantiles(frame, []).shape == (60, 0)


@pytest.mark.parametrize("sentence, told", [
    ("raise `.valid_fraction`, or give `.valid=FILE`", "raise valid_fraction, or give valid=(X, y)"),
    ("fit it without `.calibrate`; `.calibrate=conformal` makes", "fit it without calibrate; calibrate='conformal' makes"),
    ("`.target` names the column", "target names the column"), ("by `.method=dbk`, or a--b", "by method='dbk', or a--b"),
    ("`.noise=select` or `.network=tabular_resnet`", "noise='select' or network='tabular_resnet'"),
    ("`.hidden=64`, `.clip_rank=false`, `.time=year,month`", "hidden=64, clip_rank=False, time=['year', 'month']"),
    ("[fit] expected a column; received '``.seed`' and `.csv`", "expected a column; received '`.seed`' and `.csv`"),
    ("a note of an older file: --noise select", "a note of an older file: --noise select")])
def test_sentences_name_keywords(sentence, told):
    assert _library.core.in_python(sentence) == told


# A counter of doubles does not grow beyond 2^53: the page of these columns had no end.
def test_the_page_of_a_range_that_cannot_be_drawn_says_so():
    y = np.random.default_rng(0).normal(size=60)
    X = np.column_stack([np.where(y > 0, 0.3, 0.1 + 0.2), y + np.cos(9 * y)])
    assert "too close: rounding would place the marks" in sb.Regressor("ridge").fit(X, y).report(X, y).html
