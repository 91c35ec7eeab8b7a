#!/usr/bin/env python3
"""What do several processes bring to one fit? Rows a second of one rank and of several, beside each other in one run, and the level of
their models.

    .venv/bin/python benchmarks/ranks.py [--rounds 3] [--ranks 2] [--out benchmarks/results/ranks.csv] [--only KIND]

Each round fits with one rank and with several in turn, on generated rows of 26 columns. Several ranks take so many rows a step in all, so
each of them a share. `ratio` is the rows a second of several ranks over those of one; `messages` the share of the training time in which
rank 0 waits for messages. On a machine that is busy with other work the ratio is too small: read `idle`, the share of all cores that
nothing used in the second before the fits. `nll` is that of the held-out rows. What is shared by whole fits: workers.py --ranks.
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
from workers import idle

ROOT = Path(__file__).resolve().parent.parent
FIELDS = ["kind", "ranks", "batch", "round", "rows_per_s_one", "rows_per_s", "ratio", "messages", "nll_one", "nll", "idle", "date", "cores", "commit"]
LONG = ["--patience", "0", "--valid-fraction", "0.05", "--steps"]
DBK = ["--method", "dbk", "--hidden", "64", "--rank", "128"]
KINDS = {  # method and options; rows of a step; steps; rows of the table
    "dbk, 200 rows a step": (DBK, 200, 3000, 20000),
    "dbk, 2048 rows a step": (DBK, 2048, 800, 100000),
    "dbk, 2048 rows a step, --sync-every 2": ([*DBK, "--sync-every", "2"], 2048, 800, 100000),
    "dbk, 2048 rows a step, --sync-every 8": ([*DBK, "--sync-every", "8"], 2048, 800, 100000),
    "dbk, 2048 rows a step, --sync-every 16": ([*DBK, "--sync-every", "16"], 2048, 800, 100000),
    "dbk, 512 wide, 2048 rows a step": (["--method", "dbk", "--hidden", "512", "--rank", "512"], 2048, 60, 20000),
    "dnn, 2048 rows a step": (["--method", "dnn", "--hidden", "64"], 2048, 1500, 100000),
    "dnn, 2048 rows a step, --sync-every 16": (["--method", "dnn", "--hidden", "64", "--sync-every", "16"], 2048, 1500, 100000),
    "vbll, 2048 rows a step": (["--method", "vbll", "--hidden", "64", "--rank", "128"], 2048, 800, 100000),
    "dbk-exact, 20,000 rows a step": (["--method", "dbk-exact", "--hidden", "64", "--rank", "128"], 0, 100, 20000),
    "dbk-exact, 1,000,000 rows a step": (["--method", "dbk-exact", "--hidden", "64", "--rank", "128"], 0, 4, 1000000),
}
COLUMNS = 26


def table(path, rows):
    draw = numpy.random.default_rng(1)
    x = draw.normal(size=(rows, COLUMNS))
    columns = {f"x{i}": x[:, i] for i in range(COLUMNS)} | {"y": x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * draw.normal(size=rows)}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def fitted(folder, words, ranks):
    """The report of a fit by so many ranks, one thread each."""
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)] if ranks > 1 else []
    done = subprocess.run([sys.executable, *launch, "-m", "slimbayes", "fit", "rows.parquet", "--target", "y", "--json", "--threads", "1", *words], cwd=folder,
                          capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "build" / "python")}, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "ranks.csv")
    given = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for repeat in range(given.rounds):
            for kind, (words, batch, steps, size) in KINDS.items():
                if given.only not in (None, kind):
                    continue
                table(folder / "rows.parquet", size)
                words = [*words, *LONG, str(steps), *(["--batch", str(batch)] if batch else []), "--seed", str(repeat)]
                free = idle()
                one, several = fitted(folder, words, 1), fitted(folder, words, given.ranks)
                speed = [(batch or one["summary"]["rows"]) * each["summary"]["steps"] / each["summary"]["seconds"] for each in (one, several)]
                rows.append({"kind": kind, "ranks": given.ranks, "batch": batch, "round": repeat, "rows_per_s_one": f"{speed[0]:.4g}",
                             "rows_per_s": f"{speed[1]:.4g}", "ratio": f"{speed[1] / speed[0]:.3g}",
                             "messages": f"{several['ranks']['seconds'] / several['summary']['seconds']:.2g}", "nll_one": f"{one['valid']['nll']:.4g}",
                             "nll": f"{several['valid']['nll']:.4g}", "idle": f"{free:.2f}", "date": datetime.date.today().isoformat(),
                             "cores": os.cpu_count(), "commit": commit})
                print(rows[-1], flush=True)
    others = []
    if given.out.exists():
        with open(given.out, newline="") as file:
            others = [row for row in csv.DictReader(file) if (row["kind"], row["ranks"]) not in {(new["kind"], str(new["ranks"])) for new in rows}]
    with open(given.out, "w", newline="") as file:
        out = csv.DictWriter(file, FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows([*others, *rows])


if __name__ == "__main__":
    main()
