#!/usr/bin/env python3
"""How much the posterior of a last layer can add to the noise: the mean epistemic variance on the training rows, over the noise variance.

  experiments/r_bound/measure.py [--tool build/slimbayes]

With the features Phi [n, r] of the last layer and any prior I + A^T A, the epistemic variance of a training row lies below that of
least squares, s2 phi^T (Phi^T Phi)^-1 phi, whose mean over the training rows is s2 r / n. A row of results.csv has the mean for bll,
rich-bll (with the default ridge and with R's, 0) and ntk-gp around one network in R's architecture, on n rows of a table (0: a share of
nine tenths of all, at most 4,000), beside r / n. A tenth of the rows validates; prior sd 1 and the validation MSE as the noise, as in R.
"""

import argparse
import csv
import gzip
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "r_figures"))
import draw  # noqa: E402

NETWORK = draw.NETWORK[:draw.NETWORK.index("--epochs")] + ["--epochs", "300", "--batch", "32"]
FEATURES = 51  # the 50 units of the last layer and 1
TABLES = ["boston", "concrete", "energy", "power_plant", "wine_red"]
SIZES = [60, 120, 250, 0]
METHODS = [("bll", []), ("rich-bll", []), ("rich-bll", ["--ridge", "0"]), ("ntk-gp", [])]
POSTERIOR = ["--prior", "fixed", "--prior-sd", "1", "--noise", "mse"]
FIELDS = ["data", "seed", "n", "features", "method", "ridge", "noise_var", "mean_epistemic_var", "bound", "commit"]


def parts_of(path, size, seed):
    """Header, n training rows, and rows that validate: a ninth of their number, at least 20."""
    with gzip.open(path, "rt") as file:
        header, *rows = csv.reader(file)
    random.Random(seed).shuffle(rows)
    n = size or min(4000, len(rows) * 9 // 10)
    return header, rows[:n], rows[n:n + max(20, n // 9)]


class Study:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder

    def run(self, *words):
        subprocess.run([str(word) for word in (self.tool, *words)], check=True, capture_output=True)

    def write(self, name, header, rows):
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
        return self.folder / name

    def variances(self, model, rows):
        out = self.folder / "out.csv"
        self.run("predict", model, rows, "--out", out)
        with open(out, newline="") as file:
            found = list(csv.DictReader(file))
        return [statistics.fmean(float(row[f"sd_{part}"]) ** 2 for row in found) for part in ("aleatoric", "epistemic")]


def measured(study, data, table, size, seed):
    header, train, valid = parts_of(data / f"{table}.csv.gz", size, seed)
    train_file, valid_file = study.write("train.csv", header, train), study.write("valid.csv", header, valid)
    network, model = study.folder / "network.safetensors", study.folder / "m.safetensors"
    study.run("fit", train_file, "--valid", valid_file, "--target", "y", "--method", "dnn", "--seed", seed, "--model", network, "--threads", "1", *NETWORK)
    for method, flags in METHODS:
        study.run("fit", train_file, "--valid", valid_file, "--network-from", network, "--method", method, "--model", model, "--threads", "1",
                  *POSTERIOR, *flags)
        noise, epistemic = study.variances(model, train_file)
        yield {"data": table, "seed": seed, "n": len(train), "features": FEATURES, "method": method, "ridge": flags[-1] if flags else "",
               "noise_var": f"{noise:.6g}", "mean_epistemic_var": f"{epistemic:.6g}", "bound": f"{noise * min(1, FEATURES / len(train)):.6g}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes")))
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    data = pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data"))
    commit = subprocess.run([options.tool, "--version"], capture_output=True, text=True).stdout.partition("(")[2].partition(")")[0]
    path, rows = HERE / "results.csv", []
    if path.exists():
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
    cells = [(table, size, seed) for seed in range(options.seeds) for table in TABLES for size in SIZES]
    known = {(row["data"], row["asked"], row["seed"]) for row in rows}
    for table, size, seed in cells:
        if (table, str(size), str(seed)) in known:
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows += [{**row, "asked": size, "commit": commit} for row in measured(Study(options.tool, pathlib.Path(folder)), data, table, size, seed)]
        with open(path.with_suffix(".new"), "w", newline="") as file:
            writer = csv.DictWriter(file, ["asked", *FIELDS], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        os.replace(path.with_suffix(".new"), path)
        print(table, size, seed, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
