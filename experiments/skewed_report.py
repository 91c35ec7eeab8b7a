#!/usr/bin/env python3
"""Writes experiments/skewed/README.md from its results.csv: an untuned fit on a skewed cost beside scikit-learn's rivals.

  experiments/skewed_report.py
"""


import pages
import results
from claims import Case, judged
from scores import number, of
from tables import cell, grid

RIVALS = ["sk-ridge", "sk-ridge-log", "sk-boosting", "sk-gradient-boosting"]
QUARTERS = [f"coverage_{quarter}" for quarter in range(1, 5)]
INTRO = """# A skewed cost, untuned

```
experiments/skewed_run.py         # resumable cell by cell
experiments/skewed_report.py
```

The table of `tests/cli/skewed.py`: 500 rows, a positive cost with a log-normal noise of sd 0.35, two columns of categories, 6 % of the
cells missing; 3,000 fresh rows score each fit. Every method has its defaults. scikit-learn's get one column for each category and for
what is missing, and answer with a point. MAE: of the median, where the density is known. Mean and sd over the seeds of the table.
"""


def by_seed(rows, method, name):
    return {row["seed"]: number(row[name]) for row in rows if row["method"] == method and row[name]}


def seconds(rows, method):
    return of(list(by_seed(rows, method, "seconds").values()))


def overview(rows):
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        scores = [list(by_seed(rows, method, name).values()) for name in ("mae", "nll", "crps", *QUARTERS)]
        least = by_seed(rows, method, "least_lower").values()
        lines.append([f"`{method}`", *(cell(of(values) if values else None) for values in scores),
                      f"{min(least):.2f}" if least else "", cell(seconds(rows, method), digits=1, seeds=False)])
    return grid(["method", "MAE", "NLL", "CRPS", "coverage, first quarter", "second", "third", "last", "least bound", "seconds"], lines)


def found_claims(rows):
    mae = by_seed(rows, "auto", "mae")
    best = {seed: min(values) for seed in mae
            if len(values := [by_seed(rows, rival, "mae").get(seed) for rival in RIVALS]) and None not in values}
    ratio = [mae[seed] / best[seed] for seed in best]
    mean = f"mean ratio {sum(ratio) / len(ratio):.3f}, largest {max(ratio):.3f}" if ratio else ""
    yield judged("ours", "auto's MAE is at most 2 % above the best of the rivals, on the mean over the seeds",
                 [Case(f"{len(ratio)} seeds", sum(ratio) <= 1.02 * len(ratio) if len(ratio) > 1 else None, mean)])
    cases = []
    for name in QUARTERS:
        values = list(by_seed(rows, "auto", name).values())
        inside = sum(0.92 <= value <= 0.98 for value in values)
        share = sum(values) / len(values) if values else 0
        cases.append(Case(name.replace("coverage_", "quarter "), 0.92 <= share <= 0.98 if len(values) > 1 else None,
                          f"{share:.3f}, {inside} of {len(values)} seeds inside" if values else ""))
    yield judged("ours", "auto's coverage at 95 % is from .92 to .98 in each quarter of the predicted means", cases)
    least = list(by_seed(rows, "auto", "least_lower").values())
    yield judged("ours", "no lower bound of auto is below zero",
                 [Case(f"{len(least)} seeds", min(least) >= 0 if least else None, f"least {min(least):.2f}" if least else "")])


def write(here=None):
    """The page in this folder; its claims."""
    here = here or pages.HERE / "skewed"
    asked = results.read(here / "cells.csv")
    keys = {results.key(row) for row in asked}
    rows = results.latest([row for row in results.read(here / "results.csv") if results.key(row) in keys])
    done = [row for row in rows if not row["error"]]
    commits = ", ".join(dict.fromkeys(row["commit"] for row in done)) or "none"
    lines = [f"{len(done)} of {len(asked)} cells measured, at commits {commits}; one thread a fit."]
    lines += [f"- failed: {row['method']}, seed {row['seed']}: {row['error']}" for row in rows if row["error"]]
    found = list(found_claims(done))
    parts = [INTRO, "\n".join(lines) + "\n", overview(done), "## Claims\n\n" + pages.verdicts(found)]
    (here / "README.md").write_text("\n".join(parts))
    return found


if __name__ == "__main__":
    write()
