#!/usr/bin/env python3
"""CatBoost with RMSEWithUncertainty (Malinin et al. 2021) on the rows of a slimbayes model's split.

  experiments/catboost_fit.py TABLE --split MODEL [--seed S] [--iterations N] [--patience P]

It answers as `slimbayes fit --json` does, in short: rows, seconds, and the test metrics with the same definitions and the
same scale (the training targets' sd, which the model file holds). One model gives a mean and a variance; the trees stop
where the validation rows' NLL is best. All else is CatBoost's default. One thread.
"""

import argparse
import json
import math
import time

import numpy as np

LEVEL_95 = 1.959963984540054


def metrics(y, mean, variance, scale, erf=np.vectorize(math.erf)):
    """slimbayes/core/metrics.h, for a Gaussian of this mean and variance. CRPS: Gneiting and Raftery 2007, eq. 21."""
    sd = np.sqrt(variance)
    z = (y - mean) / sd
    nll = np.mean(0.5 * np.log(2 * np.pi * variance) + 0.5 * z**2)
    density, share = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi), 0.5 * (1 + erf(z / math.sqrt(2)))
    crps = np.mean(sd * (z * (2 * share - 1) + 2 * density - 1 / np.sqrt(np.pi)))
    return {"mae_standardized": np.mean(np.abs(y - mean)) / scale,
            "rmse_standardized": math.sqrt(np.mean((y - mean) ** 2)) / scale,
            "nll_standardized": nll - math.log(scale), "crps_standardized": crps / scale,
            "width_standardized": 2 * LEVEL_95 * np.mean(sd) / scale,
            "coverage": np.mean(np.abs(z) <= LEVEL_95), "nll": nll}


def fit(inputs, y, split, options):
    from catboost import CatBoostRegressor  # here, so that the metrics are at hand (and tested) without it
    model = CatBoostRegressor(loss_function="RMSEWithUncertainty", iterations=options.iterations, random_seed=options.seed,
                              thread_count=1, verbose=False, allow_writing_files=False, use_best_model=True,
                              early_stopping_rounds=options.patience or None)
    start = time.perf_counter()
    model.fit(inputs[split["train"]], y[split["train"]], eval_set=(inputs[split["valid"]], y[split["valid"]]))
    return model, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--split", required=True, help="a model file fitted on this table")
    parser.add_argument("--target", default="y")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=1000, help="most trees")
    parser.add_argument("--patience", type=int, default=0, help="trees without a better validation score; 0: all are grown")
    options = parser.parse_args()
    import pandas as pd
    from safetensors import safe_open
    with safe_open(options.split, "numpy") as file:
        split = {part: file.get_tensor(f"split.{part}") for part in ("train", "valid", "test")}
        scale = json.loads(file.metadata()["encoder"])["y_scale"]
    table = pd.read_csv(options.table)
    y, inputs = table.pop(options.target).to_numpy(float), table.to_numpy(float)
    model, seconds = fit(inputs, y, split, options)

    def score(rows):
        mean, variance = model.predict(inputs[rows], prediction_type="RMSEWithUncertainty", thread_count=1).T
        return metrics(y[rows], mean, variance, scale)

    trees = model.tree_count_
    answer = {"rows": len(split["train"]), "test_rows": len(split["test"]), "steps": trees,
              "stopped": "patience" if options.patience and trees + options.patience < options.iterations else "budget",
              "valid_score": round(score(split["valid"])["nll_standardized"], 5), "seconds": round(seconds, 1),
              **{name: round(float(value), 5) for name, value in score(split["test"]).items()}}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
