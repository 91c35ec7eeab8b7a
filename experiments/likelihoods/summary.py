#!/usr/bin/env python3
"""The table of README.md from results.csv: experiments/likelihoods/summary.py"""

import csv
import pathlib

SHOWN = {"bernoulli": ["accuracy", "auroc", "brier", "ece"], "softmax": ["accuracy", "brier", "ece"],
         "poisson": ["mae", "rmse", "coverage", "correlation"], "cox": ["nll_uniform", "expected", "correlation"]}

with open(pathlib.Path(__file__).with_name("results.csv"), newline="") as file:
    rows = list(csv.DictReader(file))
print("| data | likelihood | method | test NLL | the rest | seconds |\n|---|---|---|---|---|---|")
for row in rows:
    rest = ", ".join(f"{name} {row[name]}" for name in SHOWN[row["likelihood"]] if row[name])
    print(f"| {row['data']} | {row['likelihood']} | {row['method']} | {row['nll']} | {rest} | {row['seconds']} |")
