"""Each likelihood on data.

`data` is a table of the data folder, or counts:N or cox:N of `slimbayes generate`. The methods `constant` and `boosting`
(scikit-learn's histogram gradient boosting, its defaults) are fitted on the rows of the same split; the validation rows train too.
"""

import csv
import json
import shlex
import time

import studies
from pages import Page
from results import KEY, asked
from runners import Failed, Runner
from tables import grid

TITLE = "Each likelihood on data"
WHAT = "classes, counts and events on data"
PAPER = "ours"
METRICS = ["nll", "accuracy", "brier", "ece", "auroc", "mae", "rmse", "coverage", "nll_uniform", "expected", "correlation"]
FIELDS = [*KEY, "test_rows", *METRICS, "seconds", "commit", "command", "recipe", "error"]
TARGETS = {"support2": "label", "wine_red": "y", "diabetes130": "num_medications", "counts:2000": "y"}
TRUTH = {"counts": "true_mean,true_sd", "cox": "true_intensity"}
PEERS = ["constant", "boosting"]
# Likelihood, data, the tool's methods with their own flags, peers.
BOTH = [("vbll", ""), ("sv-rbf", "")]
CELLS = [("bernoulli", "support2", BOTH, PEERS), ("softmax", "wine_red", [("vbll", "--rank 64")], PEERS),
         ("poisson", "diabetes130", BOTH, PEERS), ("poisson", "counts:2000", BOTH, PEERS),
         ("cox", "cox:2000", [("sv-rbf", ""), ("sv-dbk", "")], [])]
SHOWN = {"bernoulli": ["accuracy", "auroc", "brier", "ece"], "softmax": ["accuracy", "brier", "ece"],
         "poisson": ["mae", "rmse", "coverage", "correlation"], "cox": ["nll_uniform", "expected", "correlation"]}


def cells():
    """study: the likelihood."""
    for likelihood, data, methods, peers in CELLS:
        yield from (asked(likelihood, data, peer, 0) for peer in peers)
        yield from (asked(likelihood, data, method, 0, "--steps 2000", own) for method, own in methods)


def columns_of(path):
    """A table's columns as numbers, missing cells NaN."""
    from pyarrow import csv as arrow

    table = arrow.read_csv(path)
    return {name: table[name].to_numpy(zero_copy_only=False).astype(float) for name in table.column_names}


def ignored(cell):
    """The columns of generated data that hold the truth."""
    return TRUTH.get(cell["data"].partition(":")[0], "")


class Fits(Runner):
    """The tool's fits and their peers'; a peer's recipe is that of the split."""

    def command(self, cell, table, model):
        method = "sv-rbf" if cell["method"] in PEERS else cell["method"]
        truth = ["--ignore", ignored(cell)] if ignored(cell) else []
        target = ["--domain", "0:1,0:2"] if cell["study"] == "cox" else ["--target", TARGETS[cell["data"]]]
        return [self.tool, "fit", table, "--likelihood", cell["study"], "--method", method, "--test-fraction", "0.2",
                "--seed", cell["seed"], "--threads", "1", "--json", "--model", model, *truth, *shlex.split(cell["flags"]), *target]

    def recipe(self, cell):
        found = self._dry_run(self.command(cell, "table", "model"))
        return {"method": cell["method"], "inputs": found["inputs"]} if found and cell["method"] in PEERS else found

    def run(self, cell):
        row = super().run(cell)
        row |= {name: f"{row[name]:.5g}" for name in (*METRICS, "seconds") if isinstance(row.get(name), (int, float))}
        return {name: row[name] for name in FIELDS if name in row}

    def _measure(self, cell, work):
        name, _, rows = cell["data"].partition(":")
        table, model = self.data / f"{name}.csv.gz", work.folder / "m.safetensors"
        if rows:
            table = work.folder / f"{name}.csv"
            work.quiet([self.tool, "generate", name, "--rows", rows, "--out", table])
        return (self._peer if cell["method"] in PEERS else self._ours)(cell, table, model, work)

    def _ours(self, cell, table, model, work):
        report = json.loads(work.measured(self.command(cell, table, model)))
        row = {name: value for name, value in report["test"].items() if name in METRICS}
        if ignored(cell):
            answer = csv.DictReader(work.quiet([self.tool, "predict", model, table, "--threads", "1"]).splitlines())
            truth = columns_of(table)[ignored(cell).partition(",")[0]]
            row["correlation"] = correlation([float(row["mean"]) for row in answer], truth)
        return {**row, "test_rows": report["test"]["n"], "seconds": report["summary"]["seconds"]}

    def _peer(self, cell, table, model, work):
        work.quiet([*self.command(cell, table, model), "--steps", "1"])  # a model of one step holds the split
        try:
            return peer(cell, table, model)
        except ImportError as error:
            raise Failed(error)


