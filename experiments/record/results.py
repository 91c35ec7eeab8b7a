"""A study's results.csv, shared by any number of runners on one machine.

A row is appended under a lock, as its cell finishes. A cell that runs is claimed by a lock of its own, which the
system drops when the runner dies: no claim is ever stale.

A row is its cell's as long as what it was measured by is what the cell means today. Its recipe holds the options that the tool
resolved and how it handled the table (`fit --dry-run`), every default filled in. recipes.json beside results.csv has each recipe
once, under its hash, which is what the row's column `recipe` says. The split's seed is the cell's, in its flags.
"""

import contextlib
import csv
import fcntl
import functools
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


def asked(study, data, method, seed, *flags):
    """A cell; its flags with one space between words."""
    return dict(zip(KEY, (study, data, method, str(seed), " ".join(" ".join(flags).split()))))


def key(row):
    return tuple(row[k] for k in KEY)


def _rows(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def read(path):
    """The rows of results.csv, each with its recipe itself ({} for none) and every field of FIELDS ('' where the file lacks it); []
    without a file. Raises KeyError for a recipe that recipes.json lacks."""
    known = recipes(path) | {"": {}}
    return [{**dict.fromkeys(FIELDS, ""), **row, "recipe": known[row.get("recipe", "")]} for row in _rows(path)]


@functools.cache
def _recipes(path, changed):
    with open(path) as file:
        return json.load(file)


def recipes(path):
    """By hash, the recipes of the rows of a results.csv."""
    kept = path.with_name("recipes.json")
    return _recipes(kept, kept.stat().st_mtime_ns) if kept.exists() else {}


def as_text(recipe):
    return json.dumps(recipe, sort_keys=True, separators=(",", ":"))


def hash_of(recipe):
    return hashlib.sha256(as_text(recipe).encode()).hexdigest()[:12] if recipe else ""


def write_recipes(path, found):
    """A line a recipe, so that a change of one shows as one."""
    lines = [f'"{name}": {as_text(recipe)}' for name, recipe in sorted(found.items())]
    new = path.with_name("recipes.new")
    new.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    os.replace(new, path.with_name("recipes.json"))


def of_cell(recipe, flags):
    """The recipe without the seed of the split where the cell's flags say it."""
    if "--split-seed" not in flags:
        return recipe
    found = {name: of_cell(value, flags) if isinstance(value, dict) else value for name, value in recipe.items()}
    found.pop("split_seed", None)
    return found


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


def refuse_mixed(rows, may_differ=()):
    """Raises ValueError where the methods of one part and table saw their data handled differently (scale, split, fractions) though
    no cell's flags say so: they are not to be compared. `may_differ` names what may."""
    found = {}
    for row in rows:
        for name, value in row["recipe"].get("inputs", {}).items():
            if f"--{name.replace('_', '-')}" not in row["flags"].split() and name not in may_differ:
                found.setdefault((row["study"], row["data"], name), {}).setdefault(as_text(value), set()).add(row["method"])
    for (study, data, name), values in found.items():
        if len(values) > 1:
            said = "; ".join(f"{value}: {', '.join(sorted(methods))}" for value, methods in sorted(values.items()))
            raise ValueError(f"[{name}] expected the same for every method of {study}, {data}; received {said}; name it in the cells' flags, or "
                             "state why it may differ in the study's MAY_DIFFER")


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
        """`row` holds its recipe itself, {} for none."""
        with self._locked("file"):
            recipe, known = row.get("recipe") or {}, recipes(self.path)
            row = row | {"recipe": hash_of(recipe)}
            if recipe and row["recipe"] not in known:
                write_recipes(self.path, known | {row["recipe"]: recipe})
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
        rows = _rows(self.path)
        new = self.path.with_suffix(".new")
        with open(new, "w", newline="") as file:
            writer = csv.DictWriter(file, self.fields, lineterminator="\n", extrasaction="ignore")
            writer.writeheader()
            writer.writerows({**dict.fromkeys(self.fields, ""), **row} for row in rows)
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
