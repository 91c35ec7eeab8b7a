"""What `auto` saves by leaving out fits that add too little, and what that costs: `--fits needed`, the default, beside `--fits all`, on
the same splits; and today's default beside that of an older tree, whose tool SLIMBAYES_TOOL_BEFORE names. Processor seconds of user and
system with one thread, which other programs of the machine hardly change."""

import os
import pathlib
import statistics

import scores
import studies
from defaults import ROWS
from judge import Case, alike, judged, lower
from pages import Page
from results import FIELDS as OF_A_FIT
from results import asked
from runners import Failed, Runner, taken
from scores import limit, with_standard_error
from tables import grid

TITLE = "Fits that auto leaves out"
WHAT = "what auto saves by leaving out fits that add too little, and what its fit takes beside that of an older tree"
PAPER = "ours"
FIELDS = [*OF_A_FIT, "cpu_s"]
FITS = ["needed", "all"]
TREES = ["after", "before"]  # the word `--tree` among a cell's flags is the runner's own
BEFORE = "b523d76"  # the last change of what is compiled before auto left fits out and the engine trained its networks
SPLITS = 3
MORE_SPLITS = {"energy": 10, "pol": 6}  # tables on which a seed alone moves the NLL by .1 and more: three splits decide nothing
UNBOUND = "--time-limit 3000"  # so that the time decides nothing
SHARE, NLL, MOST_NLL, COVERAGE, CRPS = 0.5, 0.005, 0.02, 0.01, 0.01


def cells():
    """seed: that of the split."""
    for split in range(max(MORE_SPLITS.values())):
        for table in ROWS:
            if split < MORE_SPLITS.get(table, SPLITS):
                for tree in TREES:
                    yield asked("auto_fits", table, "auto", split, f"--split-seed {split} {UNBOUND} --tree {tree}")
    for split in range(SPLITS):
        for table in ROWS:
            for fits in FITS:
                yield asked("auto_fits", table, "auto", split, f"--split-seed {split} {UNBOUND} --fits {fits}")


class WithSeconds(Runner):
    def _fit(self, cell, table, own, work):
        """Refuses a fit in which the time limit left something out: such a row would not compare the fits alone."""
        answer = super()._fit(cell, table, own, work)
        if bound := [note for note in answer["notes"] if note.startswith("the time limit ")]:
            raise Failed(bound[0])
        return answer

    def _measure(self, cell, work):
        found = super()._measure(cell, work)
        return {**found, "cpu_s": round(work.processor_s, 2)}


class OfTrees(WithSeconds):
    """Runs a cell by the tool of the tree that its flags name."""

    def __init__(self, tool, data):
        super().__init__(tool, data)
        old = os.environ.get("SLIMBAYES_TOOL_BEFORE")
        self.before = WithSeconds(pathlib.Path(old), data) if old else None

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


def pairs(rows, word, sides):
    """By table, then by split, the rows of two cells that differ in a flag, `word` SIDE, in the order of `sides`; splits that have both.
    A later row of a cell counts."""
    found = {}
    for row in rows:
        if side := taken(row["flags"], word)[1]:
            found.setdefault(row["data"], {}).setdefault(int(row["seed"]), {})[side] = row
    both = {table: {split: tuple(pair[side] for side in sides) for split, pair in of_table.items() if len(pair) == len(sides)}
            for table, of_table in found.items()}
    return {table: both[table] for table in ROWS if both.get(table)}


def differences(of_table, what):
    """Of the two sides, the first - the second, by split."""
    return {split: float(one[what]) - float(other[what]) for split, (one, other) in of_table.items()}


def shares(of_table, what):
    """Of the two sides, the first / the second, by split."""
    return {split: float(one[what]) / float(other[what]) for split, (one, other) in of_table.items()}


def over_tables(found, what):
    """The mean over the splits, by table."""
    return {table: statistics.fmean(what(of_table).values()) for table, of_table in found.items()}