def runner(tool, data):
    return Fits(tool, data)


def correlation(predicted, truth):
    """Of the predicted rate with the true one, on every row."""
    import numpy

    return float(numpy.corrcoef(predicted, truth)[0, 1])


def peer(cell, table, model):
    """The scores of the constant model, or of boosting."""
    import numpy
    import sklearn.ensemble, sklearn.metrics  # noqa: E401, F401 (before the clock starts)
    from safetensors.numpy import load_file

    split, columns = load_file(model), columns_of(table)
    y = columns.pop(TARGETS[cell["data"]])
    x = numpy.stack([column for name, column in columns.items() if name not in ignored(cell).split(",")], 1)
    train, test = numpy.concatenate([split["split.train"], split["split.valid"]]), split["split.test"]
    start = time.monotonic()
    scored = of_counts if cell["study"] == "poisson" else of_classes
    row = scored(x, y, train, test, cell["method"] == "boosting", int(cell["seed"]))
    return {**row, "test_rows": len(test), "seconds": time.monotonic() - start}


def of_counts(x, y, train, test, boosting, seed):
    import numpy
    from scipy.special import gammaln
    from sklearn.ensemble import HistGradientBoostingRegressor

    rate = numpy.full(len(test), y[train].mean())
    if boosting:
        rate = HistGradientBoostingRegressor(loss="poisson", random_state=seed).fit(x[train], y[train]).predict(x[test])
    error = y[test] - rate
    return {"nll": float((rate - y[test] * numpy.log(rate) + gammaln(y[test] + 1)).mean()), "mae": float(abs(error).mean()),
            "rmse": float((error**2).mean() ** 0.5)}


def of_classes(x, y, train, test, boosting, seed):
    import numpy
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    levels, code = numpy.unique(y, return_inverse=True)
    p = numpy.tile(numpy.bincount(code[train], minlength=len(levels)) / len(train), (len(test), 1))
    if boosting:
        p = HistGradientBoostingClassifier(random_state=seed).fit(x[train], code[train]).predict_proba(x[test])
    truth = code[test]
    row = {"nll": float(-numpy.log(p[range(len(test)), truth]).mean()), "accuracy": float((p.argmax(1) == truth).mean()),
           "brier": float(((p - numpy.eye(len(levels))[truth]) ** 2).sum(1).mean())}
    return row | ({"auroc": float(roc_auc_score(truth, p[:, 1]))} if len(levels) == 2 else {})


INTRO = """One split (seed 0: 20 % test, 10 % validation, identical inputs on one side), one thread a fit, 2,000 steps; scikit-learn's
histogram gradient boosting with its defaults and the constant model on the same test rows, both trained on the
validation rows too.
"""
WHY = [["support2, died in hospital", "Bernoulli", "a clinical table with missing cells"],
       ["wine_red, quality 3 to 8", "softmax", "six unequal classes"],
       ["diabetes130, number of medications", "Poisson", "real counts"],
       ["counts:2000 of `slimbayes generate`", "Poisson", "the true rate is known: `correlation` is with it"],
       ["cox:2000 of `slimbayes generate`", "Cox",
        "the true intensity is known; `expected` is the integral of ours, to be held against the number of events"]]


def page(now):
    rows = [row for row in studies.rows(studies.HERE / "likelihoods") if not row["error"]]
    lines = []
    for row in rows:
        rest = ", ".join(f"{name} {row[name]}" for name in SHOWN[row["study"]] if row[name])
        lines.append([row["data"], row["study"], row["method"], row["nll"], rest, row["seconds"]])
    results = grid(["data", "likelihood", "method", "test NLL", "the rest", "seconds"], lines)
    return Page([INTRO, grid(["data", "likelihood", "what it shows"], WHY),
                 "`nll` of a Cox process is that of an event's place, beside `nll_uniform` of the uniform density.",
                 "## Results\n\nNLL a test row, of a Cox process a place.\n\n" + results])
