#!/usr/bin/env python3
"""Plays the cells of the wheel bandit and keeps each result as it finishes.

  experiments/wheel_run.py [--match REGEX] [--again]

A cell is a row of wheel/cells.csv: study, data (delta), method (the policy), seed, flags. The result goes to
wheel/results.csv beside it. Cells run in the order of the file, one thread each. A killed run goes on where it stopped;
several runners may share the cells. A cell is run again if its row's options are no longer the program's
(`--dry-run`), and with --again if its row is of another commit. The program is build/checks/wheel_study
(WHEEL_STUDY, --program); it says the commit that it was built from.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from results import KEY, Results, as_text, differences, finished, key, read, recorded  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
NUMBERS = ["pulls", "regret", "uniform_regret", "percent", "percent_after_first", "gradient_seconds", "posterior_seconds", "seconds"]
FIELDS = KEY + NUMBERS + ["commit", "command", "recipe", "error"]
# Fresh pages for every temporary tensor cost 15 % of a step.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "1000000000", "MALLOC_TRIM_THRESHOLD_": "2000000000"}


class Program:
    def __init__(self, path):
        self.path, self._recipes = path, {}

    def said(self, *words):
        environment = {**os.environ, **ALLOCATOR, "OMP_NUM_THREADS": "1"}
        return subprocess.run([self.path, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def commit(self):
        return self.said("--version").stdout.strip()

    def words(self, cell):
        return ["--policy", cell["method"], "--delta", cell["data"], "--seed", cell["seed"], *shlex.split(cell["flags"])]

    def recipe(self, cell):
        """What decides the cell beside delta, seed and the program; {} where the program does not know its flags."""
        at = cell["method"], cell["flags"]
        if at not in self._recipes:
            done = self.said("--dry-run", *self.words(cell))
            self._recipes[at] = json.loads(done.stdout) if done.returncode == 0 else {}
        return self._recipes[at]

    def outdated(self, row):
        return differences(recorded(row), self.recipe(row))

    def play(self, cell):
        done = self.said(*self.words(cell))
        row = {**cell, "command": shlex.join(["wheel_study", *self.words(cell)])}
        if done.returncode != 0:
            return {**row, "error": (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]}
        found = json.loads(done.stdout)
        return {**row, **{name: f"{found[name]:.7g}" for name in NUMBERS}, "commit": found["commit"],
                "recipe": as_text(found["recipe"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=pathlib.Path, default=HERE / "wheel" / "cells.csv")
    parser.add_argument("--match", default="", help="run the cells alone whose line of the file this regular expression finds")
    parser.add_argument("--again", action="store_true", help="run cells again whose rows are of another commit than the program's")
    parser.add_argument("--program", default=os.environ.get("WHEEL_STUDY", str(HERE.parent / "build" / "checks" / "wheel_study")))
    options = parser.parse_args()
    if not pathlib.Path(options.program).exists():
        sys.exit(f"no program at {options.program}: build it (make build) or name it with --program")
    program, results = Program(options.program), Results(options.cells.with_name("results.csv"), FIELDS)
    commit = program.commit()

    def outdated(row):
        return program.outdated(row) or options.again and row["commit"] != commit

    with open(options.cells, newline="") as file:
        cells = [{name: row[name] for name in KEY} for row in csv.DictReader(file)]
    for cell in cells:
        if not re.search(options.match, ",".join(key(cell))) or finished(read(results.path), cell, outdated):
            continue
        with results.claim(cell, outdated) as mine:
            if mine:
                row = program.play(cell)
                results.append({**dict.fromkeys(FIELDS, ""), **row})
                print(*key(cell), row.get("error") or row["percent"], row.get("seconds", ""), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
