"""The default method beside its candidates and its rivals, on the tables at hand."""

import math

from defaults import MARGIN, ROWS, SCALES, SPLITS, beside_the_best, best_candidate, candidates, case, leads, name_of
from judge import above, alike, judged, lower
from pages import Page
from paired import difference
from results import asked
from scores import BY_INPUT, limit, load, of
from tables import cell, grid

TITLE = "The default on the public tables"
WHAT = "the default method beside its candidates and rivals, on the tables at hand"
PAPER = "ours"
MAY_DIFFER = {"scale": f"{SCALES}; others' programs take the table as it is"}

STUDY = "default_tables"
RIVALS = ["catboost", "ngboost", "pp-dkl"]
NETWORKS = ["realmlp", "tabm"]  # they predict a mean alone
RMSE_MARGIN, LEAST = 0.02, 0.91  # a share; of the rows
TREES = {"catboost": 1000, "ngboost": 500}  # their defaults
CHOSEN_ON = ["kin40k", "pol", "elevators", "wine_red", "concrete"]  # on whose split 0 the networks' defaults were chosen (recipe)
INTRO = """Every table of numbers in the data folder with at least 300 rows; five splits, a tenth of the rows to test on; no
option of any method is tuned here. Split 0 of kin40k, pol, elevators, wine_red and concrete is the one on whose test rows the
networks' defaults were chosen ([recipe](../recipe/README.md)). The rules of `auto` for tables in folds changed after its scores
on these tables had been seen, and its rows of these tables are from after the change.
[default_sizes](../default_sizes/README.md) draws other rows of the larger tables. NLL in the target's own units, so that its
differences do not depend on a scale. Candidates and rivals train on nine tenths of the other rows. CatBoost and NGBoost answer
with the best of their default 1,000 and 500 trees by the last tenth; the networks stop by it. `auto` deals folds up to 3,000
rows, and beyond has the same validation rows. One thread a fit, beside another one: read seconds as a bound. RealMLP-TD and
TabM ran on other processors and, with `--device cuda` in the command, on an H200 that other fits shared. Brackets tell the
number of splits so far: one of them says little of a table, more of seventeen. Rows with identical inputs stay in one part.
keggdirected has one input 4,240 times and four others 891 to 1,586 times, keggundirected six of 1,031 to 2,537 times: a split
whose test part gets such an input (8,214 test rows in the place of 4,900, split 2 of keggdirected) scores every method by what
it says of that one input. Coverage with each input counted once stands beside where it is measured.
"""


def cells():
    """Five random tenths to test on; the seed of the fit is that of the split."""
    for methods in ["auto"], None, RIVALS, NETWORKS:
        for table in ROWS:
            for method in candidates(table) if methods is None else methods:
                for split in range(SPLITS):
                    yield asked(STUDY, table, method, split, f"--split-seed {split}")


def unexhausted(scores):
    """Where the best number of trees is the last that is allowed (NGBoost counts from 0), by rival."""
    said = []
    for rival, most in TREES.items():
        last = {t: [float(row["steps"]) >= most - 1 for row in scores.rows(STUDY, t, name_of(rival))] for t in ROWS}
        every, fits = [t for t, found in last.items() if found and all(found)], [one for found in last.values() for one in found]
        said.append(f"{name_of(rival)} in {sum(fits)} of {len(fits)} fits, among them every fit of "
                    f"{', '.join(every) or 'no table'}")
    return f"The last tree, or the one before, is the best of {'; of '.join(said)}: more trees may help there."


def without_the_chosen_splits(scores):
    """How many tables each NLL claim wins where split 0 of the tables of recipe is left out."""
    def kept(data, name):
        found = scores.by_seed(STUDY, data, name_of(name), "raw NLL")
        return {split: value for split, value in found.items() if split or data not in CHOSEN_ON}

    def told(cases):
        won, lost = (sum(each.won is value for each in cases) for value in (True, False))
        return f"on {won} tables (above it on {lost})"

    best = {t: best_candidate(scores, STUDY, t) for t in ROWS}
    said = [f"at most the best candidate's + {MARGIN} "
            + told([case(t, difference(kept(t, "auto"), kept(t, found[0])), MARGIN) for t, found in best.items() if found])]
    said += [f"at most {name_of(rival)}'s " + told([case(t, difference(kept(t, "auto"), kept(t, rival))) for t in ROWS])
             for rival in RIVALS]
    return f"Without split 0 of {', '.join(CHOSEN_ON)} auto's NLL is decidedly {'; '.join(said)}."


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


