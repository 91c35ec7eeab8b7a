"""One training step and one predicted row of dbk, 1,000 rows, the steps of its rivals, and 32 rows added to the posterior
of a last layer: ours, PyTorch (plain, torch.compile, AOTInductor), ONNX Runtime, GPyTorch and VBLL.

Every round times a block of each competitor in a new order, so that what else the machine does meets all of
them; a ratio is taken within a round, and medians and quartiles are over the rounds. Times are processor
times of one thread (wall times beside them); starting the tool and loading a table are wall times.

    python benchmarks/peers.py [--build build-bench] [--rounds 15] [--block 0.3] [--only REGEX]
                               [--leave-out NAMES] [--out benchmarks/results/peers.csv]

AVX2 alone, which ONNX Runtime has no switch for:
    ATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX2 SLIMBAYES_KERNELS=AVX2 \
        python benchmarks/peers.py --only 'step.*|predict' --leave-out pytorch-onnxruntime --out benchmarks/results/peers_avx2.csv
"""

import argparse
import csv
import datetime
import importlib.metadata
import json
import os
import random
import re
import statistics
import subprocess
import time
import warnings
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import gpytorch
import peer_models
import torch

ROOT = Path(__file__).resolve().parent.parent
BATCHES = (200, 1024)
UPDATE_ROWS = 32
PREDICTED = (1, 1000)
OURS, FLOOR = "slimbayes", "gemm-floor"

# What google-benchmark calls our side of a task.
STEPS = {  # task: its objective and expansion, and the floor of that expansion
    "step": ("dppgp_silu", "dense"),
    "step vbll": ("vbll_silu", "dense"),
    "step sv-dkl": ("svgp_rbf", "inducing"),
    "step pp-dkl": ("ppgp_rbf", "inducing"),
    "step dbk-rbf": ("dppgp_rbf", "inducing"),
    "step vbll-rbf": ("vbll_rbf", "inducing"),
}
PROGRAM_NAMES = {
    **{(task, OURS, b): f"BM_step/{ours}/batch:{b}" for task, (ours, _) in STEPS.items() for b in BATCHES},
    **{(task, FLOOR, b): f"BM_gemm_floor/{floor}/batch:{b}" for task, (_, floor) in STEPS.items() for b in BATCHES},
    ("predict", OURS, 1): "BM_RowPredictor/dbk_encoded",
    ("predict", "slimbayes, raw columns", 1): "BM_RowPredictor/dbk_raw",
    ("predict", OURS, 1000): "BM_Fitted_predict/rows:1000",
    **{("predict", FLOOR, rows): f"BM_predict_floor/rows:{rows}" for rows in PREDICTED},
    ("update", OURS, UPDATE_ROWS): f"BM_wide_posterior_added/batch:{UPDATE_ROWS}",
}

# Least (task, rows, competitor) / ours, and most microseconds of ours.
LEAST_RATIOS = {
    **{(f"step{of}", 200, FLOOR): 1 for of in ("", " vbll")},
    **{(f"step{of}", 1024, FLOOR): 1 / 0.88 for of in ("", " vbll")},
    **{(f"step {of}", b, FLOOR): 1 / 1.5 for of in ("pp-dkl", "sv-dkl") for b in BATCHES},
    **{(f"step{of}", 200, "pytorch-compiled"): 2.5 for of in ("", " vbll")},
    **{(f"step{of}", 1024, "pytorch-compiled"): 1.8 for of in ("", " vbll")},
    **{("predict", 1, rival): 1 for rival in ("pytorch-aoti-run", "pytorch-onnxruntime")},
    ("predict", 1000, FLOOR): 1 / 1.2,
}
MOST_US = {
    ("predict", 1, OURS): 2.5,
    ("predict", 1, "slimbayes, raw columns"): 5,
    ("start --help", 0, OURS): 50e3,
    ("load 10M cells", 500000, OURS): 10e6,
}


def run_program(program, name, *flags, environment=None):
    """(processor, wall) in microseconds a call, of the C++ benchmark of this name."""
    command = [program, f"--benchmark_filter=^{name}($|/)", "--benchmark_format=json", *flags]
    answer = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    (result,) = json.loads(answer.stdout)["benchmarks"]
    scale = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[result["time_unit"]]
    return result["cpu_time"] * scale, result["real_time"] * scale


def timed_block(call, seconds):
    """(processor, wall) in microseconds a call, over at least `seconds`."""
    calls, size = 0, 1
    wall, cpu = time.perf_counter(), time.process_time()
    while (elapsed := time.perf_counter() - wall) < seconds:
        for _ in range(size):
            call()
        calls += size
        if elapsed < seconds / 8:
            size *= 2
    return (time.process_time() - cpu) / calls * 1e6, (time.perf_counter() - wall) / calls * 1e6


