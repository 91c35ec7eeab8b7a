#!/usr/bin/env python3
"""Runs the cells of studies and keeps each result as it finishes.

  experiments/run.py STUDY [STUDY ...] [--jobs 2] [--match REGEX] [--again]

A study is a folder with a study.py, which says its cells: study (a part of it), data, method, seed, flags. The result goes to its
results.csv, one row a cell, with the numbers, the commit that the tool was built from, the command and the recipe. Cells run in
their order. A cell that is there already is not run again, so a killed study goes on where it stopped; one that failed is tried
again, and so is one whose options or handling of the table are no longer the tool's (`fit --dry-run`). Several runners may
work on one study: a cell is claimed while it runs.

  experiments/run.py table1 --match '^defaults,pol,dbk,0,' --results /tmp/again/results.csv    # one cell once more, apart
  experiments/run.py --list                                   # what is left, of all studies
  experiments/run.py --canary                                 # the cheapest cell of each method once more

A line a cell says what became of it, and where the study has a row of it already, whether the numbers are the same (to 1e-5 of the
NLL), near (.02 nats, .02 of the coverage, a twentieth of the width) or others. Ctrl-C ends the fits that run and keeps the rest for
the next time. Exit status: 1 where a cell failed, 130 where it was stopped.

The tool is build/slimbayes (SLIMBAYES_TOOL, --tool), the tables lie in SLIMBAYES_DATA (../shared/data). Rivals need the packages of
experiments/requirements.txt in the Python that runs this.
"""

import argparse
import importlib.util
import os
import pathlib
import re
import shlex
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "experiments" / "record"), str(ROOT / "experiments" / "papers")]
import canary  # noqa: E402
import studies  # noqa: E402
from results import FIELDS, Results, finished, key, latest, read  # noqa: E402
from runners import PACKAGES, Runner, end_children  # noqa: E402

stopping = threading.Event()


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="a name or a folder; with --list or --canary all of them by default")
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time, one thread each")
    parser.add_argument("--match", default="", help="run the cells alone whose `study,data,method,seed,flags` this regular expression finds")
    parser.add_argument("--again", action="store_true",
                        help="run cells again whose rows are of another commit than the tool's (one of its own commit: name another file with --results)")
    parser.add_argument("--canary", type=float, nargs="?", const=600, metavar="SECONDS",
                        help="run the cheapest cell of each method again, in about this time [600], and name the studies whose rows no longer come out")
    parser.add_argument("--list", action="store_true", help="print the cells that are left, and run none")
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes")))
    parser.add_argument("--commit", help="what the tool was built from, for one that does not say so")
    parser.add_argument("--results", type=pathlib.Path, help="another file for the results; recipes.json stands beside it")
    parser.add_argument("--extra", default="", help="flags added to every fit, to try a study out; needs --results")
    options = parser.parse_args()
    if options.extra and not options.results:
        parser.error("--extra changes what a cell is: name another file with --results")
    if not options.studies and options.canary is None and not options.list:
        parser.error("expected a study, --list or --canary")
    if options.jobs < 1:
        parser.error(f"--jobs: expected at least 1; received {options.jobs}")
    try:
        re.compile(options.match)
    except re.error as error:
        parser.error(f"--match: expected a regular expression; received {options.match!r}: {error}")
    if options.results:
        options.results.parent.mkdir(parents=True, exist_ok=True)
    options.studies = [studies.find(word) for word in options.studies] or studies.folders()
    return options


class Study:
    """A folder's cells that match, its results and what runs them."""

    def __init__(self, folder, options, data):
        study = studies.load(folder)
        made = getattr(study, "runner", Runner)
        self.runner = made(options.tool, data, shlex.split(options.extra)) if made is Runner else made(options.tool, data)
        self.folder, self.results = folder, Results(options.results or folder / "results.csv", getattr(study, "FIELDS", FIELDS))
        self.commit, self.again = options.commit or self.runner.commit(), options.again
        self.cells = [cell for cell in studies.cells(folder) if re.search(options.match, ",".join(key(cell)))]

    def outdated(self, row):
        return self.runner.outdated(row) or self.again and row["commit"] != self.commit

    def left(self):
        rows = read(self.results.path)
        return [cell for cell in self.cells if not finished(rows, cell, self.outdated)]

    def run(self, cell):
        """Unless another runner has it, or has just ended it, or all are to stop; the row that was added."""
        with self.results.claim(cell, self.outdated) as mine:
            if not mine or stopping.is_set():
                return None
            before = latest([row for row in studies.all_rows(self.folder) if key(row) == key(cell)])
            row = {"commit": self.commit, "recipe": self.runner.recipe(cell), **self.runner.run(cell)}
            if row["error"] and stopping.wait(0.2):  # its fit was ended with this program
                return None
            self.results.append(row)
        print(*key(row), canary.said(row, before), file=sys.stderr, flush=True)
        return row


def stop(*_):
    stopping.set()
    end_children()


def main():
    options = parse()
    data = pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data"))
    if not pathlib.Path(options.tool).exists():
        sys.exit(f"no tool at {options.tool}: build it (make build) or name it with --tool")
    if options.canary is not None:
        sys.exit(canary.run(Runner(options.tool, data), options.studies, options.canary) > 0)
    todo, missing = [], set()
    for folder in options.studies:
        study = Study(folder, options, data)
        if not study.commit and not options.list:
            sys.exit(f"the program of {folder.name} does not say its commit: build it, or name it with --commit")
        if not study.cells:
            print(f"{folder.name}: no cell matches {options.match!r}; one is {','.join(key(studies.cells(folder)[0]))}", file=sys.stderr)
        left = study.left()
        print(f"{folder.name}: {len(study.cells)} cells, {len(left)} to run", file=sys.stderr)
        todo += [(study, cell) for cell in left]
        missing |= {cell["method"] for cell in left if not importlib.util.find_spec(PACKAGES.get(cell["method"], "sys"))}
    if options.list:
        return print(*(",".join(key(cell)) for _, cell in todo), sep="\n")
    if missing:
        sys.exit(f"cells of {', '.join(sorted(missing))} need packages that this Python lacks: pip install -r experiments/requirements.txt, or "
                 "leave them out with --match")
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, stop)
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = [future.result() for future in [pool.submit(study.run, cell) for study, cell in todo]]
    if stopping.is_set():
        print(f"stopped; {rows.count(None)} cells left", file=sys.stderr)
        sys.exit(130)
    sys.exit(any(row and row["error"] for row in rows))


if __name__ == "__main__":
    main()
