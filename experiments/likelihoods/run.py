#!/usr/bin/env python3
"""Each likelihood on data: fits the cells of cells.csv and keeps each result as it finishes.

  experiments/likelihoods/run.py [--match REGEX]

A cell is a row: data, target, likelihood, method, seed, flags. `data` is a table of SLIMBAYES_DATA, or counts:N or cox:N
of `slimbayes generate`. The methods `constant` and `boosting` (scikit-learn's histogram gradient boosting, its defaults)
are fitted on the same split, whose rows they read from the model file of `split_by`. One thread a fit.
"""

import argparse
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KEY = ["data", "target", "likelihood", "method", "seed", "flags"]
METRICS = ["nll", "accuracy", "brier", "ece", "auroc", "mae", "rmse", "coverage", "nll_uniform", "expected", "correlation"]
FIELDS = KEY + ["test_rows"] + METRICS + ["seconds", "commit", "command"]
TRUTH = {"counts": "true_mean,true_sd", "cox": "true_intensity"}


def shell(*words, **options):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else str(done.returncode))
    return done.stdout


def table_of(cell, folder, tool, data):
    name, _, rows = cell["data"].partition(":")
    if not rows:
        return data / f"{name}.csv.gz", []
    path = folder / f"{name}.csv"
    shell(tool, "generate", name, "--rows", rows, "--out", path)
    return path, ["--ignore", TRUTH[name]]


def fit_words(cell, path, ignored, model):
    method = cell["method"] if cell["method"] not in ("constant", "boosting") else "sv-rbf"
    words = ["fit", path, "--likelihood", cell["likelihood"], "--method", method, "--test-fraction", "0.2", "--seed",
             cell["seed"], "--threads", 1, "--json", "--model", model, *ignored, *cell["flags"].split()]
    return words + (["--domain", "0:1,0:2"] if cell["likelihood"] == "cox" else ["--target", cell["target"]])


def columns_of(path):
    """A table's columns as numbers, missing cells NaN."""
    from pyarrow import csv as arrow

    table = arrow.read_csv(path)
    return {name: table[name].to_numpy(zero_copy_only=False).astype(float) for name in table.column_names}


def correlation(cell, path, model, tool):
    """Of the predicted rate with the true one, on every row."""
    import numpy

    truth = TRUTH[cell["data"].partition(":")[0]].split(",")[0]
    answer = csv.DictReader(io.StringIO(shell(tool, "predict", model, path, "--threads", 1)))
    return float(numpy.corrcoef([float(row["mean"]) for row in answer], columns_of(path)[truth])[0, 1])


def ours(cell, path, ignored, folder, tool):
    model = folder / "m.safetensors"
    words = fit_words(cell, path, ignored, model)
    report = json.loads(shell(tool, *words))
    row = {k: v for k, v in report["test"].items() if k in METRICS}
    if ":" in cell["data"]:
        row["correlation"] = correlation(cell, path, model, tool)
    shown = [pathlib.Path(w).name if isinstance(w, pathlib.Path) else str(w) for w in words]
    return {**row, "test_rows": report["test"]["n"], "seconds": report["summary"]["seconds"],
            "command": "slimbayes " + " ".join(shown)}


def peers(cell, path, ignored, folder, tool):
    """The constant model, or boosting, on the rows on which ours was fitted; the validation rows train too."""
    import numpy
    from safetensors.numpy import load_file
    from scipy.special import gammaln
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    model = folder / "m.safetensors"
    shell(tool, *fit_words(cell, path, ignored, model), "--steps", 1)
    split = load_file(model)
    table = columns_of(path)
    columns = [c for c in table if c != cell["target"] and c not in ",".join(ignored[1:]).split(",")]
    train = numpy.concatenate([split["split.train"], split["split.valid"]])
    x, y = numpy.stack([table[c] for c in columns], 1), table[cell["target"]]
    xt, yt, test = x[train], y[train], split["split.test"]
    start = time.monotonic()
    row = {"test_rows": len(test), "command": ""}
    if cell["likelihood"] == "poisson":
        rate = numpy.full(len(test), yt.mean())
        if cell["method"] == "boosting":
            rate = HistGradientBoostingRegressor(loss="poisson", random_state=int(cell["seed"])).fit(xt, yt).predict(x[test])
        error = y[test] - rate
        row.update(nll=float((rate - y[test] * numpy.log(rate) + gammaln(y[test] + 1)).mean()),
                   mae=float(abs(error).mean()), rmse=float((error**2).mean() ** 0.5))
    else:
        from sklearn.metrics import roc_auc_score

        levels, code = numpy.unique(y, return_inverse=True)
        p = numpy.tile(numpy.bincount(code[train], minlength=len(levels)) / len(train), (len(test), 1))
        if cell["method"] == "boosting":
            fitted = HistGradientBoostingClassifier(random_state=int(cell["seed"])).fit(xt, code[train])
            p = fitted.predict_proba(x[test])
        truth = code[test]
        row.update(nll=float(-numpy.log(p[range(len(test)), truth]).mean()), accuracy=float((p.argmax(1) == truth).mean()),
                   brier=float(((p - numpy.eye(len(levels))[truth]) ** 2).sum(1).mean()))
        if len(levels) == 2:
            row["auroc"] = float(roc_auc_score(truth, p[:, 1]))
    return {**row, "seconds": time.monotonic() - start}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--match", default="", help="run the cells alone whose line this regular expression finds")
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes")))
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.csv")
    options = parser.parse_args()
    data = pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data"))
    commit = shell("git", "-C", ROOT, "rev-parse", "--short", "HEAD").strip()
    key = lambda row: tuple(row[k] for k in KEY)  # noqa: E731
    done = set()
    if options.results.exists():
        with open(options.results, newline="") as file:
            done = {key(row) for row in csv.DictReader(file)}
    with open(HERE / "cells.csv", newline="") as file:
        cells = [cell for cell in csv.DictReader(file) if key(cell) not in done]
    for cell in (c for c in cells if re.search(options.match, ",".join(key(c)))):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            path, ignored = table_of(cell, folder, options.tool, data)
            run = peers if cell["method"] in ("constant", "boosting") else ours
            row = {**cell, **run(cell, path, ignored, folder, options.tool), "commit": commit}
        for name in METRICS + ["seconds"]:
            if name in row and row[name] is not None:
                row[name] = f"{row[name]:.5g}"
        fresh = not options.results.exists()
        with open(options.results, "a", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            if fresh:
                writer.writeheader()
            writer.writerow(row)
        print(*key(row), row["nll"], row["seconds"], file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
