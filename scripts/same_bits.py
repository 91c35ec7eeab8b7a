#!/usr/bin/env python3
"""Fits every method with two binaries and compares the bytes of their predictions.

    scripts/same_bits.py BEFORE AFTER [--only NAME ...] [--methods NAME ...] [--folder DIR]

BEFORE and AFTER are commands that run the tool, such as "build/slimbayes". Use it for a change that must not change any
number: a cell is one method on one kind of input (concrete, the first 2,000 images of MNIST, two epochs of Beijing's
PM2.5, 2,000 rows of SST-2) at seed 0. Prints one line a cell: same, DIFFERENT, or the error where both refuse alike.
A cell that BEFORE has answered is kept in DIR. Exits with 1 where a cell differs. Data: SLIMBAYES_DATA, default ../shared/data.
"""

import argparse
import csv
import gzip
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT / "../shared/data")).resolve()
ROWS = 2000
SHORT = {"gp-exact": ["--evidence-rows", "200"], "mc-dropout": ["--dropout", "0.1", "--draws", "5"], "bbb": ["--draws", "5"],
         "ensemble": ["--members", "2"], "swag": ["--draws", "5"], "ntk-gp": ["--max-rows", "5000"]}
NO_STEPS = {"gp-exact"}
# name: the rows to fit, the rows to answer, flags, steps
INPUTS = {
    "concrete": ("concrete.csv", "concrete.csv", ["--target", "y"], ["--steps", "300"]),
    "mnist": ("train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz", ["--hidden", "16"], ["--epochs", "2"]),
    "beijing": ("beijing.csv", "beijing_head.csv",
                ["--target", "pm2.5", "--window", "24", "--time", "year,month,day,hour", "--ignore", "No", "--hidden", "16", "--batch", "256"],
                ["--epochs", "2"]),
    "sst2": ("sst2.csv", "sst2.csv", ["--text", "text", "--target", "label", "--hidden", "16"], ["--epochs", "2"]),
}


def head(source, target, rows):
    with gzip.open(source, "rt", newline="") as read, open(target, "w", newline="") as write:
        for number, row in zip(range(rows + 1), csv.reader(read)):
            csv.writer(write).writerow(row)


def images(source, target, labels):
    header = 8 if labels else 16
    with gzip.open(source, "rb") as read:
        start = read.read(header)
        size = 1 if labels else 784
        body = read.read(ROWS * size)
    with gzip.open(target, "wb") as write:
        write.write(start[:4] + ROWS.to_bytes(4, "big") + start[8:] + body)


def make_data(folder):
    head(DATA / "concrete.csv.gz", folder / "concrete.csv", 10**9)
    head(DATA / "beijing_pm25.csv.gz", folder / "beijing.csv", 10**9)
    head(DATA / "beijing_pm25.csv.gz", folder / "beijing_head.csv", ROWS)
    head(DATA / "sst2_train.csv.gz", folder / "sst2.csv", ROWS)
    for part in ("train", "t10k"):
        for what, labels in (("images-idx3", False), ("labels-idx1", True)):
            name = f"{part}-{what}-ubyte.gz"
            images(DATA / "mnist" / name, folder / name, labels)


def run(tool, arguments):
    done = subprocess.run([*tool, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stderr.strip().splitlines()[-1:] if done.returncode else []


def methods_of(tool):
    listed = subprocess.run([*tool, "methods", "--json"], check=True, capture_output=True, text=True).stdout
    return [one["name"] for one in json.loads(listed)]


def answer(tool, method, name, data, out):
    """The bytes of the predictions, or the last line of the refusal."""
    train, test, flags, steps = INPUTS[name]
    model = out / f"{method}-{name}.safetensors"
    own = [] if method in NO_STEPS else steps
    code, error = run(tool, ["fit", str(data / train), *flags, "--method", method, *own, *SHORT.get(method, []), "--model", str(model),
                             "--seed", "0", "--threads", "1"])
    if code:
        return f"refused ({code}): {' '.join(error)}"
    code, error = run(tool, ["predict", str(model), str(data / test), "--out", str(model.with_suffix(".csv")), "--threads", "1"])
    if code:
        return f"no answer ({code}): {' '.join(error)}"
    return hashlib.sha256(model.with_suffix(".csv").read_bytes()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--only", nargs="*", default=list(INPUTS), choices=list(INPUTS))
    parser.add_argument("--methods", nargs="*", help="default: every method of AFTER")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/same_bits"))
    options = parser.parse_args()
    methods = options.methods or methods_of(shlex.split(options.after))
    data = options.folder / "data"
    if not data.exists():
        data.mkdir(parents=True)
        make_data(data)
    failed = 0
    for name in options.only:
        for method in methods:
            answers = []
            for side in ("before", "after"):
                kept = options.folder / side / f"{method}-{name}.answer"
                if side == "before" and kept.exists():
                    answers.append(kept.read_text())
                    continue
                kept.parent.mkdir(exist_ok=True)
                answers.append(answer(shlex.split(getattr(options, side)), method, name, data, kept.parent))
                kept.write_text(answers[-1])
            same = answers[0] == answers[1]
            failed += not same
            # A sentence may be worded anew; what counts is that both refuse.
            refused = all(x.startswith(("refused", "no answer")) for x in answers)
            print(name, method, answers[0] if refused else "same" if same else f"DIFFERENT\n  {answers[0]}\n  {answers[1]}", flush=True)
            failed -= refused and not same
    print(f"{failed} cells differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
