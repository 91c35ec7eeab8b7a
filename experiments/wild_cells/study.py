"""The default on 300 rows of a straight line in which single cells are wrong, beside the same rows without wrong cells."""

import csv
import json
import pathlib
import random
import time

import studies
from judge import Case, judged
from pages import Page
from results import KEY, asked
from runners import Runner
from tables import grid

TITLE = "Wrong cells"
WHAT = "the default method on a straight line with cells that are wrong by 1e1 to 1e15 sds"
PAPER = "ours"

ROWS, FRESH = 300, 1000
MEASURES = ["median_error", "worst_error", "coverage", "width", "sd", "nll", "named", "rows"]
FIELDS = [*KEY, *MEASURES, "seconds", "commit", "command", "recipe", "error"]
INTRO = """300 rows of y = 50 + 10 x + noise of sd 2, x ~ N(0, 1), beside an input that says nothing; 1,000 fresh rows without wrong
cells score each fit of the default, with `--time-limit 600` so that a busy machine leaves out no candidate. "data" says which cells are
wrong: of the target or of the input x, one or three of them (1 %), above, below or on both sides, and by how many sds of the column.
The error of the median is its mean size over the fresh rows, and the largest, in sds of the noise; the width is the mean one of the 95 % intervals, beside
that of the fit without wrong cells. "named": how many of the wrong cells the note names. Cells that are wrong by 10 and 30 sds show
where the rule of the gap ends and the tails of the mixture begin.
"""
BOTH = "both"


def cells():
    """data: where, how many, which side, how far; seed: of the table."""
    first = ["clean", "target 1 above 1e3", "target 1 below 1e15", "target 3 both 1e6", "input 1 above 1e3", "input 3 both 1e15"]
    edge = ["target 1 above 1e1", "target 1 above 3e1"]
    for data, seed in [*((d, 0) for d in first + edge), ("clean", 1)]:
        yield asked("wild_cells", data, "auto", seed, "--time-limit 600")


def line(count, seed):
    draw = random.Random(seed)
    rows = [[draw.gauss(0, 1), draw.gauss(0, 1)] for _ in range(count)]
    return [[*x, 50 + 10 * x[0] + draw.gauss(0, 2)] for x in rows]


def tables(cell):
    """The rows to train on, the fresh ones, and the indices of the wrong rows."""
    seed = int(cell["seed"])
    rows, fresh = line(ROWS, seed), line(FRESH, 1000 + seed)
    if cell["data"] == "clean":
        return rows, fresh, []
    where, count, side, sds = cell["data"].split()
    wrong = [37 + 80 * i for i in range(int(count))]
    column, middle, sd = (2, 50, 10) if where == "target" else (0, 0, 1)
    for i, row in enumerate(wrong):
        sign = -1 if side == "below" or (side == BOTH and i % 2) else 1
        rows[row][column] = middle + sign * sd * float(sds) * 3 ** i
    return rows, fresh, wrong


class Fits(Runner):
    def command(self, cell, folder):
        return [self.tool, "fit", folder / "train.csv", "--target", "y", "--threads", "1", "--model", folder / "m", *cell["flags"].split()]

    def _recipe(self, cell):
        return self._dry_run(self.command(cell, pathlib.Path()))

    def run(self, cell):
        row = super().run(cell)
        return {name: row[name] for name in FIELDS if name in row}

    def _measure(self, cell, work):
        train, fresh, wrong = tables(cell)
        for name, rows in ("train.csv", train), ("fresh.csv", fresh):
            with open(work.folder / name, "w", newline="") as file:
                csv.writer(file).writerows([["x", "other", "y"], *rows])
        start = time.perf_counter()
        work.measured(self.command(cell, work.folder))
        seconds = time.perf_counter() - start
        facts = json.loads(work.quiet([self.tool, "describe", work.folder / "m", "--json"]))
        given = work.folder / "m", work.folder / "fresh.csv"
        report = json.loads(work.quiet([self.tool, "evaluate", *given, "--json"]))
        answers = list(csv.DictReader(work.quiet([self.tool, "predict", *given]).splitlines()))
        found = {**measures(answers, fresh), "nll": report["nll"], "named": named(facts, wrong),
                 "rows": facts["summary"]["rows"], "seconds": seconds}
        return {name: f"{value:.6g}" for name, value in found.items()}


def runner(tool, data):
    return Fits(tool, data)


def measures(answers, fresh):
    """Of the fresh rows: the errors of the median in sds of the noise, coverage, mean width and sd."""
    of = {name: [float(a[name]) for a in answers] for name in ("median", "lower", "upper", "sd")}
    rows = list(zip(of["median"], of["lower"], of["upper"], fresh))
    errors = [abs(m - 50 - 10 * row[0]) / 2 for m, _, _, row in rows]
    return {"median_error": sum(errors) / len(errors), "worst_error": max(errors),
            "coverage": sum(a <= row[-1] <= b for _, a, b, row in rows) / len(rows),
            "width": sum(b - a for _, a, b, _ in rows) / len(rows), "sd": sum(of["sd"]) / len(rows)}


def named(facts, wrong):
    notes = " ".join(facts.get("split_notes", []))
    return sum(f"(data row {row + 1})" in notes for row in wrong)


def done():
    return [row for row in studies.rows(studies.HERE / "wild_cells") if not row["error"]]


def clean(rows, seed):
    return next((row for row in rows if row["data"] == "clean" and row["seed"] == seed), None)


def ratio(rows, row):
    """The width beside that of the clean fit of the same table; None without it."""
    beside = clean(rows, row["seed"])
    return float(row["width"]) / float(beside["width"]) if beside else None


def overview(rows):
    lines = []
    for row in rows:
        beside = ratio(rows, row)
        lines.append([row["data"], row["seed"], f"{float(row['median_error']):.2f}", f"{float(row['worst_error']):.2f}", f"{float(row['coverage']):.3f}",
                      f"{float(row['width']):.2f}", f"{beside:.2f}" if beside else "", f"{float(row['sd']):.2f}", row["named"], row["rows"],
                      f"{float(row['seconds']):.0f}"])
    return grid(["data", "seed", "error of the median", "largest", "coverage", "width", "ratio", "sd", "named", "rows of the fit", "seconds"], lines)


def far(rows):
    """The rows of cells that are wrong by 1e3 sds and more."""
    return [row for row in rows if row["data"] != "clean" and float(row["data"].split()[-1]) >= 1e3]


def claims(rows):
    asked_for = far(rows)
    name = lambda row: f"{row['data']}, seed {row['seed']}"  # noqa: E731
    yield judged("ours", "one and 1 % wrong cells of 1e3 sds and more: the median is within .3 sd of the noise",
                 [Case(name(row), float(row["median_error"]) < 0.3, f"{float(row['median_error']):.2f}") for row in asked_for])
    yield judged("ours", "their intervals hold .90 to .99 of the fresh rows",
                 [Case(name(row), 0.9 <= float(row["coverage"]) <= 0.99, row["coverage"]) for row in asked_for])
    yield judged("ours", "their width is at most twice that of the fit without wrong cells",
                 [Case(name(row), ratio(rows, row) <= 2, f"{ratio(rows, row):.2f}") for row in asked_for if ratio(rows, row)])
    yield judged("ours", "the notes name every wrong cell",
                 [Case(name(row), row["named"] == row["data"].split()[1], row["named"]) for row in asked_for])


def page(now):
    rows = done()
    return Page([INTRO, overview(rows)], list(claims(rows)))
