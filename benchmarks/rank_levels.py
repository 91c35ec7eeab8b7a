#!/usr/bin/env python3
"""Do several processes make the model of one? The NLL of new rows by method, seed and number of ranks.

    .venv/bin/python benchmarks/rank_levels.py [--ranks 2,4] [--seeds 5] [--only METHOD] [--out benchmarks/results/rank_levels.csv]

Each row is one fit by so many ranks beside the fit of one process with the same seed, on generated rows; `difference` is its NLL minus that of
one process. `same` says whether a second fit by the same ranks gives the same answers, bit for bit (the first seed alone). Where no random
number belongs to a row, the models are the same up to rounding; where one does (dropout, draws of weights, --sync-every), only their level can be.
Rows that a file has are not fitted again.
"""

import argparse
import csv
import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet

ROOT = Path(__file__).resolve().parent.parent
FIELDS = ["method", "ranks", "seed", "nll_one", "nll", "difference", "same", "date", "commit"]
NETWORK = ["--hidden", "32", "--steps", "1500", "--batch", "128", "--patience", "0"]
CLASSES = ["--target", "c"]
FITS = {
    "ridge": ["--method", "ridge"],
    "bll": ["--method", "bll", *NETWORK],
    "rich-bll": ["--method", "rich-bll", *NETWORK],
    "ntk-sketch": ["--method", "ntk-sketch", *NETWORK],
    "dbk-exact": ["--method", "dbk-exact", "--hidden", "32", "--rank", "32", "--steps", "150", "--patience", "0"],
    "last-layer-laplace, classes": ["--method", "last-layer-laplace", *NETWORK, *CLASSES],
    "dnn": ["--method", "dnn", *NETWORK],
    "dnn, batch norm": ["--method", "dnn", "--network", "mlp", "--batch-norm", *NETWORK],
    "dnn, classes": ["--method", "dnn", *NETWORK, *CLASSES],
    "dbk": ["--method", "dbk", "--rank", "32", *NETWORK],
    "dbk, --sync-every 8": ["--method", "dbk", "--rank", "32", *NETWORK, "--sync-every", "8"],
    "sv-dbk": ["--method", "sv-dbk", "--rank", "32", *NETWORK],
    "vbll": ["--method", "vbll", "--rank", "32", *NETWORK],
    "pp-dkl": ["--method", "pp-dkl", "--rank", "32", *NETWORK],
    "mc-dropout": ["--method", "mc-dropout", *NETWORK],
    "low-rank": ["--method", "low-rank", *NETWORK],
    "ensemble": ["--method", "ensemble", "--of", "dnn", "--members", "4", *NETWORK],
}


def table(path, seed, rows=2000):
    draw = numpy.random.default_rng(seed)
    x = draw.uniform(-2, 2, size=(rows, 4))
    y = x[:, 0] * x[:, 1] + numpy.sin(2 * x[:, 2]) + 0.3 * draw.normal(size=rows)
    pyarrow.parquet.write_table(pyarrow.table({f"x{i}": x[:, i] for i in range(4)} | {"y": y, "c": numpy.where(y > 0, "high", "low")}), path)


def run(folder, *words):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "build" / "python")}
    done = subprocess.run([sys.executable, *map(str, words)], cwd=folder, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def nll(folder, words, ranks, seed):
    """The NLL of the new rows by a fit of so many ranks, and its answers to them."""
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks] if ranks > 1 else []
    other = "c" if "c" not in words else "y"
    run(folder, *launch, "-m", "slimbayes", "fit", "rows.parquet", *(["--target", "y"] if other == "c" else []), "--ignore", other, "--threads", 1,
        "--seed", seed, *words)
    text = run(folder, "-m", "slimbayes", "evaluate", "model.safetensors", "new.parquet", "--json")
    return json.loads(text)["nll"], run(folder, "-m", "slimbayes", "predict", "model.safetensors", "new.parquet")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=FITS)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "rank_levels.csv")
    given = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    new = not given.out.exists()
    known = set()
    if not new:
        with open(given.out, newline="") as file:
            known = {(row["method"], row["ranks"], row["seed"]) for row in csv.DictReader(file)}
    with open(given.out, "a", newline="") as file, tempfile.TemporaryDirectory() as name:
        out = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            out.writeheader()
        folder = Path(name)
        table(folder / "rows.parquet", 1)
        table(folder / "new.parquet", 2)
        for method, words in FITS.items():
            for seed in range(given.seeds if given.only in (None, method) else 0):
                missing = [ranks for ranks in map(int, given.ranks.split(",")) if (method, str(ranks), str(seed)) not in known]
                if not missing:
                    continue
                one, _ = nll(folder, words, 1, seed)
                for ranks in missing:
                    several, answers = nll(folder, words, ranks, seed)
                    same = "" if seed > 0 else "yes" if nll(folder, words, ranks, seed)[1] == answers else "no"
                    out.writerow({"method": method, "ranks": ranks, "seed": seed, "nll_one": f"{one:.5f}", "nll": f"{several:.5f}",
                                  "difference": f"{several - one:.2g}", "same": same, "date": datetime.date.today().isoformat(), "commit": commit})
                    file.flush()
                    print(method, ranks, seed, one, several, same, flush=True)


if __name__ == "__main__":
    main()
