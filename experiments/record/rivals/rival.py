"""What the rivals' programs share: their flags, the rows of slimbayes' split, and its metrics."""

import argparse
import json
import math

import numpy as np
from safetensors import safe_open

LEVEL_95 = 1.959963984540054


def metrics(y, mean, variance, scale, erf=np.vectorize(math.erf)):
    """slimbayes/answers/metrics.h, for a Gaussian of this mean and variance. CRPS: Gneiting and Raftery 2007, eq. 21."""
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


def arguments(about):
    """The parser of what every rival takes."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--split", required=True, help="a model file fitted on this table")
    parser.add_argument("--target", default="y")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def rows_of(table, split, target):
    """Inputs [n, d] and target [n] of a table, the row numbers of a model file's split, and its scale of the target."""
    with safe_open(split, "numpy") as file:
        parts = {part: file.get_tensor(f"split.{part}") for part in ("train", "valid", "test")}
        encoder = json.loads(file.metadata()["encoder"])
        scale = encoder["y_scale"] * encoder.get("encoded_sd", 1)
    names = np.genfromtxt(table, delimiter=",", max_rows=1, dtype=str)
    values = np.genfromtxt(table, delimiter=",", skip_header=1)
    return values[:, names != target], values[:, names == target][:, 0], parts, scale


def answer(split, score, steps, stopped, seconds):
    """What `slimbayes fit --json` says, in short. score: row numbers to metrics."""
    return {"rows": len(split["train"]), "test_rows": len(split["test"]), "steps": steps, "stopped": stopped,
            "valid_score": round(score(split["valid"])["nll_standardized"], 5), "seconds": round(seconds, 1),
            **{name: round(float(value), 5) for name, value in score(split["test"]).items()}}