def measure(program, rounds, seconds, only, leave_out):
    """{(task, competitor, rows): [(processor, wall) a round]} of the tasks that `only` matches, less some competitors."""
    calls = {}
    if re.fullmatch(only, "predict"):
        for rows in PREDICTED:
            calls |= {("predict", name, rows): call for name, call in peer_models.predictors(rows).items()}
    calls |= {("update", name, UPDATE_ROWS): call for name, call in peer_models.updates(UPDATE_ROWS).items()}
    for batch in BATCHES:
        steps = peer_models.training_steps(batch)
        calls |= {(task, name, batch): call for (task, name), call in steps.items()}
    calls = {task: call for task, call in calls.items() if re.fullmatch(only, task[0]) and task[1] not in leave_out}
    for call in calls.values():  # compiles, allocates, places q(u)
        for _ in range(10):
            call()
    tasks = [*calls, *(task for task in PROGRAM_NAMES if re.fullmatch(only, task[0]))]
    times = {task: [] for task in tasks}
    print(f"measuring {len(tasks)} competitors", flush=True)
    order = random.Random(0)
    for index in range(rounds):
        order.shuffle(tasks)
        for task in tasks:
            if task in calls:
                times[task].append(timed_block(calls[task], seconds))
            else:
                flag = f"--benchmark_min_time={seconds}"
                times[task].append(run_program(program, PROGRAM_NAMES[task], flag))
        print(f"round {index + 1} of {rounds}", flush=True)
    return times


def wall_times(build, rounds, only):
    """The tool's start and the table load, as (processor, wall) in microseconds; no peer, so wall counts."""
    if not re.fullmatch(only, "start and load"):
        return {}
    starts = []
    for _ in range(2 * rounds + 1):
        begin = time.perf_counter()
        subprocess.run([build / "slimbayes", "--help"], check=True, capture_output=True)
        starts.append((time.perf_counter() - begin) * 1e6)
    threads = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}  # Arrow heeds it
    loads = [run_program(build / "bench", "BM_read_table/numbers", environment=threads)[1] for _ in range(3)]
    return {
        ("start --help", OURS, 0): [(t, t) for t in starts],
        ("load 10M cells", OURS, 500000): [(t, t) for t in loads],
    }


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, low, high


def summarised(times):
    """A row a task and competitor: microseconds and the ratio to ours, median with quartiles."""
    rows = []
    for (task, name, size), pairs in times.items():
        row = {"task": task, "rows": size, "competitor": name, "rounds": len(pairs)}
        cpu = quartiles([cpu for cpu, _ in pairs])
        row |= dict(zip(("median_us", "low_us", "high_us"), cpu))
        row["wall_median_us"] = statistics.median(wall for _, wall in pairs)
        ours = times[(task, OURS, size)]
        ratio = quartiles([theirs[0] / own[0] for theirs, own in zip(pairs, ours)])
        row |= dict(zip(("ratio", "ratio_low", "ratio_high"), ratio))
        rows.append(row)
    return sorted(rows, key=lambda row: (not row["task"].startswith("step"), row["task"], row["rows"], row["median_us"]))


def machine():
    """What the figures depend on beside the code."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    models = [line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")]
    git = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": models[0] if models else "unknown",
        "cores": os.cpu_count(),
        "threads": 1,
        "load": f"{os.getloadavg()[0]:.1f}",
        "kernels": os.environ.get("SLIMBAYES_KERNELS", "best"),
        "torch": torch.__version__,
        "onnxruntime": importlib.metadata.version("onnxruntime"),
        "gpytorch": gpytorch.__version__,
        "vbll": importlib.metadata.version("vbll"),
        "commit": subprocess.run(git, capture_output=True, text=True).stdout.strip(),
    }


def show(rows, about):
    print("  ".join(f"{key} {value}" for key, value in about.items()))
    print(f"{'task':15}{'rows':>7}  {'competitor':23}{'median us':>12}{'quartiles':>24}{'/ ours':>8}  quartiles")
    for row in rows:
        spread = f"{row['low_us']:.1f} .. {row['high_us']:.1f}"
        ratios = f"{row['ratio']:8.2f}  {row['ratio_low']:.2f} .. {row['ratio_high']:.2f}"
        print(f"{row['task']:15}{row['rows']:7}  {row['competitor']:23}{row['median_us']:12.1f}{spread:>24}{ratios}")
    for row in rows:
        task = (row["task"], row["rows"], row["competitor"])
        if least := LEAST_RATIOS.get(task):
            verdict = "met   " if row["ratio"] >= least else "MISSED"
            print(f"{verdict} {task}: {row['ratio']:.2f}, target {least}")
        if most := MOST_US.get(task):
            verdict = "met   " if row["median_us"] <= most else "MISSED"
            print(f"{verdict} {task}: {row['median_us']:.0f} us, target {most:.0f}")


def write(path, rows, about):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], *about], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            short = {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in row.items()}
            writer.writerow(short | about)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build-bench", help="folder of bench and slimbayes")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--block", type=float, default=0.3, help="seconds a competitor and round")
    parser.add_argument("--only", default=".*", help="tasks whose whole name this matches, one is 'start and load'")
    parser.add_argument("--leave-out", default="", help="competitors, comma-separated; the compiled ones take minutes")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "peers.csv")
    chosen = parser.parse_args()
    if chosen.rounds < 2:
        parser.error("expected at least 2 rounds: a spread needs them")
    build = chosen.build.resolve()
    for program in ("bench", "slimbayes"):
        if not (build / program).exists():
            parser.error(f"expected {program} in {build}; build it: scripts/build.sh bench")
    warnings.filterwarnings("ignore", category=FutureWarning)  # the compiler's own
    torch.set_num_threads(1)
    torch.manual_seed(0)
    about = machine()
    times = measure(build / "bench", chosen.rounds, chosen.block, chosen.only, chosen.leave_out.split(","))
    times |= wall_times(build, chosen.rounds, chosen.only)
    rows = summarised(times)
    show(rows, about)
    write(chosen.out, rows, about)


if __name__ == "__main__":
    main()
