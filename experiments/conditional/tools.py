#!/usr/bin/env python3
"""Intervals of 90 % of one tool on generated data whose truth is known: in groups, and in a drifting series.

    tools.py PART TOOL SEED     prints one JSON object

The data are Gaussian around a known mean with a known sd, so that the coverage of an interval is a difference of two normal
probabilities: it has no error of test rows. Every tool sees the same training rows and the same calibration rows, and a linear model.
"""

import json
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import pandas as pd
from scipy.stats import norm

LEVEL = 0.9
SHARES, SDS = {"a": 0.55, "b": 0.3, "c": 0.13, "d": 0.02}, {"a": 0.3, "b": 1.0, "c": 2.0, "d": 4.0}
ROWS, FRESH, CALIBRATION = 4000, 4000, 0.25
CHANGE, STEPS, TRAINED, BLOCK, LAGS = 1500, 3000, 1000, 20, 3  # of the series


def grouped(rng, n):
    """Groups with the same mean and other noise: a linear model with one noise fits, its error bar does not."""
    group = rng.choice(list(SHARES), p=list(SHARES.values()), size=n)
    x = rng.normal(size=(n, 3))
    mean, sd = x @ [1.0, -2.0, 0.5], np.array([SDS[g] for g in group])
    return pd.DataFrame(x, columns=["x1", "x2", "x3"]).assign(g=group), mean, sd, mean + sd * rng.normal(size=n)


def split_of(model):
    """The rows that the fit trained on and those that it calibrated with."""
    from safetensors.numpy import load_file
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.safetensors"
        model.save(path)
        found = load_file(path)
    return np.concatenate([found["split.train"], found["split.valid"]]), found["split.calibration"]


def ours(X, y, fresh, seed, **options):
    import slimbayes as sb
    model = sb.Regressor("ridge", seed=seed, split_seed=seed, calibrate="conformal", calibration_fraction=CALIBRATION, level=LEVEL,
                         **options).fit(X, y)
    low, high = model.predict_interval(fresh, level=LEVEL)
    return np.asarray(low), np.asarray(high), model


def numbers(X):
    return X[["x1", "x2", "x3"]].to_numpy()


def linear(X, y, train):
    from sklearn.linear_model import Ridge
    return Ridge(alpha=1e-3).fit(numbers(X)[train], y[train])


def mapie_conditional(X, y, fresh, train, calibration):
    """Conditional conformal prediction (Gibbs, Cherian and Candes 2023) with the groups as its features."""
    from mapie.conditional_conformal_prediction import ConditionalSplitConformalRegressor
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    def of_groups(rows):  # the inputs are x1, x2, x3 and the number of the group
        return (np.asarray(rows)[:, 3:4] == np.arange(len(SHARES))).astype(float)

    names = {name: i for i, name in enumerate(SHARES)}
    rows, new = (np.column_stack([numbers(frame), frame["g"].map(names)]) for frame in (X, fresh))
    base = make_pipeline(FunctionTransformer(lambda rows: rows[:, :3]), Ridge(alpha=1e-3)).fit(rows[train], y[train])
    model = ConditionalSplitConformalRegressor(of_groups, base, confidence_level=LEVEL)
    model.conformalize(rows[calibration], y[calibration])
    return model.predict_interval(new)[1][:, :, 0].T


def mapie_split(X, y, fresh, train, calibration):
    from mapie.regression import SplitConformalRegressor
    model = SplitConformalRegressor(linear(X, y, train), confidence_level=LEVEL)
    model.conformalize(numbers(X)[calibration], y[calibration])
    return model.predict_interval(numbers(fresh))[1][:, :, 0].T


def crepes_bins(X, y, fresh, train, calibration, by):
    from crepes import ConformalRegressor
    base = linear(X, y, train)
    known = {name: i for i, name in enumerate(SHARES)}
    bins = {"bins": np.array([known[g] for g in X["g"].iloc[calibration]])} if by else {}
    fresh_bins = {"bins": np.array([known[g] for g in fresh["g"]])} if by else {}
    model = ConformalRegressor().fit(y[calibration] - base.predict(numbers(X)[calibration]), **bins)
    found = model.predict_int(base.predict(numbers(fresh)), confidence=LEVEL, **fresh_bins)
    return found[:, 0], found[:, 1]


def true_coverage(low, high, mean, sd):
    return norm.cdf((high - mean) / sd) - norm.cdf((low - mean) / sd)


