"""Models of several targets, beside a fit of each target alone, on six tables with 2 to 8 targets."""

import csv
import gzip
import itertools
import json
import math
import pathlib
import random
import shlex
import time

import studies
from defaults import SCALES
from judge import above, alike, judged
from pages import Page
from results import KEY, asked
from runners import Runner
from scores import limit, number, of
from tables import cell, grid

TITLE = "Several targets"
WHAT = "one model of several targets beside a model of each, and what the correlation of their errors gains"
PAPER = "ours"
MAY_DIFFER = {"scale": SCALES}

ROWS, FRESH = 1500, 1500
LEVEL, STRONG = 0.05, 0.5  # nats a row within which two NLLs are level; the correlation from which the errors are strongly correlated
METHODS = {"ridge": 5, "dbk": 5, "auto": 2}  # seeds
# The targets of a table, and its columns that are no inputs.
TABLES = {"guangzhou_pm25": (["PM_City Station", "PM_5th Middle School"], ["No", "year", "PM_US Post"]),  # which is the City Station again
          "beijing_pm25": (["DEWP", "TEMP", "PRES"], ["No", "year"]),
          "support2": (["meanbp", "hrt", "resp", "temp"], ["label"]),
          "wine_white": (["free_so2", "total_so2", "density", "residual_sugar"], []),
          "power_plant": (["v", "y"], []),
          "factors": ([f"y{i}" for i in range(8)], [])}
FIELDS = [*KEY, "targets", "correlation", "shrinkage", "nll_mean", "nll_alone", "nll_joint", "nll_independent", "nll_gain_se", "energy",
          "energy_independent", "coverage", "region_coverage", "seconds", "seconds_alone", "commit", "command", "recipe", "error"]
INTRO = f"""{ROWS:,} rows drawn at random from each table fit a model of all its targets (`fit --target a,b,c`), and a model of each target alone; {FRESH:,}
others score both. Rows without any target are left out; cells of the targets of `guangzhou_pm25` are missing (its third station, the column
`PM_US Post`, has the cells of the first and is left out). `factors` is
generated: eight targets, each a smooth function of three inputs, whose noise has a common factor (correlation .6).

NLL of a target: mean over the targets, in nats a row; alone: of the fits of each target by itself, which for `auto` choose by folds, while a fit of
several targets keeps the validation rows. Joint NLL: of the numbers of a row together; independent: the sum of their NLLs by the same model.
Correlation: the largest between two targets' held-out errors, in size. Region: share of the rows with all targets in the box of 95 %. Mean and sd over seeds.
"""


def cells():
    """data: the table; seed: of the draw of its rows, and of the fit."""
    for data, method in itertools.product(TABLES, METHODS):
        for seed in range(METHODS[method]):
            yield asked("several", data, method, seed)


def factors(seed):
    """Rows of `factors`: three inputs, and eight targets with a factor in their noise."""
    draw = random.Random(seed)
    rows = []
    for _ in range(ROWS + FRESH):
        x = [draw.gauss(0, 1) for _ in range(3)]
        common = draw.gauss(0, 1)
        y = [math.sin(x[i % 3] + i) + x[(i + 1) % 3] * i / 8 + 0.5 * (math.sqrt(0.6) * common + math.sqrt(0.4) * draw.gauss(0, 1))
             for i in range(8)]
        rows.append([f"{value:.5f}" for value in [*x, *y]])
    return ["x0", "x1", "x2", *[f"y{i}" for i in range(8)]], rows


def table(data, name, seed):
    """The header and the drawn rows, those to fit first."""
    targets, _ = TABLES[name]
    if name == "factors":
        return factors(seed)
    with gzip.open(pathlib.Path(data) / f"{name}.csv.gz", "rt") as file:
        header, *rows = csv.reader(file)
    places = [header.index(target) for target in targets]
    known = [row for row in rows if any(row[i] not in ("", "NA") for i in places)]
    drawn = random.Random(seed).sample(known, ROWS + FRESH)
    return header, drawn


