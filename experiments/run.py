#!/usr/bin/env python3
"""Runs the cells of studies and keeps each result as it finishes.

  experiments/run.py experiments/table1/cells.csv [more cells.csv] [--jobs 2] [--only STUDY] [--match REGEX]

A cell is a row of the CSV: study, data, method, seed, flags. The result goes to results.csv beside it, one row a cell,
with the metrics on the standardised scale, time, peak memory, commit, command and recipe. Cells run in the order of the
file. A cell that is there already is not run again, so a killed study goes on where it stopped; one that failed is tried
again, and so is one whose options or handling of the table are no longer the tool's (`fit --dry-run`). Several runners may
work on one study: a cell is claimed while it runs. The commit is the tool's own (`--version`).

The tool is build/slimbayes (SLIMBAYES_TOOL, --tool), the tables lie in SLIMBAYES_DATA. The rivals
`catboost`, `ngboost`, `realmlp`, `tabm` and `torch` need the packages of experiments/requirements.txt in the Python that
runs this.
"""

import argparse
import os
import pathlib
import re
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import csv  # noqa: E402

import canary  # noqa: E402
from results import KEY, Results, as_text, finished, key, read  # noqa: E402
from runners import Runner  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", type=pathlib.Path, nargs="*", help="with --canary the folders of the studies, all of them by default")
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time, one thread each")
    parser.add_argument("--only", help="run the cells of this study alone")
    parser.add_argument("--match", help="run the cells alone whose line of the file this regular expression finds")
    parser.add_argument("--again", action="store_true", help="run cells again whose rows are of another commit than the tool's")
    parser.add_argument("--canary", type=float, nargs="?", const=600, metavar="SECONDS",
                        help="run the cheapest cell of each method again, in about this time [600], and name the studies whose rows no longer come out")
    parser.add_argument("--list", action="store_true", help="print the cells that are left, and run none")
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes")))
    parser.add_argument("--commit", help="what the tool was built from, for one that does not say so")
    parser.add_argument("--results", type=pathlib.Path, help="another file for the results")
    parser.add_argument("--extra", default="", help="flags added to every fit, to try a study out; needs --results")
    options = parser.parse_args()
    if options.extra and not options.results:
        parser.error("--extra changes what a cell is: name another file with --results")
    if not options.cells and options.canary is None:
        parser.error("expected a study's cells.csv, or --canary")
    return options


def chosen(path, options):
    with open(path, newline="") as file:
        cells = [{k: row[k] for k in KEY} for row in csv.DictReader(file)]
    cells = [cell for cell in cells if options.only in (None, cell["study"])]
    return [cell for cell in cells if not options.match or re.search(options.match, ",".join(key(cell)))]


def main():
    options = parse()
    data = pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data"))
    if not pathlib.Path(options.tool).exists():
        sys.exit(f"no tool at {options.tool}: build it (make build) or name it with --tool")
    runner = Runner(options.tool, data, shlex.split(options.extra))
    if options.canary is not None:
        sys.exit(canary.run(runner, options.cells or [path.parent for path in HERE.glob("*/cells.csv")], options.canary) > 0)
    commit = options.commit or runner.commit()
    if not commit and not options.list:
        sys.exit(f"{options.tool} does not say its commit: name it with --commit")
    def outdated(row):
        return runner.outdated(row) or options.again and row["commit"] != commit

    todo = []
    for path in options.cells:
        results = Results(options.results or path.with_name("results.csv"))
        cells, rows = chosen(path, options), read(results.path)
        left = [(results, cell) for cell in cells if not finished(rows, cell, outdated)]
        print(f"{path}: {len(cells)} cells, {len(left)} to run", file=sys.stderr)
        todo += left
    if options.list:
        return print(*(",".join(key(cell)) for _, cell in todo), sep="\n")

    def work(results, cell):
        with results.claim(cell, outdated) as mine:
            if not mine:
                return
            recipe = runner.recipe(cell)
            row = dict(runner.run(cell), commit=commit, recipe=as_text(recipe) if recipe else "")
            results.append(row)
        print(*key(row), row["error"] or row.get("nll_standardized", ""), file=sys.stderr, flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(work, *each) for each in todo]:
            future.result()


if __name__ == "__main__":
    main()
