#!/usr/bin/env python3
"""How near bll and rich-bll come to ntk-gp, which they approximate, by the ridge of rich-bll.

  experiments/r_ridge/measure.py [--tool build/slimbayes]

On each table a network is trained on four of five rows; ntk-gp, bll and rich-bll with each ridge answer around it, with prior sd 1
and one noise. A row of results.csv compares their epistemic sds on the fifth of the rows that is left (`near`), and on these
rows moved to three times their distance from the training mean (`far`): mean and root mean square of log(sd / sd of ntk-gp),
and the correlation of the logs. `curve` is the one-dimensional data of r_figures, on x from -1.5 to 1.5 and from -3 to 3.
"""

import argparse
import csv
import gzip
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "r_figures"))
import draw  # noqa: E402

MU_P = draw.NETWORK[:draw.NETWORK.index("--valid-fraction")]
TABLES = ["yacht", "energy", "concrete", "boston", "wine_red"]
RIDGES = ["0", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "1e-1", "1"]
POSTERIOR = ["--prior", "fixed", "--prior-sd", "1", "--noise", "mse"]
FIELDS = ["data", "network", "method", "ridge", "rows", "mean_log", "rms_log", "correlation", "commit"]


def table_of(name, data):
    """Header, training rows, and the rows that are `near` and `far`."""
    if name == "curve":
        rows = [[x, y] for x, y in draw.regression_rows()]
        grid = lambda half: [[half * (i / 30 - 1), 0.0] for i in range(61)]  # noqa: E731
        return ["x", "y"], rows, grid(1.5), grid(3)
    with gzip.open(data / f"{name}.csv.gz", "rt") as file:
        header, *rows = csv.reader(file)
    rows = [[float(value) for value in row] for row in rows]
    train, near = [row for i, row in enumerate(rows) if i % 5], rows[::5]
    mean = [statistics.fmean(column) for column in zip(*train)]
    return header, train, near, [[m + 3 * (v - m) for v, m in zip(row[:-1], mean)] + row[-1:] for row in near]


class Study:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder

    def run(self, *words):
        subprocess.run([str(word) for word in (self.tool, *words)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def write(self, name, header, rows):
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
        return self.folder / name

    def sds(self, train, tests, network, method, *more):
        """Epistemic sds of a method around the network, for each of the tables `tests`."""
        model, out, found = self.folder / "m.safetensors", self.folder / "out.csv", []
        self.run("fit", train, "--network-from", network, "--method", method, "--model", model, "--threads", "1", *POSTERIOR, *more)
        for test in tests:
            self.run("predict", model, test, "--out", out)
            with open(out, newline="") as file:
                found.append([float(row["sd_epistemic"]) for row in csv.DictReader(file)])
        return found


def compared(sds, oracle):
    ours, theirs = [math.log(sd) for sd in sds], [math.log(sd) for sd in oracle]
    ratios = [a - b for a, b in zip(ours, theirs)]
    return {"mean_log": round(statistics.fmean(ratios), 4), "rms_log": round(math.sqrt(statistics.fmean(r * r for r in ratios)), 4),
            "correlation": round(statistics.correlation(ours, theirs), 4)}


def measured(study, name, label, flags, data):
    header, train, near, far = table_of(name, data)
    train, near, far = (study.write(f"{part}.csv", header, rows) for part, rows in (("train", train), ("near", near), ("far", far)))
    network = study.folder / "network.safetensors"
    study.run("fit", train, "--target", "y", "--method", "dnn", "--model", network, "--threads", "1", *flags)
    oracle = study.sds(train, (near, far), network, "ntk-gp")
    for method, ridge in [("bll", ""), *[("rich-bll", ridge) for ridge in RIDGES]]:
        found = study.sds(train, (near, far), network, method, *(["--ridge", ridge] if ridge else []))
        for rows, own, best in zip(("near", "far"), found, oracle):
            yield {"data": name, "network": label, "method": method, "ridge": ridge, "rows": rows, **compared(own, best)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes")))
    options = parser.parse_args()
    data = pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data"))
    commit = subprocess.run([options.tool, "--version"], capture_output=True, text=True).stdout.partition("(")[2].partition(")")[0]
    path = HERE / "results.csv"
    rows = []
    if path.exists():
        with open(path, newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["commit"] == commit]
    known = {(row["data"], row["network"]) for row in rows}
    for name in ["curve", *TABLES]:
        for label, flags in ("mu-P, 2 x 50", MU_P), ("default", []):
            if (name, label) in known:
                continue
            with tempfile.TemporaryDirectory() as folder:
                rows += [{**row, "commit": commit} for row in measured(Study(options.tool, pathlib.Path(folder)), name, label, flags, data)]
            with open(path.with_suffix(".new"), "w", newline="") as file:
                writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            os.replace(path.with_suffix(".new"), path)
            print(name, label, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
