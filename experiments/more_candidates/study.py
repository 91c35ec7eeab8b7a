"""auto with a candidate more than it has, beside itself."""

from defaults import ROWS, candidates
from pages import Page
from paired import difference
from results import asked
from scores import load
from tables import grid

TITLE = "One candidate more"
WHAT = "`auto` with `ntk-sketch` among its candidates, and without it"
PAPER = "ours"

MORE = {"by_size": "", "with_sketch": ",ntk-sketch"}
TABLES = [name for name, rows in ROWS.items() if rows < 3000]
LIMIT = "--time-limit 300"  # so that time leaves nothing out
INTRO = f"""`auto` with `ntk-sketch` among its candidates, and without it, on the public tables in folds (`{LIMIT}`, so that neither leaves
anything out). NLL in the target's own units with it minus that without it, ± the standard error over the splits.
"""


def own(table, arm):
    return f"--candidates {','.join(candidates(table))}{MORE[arm]} {LIMIT}"


def cells():
    for split in range(3):
        for table in TABLES:
            for arm in MORE:
                yield asked(arm, table, "auto", split, f"--split-seed {split} {own(table, arm)}")


def page(now):
    scores, lines = load("more_candidates", runner=now), []
    for table in TABLES:
        found = difference(*(scores.by_seed(arm, table, f"auto {own(table, arm)}", "raw NLL") for arm in reversed(MORE)))
        lines.append([table, f"{found}{' *' if found.sign else ''}" if found else ""])
    return Page([INTRO, "*: decided.\n\n" + grid(["table", "with ntk-sketch"], lines)], scores=scores)