def at_most(scores):
    """On how many tables auto's RMSE is within the margin of each network's, by the means over the common splits."""
    said = []
    for name in NETWORKS:
        ratios = [ratio for t in ROWS if (ratio := rmse_ratio(scores, t, name))]
        few = sum(n < SPLITS for _, n in ratios)
        within = sum(ratio <= 1 + RMSE_MARGIN for ratio, _ in ratios)
        said.append(f"{name}'s on {within} of {len(ratios)} tables ({few} of them with fewer than {SPLITS} splits)")
    return (f"By the means alone auto's RMSE is at most {1 + RMSE_MARGIN} times {' and '.join(said)}. "
            "The claim below counts what is decided.\n")


def claims(scores):
    yield judged("ours", f"auto's NLL is at most that of the best single candidate + {MARGIN}, on four tables of five",
                 beside_the_best(scores, STUDY, ROWS), math.ceil(0.8 * len(ROWS)))
    for rival in RIVALS:
        yield judged("ours", f"auto's NLL is at most {name_of(rival)}'s, on nine tables of ten",
                     [case(table, leads(scores, STUDY, table, rival)) for table in ROWS], math.ceil(0.9 * len(ROWS)))
    cases = []
    for table in ROWS:
        ours, theirs = (scores.get(STUDY, table, name, "RMSE") for name in ("auto", "realmlp"))
        cases.append(lower(table, ours, theirs and theirs.times(1 + RMSE_MARGIN), "", f"{1 + RMSE_MARGIN} times"))
    yield judged("ours", f"auto's RMSE is at most {1 + RMSE_MARGIN} times RealMLP-TD's, on two tables of three", cases, math.ceil(len(ROWS) * 2 / 3))
    yield from claims_on_coverage(scores)


def claims_on_coverage(scores):
    held = {table: scores.get(STUDY, table, "auto", "coverage") for table in ROWS}
    by_input = {table: coverage_by_input(scores, table) or score for table, score in held.items()}
    found = {table: score.mean for table, score in held.items() if score}
    over = of(found) if len(found) == len(ROWS) else None
    yield judged("ours", "auto's coverage at 95 % is from .93 to .97 on the mean of the tables", [alike("mean of the tables", over, limit(0.95), 0.02)])
    for scores_of, how in (held, ""), (by_input, ", each different input counted once where that is measured"):
        yield judged("ours", f"auto's coverage at 95 % is above {LEAST} on every table{how}",
                     [above(table, score, LEAST) for table, score in scores_of.items()])


def at_the_limit(scores):
    """The tables whose fits of auto end at its time limit, 60 s times (training rows / 1000)^.59 and at least 60 s."""
    found = {table: scores.get(STUDY, table, "auto", "time_s") for table in ROWS}
    return ", ".join(table for table, rows in ROWS.items() if found[table] and found[table].mean > 0.98 * max(60, 60 * (0.9 * rows / 1000) ** 0.59)) or "none"


def page(now):
    scores = load(STUDY, runner=now)
    return Page([INTRO, "## NLL, split by split\n\nThe column `auto`: mean ± sd over the splits, as the other means on this page; then the mean difference ± its standard error; below 0 auto is "
                 "better.\n\n" + nll_table(scores) + f"\n{without_the_chosen_splits(scores)}\n\n{unexhausted(scores)}",
                 "## Coverage and time of auto\n\nCRPS, MAE and RMSE on the standardised target. A fit ends at its time limit, 60 s times "
                 f"(training rows / 1000)^.59; it was reached on: {at_the_limit(scores)}.\n\n" + other_table(scores),
                 "## The mean beside two networks for tables\n\nRMSE on the standardised target. In brackets the number of common splits.\n\n"
                 + rmse_table(scores) + f"\n{at_most(scores)}"], list(claims(scores)), scores)
