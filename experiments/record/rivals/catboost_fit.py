#!/usr/bin/env python3
"""CatBoost with RMSEWithUncertainty (Malinin et al. 2021) on the rows of a slimbayes model's split.

  experiments/catboost_fit.py TABLE --split MODEL [--seed S] [--iterations N] [--patience P]

It answers as `slimbayes fit --json` does, in short: rows, seconds, and the test metrics with the same definitions and the
same scale (the training targets' sd, which the model file holds). One model gives a mean and a variance; the trees stop
where the validation rows' NLL is best. All else is CatBoost's default. One thread.
"""

import json
import time

from catboost import CatBoostRegressor
from rival import answer, arguments, metrics, rows_of


def fit(inputs, y, split, options):
    model = CatBoostRegressor(loss_function="RMSEWithUncertainty", iterations=options.iterations, random_seed=options.seed,
                              thread_count=1, verbose=False, allow_writing_files=False, use_best_model=True,
                              early_stopping_rounds=options.patience or None)
    start = time.perf_counter()
    model.fit(inputs[split["train"]], y[split["train"]], eval_set=(inputs[split["valid"]], y[split["valid"]]))
    return model, time.perf_counter() - start


def main():
    parser = arguments(__doc__)
    parser.add_argument("--iterations", type=int, default=1000, help="most trees")
    parser.add_argument("--patience", type=int, default=0, help="trees without a better validation score; 0: all are grown")
    options = parser.parse_args()
    inputs, y, split, scale = rows_of(options.table, options.split, options.target)
    model, seconds = fit(inputs, y, split, options)

    def score(rows):
        mean, variance = model.predict(inputs[rows], prediction_type="RMSEWithUncertainty", thread_count=1).T
        return metrics(y[rows], mean, variance, scale)

    trees = model.tree_count_
    stopped = "patience" if options.patience and trees + options.patience < options.iterations else "budget"
    print(json.dumps(answer(split, score, trees, stopped, seconds)))


if __name__ == "__main__":
    main()
