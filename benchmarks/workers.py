#!/usr/bin/env python3
"""What do the cores of a machine bring to fits that are made of fits? Wall time of whole calls with one worker and with several.

    .venv/bin/python benchmarks/workers.py [--workers 2] [--ranks] [--rounds 2] [--out benchmarks/results/workers.csv] [--only KIND]

Each round runs one worker and several workers in turn, on the concrete table or a larger one, without a time limit that binds. Both must write the
same bytes. With --ranks the workers are processes that torchrun starts (docs/machines.md), their start included. `ratio` is the wall time
with one worker over that with several. On a machine that is busy with other work the ratio is too small: read `idle` beside it, the share of all cores that nothing used in the second before the calls.
"""

import argparse
import csv
import datetime
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIELDS = ["kind", "workers", "round", "seconds_one", "seconds", "ratio", "cpu_one", "cpu", "same", "idle", "date", "cores", "commit"]
UNBOUND = ["--time-limit", 3000]
FITS = {
    "auto": UNBOUND,
    "auto on 9,568 rows": UNBOUND,
    "ensemble": ["--method", "ensemble", "--of", "dnn", "--members", 4, "--steps", 4000, "--patience", 0],
    "noise folds": ["--method", "dnn", "--valid-fraction", 0.02, "--steps", 4000, "--patience", 0],
    "tune": ["--method", "dbk", "--tune", "--steps", 2000, "--patience", 0],
    "start": ["--method", "constant"],
    "compare": ["--methods", "dnn,dbk,dbk-exact,gp-exact", "--seeds", 2, "--steps", 2000, "--patience", 0],
}
THREAD = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "build" / "python")}  # of a rank
TABLES = {"auto on 9,568 rows": "power_plant.csv.gz"}  # of the others: concrete, 1,030 rows
SHARED = "start", "auto", "auto on 9,568 rows", "ensemble", "tune", "compare"  # what ranks share as jobs, and a fit of no time


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ranks", action="store_true")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "workers.csv")
    parser.add_argument("--only", choices=FITS)
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes")))
    return parser.parse_args()


def idle():
    """The share of all cores that nothing used in a second."""
    def read():
        fields = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
        return fields[3], sum(fields)
    before = read()
    time.sleep(1)
    after = read()
    return (after[0] - before[0]) / (after[1] - before[1])


def launcher(workers):
    """The words that start so many ranks of the command line of the Python package."""
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", workers] if workers > 1 else []
    return [sys.executable, *launch, "-m", "slimbayes"]


def call(tool, kind, table, folder, workers):
    """(seconds, CPU seconds, digest of the model) of one call; compare writes no model, and its table holds seconds."""
    model = folder / f"{workers}"
    words = (["compare", table] if kind == "compare" else ["fit", table, "--model", model]) + ["--target", "y", "--threads", 1 if tool is None else workers, *FITS[kind]]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [tool] if tool else launcher(workers)
    done = subprocess.run([*map(str, [*command, *words])], env=os.environ | (THREAD if tool is None else {}), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{kind} failed: {done.stderr[-500:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu, hashlib.sha256(model.read_bytes()).hexdigest() if model.exists() else ""


def main():
    options = parse()
    data = Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data"))
    version = subprocess.run([options.tool, "--version"], capture_output=True, text=True, check=True).stdout
    new = not options.out.exists()
    with open(options.out, "a", newline="") as file, tempfile.TemporaryDirectory() as folder:
        out = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            out.writeheader()
        for number in range(options.rounds):
            for kind in [options.only] if options.only else SHARED if options.ranks else FITS:
                free, tool = idle(), None if options.ranks else options.tool
                one, several = (call(tool, kind, data / TABLES.get(kind, "concrete.csv.gz"), Path(folder), n) for n in (1, options.workers))
                row = {"kind": f"{kind}, ranks" if options.ranks else kind, "workers": options.workers, "round": number,
                       "seconds_one": f"{one[0]:.1f}", "seconds": f"{several[0]:.1f}",
                       "ratio": f"{one[0] / several[0]:.2f}", "cpu_one": f"{one[1]:.1f}", "cpu": f"{several[1]:.1f}",
                       "same": "yes" if one[2] == several[2] else "no", "idle": f"{free:.2f}",
                       "date": datetime.date.today().isoformat(), "cores": os.cpu_count(), "commit": version.partition("(")[2].partition(")")[0]}
                out.writerow(row)
                file.flush()
                print(*row.values(), flush=True)


if __name__ == "__main__":
    main()
