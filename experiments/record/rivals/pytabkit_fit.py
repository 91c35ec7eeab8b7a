#!/usr/bin/env python3
"""RealMLP-TD (Holzmüller et al. 2024) or TabM (Gorishniy et al. 2025), as pytabkit has them, on the rows of a slimbayes
model's split.

  experiments/pytabkit_fit.py TABLE --split MODEL --network realmlp|tabm [--seed S] [--threads N] [--device D]

It answers as `slimbayes fit --json` does, in short: rows, seconds, and the test metrics with the same definitions and the
same scale (the training targets' sd, which the model file holds). Both predict a mean alone. The variance is one number, the
mean squared error on the validation rows, which choose the epoch too. All else is pytabkit's default. With --device cuda the
seconds compare with nothing.
"""

import json
import time

import numpy as np
from pytabkit import RealMLP_TD_Regressor, TabM_D_Regressor
from rival import answer, arguments, metrics, rows_of

NETWORKS = {"realmlp": RealMLP_TD_Regressor, "tabm": TabM_D_Regressor}


def main():
    parser = arguments(__doc__)
    parser.add_argument("--network", required=True, choices=sorted(NETWORKS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    options = parser.parse_args()
    inputs, y, split, scale = rows_of(options.table, options.split, options.target)
    model = NETWORKS[options.network](device=options.device, random_state=options.seed, n_threads=options.threads)
    start = time.perf_counter()
    model.fit(inputs[split["train"]], y[split["train"]], inputs[split["valid"]], y[split["valid"]])
    seconds = time.perf_counter() - start

    def mean(rows):
        return np.asarray(model.predict(inputs[rows]), dtype=float)

    variance = np.mean((y[split["valid"]] - mean(split["valid"])) ** 2)

    def score(rows):
        return metrics(y[rows], mean(rows), np.full(len(rows), variance), scale)

    print(json.dumps(answer(split, score, 0, "budget", seconds)))


if __name__ == "__main__":
    main()
