"""Posteriors around one trained network: `ntk-sketch` beside the process that it approximates and other last layers."""

from defaults import ROWS, SPLITS
from pages import Page
from paired import difference
from results import asked
from scores import label, load
from tables import cell, grid

TITLE = "The tangent kernel at any size"
WHAT = "`ntk-sketch` beside Rich-BLL and NTK-GP, around one network"
PAPER = "ours"

TABLES = ["yacht", "boston", "energy", "concrete", "wine_red", "wine_white", "kin8nm"]
AROUND = [("bll", ""), ("rich-bll", ""), ("last-layer-laplace", ""), ("ntk-gp", ""), ("ntk-sketch", "--sketch 256"), ("ntk-sketch", "")]
SKETCH, OTHERS = AROUND[-1], AROUND[:4]
INTRO = """One `dnn` a table and split, trained on nine tenths of nine tenths of the rows; each method adds its variance to it with its default
options (`--network-from`). `ntk-gp` is the process that `rich-bll` and `ntk-sketch` approximate; it takes up to 4,000 rows. NLL in the target's
units, coverage at 95 %, mean and sd over the splits. Differences are split by split, ± their standard error, and decided where they
exceed Student's bound.
"""


def cells():
    """The same network and split for all methods, by --network-from. White wine is foreign to red wine. The tangent kernel's process
    takes at most 4,000 rows, kin8nm has more."""
    for split in range(SPLITS):
        for table in TABLES:
            for method, own in AROUND:
                if method != "ntk-gp" or ROWS[table] < 5000:
                    foreign = "--ood wine_white" if table == "wine_red" else ""
                    yield asked("tangent", table, method, split, foreign, f"--scale standard --split-seed {split} --around dnn", own)


def by_split(scores, table, method, metric):
    return scores.by_seed("tangent", table, label(*method), metric)


def page(now):
    scores, parts = load("tangent", runner=now), [INTRO]
    for title, metric in ("NLL", "raw NLL"), ("Coverage", "coverage"), ("AUROC of white wine", "AUROC"):
        tables = [t for t in TABLES if metric != "AUROC" or t == "wine_red"]
        lines = [[f"`{' '.join(method).strip()}`", *(cell(scores.get("tangent", t, label(*method), metric)) for t in tables)] for method in AROUND]
        parts.append(f"## {title}\n\n" + grid(["method", *tables], lines))
    for title, metric in ("NLL", "raw NLL"), ("Coverage", "coverage"), ("AUROC of white wine", "AUROC"):
        lines, tables = [], [t for t in TABLES if metric != "AUROC" or t == "wine_red"]
        for other in OTHERS:
            found = [difference(by_split(scores, t, SKETCH, metric), by_split(scores, t, other, metric)) for t in tables]
            lines.append([f"minus `{other[0]}`", *(f"{lead}{' *' if lead.sign else ''}" if lead else "" for lead in found)])
        parts.append(f"## {title} of ntk-sketch, split by split\n\n*: decided.\n\n" + grid(["", *tables], lines))
    return Page(parts, scores=scores)
