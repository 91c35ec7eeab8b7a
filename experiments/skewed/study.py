"""An untuned fit on a skewed cost, by the tool and by scikit-learn; what each says of 3,000 fresh rows."""

import csv
import itertools
import json
import pathlib
import runpy
import shlex
import time

import studies
from defaults import SCALES
from judge import Case, alike, judged, lower
from pages import Page
from results import KEY, asked
from runners import Failed, Runner
from scores import limit, number, of
from tables import cell, grid

TITLE = "A skewed cost, untuned"
WHAT = "the default method beside scikit-learn's rivals, on a skewed cost"
PAPER = "ours"
MAY_DIFFER = {"scale": SCALES}

TABLE = runpy.run_path(pathlib.Path(studies.__file__).resolve().parents[2] / "tests" / "cli" / "skewed.py")
COLUMNS, skewed_rows = TABLE["COLUMNS"], TABLE["skewed_rows"]
FRESH, MARGIN = 3000, 0.02
OURS = ["auto", "dbk", "dnn", "gp-exact"]
RIVALS = ["sk-ridge", "sk-ridge-log", "sk-boosting", "sk-gradient-boosting"]
QUARTERS = [f"coverage_{quarter}" for quarter in range(1, 5)]
FIELDS = [*KEY, "mae", "nll", "crps", *QUARTERS, "least_lower", "seconds", "commit", "command", "recipe", "error"]
INTRO = """The table of `tests/cli/skewed.py`: 500 rows, a positive cost with a log-normal noise of sd 0.35, two columns of categories, 6 % of the
cells missing; 3,000 fresh rows score each fit. Every method has its defaults. scikit-learn's get one column for each category and for
what is missing, and answer with a point. MAE: of the median, where the density is known; of
scikit-learn's, which predict means, `sk-ridge-log` alone aims at the median. With a log target no bound of `auto` can be below zero. Mean and
sd over the seeds of the table.
"""


def cells():
    """data: the training rows; seed: of the table."""
    for method, seed in itertools.product(OURS + RIVALS, range(10)):
        yield asked("skewed", 500, method, seed)


def tables(cell):
    """The rows to train on and the fresh ones."""
    seed = int(cell["seed"])
    return skewed_rows(int(cell["data"]), seed), skewed_rows(FRESH, 1000 + seed)


class Fits(Runner):
    """The tool's fits and scikit-learn's; these have no recipe."""

    def command(self, cell, folder):
        method = [] if cell["method"] == "auto" else ["--method", cell["method"]]
        return [self.tool, "fit", folder / "train.csv", "--target", "cost", *method, "--threads", "1", "--model", folder / "m",
                *shlex.split(cell["flags"])]

    def _recipe(self, cell):
        return {} if cell["method"] in RIVALS else self._dry_run(self.command(cell, pathlib.Path()))

    def run(self, cell):
        row = super().run(cell)
        return {name: row[name] for name in FIELDS if name in row}

    def _measure(self, cell, work):
        found = (rival if cell["method"] in RIVALS else self._ours)(cell, work)
        return {name: f"{value:.6g}" for name, value in found.items()}

    def _ours(self, cell, work):
        train, fresh = tables(cell)
        for name, rows in ("train.csv", train), ("fresh.csv", fresh):
            with open(work.folder / name, "w", newline="") as file:
                csv.writer(file).writerows([COLUMNS, *rows])
        start = time.perf_counter()
        work.measured(self.command(cell, work.folder))
        seconds = time.perf_counter() - start
        given = work.folder / "m", work.folder / "fresh.csv"
        report = json.loads(work.quiet([self.tool, "evaluate", *given, "--json"]))
        answers = list(csv.DictReader(work.quiet([self.tool, "predict", *given]).splitlines()))
        return {**{name: report[name] for name in ("mae", "nll", "crps")}, **quarters(answers, fresh),
                "least_lower": min(float(row["lower"]) for row in answers), "seconds": seconds}


def runner(tool, data):
    return Fits(tool, data)


def quarters(answers, fresh):
    """Coverage at 95 % in each quarter of the rows, ordered by the predicted mean."""
    rows = sorted((float(a["mean"]), float(a["lower"]) <= row[-1] <= float(a["upper"])) for a, row in zip(answers, fresh))
    size = len(rows) // 4
    return {name: sum(inside for _, inside in rows[q * size:(q + 1) * size]) / size for q, name in enumerate(QUARTERS)}


