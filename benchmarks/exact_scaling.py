"""Time and memory of an exact deep basis kernel on n = 1e4 .. 1e6 rows: is the time linear, is the memory the table's?

Each n is one fit of the tool, a fixed number of steps of all rows, on generated rows that it reads from a Parquet file.
`beyond_mb` is its peak memory less that of a one-step `dnn` fit on the same file, which holds the table, its encoding
and the libraries too. The slopes of log time on log n are printed and written: over all n, and over the last decade.

    python benchmarks/exact_scaling.py [--tool build/slimbayes] [--rows 10000,...] [--flags "--steps 10"]
"""

import argparse
import csv
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = "10000,20000,50000,100000,200000,500000,1000000"
MOST_SLOPE, MOST_BEYOND_MB = 1.1, 2048


def run(command):
    """(standard output, peak MB) of a command; its errors go through."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=sys.stderr)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{shlex.join(str(word) for word in command[:4])} ... failed with {process.returncode}")
        out.seek(0)
        return out.read(), usage.ru_maxrss / 1024


def fit(tool, folder, method, flags):
    command = [tool, "fit", folder / "rows.parquet", "--target", "y", "--ignore", "true_mean,true_sd", "--threads", "1", "--json",
               "--method", method, "--model", folder / "m.safetensors", *flags]
    text, peak = run(command)
    return json.loads(text)["summary"], peak


def slope(xs, ys):
    """Of the least-squares line through (log x, log y)."""
    a, b = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    return sum((p - mean_a) * (q - mean_b) for p, q in zip(a, b)) / sum((p - mean_a) ** 2 for p in a)


def measure(tool, sizes, method, flags):
    rows = []
    for n in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            run([tool, "generate", "steps", "--rows", str(n), "--out", folder / "rows.parquet"])
            _, table = fit(tool, folder, "dnn", ["--steps", "1"])
            summary, peak = fit(tool, folder, method, flags)
        row = {"rows": n, "train_rows": summary["rows"], "steps": summary["steps"], "seconds": round(summary["seconds"], 3),
               "ms_a_step": round(1000 * summary["seconds"] / max(1, summary["steps"]), 2), "peak_mb": round(peak),
               "table_mb": round(table), "beyond_mb": round(peak - table)}
        print(*(f"{key} {value}" for key, value in row.items()), flush=True)
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", type=Path, default=ROOT / "build" / "slimbayes")
    parser.add_argument("--method", default="dbk-exact")
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--flags", default="--steps 10")
    parser.add_argument("--commit", help="what the tool was built from; default: the checkout's HEAD")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "exact_scaling.csv")
    chosen = parser.parse_args()
    head = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = chosen.commit or subprocess.run(head, capture_output=True, text=True).stdout.strip()
    rows = measure(chosen.tool, [int(n) for n in chosen.rows.split(",")], chosen.method, shlex.split(chosen.flags))
    last = [row for row in rows if row["rows"] * 10 >= rows[-1]["rows"]]
    slopes = [slope([row["rows"] for row in part], [row["seconds"] for row in part]) for part in (rows, last) if len(part) > 1]
    for text, value in zip(("all rows", "last decade"), slopes):
        print(f"{'met   ' if value < MOST_SLOPE else 'MISSED'} slope of log time on log n, {text}: {value:.3f}, target below {MOST_SLOPE}")
    beyond = rows[-1]["beyond_mb"]
    print(f"{'met   ' if beyond < MOST_BEYOND_MB else 'MISSED'} {rows[-1]['rows']} rows: {beyond} MB beyond the table, target {MOST_BEYOND_MB}")
    about = {"slope": "", "slope_last_decade": "", "method": chosen.method, "flags": chosen.flags, "threads": 1, "commit": commit}
    about |= dict(zip(("slope", "slope_last_decade"), (f"{value:.3f}" for value in slopes)))
    with chosen.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], *about], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | about for row in rows)


if __name__ == "__main__":
    main()
