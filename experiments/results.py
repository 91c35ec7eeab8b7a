"""A study's results.csv, shared by any number of runners on one machine.

A row is appended under a lock, as its cell finishes. A cell that runs is claimed by a lock of its own, which the
system drops when the runner dies: no claim is ever stale.

A row is its cell's as long as what it was measured by is what the cell means today: its `recipe` holds the options that
the tool resolved and how it handled the table (`fit --dry-run`), every default filled in.
"""

import contextlib
import csv
import fcntl
import hashlib
import json
import os

KEY = ["study", "data", "method", "seed", "flags"]
# On the standardised scale of the training targets, but for coverage, which has none.
METRICS = ["mae_standardized", "rmse_standardized", "nll_standardized", "crps_standardized", "width_standardized", "coverage"]
# `nll` is in the target's units; the next two exist where the truth is known (generated data), the last with --ood.
TRUTH = ["nll", "oracle_nll", "sd_correlation", "auroc"]
# `scores`: all that evaluate reports, as JSON, of the sources of sources.py.
# `valid_score` is the best of the training's rounds, `valid_nll_standardized` that of the finished model.
FIELDS = (KEY + ["rows", "test_rows", "valid_score", "valid_nll_standardized"] + METRICS + TRUTH
          + ["parameters", "scores", "steps", "stopped", "seconds", "memory_mb", "commit", "command", "recipe", "error"])


def key(row):
    return tuple(row[k] for k in KEY)


def read(path):
    """The rows of results.csv, every field of FIELDS present ('' where an older file lacks it); [] without a file."""
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return [{**dict.fromkeys(FIELDS, ""), **row} for row in csv.DictReader(file)]


def as_text(recipe):
    return json.dumps(recipe, sort_keys=True, separators=(",", ":"))


def differences(recipe, other, prefix=""):
    """What two recipes say differently, by name: (one, other). A name that one of them lacks counts for nothing."""
    found = {}
    for name in recipe.keys() & other.keys():
        one, two = recipe[name], other[name]
        if isinstance(one, dict) and isinstance(two, dict):
            found.update(differences(one, two, f"{prefix}{name}."))
        elif one != two:
            found[prefix + name] = (one, two)
    return dict(sorted(found.items()))


def recorded(row):
    """The row's recipe, {} where it does not say it. Older rows have "" for what is called auto or none today, and
    lists of columns as the flag had them, not split."""
    recipe = json.loads(row["recipe"]) if row["recipe"] else {}
    if recipe.get("calibrate") == "":
        recipe["calibrate"] = "none"
    if recipe.get("inputs", {}).get("likelihood") == "":
        recipe["inputs"]["likelihood"] = "auto"
    for name in ("ignore", "categorical", "time", "group"):
        if name in recipe.get("inputs", {}):
            recipe["inputs"][name] = [column for names in recipe["inputs"][name] for column in names.split(",")]
    return recipe


def finished(rows, cell, outdated):
    """Whether one of the rows holds the cell as it is meant today: one that `outdated` finds nothing in."""
    return any(key(row) == key(cell) and not row["error"] and not outdated(row) for row in rows)


def latest(rows):
    """One row a cell: the last that worked, else the last failure. In the order of first appearance."""
    cells = {}
    for row in rows:
        before = cells.get(key(row))
        if before is None or not row["error"] or before["error"]:
            cells[key(row)] = row
    return list(cells.values())


class Results:
    """A study whose rows hold other numbers than a fit's names its own `fields`, KEY first."""

    def __init__(self, path, fields=FIELDS):
        self.path, self.fields = path, fields
        self.claims = path.parent / ".claims"

    def append(self, row):
        with self._locked("file"):
            fresh = not self.path.exists()
            if not fresh:
                self._add_columns()
            with open(self.path, "a", newline="") as file:
                writer = csv.DictWriter(file, self.fields, lineterminator="\n")
                if fresh:
                    writer.writeheader()
                writer.writerow(row)

    @contextlib.contextmanager
    def claim(self, cell, outdated):
        """Yields whether the cell is this runner's: nobody runs it now and nobody has finished it."""
        name = hashlib.sha256("\n".join((self.path.name, *key(cell))).encode()).hexdigest()[:16]
        with self._locked(name, wait=False) as mine:
            yield mine and not finished(read(self.path), cell, outdated)

    def _add_columns(self):
        """A file of fewer columns gets today's, once; its rows stay as they are."""
        with open(self.path, newline="") as file:
            if next(csv.reader(file), None) == self.fields:
                return
        rows = read(self.path)
        new = self.path.with_suffix(".new")
        with open(new, "w", newline="") as file:
            writer = csv.DictWriter(file, self.fields, lineterminator="\n", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
        os.replace(new, self.path)

    @contextlib.contextmanager
    def _locked(self, name, wait=True):
        self.claims.mkdir(exist_ok=True)
        with open(self.claims / name, "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True
