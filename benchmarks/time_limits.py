#!/usr/bin/env python3
"""Does `auto --time-limit` hold? Wall time of whole calls of the tool on tables of many shapes, at several limits.

    .venv/bin/python benchmarks/time_limits.py [--out benchmarks/results/time_limits.csv] [--only SHAPE] [--by python]

Writes one row a call: its seconds, its CPU time, and the bound, 1.1 times the limit plus .5 s for each fit of the call. On a
machine that is busy with other work a call takes longer than its share of a core: read `share` beside it.
"""

import argparse
import csv
import datetime
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
LIMITS = [0.5, 2, 10, 60]
WORDS = 3000
FIELDS = ["shape", "by", "limit", "seconds", "bound", "held", "cpu", "share", "candidates", "date", "cores", "commit"]


def numbers(n, d, target):
    """Columns of normal numbers and a target that follows from a smooth function f of them."""
    def table(rng):
        x = rng.normal(size=(n, d)).round(5)
        f = x @ (rng.normal(size=d) / np.sqrt(d)) + np.sin(2 * x[:, 0])
        yield ",".join(f"x{i}" for i in range(d)) + ",y"
        for row, y in zip(x.tolist(), target(rng, f)):
            yield ",".join(map(repr, row)) + f",{y}"
    return table


def noisy(rng, f):
    return (10 + 3 * f + rng.normal(size=f.size)).round(4)


def classes(rng, f):
    return np.where(f + 0.3 * rng.normal(size=f.size) > 1, "a", np.where(f > -0.5, "b", "c"))


def counts(rng, f):
    return rng.poisson(np.exp(0.5 + 0.5 * f))


def texts(n):
    def table(rng):
        yield "text,y"
        for _ in range(n):
            words = rng.zipf(1.4, size=40) % WORDS
            yield " ".join(f"w{w}" for w in words) + (",pos" if words.sum() % 7 < 3 else ",neg")
    return table


SHAPES = {
    "10 x 1": numbers(10, 1, noisy), "200 x 5": numbers(200, 5, noisy), "40 x 3000": numbers(40, 3000, noisy),
    "2400 x 1": numbers(2400, 1, noisy), "1000 x 20": numbers(1000, 20, noisy), "3000 x 500": numbers(3000, 500, noisy),
    "20000 x 50": numbers(20000, 50, noisy), "200000 x 10": numbers(200000, 10, noisy),
    "classes 1000 x 20": numbers(1000, 20, classes), "classes 50000 x 30": numbers(50000, 30, classes),
    "counts 2000 x 5": numbers(2000, 5, counts), "texts 5000": texts(5000),
}


# How a call is made: the words of the tool, and how many fits with a limit of their own the call has.
BY = {
    "tool": (["fit"], 1), "compare": (["compare", "--methods", "auto", "--seeds", "2"], 2),
    "tune": (["fit", "--method", "dbk", "--tune"], 1), "ensemble": (["fit", "--method", "ensemble", "--of", "dbk"], 1),
}
MORE = {"texts": ["--text", "text"], "counts": ["--likelihood", "poisson"]}  # flags, by the first word of a shape


def of_tool(by, path, limit, folder):
    """Runs the tool with one thread. Returns what it printed, and its seconds."""
    words = BY[by][0]
    words = [ROOT / "build/slimbayes", words[0], path, *words[1:], "--target", "y", "--time-limit", str(limit), "--threads", "1"]
    words += MORE.get(path.stem.split()[0], [])
    if words[1] == "fit":
        words += ["--model", folder / "model"]
    begin = time.perf_counter()
    printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return printed, time.perf_counter() - begin


PROGRAM = """
import sys, time, pandas as pd, slimbayes as sb, warnings
warnings.simplefilter("ignore")
frame = pd.read_csv(sys.argv[1])
kind = sys.argv[1].rsplit("/", 1)[-1].split()[0]
make = {"classes": sb.Classifier, "texts": sb.Classifier, "counts": sb.CountRegressor}.get(kind, sb.Regressor)
more = {"text": "text"} if kind == "texts" else {}
begin = time.perf_counter()
make(time_limit=float(sys.argv[2]), threads=1, **more).fit(frame, "y")
print(time.perf_counter() - begin)
"""


def of_python(path, limit):
    """Fits in Python. Returns the seconds of fit() alone, without the imports and the reading of the file."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "build/python"))
    printed = subprocess.run([sys.executable, "-c", PROGRAM, path, str(limit)], check=True, capture_output=True, text=True,
                             env=environment).stdout
    return "", float(printed)


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def append(path, row):
    """Writes a row at once: nothing that was measured is lost."""
    new = not path.exists()
    with path.open("a", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        if new:
            writer.writerow(FIELDS)
        writer.writerow(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", action="append", choices=SHAPES)
    parser.add_argument("--limits", type=float, nargs="+", default=LIMITS)
    parser.add_argument("--by", choices=[*BY, "python"], default="tool")
    given = parser.parse_args()
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], check=True, capture_output=True,
                            text=True).stdout.strip()
    fits = BY[given.by][1] if given.by in BY else 1
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for shape in given.only or SHAPES:
            path = folder / f"{shape}.csv"
            path.write_text("\n".join(SHAPES[shape](np.random.default_rng(0))) + "\n")
            for limit in given.limits:
                wall, cpu = time.perf_counter(), cpu_of_children()
                printed, seconds = of_python(path, limit) if given.by == "python" else of_tool(given.by, path, limit, folder)
                wall, cpu = time.perf_counter() - wall, cpu_of_children() - cpu
                bound = fits * (1.1 * limit + 0.5)
                used = [line.split(":")[0] for line in printed.splitlines() if ", weight " in line]
                row = [shape, given.by, limit, f"{seconds:.2f}", f"{bound:.2f}", "yes" if seconds <= bound else "no",
                       f"{cpu:.2f}", f"{cpu / wall:.2f}", " + ".join(used), datetime.date.today().isoformat(), os.cpu_count(),
                       commit]
                print(*row[:9], sep="  ", flush=True)
                if given.out:
                    append(given.out, row)


if __name__ == "__main__":
    main()
