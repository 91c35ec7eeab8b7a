"""Coverage at 90 % with and without calibration, on four tables."""

import collections
import itertools
import math

import studies
from pages import Page
from results import asked
from scores import of
from tables import grid

TITLE = "Conformal calibration on four tables"
WHAT = "coverage of `--calibrate conformal`"
PAPER = "ours"
LEVEL = 0.9
TABLES, METHODS = ["concrete", "power_plant", "kin8nm", "elevators"], ["dbk", "dnn"]
INTRO = """Share of test rows inside the 90 % interval, mean over splits (20 of concrete, 5 of the others; five without calibration; 10 % test,
10 % validation; with `--calibrate conformal` another 10 % that would otherwise train). The seed is 0 throughout, the split changes.
Fits are short (1,000 steps): what is judged is the coverage. `sd` is that of one split; "expected" is what split conformal promises,
in the mean over splits: level to level + 1/(m + 1), with an sd of about sqrt(.09 (1/m + 1/n)) for m calibration and n test rows.
"""
HEADER = ["table", "test rows", "splits", "method", "coverage, plain", "coverage, conformal", "sd, conformal", "expected sd",
          "width, plain", "width, conformal", "within two points"]


def cells():
    """A small table has few rows on a side, so more splits."""
    for split in range(20):
        own = f"--level {LEVEL} --split-seed {split} --steps 1000"
        tables = [table for table in TABLES if split < 5 or table == "concrete"]
        for data, method in itertools.product(tables, METHODS):
            yield asked("conformal", data, method, 0, "--calibrate conformal", own)
            if split < 5:
                yield asked("plain", data, method, 0, own)


def on_common_splits(groups):
    """Where calibration has more splits than the plain fits: the coverage of both on the splits that both have."""
    said = []
    for data, method in itertools.product(TABLES, METHODS):
        plain, conformal = ({row["flags"].partition("--split-seed ")[2].split()[0]: float(row["coverage"])
                             for row in groups[data, method, study]} for study in ("plain", "conformal"))
        common = plain.keys() & conformal.keys()
        if common and len(common) < len(conformal):
            before, after = (of({split: found[split] for split in common}).mean for found in (plain, conformal))
            said.append(f"{data}, {method}: {before:.3f} plain, {after:.3f} conformal ({len(common)} splits)")
    return f"On the splits that both have: {'; '.join(said)}." if said else ""


def page(now):
    groups, lines, held = collections.defaultdict(list), [], []
    for row in studies.rows(studies.HERE / "conformal"):
        if not row["error"]:
            groups[row["data"], row["method"], row["study"]].append(row)
    for data, method in itertools.product(TABLES, METHODS):
        plain, conformal = (groups[data, method, study] for study in ("plain", "conformal"))
        if not plain or not conformal:
            continue
        coverage, before = (of([float(row["coverage"]) for row in part]) for part in (conformal, plain))
        widths = [of([float(row["width_standardized"]) for row in part]).mean for part in (plain, conformal)]
        n = int(conformal[0]["test_rows"])
        held.append(abs(coverage.mean - LEVEL) <= 0.02)
        expected = math.sqrt(LEVEL * (1 - LEVEL) * 2 / n)
        lines.append([data, f"{n:,}", str(len(conformal)), method, f"{before.mean:.3f}", f"**{coverage.mean:.3f}**", f"{coverage.sd:.3f}",
                      f"{expected:.3f}", *(f"{width:.3f}" for width in widths), "yes" if held[-1] else "**no**"])
    return Page([INTRO, grid(HEADER, lines),
                 f"Within two points of 90 %: {sum(held)} of {len(held)} (width on the standardised scale).",
                 on_common_splits(groups)])
