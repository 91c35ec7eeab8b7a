#!/usr/bin/env python3
"""NGBoost (Duan et al. 2020) on the rows of a slimbayes model's split.

  experiments/ngboost_fit.py TABLE --split MODEL [--seed S] [--iterations N]

It answers as `slimbayes fit --json` does, in short: rows, seconds, and the test metrics with the same definitions and the
same scale (the training targets' sd, which the model file holds). A Gaussian, boosted by the natural gradient of the NLL; the
iteration with the best NLL of the validation rows answers. All else is NGBoost's default.
"""

import json
import time

import numpy as np
from ngboost import NGBRegressor
from rival import answer, arguments, metrics, rows_of


def main():
    parser = arguments(__doc__)
    parser.add_argument("--iterations", type=int, default=500, help="trees; 500 is NGBoost's default")
    options = parser.parse_args()
    inputs, y, split, scale = rows_of(options.table, options.split, options.target)
    inputs = np.where(np.isnan(inputs), np.nanmean(inputs[split["train"]], axis=0), inputs)  # it takes no missing cells
    model = NGBRegressor(n_estimators=options.iterations, random_state=options.seed, verbose=False)
    start = time.perf_counter()
    model.fit(inputs[split["train"]], y[split["train"]], X_val=inputs[split["valid"]], Y_val=y[split["valid"]])
    seconds = time.perf_counter() - start
    best = model.best_val_loss_itr

    def score(rows):
        found = model.pred_dist(inputs[rows], max_iter=best)
        return metrics(y[rows], found.loc, found.scale**2, scale)

    print(json.dumps(answer(split, score, best, "budget", seconds)))


if __name__ == "__main__":
    main()
