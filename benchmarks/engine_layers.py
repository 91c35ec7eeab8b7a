"""LSTM and convolution by the engine's kernels beside libtorch, in one run with turns: results/engine_layers.csv.

    scripts/build.sh bench bench && .venv/bin/python benchmarks/engine_layers.py --build build-bench

sequence_step.cpp and convolution.cpp have the tasks. A figure is the median over the repetitions, which Google
Benchmark runs in random order, on one thread; `ratio` is libtorch's time divided by ours.
"""

import argparse
import csv
import datetime
import json
import os
import platform
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


def measured(build, repetitions):
    """Returns the median microseconds of each benchmark by its name."""
    found = subprocess.run(
        [build / "bench", "--benchmark_filter=BM_(lstm|conv)", f"--benchmark_repetitions={repetitions}",
         "--benchmark_enable_random_interleaving=true", "--benchmark_report_aggregates_only=true",
         "--benchmark_format=json"],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, check=True)
    rows = json.loads(found.stdout)["benchmarks"]
    return {row["run_name"]: row["cpu_time"] for row in rows if row["aggregate_name"] == "median"}


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parent / "build", help="the folder with the program bench")
    parser.add_argument("--repetitions", type=int, default=5, help="runs of each benchmark [default: 5]")
    args = parser.parse_args()
    found = measured(args.build, args.repetitions)
    commit = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], capture_output=True, text=True,
                            check=True).stdout.strip()
    with open(HERE / "results/engine_layers.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["task", "sizes", "ours_us", "libtorch_us", "ratio", "products_us", "repetitions", "date", "cpu",
                      "commit"])
        for name, ours in found.items():
            parts = name.split("/")
            task = {"BM_lstm_step/engine": "lstm step", "BM_lstm_prediction/engine": "lstm prediction",
                    "BM_conv_kernels/forward": "convolution forward",
                    "BM_conv_kernels/step": "convolution step"}.get("/".join(parts[:2]))
            if task is None:
                continue
            sizes = "/".join(parts[2:])
            theirs = found[name.replace("/engine/", "/libtorch/").replace("conv_kernels", "conv_libtorch")]
            products = found["BM_lstm_products/" + sizes] if task == "lstm step" else None
            out.writerow([task, sizes.replace("/", ", "), f"{ours:.4g}", f"{theirs:.4g}", f"{theirs / ours:.3g}",
                          f"{products:.4g}" if products else "", args.repetitions, datetime.date.today(), processor(),
                          commit])
            print(f"{task}, {sizes}: {ours:.0f} us, libtorch {theirs:.0f} us ({theirs / ours:.2f}x)")


if __name__ == "__main__":
    main()