def encoded(train, fresh):
    """Inputs as scikit-learn's user would make them: one column for each category and for what is missing, the mean in its
    place; the columns have mean 0 and sd 1 in training."""
    import numpy as np
    columns = []
    for i in range(len(COLUMNS) - 1):
        cells = [[row[i] for row in rows] for rows in (train, fresh)]
        if any(isinstance(cell, str) and cell for cell in cells[0]):
            columns += [[[float(cell == level) for cell in part] for part in cells] for level in sorted(set(cells[0]))]
            continue
        known = [cell for cell in cells[0] if cell != ""]
        columns.append([[sum(known) / len(known) if cell == "" else float(cell) for cell in part] for part in cells])
        columns.append([[float(cell == "") for cell in part] for part in cells])
    a, b = (np.array([column[part] for column in columns]).T for part in (0, 1))
    varied = a.std(0) > 0
    a, b = a[:, varied], b[:, varied]
    return (a - a.mean(0)) / a.std(0), (b - a.mean(0)) / a.std(0)


def rival(cell, work):
    """The MAE of scikit-learn's point predictions, with its defaults; the penalty of Ridge by its own cross-validation."""
    work.command = "scikit-learn"
    try:
        import numpy as np
        from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
        from sklearn.linear_model import RidgeCV
    except ImportError as error:
        raise Failed(error)
    penalties = np.logspace(-3, 4, 30)
    model = {"sk-ridge": RidgeCV(penalties), "sk-ridge-log": RidgeCV(penalties),
             "sk-boosting": HistGradientBoostingRegressor(random_state=0),
             "sk-gradient-boosting": GradientBoostingRegressor(random_state=0)}[cell["method"]]
    train, fresh = tables(cell)
    x, new = encoded(train, fresh)
    y, target = (np.array([row[-1] for row in rows]) for rows in (train, fresh))
    log = cell["method"].endswith("-log")
    start = time.perf_counter()
    predicted = model.fit(x, np.log(y) if log else y).predict(new)
    seconds = time.perf_counter() - start
    return {"mae": float(np.abs((np.exp(predicted) if log else predicted) - target).mean()), "seconds": seconds}


def by_seed(rows, method, name):
    return {row["seed"]: number(row[name]) for row in rows if row["method"] == method and row[name]}


def overview(rows):
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        scores = [list(by_seed(rows, method, name).values()) for name in ("mae", "nll", "crps", *QUARTERS)]
        least = by_seed(rows, method, "least_lower").values()
        lines.append([f"`{method}`", *(cell(of(values) if values else None) for values in scores),
                      f"{min(least):.2f}" if least else "", cell(of(list(by_seed(rows, method, "seconds").values())), digits=1, seeds=False)])
    return grid(["method", "MAE", "NLL", "CRPS", "coverage, first quarter", "second", "third", "last", "least bound", "seconds"], lines)


def score(rows, method, name):
    values = by_seed(rows, method, name)
    return of(values) if values else None


def ratio_to_the_best(rows):
    """By seed, auto's MAE over that of the best rival; {} where a rival is missing."""
    mae, others = by_seed(rows, "auto", "mae"), [by_seed(rows, name, "mae") for name in RIVALS]
    return {seed: mae[seed] / min(values[seed] for values in others) for seed in mae if all(seed in values for values in others)}


def claims(rows):
    ratio = ratio_to_the_best(rows)
    case = lower(f"{len(ratio)} seeds", of(ratio), limit(1 + MARGIN), "ratio") if ratio else Case("seeds", None, "")
    yield judged("ours", "auto's MAE is at most 2 % above the best of the rivals, seed by seed", [case])
    coverage = {name: score(rows, "auto", name) for name in QUARTERS}
    yield judged("ours", "auto's coverage at 95 % is from .92 to .98 in each quarter of the predicted means",
                 [alike(name.replace("coverage_", "quarter "), held, limit(0.95), 0.03) for name, held in coverage.items()])


def least_bound(rows):
    """A note: the fits take the logarithm of the target, so that no bound can be below zero."""
    least = list(by_seed(rows, "auto", "least_lower").values())
    return f"The least lower bound of `auto` over {len(least)} seeds is {min(least):.2f}." if least else ""


def page(now):
    rows = [row for row in studies.rows(studies.HERE / "skewed") if not row["error"]]
    return Page([INTRO, overview(rows), least_bound(rows)], list(claims(rows)))
