"""The default method beside its candidates as a table grows."""

import math

from defaults import MARGIN, ROWS, SCALES, SPLITS, beside_the_best, best_candidate, candidates
from derived import TEST
from judge import judged
from pages import Page
from results import asked
from scores import load
from tables import cell, grid

TITLE = "The default as a table grows"
WHAT = "the default method beside its candidates, as a table grows"
PAPER = "ours"
MAY_DIFFER = {"scale": SCALES}

STUDY = "default_sizes"
SIZES = [200, 500, 1000, 2000, 5000, 10000]
SIZED = ["naval", "pol", "elevators", "kin40k", "protein", "keggdirected"]  # the tables of more than 10,000 rows
INTRO = f"""Rows drawn at random from the public tables of more than 10,000: as many to fit on as the first column says (each method takes its
validation rows from them) and {TEST:,} others to test on, one draw a seed for all methods; the larger tables of a seed hold the smaller. NLL in the target's own units. One thread a fit,
beside another one: read seconds as a bound. Brackets tell the number of seeds. Larger sizes: [default_tables](../default_tables).
"""


def enough(table, rows):
    return rows + TEST <= ROWS[table]


def sized(table, rows):
    """The name of a table cut to a size."""
    return f"{table}@{rows}"


def cells():
    """The same tables at growing numbers of rows to fit on."""
    for seed in range(SPLITS):
        for rows in SIZES:
            for data in [sized(table, rows) for table in SIZED if enough(table, rows)]:
                for method in ["auto", *candidates(data)]:
                    yield asked(STUDY, data, method, seed, f"--split-seed {seed}")


def by_size(text):
    """A grid of the tables by the number of rows to fit on; text(data) is a cell."""
    lines = [[f"{rows:,}", *(text(sized(table, rows)) if enough(table, rows) else "" for table in SIZED)] for rows in SIZES]
    return grid(["rows", *SIZED], [line for line in lines if any(line[1:])])


def claims(scores):
    tables = [sized(table, rows) for rows in SIZES for table in SIZED if enough(table, rows)]
    yield judged("ours", f"auto's NLL is at most that of the best single candidate + {MARGIN}, at four of five sizes and tables",
                 beside_the_best(scores, STUDY, tables), math.ceil(0.8 * len(tables)))


def page(now):
    scores = load(STUDY, runner=now)

    def best(data):
        found = best_candidate(scores, STUDY, data)
        return f"{found[0]}: {found[1]}" if found else ""
    parts = [INTRO, "## NLL of auto minus that of the best candidate\n\nMean ± standard error over the seeds; below 0 auto is better.\n\n" + by_size(best)]
    for title, metric, digits in ("Coverage at 95 %", "coverage", 3), ("RMSE, standardised", "RMSE", 4), ("Seconds", "time_s", 0):
        parts.append(f"## {title} of auto\n\n" + by_size(lambda data, m=metric, d=digits: cell(scores.get(STUDY, data, "auto", m), digits=d)))
    return Page(parts, list(claims(scores)), scores)
