#!/usr/bin/env python3
"""What does a table on disk cost? One fit of generated rows with `--cache`, beside the fit in memory where the table fits into it.

    .venv/bin/python benchmarks/streams.py [--rounds 3] [--gigabytes 0.2] [--method dnn] [--ranks 2] [--folder DIR] [--out benchmarks/results/streams.csv]

The table has 26 columns of doubles in Parquet files of 2,000,000 rows, so many gigabytes in all (8 bytes a cell). `rows_per_s` are those of the
training, validation included; `ratio` is the time of an epoch from disk over that in memory; `peak_mb` the most resident memory of the process;
`before_s` the seconds of the call without those of the training: reading, encoding, scoring. Above --most gigabytes only the fit from disk runs.
With --ranks so many processes fit from disk too (torchrun, its start included in `before_s`; `--sync-every 8`), each with its own row groups.
"""

import argparse
import csv
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet
from workers import idle

ROOT = Path(__file__).resolve().parent.parent
FIELDS = ["method", "gigabytes", "rows", "where", "round", "rows_per_s", "ratio", "peak_mb", "before_s", "nll", "idle", "date", "cores", "commit"]
COLUMNS, FILE_ROWS = 26, 2000000
SETTINGS = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "build" / "python")}


def write(folder, rows):
    draw = numpy.random.default_rng(1)
    for number, first in enumerate(range(0, rows, FILE_ROWS)):
        x = draw.normal(size=(min(FILE_ROWS, rows - first), COLUMNS - 1))
        columns = {f"x{i}": x[:, i] for i in range(COLUMNS - 1)} | {"y": x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * draw.normal(size=len(x))}
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"{number:04}.parquet", row_group_size=250000, use_dictionary=False)


def launcher(ranks):
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), "-m", "slimbayes"]


def fitted(tool, folder, words):
    """The report of a fit, its seconds, and the most kilobytes that it had in memory."""
    began = time.monotonic()
    with open(folder / "said", "w+") as said, open(folder / "report", "w+") as report:
        process = subprocess.Popen([*tool, "fit", "parts", "--target", "y", "--json", "--model", "m.safetensors", *words], cwd=folder, stdout=report, stderr=said, env=SETTINGS)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            said.seek(0)
            sys.exit(said.read())
        report.seek(0)
        return json.load(report), time.monotonic() - began, usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gigabytes", type=float, default=0.2)
    parser.add_argument("--most", type=float, default=2)
    parser.add_argument("--method", choices=["dnn", "dbk"], default="dnn")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--bound", default="2GB", help="--max-table-memory of the fit from disk")
    parser.add_argument("--folder", help="where the table and the cache lie, by default the system's temporary folder")
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(ROOT / "build" / "slimbayes")))
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "streams.csv")
    given = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    rows = int(given.gigabytes * 1e9 / 8 / COLUMNS)
    new = not given.out.exists()
    with open(given.out, "a", newline="") as file, tempfile.TemporaryDirectory(dir=given.folder) as name:
        out = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            out.writeheader()
        folder = Path(name)
        (folder / "parts").mkdir()
        write(folder / "parts", rows)
        words = ["--method", given.method, "--epochs", str(given.epochs), "--batch", "1024", "--threads", "1", "--patience", "0", "--valid-fraction", "0.01"]
        for number in range(given.rounds):
            speed = {}
            disk = ["--cache", name, "--max-table-memory", given.bound]
            kinds = {"memory": ([given.tool], []), "disk": ([given.tool], disk)}
            if given.ranks > 1:
                kinds[f"disk, {given.ranks} ranks"] = (launcher(given.ranks), [*disk, "--sync-every", "8"])
            for where, (tool, more) in kinds.items():
                if where == "memory" and given.gigabytes > given.most:
                    continue
                free = idle()
                report, seconds, peak = fitted(tool, folder, [*words, *more, "--seed", str(number)])
                summary = report["summary"]
                speed[where] = summary["rows"] * summary["epochs"] / summary["seconds"]
                out.writerow({"method": given.method, "gigabytes": given.gigabytes, "rows": rows, "where": where, "round": number,
                              "rows_per_s": f"{speed[where]:.4g}", "ratio": f"{speed['memory'] / speed['disk']:.3g}" if where == "disk" and "memory" in speed else "",
                              "peak_mb": round(peak / 1024), "before_s": f"{seconds - summary['seconds']:.1f}", "nll": f"{report['valid']['nll']:.4g}",
                              "idle": f"{free:.2f}", "date": datetime.date.today().isoformat(), "cores": os.cpu_count(), "commit": commit})
                file.flush()
                print(where, speed[where], peak // 1024, seconds, flush=True)


if __name__ == "__main__":
    main()
