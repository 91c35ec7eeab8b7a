#!/usr/bin/env python3
"""What does a step of several ranks cost? A model of three numbers, beside the measured rows of ranks.csv.

    .venv/bin/python benchmarks/rank_costs.py [--ranks 2] [--rounds 200] [--out benchmarks/results/rank_costs.csv]

The model, for b rows a step in all, R ranks, p parameters and K = --sync-every:

    seconds a step = c b / R + (m / K) (L + 2 (R - 1) / R  n / W)

c: seconds a row of one rank, from its measured rows a second. W: the bytes a second of an all-reduce, measured here by gloo between processes
that do the same work of 2 ms before each message; `alone_ms` is its latency there. L: the latency within a fit, the median over the rows of ranks.csv
with K = 1 of the time that rank 0 waited for a message, less its bytes: ranks do not end their work at the same time, and wake late. n: 4 p
bytes and m messages a step where K = 1 (2 where the method joins totals of the batch, such as dbk), else 12 p bytes and one message every K
steps, the moments of AdamW included. Each row of the table is a row of ranks.csv: the ratio of rows a second over one rank, predicted and
measured. The rows with the kind "paper" are predictions alone, with the same L and a network between machines of 1 GB a second.
"""

import argparse
import csv
import datetime
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

RESULTS = Path(__file__).resolve().parent / "results"
FIELDS = ["kind", "ranks", "batch", "sync_every", "parameters", "messages", "seconds_one", "latency_ms", "alone_ms", "bytes_per_s", "predicted", "measured", "date", "cores"]
SIZES = [8, 1000, 30000, 100000, 300000, 1000000]
# By the kind of ranks.csv: the parameters, and the messages of a step. dbk: a network of 64 units on 26 inputs, 128 features and their weights.
FITS = {"dbk, 2048": (40000, 2), "dbk, 200": (40000, 2), "dnn, 2048": (10000, 1), "vbll, 2048": (40000, 2), "dbk, 512 wide": (1100000, 2)}
PAPER = [(p, step, ranks, every) for p, step in ((40000, 4e-3), (1100000, 0.17), (11000000, 1.0)) for ranks in (2, 4, 8, 16, 32, 64) for every in (1, 8, 64)]


def worker(rank, ranks, port, rounds):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    work = torch.ones(1024, 128)
    weights = torch.ones(128, 128)

    def compute(times):
        for _ in range(times):
            work @ weights

    compute(20)
    began = time.perf_counter()
    compute(50)
    products = max(1, round(2e-3 * 50 / (time.perf_counter() - began)))  # as much work before every message, which takes about 2 ms
    for size in SIZES:
        x = torch.ones(size)
        times = []
        for _ in range(rounds):
            compute(products)
            began = time.perf_counter()
            dist.all_reduce(x)
            times.append(time.perf_counter() - began)
            x.fill_(1)
        if rank == 0:
            print(size, statistics.median(times), flush=True)


def measured(ranks, rounds):
    """Latency in seconds and bytes a second of an all-reduce: a line through the medians, by least squares of relative errors."""
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        port = it.getsockname()[1]
    processes = [subprocess.Popen([sys.executable, __file__, "--worker", str(rank), "--ranks", str(ranks), "--rounds", str(rounds), "--port", str(port)],
                                  stdout=subprocess.PIPE, text=True) for rank in range(ranks)]
    text = processes[0].communicate()[0]
    for process in processes[1:]:
        process.wait()
    points = [(2 * (ranks - 1) / ranks * 4 * int(size), float(seconds)) for size, seconds in (line.split() for line in text.splitlines())]
    a = torch.tensor([[1 / seconds, moved / seconds] for moved, seconds in points], dtype=torch.float64)
    latency, slope = torch.linalg.lstsq(a, torch.ones(len(points), 1, dtype=torch.float64)).solution.flatten().tolist()
    return max(latency, 0.0), 1 / max(slope, 1e-15)


def predicted(step, ranks, parameters, messages, every, latency, speed):
    """Rows a second over those of one rank, whose step takes so many seconds."""
    wire = 2 * (ranks - 1) / ranks * 4 * parameters / speed
    cost = messages * latency + wire if every == 1 else (latency + 3 * wire) / every
    return step / (step / ranks + cost)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "rank_costs.csv")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker is not None:
        worker(given.worker, given.ranks, given.port, given.rounds)
        return
    alone, speed = measured(given.ranks, given.rounds)
    rows = []

    def add(kind, ranks, batch, every, parameters, messages, step, wire, found):
        row = dict(zip(FIELDS, [kind, ranks, batch, every, parameters, messages, f"{step:.3g}", f"{1e3 * wire[0]:.3g}", f"{1e3 * alone:.3g}", f"{wire[1]:.3g}",
                                f"{predicted(step, ranks, parameters, messages, every, *wire):.3g}", found, datetime.date.today().isoformat(),
                                os.cpu_count()], strict=True))
        rows.append(row)
        print(*row.values(), flush=True)

    with open(RESULTS / "ranks.csv", newline="") as file:
        fits = [row for row in csv.DictReader(file) if row["ranks"] == str(given.ranks)]
    waits = []
    for row in fits:
        of = next((FITS[name] for name in FITS if row["kind"].startswith(name)), None)
        if of is not None and "--sync-every" not in row["kind"]:
            waited = float(row["messages"]) * int(row["batch"]) / float(row["rows_per_s"])
            waits.append(waited / of[1] - 2 * (given.ranks - 1) / given.ranks * 4 * of[0] / speed / of[1])
    latency = statistics.median(waits)
    for kind in dict.fromkeys(row["kind"] for row in fits):
        of = next((FITS[name] for name in FITS if kind.startswith(name)), None)
        if of is None:
            continue
        own = [row for row in fits if row["kind"] == kind]
        batch, every = int(own[0]["batch"]), int(kind.partition("--sync-every ")[2] or 1)
        step = batch / statistics.median(float(row["rows_per_s_one"]) for row in own)
        add(kind, given.ranks, batch, every, *of, step, (latency, speed), f"{statistics.median(float(row['ratio']) for row in own):.3g}")
    for parameters, step, ranks, every in PAPER:
        add("paper", ranks, 0, every, parameters, 1, step, (latency, 1e9), "")
    with open(given.out, "w", newline="") as file:
        out = csv.DictWriter(file, FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


if __name__ == "__main__":
    main()
