"""A canary for the rows: the cheapest cell of each method once more, beside its row (run.py --canary).

The same fit gives the same bits on one processor, not on every one: a number that is near says that the row stands, one that is not
names a study whose rows no longer come out.
"""

import sys
import time

import results
import studies
from runners import RIVALS

SAME, NEAR, WIDTH = 1e-5, 0.02, 0.05  # of the NLL, nats a row, the first relative to its size; NEAR also of the coverage, WIDTH of the width
FEWEST = 100  # steps


def cheapest(folders):
    """By method: (the study's folder, its row) of the cell whose fit took least, of those that are asked for."""
    found = {}
    for folder in sorted(folders):
        if hasattr(studies.load(folder), "runner"):  # its rows are no fits of the tool alone
            continue
        for row in studies.rows(folder):
            if row["error"] or not row["nll"] or not row["seconds"] or row["method"] in RIVALS:
                continue
            if 0 < float(row["steps"] or 0) < FEWEST:  # hardly trained, it tells little
                continue
            before = found.get(row["method"])
            if before is None or float(row["seconds"]) < float(before[1]["seconds"]):
                found[row["method"]] = folder, row
    return sorted(found.values(), key=lambda each: float(each[1]["seconds"]))


def verdict(row, again):
    """same, near or another, and what differs in words."""
    if again["error"]:
        return "another", again["error"]
    gap = float(again["nll"]) - float(row["nll"])
    how = "same" if abs(gap) <= SAME * max(1, abs(float(row["nll"]))) else "near" if abs(gap) <= NEAR else "another"
    words = f"NLL {float(row['nll']):.5f} then, {float(again['nll']):.5f} now"
    for name, title, share in ("coverage", "coverage", False), ("width_standardized", "width", True):
        if row.get(name) and again.get(name) not in ("", None):
            then, now = float(row[name]), float(again[name])
            if abs(now - then) > (WIDTH * then if share else NEAR):
                how, words = "another", f"{words}, {title} {then:.5f} then, {now:.5f} now"
    return how, words


def said(row, before):
    """What became of a cell, beside the row that its study had (`before`, a list of one or none)."""
    if row["error"] or "nll" not in row or row["nll"] in ("", None):
        return row["error"]
    if not before or before[0]["error"] or not before[0]["nll"]:
        return f"NLL {float(row['nll']):.5f}"
    return ": ".join(verdict(before[0], row))


def run(runner, folders, seconds):
    """Prints a line a method until the time is over; the number of those that no longer come out."""
    begin, lost = time.monotonic(), 0
    for folder, row in cheapest(folders):
        if time.monotonic() - begin > seconds:
            print(f"{row['method']}: no time left", file=sys.stderr)
            continue
        stale = runner.outdated(row)
        how, words = verdict(row, runner.run({name: row[name] for name in results.KEY}))
        lost += how == "another"
        print(f"{how:8}{row['method']}: {folder.name}, {row['data']}, {row['flags']}, of {row['commit']}: {words}"
              + (f"; other options: {', '.join(stale)}" if stale else ""), flush=True)
    return lost
