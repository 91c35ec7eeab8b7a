"""One network for several targets (`--share-network`) beside one a target, paired by table and seed."""

import csv
import gzip
import itertools
import json
import pathlib
import random
import statistics

import studies
from judge import judged, lower
from pages import Page
from results import KEY, asked
from runners import Failed, Runner
from scores import limit, of
from tables import cell, grid

TITLE = "One network for several targets"
WHAT = "one trained network with an output for each of three targets, beside a network a target"
PAPER = "ours"
MAY_DIFFER = {"scale": "dnn takes inputs from -1 to 1, bll and rich-bll standardise them: each its default; methods are not compared here"}

TARGETS = {"guangzhou_pm25": ["PM_City Station", "PM_5th Middle School", "HUMI"], "wine_white": ["free_so2", "total_so2", "density"],
           "beijing_pm25": ["DEWP", "TEMP", "PRES"]}
NO_INPUT = {"guangzhou_pm25": "No,PM_US Post", "beijing_pm25": "No"}  # row numbers; a column with the cells of the first station
METHODS, SEEDS, SHARE = ["dnn", "bll", "rich-bll"], range(5), "--share-network"
ROWS, MISSING = 1500, "NA"
MARGIN, SPARED = 0.02, 0.3
FIELDS = [*KEY, "nll", "rmse", "coverage", "nll_of_targets", "seconds", "memory_mb", "commit", "command", "recipe", "error"]
INTRO = f"""Three tables, three targets of numbers each: {"; ".join(f"`{name}`: {', '.join(targets)}" for name, targets in TARGETS.items())}. Of
each a random sample of {ROWS:,} rows that have a target; half of them are fitted, the others score the model. The stations of
`guangzhou_pm25` have missing cells (its third has the cells of the first, and is left out). The seed is that of the sample and of the fit. NLL (nats) and RMSE are of the standardised targets, means over
the three; seconds are of the processor, for the whole fit with the start of the program, one thread. Everything else has its
defaults: with networks of their own the noise folds may run for a target, with a shared one they never do. Mean ± sd over the seeds.
"""


def cells():
    """data: the table; seed: of its sample and of the fit."""
    for seed, data, method, flags in itertools.product(SEEDS, TARGETS, METHODS, ["", SHARE]):
        yield asked("share_network", data, method, seed, flags)


def sample(path, targets, seed):
    """The names of the columns, the rows to fit and the fresh ones."""
    with gzip.open(path, "rt", newline="") as file:
        names, *rows = csv.reader(file)
    places = [names.index(target) for target in targets]
    known = [row for row in rows if any(row[place] not in ("", MISSING) for place in places)]
    drawn = random.Random(f"share_network {seed}").sample(known, ROWS)
    return names, drawn[:ROWS // 2], drawn[ROWS // 2:]


class Fits(Runner):
    """The tool's fits of several targets."""

    def command(self, cell, folder):
        ignored = NO_INPUT.get(cell["data"])
        return [self.tool, "fit", folder / "train.csv", "--target", ",".join(TARGETS[cell["data"]]), "--method", cell["method"],
                *(["--ignore", ignored] if ignored else []), "--seed", cell["seed"], "--threads", "1", "--model", folder / "m", *cell["flags"].split()]

    def alike(self, cell):
        return cell["data"], *super().alike(cell)

    def _recipe(self, cell):
        return self._dry_run(self.command(cell, pathlib.Path()))

    def run(self, cell):
        row = super().run(cell)
        return {name: row[name] for name in FIELDS if name in row}

    def _measure(self, cell, work):
        targets = TARGETS[cell["data"]]
        names, *parts = sample(self.data / f"{cell['data']}.csv.gz", targets, cell["seed"])
        for name, rows in zip(("train.csv", "fresh.csv"), parts):
            with open(work.folder / name, "w", newline="") as file:
                csv.writer(file).writerows([names, *rows])
        work.measured(self.command(cell, work.folder))
        report = json.loads(work.quiet([self.tool, "evaluate", work.folder / "m", work.folder / "fresh.csv", "--threads", "1", "--json"]))
        scored = report["targets"]
        if [one["target"] for one in scored] != targets:
            raise Failed(f"expected scores of {', '.join(targets)}; received those of {', '.join(one['target'] for one in scored)}")
        nll, rmse, coverage = ([one[name] for one in scored] for name in ("nll_standardized", "rmse_standardized", "coverage"))
        return {"nll": f"{statistics.fmean(nll):.5f}", "rmse": f"{statistics.fmean(rmse):.5f}", "coverage": f"{statistics.fmean(coverage):.5f}",
                "nll_of_targets": " ".join(f"{value:.5f}" for value in nll), "seconds": f"{work.processor_s:.2f}"}


def runner(tool, data):
    return Fits(tool, data)


def by_seed(rows, data, method, flags, name):
    return {int(row["seed"]): float(row[name]) for row in rows if (row["data"], row["method"], row["flags"]) == (data, method, flags)}


def score(rows, data, method, flags, name):
    values = by_seed(rows, data, method, flags, name)
    return of(values) if values else None


def share_of_time(rows, data, method):
    """By seed, the seconds with a shared network over those without; None without a pair."""
    shared, own = (by_seed(rows, data, method, flags, "seconds") for flags in (SHARE, ""))
    found = {seed: shared[seed] / own[seed] for seed in shared.keys() & own.keys()}
    return of(found) if found else None


def overview(rows, data):
    lines = []
    for method, flags in itertools.product(METHODS, ["", SHARE]):
        found = [cell(score(rows, data, method, flags, name), digits=digits, seeds=False)
                 for name, digits in (("nll", 3), ("rmse", 3), ("coverage", 3), ("seconds", 1))]
        lines.append([f"`{method}`", "one" if flags else "three", *found])
    return grid(["method", "networks", "NLL", "RMSE", "coverage", "seconds"], lines)


def of_each_target(rows):
    """The NLL of each target with a shared network minus that with one of its own, mean over the seeds and methods."""
    lines = []
    for data, targets in TARGETS.items():
        found = {flags: {(row["method"], row["seed"]): [float(value) for value in row["nll_of_targets"].split()]
                         for row in rows if row["data"] == data and row["flags"] == flags} for flags in ("", SHARE)}
        pairs = [(found[SHARE][at], found[""][at]) for at in found[SHARE].keys() & found[""].keys()]
        for place, target in enumerate(targets):
            if pairs:
                lines.append([data, target, f"{statistics.fmean(one[place] - other[place] for one, other in pairs):+.3f}", str(len(pairs))])
    return grid(["table", "target", "NLL, difference", "pairs"], lines)


def claims(rows):
    both = list(itertools.product(TARGETS, METHODS))
    nll = [lower(f"{data}, {method}", *(score(rows, data, method, flags, "nll") for flags in (SHARE, "")), margin=MARGIN) for data, method in both]
    yield judged("ours", f"one shared network costs no NLL: its mean over the targets is at most {MARGIN} above that of a network a target", nll)
    most = 1 / 3 + SPARED
    seconds = [lower(f"{data}, {method}", share_of_time(rows, data, method), limit(most), "share") for data, method in both]
    yield judged("ours", f"a fit with one shared network takes at most 1/k + {SPARED} of the time, {most:.2f} for k = 3 targets", seconds)


def page(now):
    rows = [row for row in studies.rows(studies.HERE / "share_network") if not row["error"]]
    return Page([INTRO, *(f"**{data}**\n\n{overview(rows, data)}" for data in TARGETS),
                 "The NLL of each target with the shared network minus that with one of its own, mean over methods and seeds:\n\n" + of_each_target(rows)],
                list(claims(rows)))
