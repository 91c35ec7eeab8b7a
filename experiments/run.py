#!/usr/bin/env python3
"""Runs the cells of a study with the command-line tool and keeps each result as it finishes.

  experiments/run.py experiments/recipe/cells.csv [--jobs 2] [--only NAME]

A cell is a row of the CSV: study, data, method, seed, flags. The result goes to results.csv beside it, one row a cell,
with the metrics on the standardised scale, the time and the commit. A cell that is there already is not run again, so
a killed study goes on where it stopped.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEY = ["study", "data", "method", "seed", "flags"]
METRICS = ["mae_standardized", "rmse_standardized", "nll_standardized", "crps_standardized", "width_standardized", "coverage"]
FIELDS = KEY + ["rows", "test_rows", "valid_score"] + METRICS + ["steps", "stopped", "seconds", "commit", "error"]


def key(row):
    return tuple(row[k] for k in KEY)


def run(cell, data, commit, tool):
    with tempfile.TemporaryDirectory() as folder:
        command = [tool, "fit", str(data / f"{cell['data']}.csv.gz"), "--target", "y", "--method", cell["method"],
                   "--test-fraction", "0.1", "--seed", cell["seed"], "--threads", "1", "--json",
                   "--model", str(pathlib.Path(folder) / "m.safetensors")] + cell["flags"].split()
        done = subprocess.run(command, capture_output=True, text=True)
    row = dict(cell, commit=commit, error="")
    if done.returncode != 0:
        row["error"] = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else str(done.returncode)
        return row
    answer = json.loads(done.stdout)
    summary, test = answer["summary"], answer["test"]
    row.update(rows=summary["rows"], test_rows=test["n"], valid_score=round(summary["best_score"], 5),
               steps=summary["steps"], stopped=summary["stopped"], seconds=round(summary["seconds"], 1))
    row.update({m: round(test[m], 5) for m in METRICS})
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time, one thread each")
    parser.add_argument("--only", help="run the cells of this study alone")
    options = parser.parse_args()
    data = pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data"))
    tool = os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes"))
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    results = options.cells.with_name("results.csv")
    with open(options.cells) as file:
        cells = [row for row in csv.DictReader(file) if options.only in (None, row["study"])]
    done = set()
    if results.exists():
        with open(results) as file:
            done = {key(row) for row in csv.DictReader(file) if not row["error"]}
    todo = [cell for cell in cells if key(cell) not in done]
    print(f"{len(cells)} cells, {len(todo)} to run", file=sys.stderr)
    fresh = not results.exists()
    with open(results, "a", newline="") as file, ThreadPoolExecutor(options.jobs) as pool:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        running = [pool.submit(run, cell, data, commit, tool) for cell in todo]
        for row in (future.result() for future in as_completed(running)):
            writer.writerow(row)
            file.flush()
            print(*(row[k] for k in KEY), row.get("nll_standardized", row["error"]), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
