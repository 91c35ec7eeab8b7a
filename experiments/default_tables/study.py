"""The default method beside its candidates and its rivals, on the tables at hand."""

import math

from defaults import MARGIN, ROWS, SCALES, SPLITS, beside_the_best, best_candidate, candidates, case, leads, name_of
from judge import Case, judged
from pages import Page
from results import asked
from scores import BY_INPUT, load
from tables import cell, grid

TITLE = "The default on the public tables"
WHAT = "the default method beside its candidates and rivals, on the tables at hand"
PAPER = "ours"
MAY_DIFFER = {"scale": f"{SCALES}; others' programs take the table as it is"}

STUDY = "default_tables"
RIVALS = ["catboost", "ngboost", "pp-dkl"]
NETWORKS = ["realmlp", "tabm"]  # they predict a mean alone
RMSE_MARGIN = 0.02  # a share
INTRO = """Every table of numbers in the data folder with at least 300 rows; five splits, a tenth of the rows to test on; nothing is tuned. NLL in
the target's own units, so that its differences do not depend on a scale. Candidates and rivals train on nine tenths of the other rows
and stop by the last tenth; `auto` deals folds up to 3,000 rows, and beyond has the same validation rows. One thread a fit, beside
another one: read seconds as a bound. RealMLP-TD and TabM ran on
other processors and, with `--device cuda` in the command, on an H200 that other fits shared. Brackets tell the number of splits so
far: one of them says little of a table, more of seventeen. Rows with identical inputs stay in one part. keggdirected has one input
4,240 times and others some hundred times, keggundirected one 2,537 times: a split whose test part gets such an input (8,214 test rows
in the place of 4,900, split 2 of keggdirected) scores every method by what it says of that one input. Coverage with each
input counted once stands beside where it is measured.
"""


def cells():
    """Five random tenths to test on; the seed of the fit is that of the split."""
    for methods in ["auto"], None, RIVALS, NETWORKS:
        for table in ROWS:
            for method in candidates(table) if methods is None else methods:
                for split in range(SPLITS):
                    yield asked(STUDY, table, method, split, f"--split-seed {split}")


def nll_table(scores):
    lines = []
    for table in ROWS:
        if not scores.get(STUDY, table, "auto", "raw NLL"):
            continue
        best = best_candidate(scores, STUDY, table)
        others = [leads(scores, STUDY, table, rival) for rival in RIVALS]
        lines.append([table, cell(scores.get(STUDY, table, "auto", "raw NLL")), f"{best[0]}: {best[1]}" if best else "",
                      *(str(lead) if lead else "" for lead in others)])
    return grid(["table", "NLL of auto", "minus that of the best candidate", *(f"minus {name_of(rival)}" for rival in RIVALS)], lines)


def coverage_by_input(scores, table):
    """With each different input of the test rows counted once; None unless every split has it."""
    found = scores.get(STUDY, table, "auto", BY_INPUT)
    return found if found and found.seeds == scores.get(STUDY, table, "auto", "coverage").seeds else None


def other_table(scores):
    lines = []
    for table, rows in ROWS.items():
        found = [scores.get(STUDY, table, "auto", metric) for metric in ("coverage", "CRPS", "MAE", "RMSE", "time_s")]
        found.insert(1, coverage_by_input(scores, table))
        if found[0]:
            lines.append([table, f"{rows:,}", *(cell(score, digits=digits) for score, digits in zip(found, (3, 3, 4, 4, 4, 0)))])
    return grid(["table", "rows", "coverage at 95 %", "each input once", "CRPS", "MAE", "RMSE", "seconds"], lines)


def rmse_ratio(scores, table, network):
    """The mean RMSE of auto over the network's, over the common splits, and their number; None without one."""
    ours, theirs = (scores.by_seed(STUDY, table, name, "RMSE") for name in ("auto", network))
    common = ours.keys() & theirs.keys()
    return (sum(ours[s] for s in common) / sum(theirs[s] for s in common), len(common)) if common else None


def rmse_table(scores):
    lines = []
    for table in ROWS:
        found = [(scores.get(STUDY, table, name, "RMSE"), rmse_ratio(scores, table, name)) for name in NETWORKS]
        if any(ratio for _, ratio in found):
            lines.append([table, cell(scores.get(STUDY, table, "auto", "RMSE"), digits=4),
                          *(text for score, ratio in found for text in (cell(score, digits=4), f"{ratio[0]:.3f} ({ratio[1]})" if ratio else ""))])
    return grid(["table", "auto", *(text for name in NETWORKS for text in (name, f"auto's over {name}'s"))], lines)


def claims(scores):
    yield judged("ours", f"auto's NLL is at most that of the best single candidate + {MARGIN}, on four tables of five",
                 beside_the_best(scores, STUDY, ROWS), math.ceil(0.8 * len(ROWS)))
    for rival in RIVALS:
        yield judged("ours", f"auto's NLL is at most {name_of(rival)}'s, on nine tables of ten",
                     [case(table, leads(scores, STUDY, table, rival)) for table in ROWS], math.ceil(0.9 * len(ROWS)))
    ratios = {table: rmse_ratio(scores, table, "realmlp") for table in ROWS}
    yield judged("ours", f"auto's RMSE is at most {1 + RMSE_MARGIN} times RealMLP-TD's on the mean over the common splits (in brackets), on two tables of three",
                 [Case(table, found[0] <= 1 + RMSE_MARGIN if found else None, f"{found[0]:.3f} ({found[1]})" if found else "")
                  for table, found in ratios.items()], math.ceil(len(ROWS) * 2 / 3))
    yield from claims_on_coverage(scores)
    seconds = {table: score.mean for table in ROWS if (score := scores.get(STUDY, table, "auto", "time_s"))}
    allowed = {table: max(60, 60 * (rows / 1000) ** 0.59) for table, rows in ROWS.items()}
    yield judged("ours", "auto takes at most 60 s for 1,000 rows and 10 minutes for 50,000, on one core, on the mean over the splits",
                 [Case(table, seconds[table] <= allowed[table] if table in seconds else None,
                       f"{seconds[table]:.0f} of {allowed[table]:.0f} s" if table in seconds else "") for table in ROWS])


def claims_on_coverage(scores):
    held = {table: score.mean for table in ROWS if (score := scores.get(STUDY, table, "auto", "coverage"))}
    by_input = held | {table: score.mean for table in ROWS if (score := coverage_by_input(scores, table))}
    mean = sum(held.values()) / len(held) if held else math.nan
    yield judged("ours", "auto's mean coverage at 95 % over the splits and the tables is from .93 to .97",
                 [Case("mean", 0.93 <= mean <= 0.97 if len(held) == len(ROWS) else None, f"{mean:.3f} over {len(held)} tables" if held else "")])
    for found, how in (held, ""), (by_input, ", each different input counted once where that is measured"):
        yield judged("ours", f"auto's mean coverage at 95 % over the splits is below .91 on no table{how}",
                     [Case(table, found[table] >= 0.91 if table in found else None, f"{found[table]:.3f}" if table in found else "") for table in ROWS])


def page(now):
    scores = load(STUDY, runner=now)
    return Page([INTRO, "## NLL, split by split\n\nMean difference ± its standard error over the splits; below 0 auto is better.\n\n" + nll_table(scores),
                 "## Coverage and time of auto\n\nCRPS, MAE and RMSE on the standardised target.\n\n" + other_table(scores),
                 "## The mean beside two networks for tables\n\nRMSE on the standardised target. In brackets the number of common splits.\n\n"
                 + rmse_table(scores)], list(claims(scores)), scores)
