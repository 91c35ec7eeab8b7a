#!/usr/bin/env python3
"""Measures what R Table 1 says: time and memory of four posteriors around one trained network, as the training rows n grow.

  experiments/r_costs/measure.py [--rounds 3] [--tool build/slimbayes]

The network (two layers of 50, mu-P) is trained once, on 1,000 rows; each fit then computes its posterior from the n rows, less a
tenth for validation (`fit --network-from`), and its model answers 2,000 new rows. Every fit and every answer is a process of its
own with one thread: the processor seconds that it took, of user and system, and its peak memory, from the operating system. All
methods and sizes take turns in each round, so that a busier minute meets all of them. The rows go to results.csv beside this
file, which it replaces.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
POSTHOC = {"NTK-GP": ["ntk-gp", "--max-rows", "100000"], "NNGP (BLL)": ["bll"], "Rich-BLL": ["rich-bll"],
           "Rich-BLL (S)": ["rich-bll", "--subsample", "500"]}
SIZES = [500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000]
LARGEST = {"NTK-GP": 8000}  # of a dense kernel here
PAPER = ["--preset", "paper"]
FIELDS = ["round", "method", "n", "fit_s", "fit_mb", "predict_s", "predict_mb", "model_bytes", "commit"]
ANSWERED = 2000


def measured(command):
    """(processor seconds, peak MB) of the command: other programs of the machine slow it down, but hardly change these."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(error.decode())
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def generate(tool, folder, n, seed):
    """A table of two inputs: the steps of x, and a second input that is noise to them."""
    raw, path = folder / "raw.csv", folder / f"{seed}_{n}.csv"
    measured([tool, "generate", "steps", "--rows", n, "--seed", seed, "--out", raw])
    with open(raw, newline="") as source, open(path, "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["x", "z", "y"])
        for i, row in enumerate(csv.DictReader(source)):
            writer.writerow([row["x"], (i * 0.6180339887) % 1, row["y"]])
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(HERE.parent.parent / "build" / "slimbayes")))
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.csv")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    commit = subprocess.run([options.tool, "--version"], capture_output=True, text=True).stdout.partition("(")[2].partition(")")[0]
    with tempfile.TemporaryDirectory() as name, open(options.results, "w", newline="") as file:
        folder = pathlib.Path(name)
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        network, model, asked = folder / "network", folder / "model", generate(options.tool, folder, ANSWERED, 9)
        own = ["--threads", "1"]
        measured([options.tool, "fit", generate(options.tool, folder, 1000, 8), "--target", "y", "--method", "dnn", "--network", "mlp",
                  "--hidden", "50", "--activation", "relu", "--parametrisation", "mup", "--steps", "3000", "--model", network, *own])
        for i in range(options.rounds):
            for n in options.sizes:
                table = generate(options.tool, folder, n, 0)
                for method, words in POSTHOC.items():
                    if n > LARGEST.get(method, n):
                        continue
                    preset = PAPER if method == "NTK-GP" else [*PAPER, "--refit", "false"]
                    fit = measured([options.tool, "fit", table, "--network-from", network, "--method", *words, *preset, "--model", model, *own])
                    answer = measured([options.tool, "predict", model, asked, "--out", folder / "answer.csv", *own])
                    writer.writerow(dict(zip(FIELDS, (i, method, n, round(fit[0], 4), round(fit[1], 1), round(answer[0], 4), round(answer[1], 1),
                                                      model.stat().st_size, commit))))
                    file.flush()


if __name__ == "__main__":
    main()
