"""Results by the papers' names: what a study measured, seed by seed, and what a paper printed."""

import csv
import json
import math
import shlex
import statistics
from typing import NamedTuple

import results
import studies

METRICS = {"MAE": "mae_standardized", "RMSE": "rmse_standardized", "NLL": "nll_standardized", "CRPS": "crps_standardized",
           "coverage": "coverage", "time_s": "seconds", "raw NLL": "nll", "oracle NLL": "oracle_nll",
           "sd correlation": "sd_correlation", "steps": "steps", "memory": "memory_mb", "AUROC": "auroc"}
BY_INPUT = "coverage by input"
# The papers' names, by the tool's. Flags that say which study a cell belongs to are taken off first.
STUDY_FLAGS = {"--preset", "--split", "--split-seed", "--test-fraction", "--batch", "--epochs", "--patience", "--max-rows", "--hidden",
               "--activation", "--steps", "--evidence-rows", "--weight-decay", "--noise-form", "--noise-start", "--noise-rate",
               "--around", "--ood", "--target-scale", "--valid-fraction", "--network", "--blocks", "--learning-rate", "--clip-norm",
               "--schedule", "--parametrisation", "--refit", "--noise", "--select", "--scale", "--scale-on"}
BARE_FLAGS = {"--tune"}  # without a value, and a study's too
FULL, C, R = "--alpha 1 --correction true", "--alpha 0 --correction false", "--rank 1"  # E's models and ablations
ABLATIONS = {"": FULL, "-c": C, "-r": f"{R} {FULL}", "-cr": f"{R} {C}"}
NAMES = {"rich-bll": "Rich-BLL", "rich-bll --subsample 0.4": "Rich-BLL (S)", "bll": "NNGP (BLL)", "bll --prior-sd 1e-9": "MAP", "vbll --basis linear --rank 50": "VBLL, linear",
         "mc-dropout": "Dropout", "swag": "SWAG", "bbb": "BBB", "bbb --beta 0.1": "BBB, beta .1", "dnn": "DNN", "vbll": "VBLL", "sv-dkl": "SV-DKL", "pp-dkl": "PP-DKL", "dbk": "DBK-SiLU", "dbk --basis rbf": "DBK-RBF",
         "sv-rbf": "SV-RBF", "gp-exact": "GP", "dkl-exact": "DKL", "ensemble --of dnn --members 5": "ensemble of 5 DNN",
         "torch --objective mse": "DNN in PyTorch", "torch --objective elbo": "VBLL in PyTorch",
         "torch --objective dppgp": "DBK-SiLU in PyTorch",
         "catboost": "CatBoost", "catboost --iterations 20000": "CatBoost, long", f"dbk-exact {C}": "DBK exact",
         "dbk-exact --basis rbf": "sDKL",  # inducing points under the collapsed bound
         **{f"sv-dbk --basis linear {flags}": f"SV-DBK{name}" for name, flags in ABLATIONS.items()},
         **{f"dbk-exact --basis linear {flags}": f"DBK{name}" for name, flags in ABLATIONS.items()}}


UNSEEDED = {"GP"}  # every seed gives the same bits: one fit is all there is


class Score(NamedTuple):
    mean: float
    sd: float  # over seeds; nan for one, 0 for a method without a seed
    seeds: int
    old: bool = False  # measured by a recipe that is no longer the tool's
    by_seed: dict | None = None  # its values, by which two scores are compared; None for a printed one
    fixed: bool = False  # the same for every seed: a limit, or a method without a seed
    of_mean: bool = False  # `sd` is the standard error of the mean

    def times(self, factor):
        return self._replace(mean=factor * self.mean, sd=factor * self.sd, by_seed={at: factor * value for at, value in self.by_seed.items()})


def label(method, flags):
    words, kept = [word for word in shlex.split(flags) if word not in BARE_FLAGS], []
    for flag, value in zip(words[::2], words[1::2], strict=True):
        kept += [] if flag in STUDY_FLAGS else [flag, value]
    plain = " ".join([method, *kept])
    return NAMES.get(plain, plain)