class Fits(Runner):
    def command(self, cell, folder, targets=None):
        own, others = TABLES[cell["data"]]
        wanted = own if targets is None else targets
        ignored = [*others, *(name for name in own if name not in wanted)]
        return [self.tool, "fit", folder / "train.csv", "--target", ",".join(wanted), *(["--ignore", ",".join(ignored)] if ignored else []),
                "--method", cell["method"], "--seed", cell["seed"], "--threads", "1", "--json", "--model", folder / "m", *shlex.split(cell["flags"])]

    def alike(self, cell):
        return cell["data"], *super().alike(cell)

    def _recipe(self, cell):
        return self._dry_run(self.command(cell, pathlib.Path()))

    def run(self, cell):
        row = super().run(cell)
        return {name: row[name] for name in FIELDS if name in row}

    def _measure(self, cell, work):
        header, rows = table(self.data, cell["data"], int(cell["seed"]))
        for name, part in ("train.csv", rows[:ROWS]), ("fresh.csv", rows[ROWS:]):
            with open(work.folder / name, "w", newline="") as file:
                csv.writer(file).writerows([header, *part])
        found = self._together(cell, work) | self._alone(cell, work)
        return {name: f"{value:.6g}" for name, value in found.items()}

    def _scored(self, work):
        return json.loads(work.quiet([self.tool, "evaluate", work.folder / "m", work.folder / "fresh.csv", "--json"]))

    def _together(self, cell, work):
        start = time.perf_counter()
        fitted = json.loads(work.measured(self.command(cell, work.folder)))
        seconds = time.perf_counter() - start
        report, found = self._scored(work), fitted["correlation"]
        joint, k = report["joint"], len(report["targets"])
        largest = max(abs(found["matrix"][i][j]) for i in range(k) for j in range(i))
        return {"targets": k, "correlation": largest, "shrinkage": found["shrinkage"], "seconds": seconds,
                "nll_mean": sum(one["nll"] for one in report["targets"]) / k, "coverage": sum(one["coverage"] for one in report["targets"]) / k,
                **{name: joint[name] for name in ("nll_joint", "nll_independent", "nll_gain_se", "energy", "energy_independent", "region_coverage")}}

    def _alone(self, cell, work):
        seconds, nll = 0, []
        for target in TABLES[cell["data"]][0]:
            start = time.perf_counter()
            work.quiet(self.command(cell, work.folder, [target]))
            seconds += time.perf_counter() - start
            nll.append(self._scored(work)["nll"])
        return {"nll_alone": sum(nll) / len(nll), "seconds_alone": seconds}


def runner(tool, data):
    return Fits(tool, data)


def by_seed(rows, data, method, name):
    return {row["seed"]: number(row[name]) for row in rows if (row["data"], row["method"]) == (data, method) and row[name]}


def less(a, b):
    return {seed: a[seed] - b[seed] for seed in a if seed in b}


def overview(rows):
    lines = []
    for data, method in itertools.product(TABLES, METHODS):
        if not by_seed(rows, data, method, "nll_joint"):
            continue
        scores = [list(by_seed(rows, data, method, name).values())
                  for name in ("correlation", "nll_mean", "nll_alone", "nll_joint", "nll_independent", "energy", "energy_independent", "region_coverage")]
        times = [cell(of(list(by_seed(rows, data, method, name).values())), digits=1, seeds=False) for name in ("seconds", "seconds_alone")]
        lines.append([f"`{data}`", f"`{method}`", str(len(TABLES[data][0])), *(cell(of(values)) for values in scores), *times])
    return grid(["table", "method", "targets", "correlation", "NLL of a target", "alone", "joint NLL", "independent", "energy score", "independent", "region",
                 "seconds", "alone"], lines)


def strong(rows, data, method):
    found = by_seed(rows, data, method, "correlation")
    return bool(found) and sum(found.values()) / len(found) >= STRONG


def claims(rows):
    cases = []
    for data, method in itertools.product(TABLES, METHODS):
        gap = less(by_seed(rows, data, method, "nll_mean"), by_seed(rows, data, method, "nll_alone"))
        if gap:
            cases.append(alike(f"{data}, {method}", of(gap), limit(0), LEVEL))
    yield judged("ours", f"the NLL of a target in a model of several is within {LEVEL:g} nats of that of its own fit", cases)
    gains = [(data, method, less(by_seed(rows, data, method, "nll_independent"), by_seed(rows, data, method, "nll_joint")))
             for data, method in itertools.product(TABLES, METHODS) if strong(rows, data, method)]
    yield judged("ours", f"where errors correlate ({STRONG:g} and more), the joint NLL is below that of independent answers",
                 [above(f"{data}, {method}", of(gain), 0) for data, method, gain in gains])
    yield judged("ours", "the share of rows with all targets in the box of 95 % is within .05 of .95",
                 [alike(f"{data}, {method}", of(by_seed(rows, data, method, "region_coverage")), limit(0.95), 0.05)
                  for data, method in itertools.product(TABLES, METHODS) if by_seed(rows, data, method, "region_coverage")])


def page(now):
    rows = [row for row in studies.rows(studies.HERE / "several_targets") if not row["error"]]
    return Page([INTRO, overview(rows)], list(claims(rows)))