def claims(found, of):
    every = all(len(found.get(table, {})) >= SPLITS for table in ROWS)

    def on_average(what):
        return with_standard_error(scores.of(over_tables(found, what))) if every else None

    yield judged("ours", f"{of}: a fit takes at most {SHARE} of the CPU time, on the average of the tables",
                 [lower("mean of the tables", on_average(lambda t: shares(t, "cpu_s")), limit(SHARE))])
    yield judged("ours", f"{of}: the NLL is at most {NLL} higher, on the average of the tables",
                 [lower("mean of the tables", on_average(lambda t: differences(t, "nll_standardized")), limit(NLL))])
    cases = []
    for table in ROWS:
        of_table = differences(found.get(table, {}), "nll_standardized")
        if len(of_table) >= SPLITS:
            cases.append(lower(table, with_standard_error(scores.of(of_table)), limit(MOST_NLL)))
        else:
            cases.append(Case(table, None, f"{statistics.fmean(of_table.values()):+.4f} ({len(of_table)})" if of_table else ""))
    yield judged("ours", f"{of}: the NLL is at most {MOST_NLL} higher on every table", cases)
    yield judged("ours", f"{of}: coverage at 95 % is the same within {COVERAGE}, on the average of the tables",
                 [alike("mean of the tables", on_average(lambda t: differences(t, "coverage")), limit(0), COVERAGE)])
    yield judged("ours", f"{of}: CRPS is the same within {CRPS:.0%}, on the average of the tables",
                 [alike("mean of the tables", on_average(lambda t: shares(t, "crps_standardized")), limit(1), CRPS)])


def table_of(found, sides):
    """The grid, and a sentence with the means over the tables that it has."""
    lines = []
    for table, of_table in found.items():
        seconds = [statistics.fmean(float(pair[side]["cpu_s"]) for pair in of_table.values()) for side in (1, 0)]
        nll, coverage = (statistics.fmean(differences(of_table, what).values()) for what in ("nll_standardized", "coverage"))
        worst = max(differences(of_table, "nll_standardized").values())
        lines.append([table, f"{ROWS[table]:,}", str(len(of_table)), *(f"{s:.0f}" for s in seconds),
                      f"{statistics.fmean(shares(of_table, 'cpu_s').values()):.2f}", f"{nll:+.4f}", f"{worst:+.4f}",
                      f"{statistics.fmean(shares(of_table, 'crps_standardized').values()) - 1:+.1%}", f"{coverage:+.3f}"])
    head = ["table", "rows", "splits", f"CPU s, {sides[1]}", sides[0], "share", "NLL, difference", "worst split", "CRPS", "coverage"]
    if not lines:
        return [grid(head, lines)]

    def mean(what):
        return statistics.fmean(over_tables(found, what).values())

    return [grid(head, lines), f"Means over the {len(lines)} tables: share of the CPU time {mean(lambda t: shares(t, 'cpu_s')):.3f}, NLL "
            f"{mean(lambda t: differences(t, 'nll_standardized')):+.4f}, CRPS {mean(lambda t: shares(t, 'crps_standardized')) - 1:+.2%}, "
            f"coverage {mean(lambda t: differences(t, 'coverage')):+.4f}."]


def page(now):
    rows = [row for row in studies.rows(studies.HERE / "auto_fits") if not row["error"]]
    of_trees, of_fits = pairs(rows, "--tree", TREES), pairs(rows, "--fits", FITS)
    return Page([" ".join(__doc__.split()) + " NLL and CRPS on the standardised target, means over the splits; below 0: the first side is "
                 "lower. No time limit binds.",
                 f"## The default beside that of {BEFORE}", *table_of(of_trees, ["now", BEFORE]),
                 "## Fits that are needed beside all of them, in one tool",
                 "Both have the same order of candidates. With several workers, fits that turn out not to be needed may have begun.",
                 *table_of(of_fits, FITS)],
                [*claims(of_trees, f"beside {BEFORE}"), *claims(of_fits, "beside all fits")])