def number(text):
    """A measured number; nan where there is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def measured(row, metric):
    """A metric of the row; nan where it has none. Rows tell the coverage of the different inputs, each counted once, where some of
    their test rows share inputs."""
    if metric != BY_INPUT:
        return number(row[METRICS[metric]])
    return json.loads(row["scores"]).get("coverage_of_inputs", math.nan) if row["scores"] else math.nan


class Scores:
    """Of the rows of results.csv: the last one of each cell, failures aside. A mean goes over rows of one recipe, that of the
    newest row; the others are left out. The runner knows what the tool resolves now."""

    def __init__(self, rows, runner=None):
        completed = runner.completed if runner else (lambda row: row["recipe"])
        newest = {}
        for row in rows:  # in the order of their measuring
            if not row["error"]:
                newest[row["study"], row["data"], label(row["method"], row["flags"])] = row
        rows = results.latest(rows)
        self.failed = [row for row in rows if row["error"]]
        self.left_out = []  # (row, what its recipe says differently)
        self.old = {at: found for at, row in newest.items() if runner and (found := runner.outdated(row))}
        self._cells, self._splits = {}, {}
        for row in rows:
            if not row["error"]:
                self._splits.setdefault((row["study"], row["data"]), set()).add(row["flags"].partition("--split-seed ")[2].partition(" ")[0])
                name = label(row["method"], row["flags"])
                if found := otherwise(completed(row), completed(newest[row["study"], row["data"], name])):
                    self.left_out.append((row, found))
                    continue
                seeds = self._cells.setdefault((row["study"], row["data"], name), {})
                if row["seed"] in seeds:
                    raise ValueError(f"two cells of {row['study']}, {row['data']}, seed {row['seed']} are both {name!r}: "
                                     f"{seeds[row['seed']]['flags']!r} and {row['flags']!r}")
                seeds[row["seed"]] = row

    def rows(self, study, data, name):
        cells = self._cells.get((study, data, name), {})
        return [cells[seed] for seed in sorted(cells, key=int)]

    def values(self, study, data, name, metric):
        found = [measured(row, metric) for row in self.rows(study, data, name)]
        return [value for value in found if not math.isnan(value)]

    def by_seed(self, study, data, name, metric):
        found = {int(row["seed"]): measured(row, metric) for row in self.rows(study, data, name)}
        return {seed: value for seed, value in found.items() if not math.isnan(value)}

    def get(self, study, data, name, metric):
        """None where nothing was measured."""
        values = self.by_seed(study, data, name, metric)
        if not values:
            return None
        score = of(values)._replace(old=(study, data, name) in self.old)
        fixed = name in UNSEEDED and score.seeds == 1
        return score._replace(sd=0.0, fixed=len(self._splits[study, data]) == 1) if fixed else score

    def tuned(self, study, data, names):
        """The rows, a seed each, with the best validation score among these names; [] unless every one was measured."""
        found = [self.rows(study, data, name) for name in names]
        by_seed = [[row for rows in found for row in rows if row["seed"] == str(seed)] for seed in range(10)]
        return [min(rows, key=lambda row: float(row["valid_score"])) for rows in by_seed if len(rows) == len(names)]

    def names(self, study):
        return list(dict.fromkeys(name for at, _, name in self._cells if at == study))

    def measured(self):
        return bool(self._cells)


def otherwise(recipe, newest):
    """What decided a row and the newest one of its mean differently; {} where both may stand in one mean."""
    if bool(recipe) != bool(newest):
        return {"recipe": ("recorded", "not recorded") if recipe else ("not recorded", "recorded")}
    return results.differences(recipe, newest)


def of(values):
    """The score of some values: by seed, or in the order of the seeds."""
    values = values if isinstance(values, dict) else dict(enumerate(values))
    found = list(values.values())
    return Score(statistics.fmean(found), statistics.stdev(found) if len(found) > 1 else math.nan, len(found), by_seed=values)


def with_standard_error(score):
    """The standard error of its mean in the place of its sd."""
    return score._replace(sd=score.sd / math.sqrt(max(1, score.seeds)), of_mean=True)


def limit(value):
    """A stated number, as a score to compare with."""
    return Score(value, 0.0, 1, by_seed={}, fixed=True)


def load(*names, runner=None):
    """The scores of some studies as one, of the cells that are asked for."""
    return Scores([row for name in names for row in studies.all_rows(studies.HERE / name)], runner)


class Published:
    """A paper's printed numbers, from the published.csv of a study; none without one."""

    def __init__(self, study):
        self._values, self._texts, path = {}, {}, studies.HERE / study / "published.csv"
        if path.exists():
            with open(path, newline="") as file:
                for row in csv.DictReader(file):
                    note = row["note"].partition("rank r=")[2].partition(";")[0]  # of N Figure 9
                    name = row["method"] if not note else f"dbk --rank {note}"
                    at = row["data"], name, row["metric"]
                    self._values[at] = Score(float(row["value"]), number(row["spread"]), 0)
                    self._texts[at] = row["value"] + f" ± {row['spread']}" * bool(row["spread"])

    def get(self, data, name, metric):
        return self._values.get((data, name, metric))

    def text(self, data, name, metric):
        """The digits of the paper; "" where it prints none."""
        return self._texts.get((data, name, metric), "")