def groups(tool, seed):
    rng = np.random.default_rng(seed)
    X, _, _, y = grouped(rng, ROWS)
    fresh, mean, sd, _ = grouped(rng, FRESH)
    plain = X.drop(columns="g"), fresh.drop(columns="g")
    low, high, model = (ours(X, y, fresh, seed, ignore=["g"], calibrate_by="g") if tool == "slimbayes-by" else
                        ours(plain[0], y, plain[1], seed))
    train, calibration = split_of(model)
    if tool == "crepes":
        low, high = crepes_bins(X, y, fresh, train, calibration, by=False)
    elif tool == "crepes-by":
        low, high = crepes_bins(X, y, fresh, train, calibration, by=True)
    elif tool == "mapie":
        low, high = mapie_split(X, y, fresh, train, calibration)
    elif tool == "mapie-by":
        low, high = mapie_conditional(X, y, fresh, train, calibration)
    covered, width = true_coverage(low, high, mean, sd), high - low
    out = {"coverage": covered.mean(), "width": width.mean()}
    for name in SHARES:
        here = (fresh["g"] == name).to_numpy()
        rows = int((X["g"].iloc[calibration] == name).sum())
        out |= {f"coverage_{name}": covered[here].mean(), f"width_{name}": width[here].mean(), f"rows_{name}": rows}
    return out


def drifting(rng):
    """An autoregressive series whose noise grows to three times its sd at CHANGE: y, its mean given the past, its sd."""
    sd = np.where(np.arange(STEPS) < CHANGE, 0.3, 0.9)
    y, mean = np.zeros(STEPS), np.zeros(STEPS)
    for t in range(1, STEPS):
        mean[t] = 0.8 * y[t - 1]
        y[t] = mean[t] + sd[t] * rng.normal()
    return y, mean, sd


def ours_follow(y, seed, calibrate):
    """Intervals of each block from what was known before it; the adaptive state follows the block afterwards."""
    import slimbayes as sb
    frame = pd.DataFrame({"time": np.arange(STEPS), "y": y})
    model = sb.Forecaster("ridge", window=LAGS, time="time", seed=seed, calibrate=calibrate, level=LEVEL)
    model.fit(frame.iloc[:TRAINED], "y")
    low, high = np.full(STEPS, np.nan), np.full(STEPS, np.nan)
    for begin in range(TRAINED, STEPS, BLOCK):
        block = frame.iloc[begin - LAGS:begin + BLOCK]
        ends = model.predict_interval(block)  # the last window forecasts the row after the block
        low[begin:begin + BLOCK], high[begin:begin + BLOCK] = (end[:BLOCK] for end in ends)
        if calibrate == "adaptive":
            model.update(block)
    return low, high


def mapie_follow(y, aci):
    from mapie.regression import TimeSeriesRegressor
    from mapie.subsample import BlockBootstrap
    from sklearn.linear_model import Ridge
    X = np.stack([np.roll(y, lag) for lag in range(1, LAGS + 1)], axis=1)
    cv = BlockBootstrap(n_resamplings=20, n_blocks=10, overlapping=False, random_state=0)
    model = TimeSeriesRegressor(Ridge(alpha=1e-3), method="aci" if aci else "enbpi", cv=cv, agg_function="mean")
    model.fit(X[LAGS:TRAINED], y[LAGS:TRAINED])
    low, high = np.full(STEPS, np.nan), np.full(STEPS, np.nan)
    for begin in range(TRAINED, STEPS, BLOCK):
        here = slice(begin, begin + BLOCK)
        found = model.predict(X[here], confidence_level=LEVEL, ensemble=True, optimize_beta=False, allow_infinite_bounds=True)[1]
        low[here], high[here] = found[:, 0, 0], found[:, 1, 0]
        model.update(X[here], y[here], confidence_level=LEVEL, **({"gamma": 0.05} if aci else {}))
    return low, high


def series(tool, seed):
    y, mean, sd = drifting(np.random.default_rng(seed))
    if tool.startswith("slimbayes"):
        low, high = ours_follow(y, seed, "adaptive" if tool == "slimbayes-adaptive" else "conformal")
    else:
        low, high = mapie_follow(y, aci=tool == "mapie-aci")
    covered = true_coverage(low, high, mean, sd)
    before, after = slice(TRAINED, CHANGE), slice(CHANGE, STEPS)
    width = np.where(np.isfinite(high - low), high - low, np.nan)
    return {"coverage": covered[TRAINED:].mean(), "width": np.nanmean(width[TRAINED:]), "infinite": int(np.isnan(width[TRAINED:]).sum()),
            "coverage_before": covered[before].mean(), "coverage_after": covered[after].mean()}


PARTS = {"groups": groups, "series": series}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    part, tool, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    print(json.dumps({"train_rows": TRAINED if part == "series" else ROWS, **PARTS[part](tool, seed)}))
