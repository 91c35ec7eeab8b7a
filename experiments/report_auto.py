"""The pages of default_tables and tangent: the default method beside its candidates and its rivals; posteriors around one network."""

import math

import pages
from cells_auto import NETWORKS, RIVALS, ROWS, TANGENT, candidates
from claims import Case, judged
from paired import difference
from scores import BY_INPUT, load
from tables import cell, grid

STUDY = "default_tables"
MARGIN = 0.02  # nats a row
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


def leads(scores, table, rival, study=STUDY):
    """The mean NLL of auto above the rival's over the common splits, and its standard error; None where one is not measured."""
    return difference(scores.by_seed(study, table, "auto", "raw NLL"), scores.by_seed(study, table, name_of(rival), "raw NLL"))


def name_of(method):
    """The papers' name of a method, under which its scores stand."""
    return {"catboost": "CatBoost", "pp-dkl": "PP-DKL", "dbk": "DBK-SiLU", "dnn": "DNN", "gp-exact": "GP"}.get(method, method)


def best_candidate(scores, table, study=STUDY):
    """The candidate with the least mean NLL, and auto's lead over it; None as long as one is not measured."""
    found = [(scores.get(study, table, name_of(name), "raw NLL"), name) for name in candidates(table)]
    if any(score is None for score, _ in found):
        return None
    best = min(found, key=lambda each: each[0].mean)[1]
    lead = leads(scores, table, best, study)
    return lead and (best, lead)


def nll_table(scores):
    lines = []
    for table in ROWS:
        if not scores.get(STUDY, table, "auto", "raw NLL"):
            continue
        best = best_candidate(scores, table)
        others = [leads(scores, table, rival) for rival in RIVALS]
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
    ours, theirs = (scores.by_seed(STUDY, table, name, "RMSE") or {} for name in ("auto", network))
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


def case(table, lead, margin=0.0, before=""):
    return Case(table, lead.mean <= margin if lead else None, f"{before}{lead.mean:+.3f}" if lead else "")


def found_claims(scores):
    best = {table: best_candidate(scores, table) for table in ROWS}
    yield judged("ours", f"auto's NLL is at most that of the best single candidate + {MARGIN}, on four tables of five",
                 [case(table, found and found[1], MARGIN, f"{found[0]} " if found else "") for table, found in best.items()],
                 math.ceil(0.8 * len(ROWS)))
    for rival in RIVALS:
        yield judged("ours", f"auto's NLL is at most {name_of(rival)}'s, on nine tables of ten",
                     [case(table, leads(scores, table, rival)) for table in ROWS], math.ceil(0.9 * len(ROWS)))
    ratios = {table: rmse_ratio(scores, table, "realmlp") for table in ROWS}
    yield judged("ours", f"auto's RMSE is at most {1 + RMSE_MARGIN} times RealMLP-TD's on the mean over the common splits (in brackets), on two tables of three",
                 [Case(table, found[0] <= 1 + RMSE_MARGIN if found else None, f"{found[0]:.3f} ({found[1]})" if found else "")
                  for table, found in ratios.items()], math.ceil(len(ROWS) * 2 / 3))
    held = {table: score.mean for table in ROWS if (score := scores.get(STUDY, table, "auto", "coverage"))}
    by_input = held | {table: score.mean for table in ROWS if (score := coverage_by_input(scores, table))}
    mean = sum(held.values()) / len(held) if held else math.nan
    yield judged("ours", "auto's mean coverage at 95 % over the tables is from .93 to .97",
                 [Case("mean", 0.93 <= mean <= 0.97 if len(held) == len(ROWS) else None, f"{mean:.3f} over {len(held)} tables" if held else "")])
    for found, how in (held, ""), (by_input, ", each different input counted once where that is measured"):
        yield judged("ours", f"auto's coverage at 95 % is below .91 on no table{how}",
                     [Case(table, found[table] >= 0.91 if table in found else None, f"{found[table]:.3f}" if table in found else "") for table in ROWS])
    seconds = {table: score.mean for table in ROWS if (score := scores.get(STUDY, table, "auto", "time_s"))}
    allowed = {table: max(60, 60 * (rows / 1000) ** 0.59) for table, rows in ROWS.items()}
    yield judged("ours", "auto takes at most 60 s for 1,000 rows and 10 minutes for 50,000, on one core",
                 [Case(table, seconds[table] <= allowed[table] if table in seconds else None,
                       f"{seconds[table]:.0f} of {allowed[table]:.0f} s" if table in seconds else "") for table in ROWS])


TANGENT_INTRO = """One `dnn` a table and split, trained on nine tenths of nine tenths of the rows; each method adds its variance to it with its default
options (`--network-from`). `ntk-gp` is the process that `rich-bll` and `ntk-sketch` approximate; it takes up to 4,000 rows. NLL in the target's
units, coverage at 95 %, mean and sd over the splits. Differences are split by split, ± their standard error, and decided where they
exceed Student's bound.
"""
METHODS = ["bll", "rich-bll", "last-layer-laplace", "ntk-gp", "ntk-sketch --sketch 256", "ntk-sketch"]


def around(method):
    """The name under which the scores of a method around the network stand."""
    name, _, own = method.partition(" ")
    return f"{name} --scale standard {own}".strip()


def tangent(runner):
    scores = load(pages.HERE / "tangent", runner=runner)
    parts = [TANGENT_INTRO]
    for title, metric in ("NLL", "raw NLL"), ("Coverage", "coverage"), ("AUROC of white wine", "AUROC"):
        tables = [t for t in TANGENT if metric != "AUROC" or t == "wine_red"]
        lines = [[f"`{name}`", *(cell(scores.get("tangent", t, around(name), metric)) for t in tables)] for name in METHODS]
        parts.append(f"## {title}\n\n" + grid(["method", *tables], lines))
    lines = []
    for other in METHODS[:4]:
        found = [difference(*(scores.by_seed("tangent", t, around(name), "raw NLL") for name in ("ntk-sketch", other))) for t in TANGENT]
        lines.append([f"minus `{other}`", *(f"{lead}{' *' if lead.sign else ''}" if lead else "" for lead in found)])
    parts.append("## NLL of ntk-sketch, split by split\n\n*: decided.\n\n" + grid(["", *TANGENT], lines))
    pages.page("tangent", "The tangent kernel at any size", scores, parts)


def write(runner):
    tangent(runner)
    scores = load(pages.HERE / STUDY, runner=runner)
    claims = list(found_claims(scores))
    pages.page(STUDY, "The default on the public tables", scores,
               [INTRO, "## NLL, split by split\n\nMean difference ± its standard error over the splits; below 0 auto is better.\n\n" + nll_table(scores),
                "## Coverage and time of auto\n\nCRPS, MAE and RMSE on the standardised target.\n\n" + other_table(scores),
                "## The mean beside two networks for tables\n\nRMSE on the standardised target. In brackets the number of common splits.\n\n"
                + rmse_table(scores), "## Claims\n\n" + pages.verdicts(claims)])
    return claims
