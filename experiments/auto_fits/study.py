"""What `auto` saves by leaving out fits that add too little, and what that costs: `--fits needed`, the default, beside `--fits all`, on
the same splits. Processor seconds of user and system with one thread, which other programs of the machine hardly change."""

import statistics

import studies
from defaults import ROWS
from judge import Case, alike, judged, lower
from pages import Page
from results import FIELDS as OF_A_FIT
from results import asked
from runners import Failed, Runner
from scores import limit, of, with_standard_error
from tables import grid

TITLE = "Fits that auto leaves out"
WHAT = "what auto saves by leaving out fits that add too little, and what that costs"
PAPER = "ours"
FIELDS = [*OF_A_FIT, "cpu_s"]
FITS = ["needed", "all"]
SPLITS = 3
UNBOUND = "--time-limit 3000"  # so that the time decides nothing
SHARE, NLL, MOST_NLL, COVERAGE, CRPS = 0.5, 0.005, 0.02, 0.01, 0.01


def cells():
    """seed: that of the split."""
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


def runner(tool, data):
    return WithSeconds(tool, data)


def pairs(rows):
    """By table, then by split, the row of each of FITS; splits that have both. A later row of a cell counts."""
    found = {}
    for row in rows:
        found.setdefault(row["data"], {}).setdefault(int(row["seed"]), {})[row["flags"].rpartition(" ")[2]] = row
    both = {table: {split: pair for split, pair in of_table.items() if len(pair) == len(FITS)} for table, of_table in found.items()}
    return {table: both[table] for table in ROWS if both.get(table)}


def differences(of_table, what):
    """`needed` - `all`, by split."""
    return {split: float(pair["needed"][what]) - float(pair["all"][what]) for split, pair in of_table.items()}


def shares(of_table, what):
    """`needed` / `all`, by split."""
    return {split: float(pair["needed"][what]) / float(pair["all"][what]) for split, pair in of_table.items()}


def over_tables(found, what):
    """The mean over the splits, by table."""
    return {table: statistics.fmean(what(of_table).values()) for table, of_table in found.items()}


def claims(found):
    every = all(len(found.get(table, {})) == SPLITS for table in ROWS)

    def on_average(what):
        return with_standard_error(of(over_tables(found, what))) if every else None

    yield judged("ours", f"a fit takes at most {SHARE} of the CPU time, on the average of the tables",
                 [lower("mean of the tables", on_average(lambda t: shares(t, "cpu_s")), limit(SHARE))])
    yield judged("ours", f"the NLL is at most {NLL} higher, on the average of the tables",
                 [lower("mean of the tables", on_average(lambda t: differences(t, "nll_standardized")), limit(NLL))])
    cases = []
    for table in ROWS:
        of_table = differences(found.get(table, {}), "nll_standardized")
        if len(of_table) == SPLITS:
            cases.append(lower(table, with_standard_error(of(of_table)), limit(MOST_NLL)))
        else:
            cases.append(Case(table, None, f"{statistics.fmean(of_table.values()):+.4f} ({len(of_table)})" if of_table else ""))
    yield judged("ours", f"the NLL is at most {MOST_NLL} higher on every table", cases)
    yield judged("ours", f"coverage at 95 % is the same within {COVERAGE}, on the average of the tables",
                 [alike("mean of the tables", on_average(lambda t: differences(t, "coverage")), limit(0), COVERAGE)])
    yield judged("ours", f"CRPS is the same within {CRPS:.0%}, on the average of the tables",
                 [alike("mean of the tables", on_average(lambda t: shares(t, "crps_standardized")), limit(1), CRPS)])


def page(now):
    found = pairs([row for row in studies.rows(studies.HERE / "auto_fits") if not row["error"]])
    lines = []
    for table, of_table in found.items():
        seconds = [statistics.fmean(float(pair[fits]["cpu_s"]) for pair in of_table.values()) for fits in FITS[::-1]]
        nll, coverage = (statistics.fmean(differences(of_table, what).values()) for what in ("nll_standardized", "coverage"))
        worst = max(differences(of_table, "nll_standardized").values())
        lines.append([table, f"{ROWS[table]:,}", str(len(of_table)), *(f"{s:.0f}" for s in seconds),
                      f"{statistics.fmean(shares(of_table, 'cpu_s').values()):.2f}", f"{nll:+.4f}", f"{worst:+.4f}",
                      f"{statistics.fmean(shares(of_table, 'crps_standardized').values()) - 1:+.1%}", f"{coverage:+.3f}"])
    head = ["table", "rows", "splits", "CPU s, all", "needed", "share", "NLL, difference", "worst split", "CRPS", "coverage"]
    return Page([" ".join(__doc__.split()) + " NLL and CRPS on the standardised target, means over the splits; below 0: lower with the fits "
                 "that are needed. Both have the same order of candidates, and no time limit that binds: under the default limit the clock "
                 "leaves out some of these fits, too. With several workers, fits that turn out not to be needed may have begun.", grid(head, lines)], list(claims(found)))
