"""What libslimbayes_serve takes: to open a file, a row of numbers and of texts with an interval, rows a second on one and two threads,
memory; and its own size and start.

    python benchmarks/serving.py [--build build-bench] [--seconds 2] [--rounds 3] [--out benchmarks/results/serving.csv]

A round measures every model in a new order; a row of the result has the medians. The models are fits of the tool on tables of
SLIMBAYES_DATA.
"""

import argparse
import csv
import datetime
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data"))
MODELS = {  # table, method and its options
    "dbk": ("pol", ["dbk", "--hidden", "64", "--rank", "128", "--steps", "100"]),
    "vbll": ("pol", ["vbll", "--hidden", "64", "--rank", "128", "--steps", "100"]),
    "ridge": ("pol", ["ridge"]),
    "ntk-sketch, 256 features": ("pol", ["ntk-sketch", "--hidden", "64", "--sketch", "256", "--steps", "100"]),
    "dbk, windows of 24 hours": ("beijing_pm25@3000", ["dbk", "--network", "lstm", "--hidden", "32", "--rank", "64", "--steps", "100", "--window", "24",
                                                        "--time", "year,month,day,hour", "--ignore", "No"]),
    "bag-of-words": ("sst2_train", ["bag-of-words", "--text", "text", "--likelihood", "bernoulli", "--hidden", "64", "--steps", "100"]),
    "gp-exact, 300 rows": ("concrete@300", ["gp-exact"]),
    "auto, 397 rows": ("concrete@397", ["auto"]),
    "logistic, 6 classes": ("wine_red", ["logistic", "--likelihood", "softmax"]),
    "auto, 6 classes": ("wine_red", ["auto", "--likelihood", "softmax", "--time-limit", "60"]),
}
FIELDS = ["model", "open_ms", "row_us", "named_row_us", "rows_per_s", "rows_per_s_2", "memory_kb", "file_kb", "library_kb", "commit", "date"]


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


TARGETS = {"beijing_pm25": "pm2.5", "sst2_train": "label"}  # of the others: y


def table(name, folder):
    """The table's file, cut to its first rows where the name says how many; and the cells of its first rows. Rows without a number of the target are
    left in: windows see them."""
    import gzip
    name, _, rows = name.partition("@")
    with gzip.open(DATA / f"{name}.csv.gz", "rt", newline="") as file:
        lines = list(csv.reader(file))
    lines = lines[:1 + int(rows or len(lines))]
    path = folder / f"{name}{rows}.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(lines)
    return path, [dict(zip(lines[0], line)) for line in lines[1:101]]


def fitted(tool, bench, folder, name):
    """The model file, and the cells of a row in the order of its columns; of a window those of its rows."""
    source, words = MODELS[name]
    path, rows = table(source, folder)
    model = folder / f"{name.replace(', ', '-')}.safetensors"
    run(tool, "fit", path, "--target", TARGETS.get(source.partition("@")[0], "y"), "--method", *words, "--model", model)
    known = json.loads(run(bench, model))
    return model, [row[column["name"]] for row in rows[:known.get("window", {}).get("rows", 1)] for column in known["columns"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build-bench")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    build = ROOT / options.build
    tool, bench, library = build / "slimbayes", build / "serve_bench", build / "rooms" / "libslimbayes_serve.so"
    commit = run(tool, "--version").partition("(")[2].partition(")")[0]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        models = {name: fitted(tool, bench, folder, name) for name in MODELS}
        run("strip", "-o", folder / "stripped.so", library)
        size = (folder / "stripped.so").stat().st_size // 1024
        found = {name: [] for name in models}
        for _ in range(options.rounds):
            for name in random.sample(list(models), len(models)):
                model, cells = models[name]
                found[name].append(json.loads(run(bench, model, options.seconds, *cells)))
        rows = [{"model": name, **{key: f"{statistics.median(one[key] for one in rounds):.4g}" for key in rounds[0]},
                 "file_kb": models[name][0].stat().st_size // 1024, "library_kb": size, "commit": commit,
                 "date": datetime.date.today().isoformat()} for name, rounds in found.items()]
    for row in rows:
        print(row)
    if options.out:
        with open(options.out, "w", newline="") as file:
            out = csv.DictWriter(file, FIELDS, lineterminator="\n")
            out.writeheader()
            out.writerows(rows)


if __name__ == "__main__":
    main()
