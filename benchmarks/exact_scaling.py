"""Time and memory of an exact deep basis kernel on n = 1e4 .. 1e6 rows: is the time linear, is the memory the table's?

Each n is two fits of the tool, of one step of all rows and of some more, on generated rows from a Parquet file: a step
takes the difference of their processor times, which another program on the machine does not change. `beyond_mb` is the
peak memory less that of a one-step `dnn` fit on the same file, which holds the table, its encoding and the libraries
too. The slopes of log time on log n are printed and written: of a step, and of the whole longer fit.

    python benchmarks/exact_scaling.py [--tool build/slimbayes] [--rows 10000,...] [--more-steps 5]
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
    """(standard output, processor seconds, peak MB) of a command; its errors go through."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=sys.stderr)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{shlex.join(str(word) for word in command[:4])} ... failed with {process.returncode}")
        out.seek(0)
        return out.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def fit(tool, folder, method, steps, flags=()):
    """(training rows, processor seconds, peak MB) of a fit."""
    command = [tool, "fit", folder / "rows.parquet", "--target", "y", "--ignore", "true_mean,true_sd", "--threads", "1", "--json",
               "--method", method, "--steps", str(steps), "--model", folder / "m.safetensors", *flags]
    text, seconds, peak = run(command)
    return json.loads(text)["summary"]["rows"], seconds, peak


def slope(xs, ys):
    """Of the least-squares line through (log x, log y)."""
    a, b = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    return sum((p - mean_a) * (q - mean_b) for p, q in zip(a, b)) / sum((p - mean_a) ** 2 for p in a)


def measure(tool, n, method, more, flags):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run([tool, "generate", "steps", "--rows", str(n), "--out", folder / "rows.parquet"])
        _, _, table = fit(tool, folder, "dnn", 1)
        _, short, _ = fit(tool, folder, method, 1, flags)
        rows, long, peak = fit(tool, folder, method, 1 + more, flags)
    row = {"rows": n, "train_rows": rows, "steps": 1 + more, "step_s": round((long - short) / more, 4), "fit_s": round(long, 2),
           "peak_mb": round(peak), "table_mb": round(table), "beyond_mb": round(peak - table)}
    print(*(f"{key} {value}" for key, value in row.items()), flush=True)
    return row


def judge(met, text):
    print("met   " if met else "MISSED", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", type=Path, default=ROOT / "build" / "slimbayes")
    parser.add_argument("--method", default="dbk-exact")
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--more-steps", type=int, default=5, help="of the longer fit")
    parser.add_argument("--flags", default="", help="of the method")
    parser.add_argument("--commit", help="what the tool was built from; default: the checkout's HEAD")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "exact_scaling.csv")
    chosen = parser.parse_args()
    head = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = chosen.commit or subprocess.run(head, capture_output=True, text=True).stdout.strip()
    flags = shlex.split(chosen.flags)
    rows = [measure(chosen.tool, int(n), chosen.method, chosen.more_steps, flags) for n in chosen.rows.split(",")]
    sizes = [row["train_rows"] for row in rows]
    slopes = {f"slope_{of}": round(slope(sizes, [row[f"{of}_s"] for row in rows]), 3) for of in ("step", "fit")}
    for name, value in slopes.items():
        judge(value < MOST_SLOPE, f"{name} of log time on log n: {value}, target below {MOST_SLOPE}")
    beyond = rows[-1]["beyond_mb"]
    judge(beyond < MOST_BEYOND_MB, f"{rows[-1]['rows']} rows: {beyond} MB beyond the table, target below {MOST_BEYOND_MB}")
    about = slopes | {"method": chosen.method, "flags": chosen.flags, "threads": 1, "commit": commit}
    with chosen.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], *about], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | about for row in rows)


if __name__ == "__main__":
    main()
