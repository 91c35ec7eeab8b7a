"""The default method on tables whose target is nearly a function of the inputs, beside RealMLP-TD and beside the tool before `auto` tried
such a network (`--network realmlp`)."""

import math
import os
import pathlib
import random

import derived
import studies
from defaults import ROWS
from judge import Case, judged
from pages import Page
from results import asked
from runners import MODELS, Runner, taken
from tables import grid

TITLE = "Nearly noise-free tables"
WHAT = "the default method beside RealMLP-TD where the target is nearly a function of the inputs"
PAPER = "ours"
TREES = ["after", "before"]  # the word `--tree` among a cell's flags is the runner's own
BEFORE = "cc53529"  # the last commit without the network
MAY_DIFFER = {"scale": "auto standardises the inputs, RealMLP-TD scales them by its own rule: each its default"}
SPLITS = 1
UNBOUND = "--time-limit 3000"  # so that the time decides nothing
SIZE, COLUMNS = 5000, 6
NOISE = ["0", "0.001", "0.01"]  # sd, in sds of the function
PUBLIC = ["yacht", "energy", "concrete", "kin8nm", "power_plant", "naval"]
RMSE, MOST_NLL = 1.03, 0.01

FUNCTIONS = {
    "waves": lambda x: math.sin(5 * x[0] + 3 * x[1]) + x[4] * math.cos(4 * x[2] - 3 * x[3]) + math.sin(6 * x[5] * x[0]) / 2,
    "sum": lambda x: x[0] + 2 * x[1] - x[2] + x[3] / 2 + 1.5 * x[4] - 2 * x[5],
    "logsum": lambda x: math.log(sum(w * math.exp(2 * z) for w, z in zip((1, 2, 0.5, 1, 0.2, 3), x))),
}
SYNTHETIC = {f"{name}-{noise}": (function, float(noise)) for name, function in FUNCTIONS.items() for noise in NOISE}
TABLES = [*SYNTHETIC, *PUBLIC]
INTRO = """Synthetic tables: 5,000 rows of six inputs, uniform in [-1, 1], with noise of the sd behind the name, in sds of the function.
`waves`: sin(5 a + 3 b) + e cos(4 c - 3 d) + sin(6 a f) / 2; `sum`: a weighted sum; `logsum`: the logarithm of a weighted sum of exp(2 x).
No time limit binds; one thread. Scores of the test rows on the standardised target; NLL of RealMLP-TD: a Gaussian of the
variance of its validation errors.
"""


def cells():
    """seed: that of the split."""
    for split in range(SPLITS):
        for table in TABLES:
            flags = f"--split-seed {split}"
            yield asked("exact_tables", table, "realmlp", split, flags)
            for tree in TREES:
                yield asked("exact_tables", table, "auto", split, f"{flags} {UNBOUND} --tree {tree}")


def rows_of(name):
    function, noise = SYNTHETIC[name]
    draw = random.Random(name)
    inputs = [[draw.uniform(-1, 1) for _ in range(COLUMNS)] for _ in range(SIZE)]
    values = [function(x) for x in inputs]
    mean = sum(values) / SIZE
    sd = math.sqrt(sum((y - mean) ** 2 for y in values) / SIZE)
    return [[*x, y + noise * sd * draw.gauss(0, 1)] for x, y in zip(inputs, values)]


class OfTables(Runner):
    def _path(self, cell):
        if cell["data"] not in SYNTHETIC:
            return super()._path(cell)
        return derived.made(cell["data"], MODELS, [*"abcdef", "y"], lambda: rows_of(cell["data"]))


class OfTrees(OfTables):
    """Runs a cell by the tool of the tree that its flags name."""

    def __init__(self, tool, data):
        super().__init__(tool, data)
        old = os.environ.get("SLIMBAYES_TOOL_BEFORE")
        self.before = OfTables(pathlib.Path(old), data) if old else None

    def recipe(self, cell):
        return super().recipe(dict(cell, flags=taken(cell["flags"], "--tree")[0]))

    def outdated(self, row):
        return {} if row["flags"].endswith("--tree before") else super().outdated(row)

    def run(self, cell):
        flags, tree = taken(cell["flags"], "--tree")
        if tree == "before" and (self.before is None or not self.before.commit().startswith(BEFORE)):
            return dict(cell, error=f"expected the tool of {BEFORE} in SLIMBAYES_TOOL_BEFORE")
        bare = dict(cell, flags=flags)
        row = {"commit": self.before.commit(), "recipe": self.before.recipe(bare), **self.before.run(bare)} if tree == "before" else super().run(bare)
        return row | cell


def runner(tool, data):
    return OfTrees(tool, data)


def by_method(rows):
    """By table, then by split, the rows of realmlp, auto after and auto before. A later row of a cell counts."""
    found = {}
    for row in rows:
        side = taken(row["flags"], "--tree")[1] or row["method"]
        found.setdefault(row["data"], {}).setdefault(int(row["seed"]), {})[side] = row
    return found


def number(row, what):
    return float(row[what]) if row and row.get(what) else None


def claims(found):
    """Of one split: the numbers as they are."""
    ratios, leads = [], []
    for table in TABLES:
        own = found.get(table, {}).get(0, {})
        ours, theirs, before = (own.get(side) for side in ("after", "realmlp", "before"))
        if ours and theirs:
            ratio = number(ours, "rmse_standardized") / number(theirs, "rmse_standardized")
            ratios.append(Case(table, ratio <= RMSE, f"{ratio:.3f}"))
        else:
            ratios.append(Case(table, None, ""))
        if ours and before:
            lead = number(ours, "nll_standardized") - number(before, "nll_standardized")
            leads.append(Case(table, lead <= MOST_NLL, f"{lead:+.4f}"))
        else:
            leads.append(Case(table, None, ""))
    yield judged("ours", f"auto's RMSE is at most {RMSE} times RealMLP-TD's, on nine tables of ten (one split)", ratios, math.ceil(0.9 * len(TABLES)))
    yield judged("ours", f"auto's NLL is at most {MOST_NLL} above that of {BEFORE}, on every table (one split)", leads)


def page(now):
    found = by_method([row for row in studies.rows(studies.HERE / "exact_tables") if not row["error"]])
    lines = []
    for table in TABLES:
        for split, own in sorted(found.get(table, {}).items()):
            rows = [own.get(side) for side in ("after", "before", "realmlp")]

            def cells_of(what, digits):
                return [f"{number(row, what):.{digits}f}" if row else "" for row in rows]
            lines.append([table, f"{ROWS.get(table, SIZE):,}", *cells_of("rmse_standardized", 5), *cells_of("nll_standardized", 3), *cells_of("seconds", 0)])
    names = ["auto", BEFORE, "RealMLP-TD"]
    head = ["table", "rows", *(f"{what}, {name}" for what in ("RMSE", "NLL", "seconds") for name in names)]
    return Page([" ".join(__doc__.split()), INTRO, grid(head, lines)], list(claims(found)))
