"""A training step and a prediction of networks with random weights: ours beside plain PyTorch, in one run.

    scripts/build.sh bench bench && .venv/bin/python benchmarks/peer_random_weights.py --build build-bench

The network is the one of random_weights.cpp: 784-1200-1200-10, ranks 25, 25 and 10, 128 rows a step, float32, one
thread. PyTorch's side is written as its users write it: autograd over mu + softplus(rho) * randn, the closed-form KL to
N(0, 0.3^2), torch.optim.Adam. A prediction is 50 passes with a new draw each. Both sides run in turns; a time is that of
the processor, the least of the turns, so that other work on the machine counts little.
"""

import argparse
import csv
import json
import os
import subprocess
import time
from pathlib import Path

import torch
from torch.nn import functional

HERE = Path(__file__).resolve().parent
SIZES = [(784, 1200, 25), (1200, 1200, 25), (1200, 10, 10)]
PRIOR_SD, ROWS, DRAWS = 0.3, 60000, 50


def located(*sizes):
    return (0.03 * torch.randn(*sizes)).requires_grad_()


def spread(*sizes):
    return torch.full(sizes, -4.6).requires_grad_()


class Factor:
    """A tensor of independent Gaussians."""

    def __init__(self, *sizes):
        self.mean, self.rho = located(*sizes), spread(*sizes)

    def draw(self):
        sd = functional.softplus(self.rho)
        kl = (torch.log(PRIOR_SD / sd) + (sd**2 + self.mean**2) / (2 * PRIOR_SD**2) - 0.5).sum()
        return self.mean + sd * torch.randn_like(sd), kl


class Peer:
    def __init__(self, kind):
        self.kind = kind
        make = {"dense": lambda i, o, r: [located(o, i)], "mean_field": lambda i, o, r: [Factor(o, i)],
                "low_rank": lambda i, o, r: [Factor(i, r), Factor(o, r)]}[kind]
        self.layers = [(make(*size), torch.zeros(size[1], requires_grad=True)) for size in SIZES]
        tensors = [part for parts, bias in self.layers for one in parts
                   for part in ([one] if torch.is_tensor(one) else [one.mean, one.rho])]
        self.optimiser = torch.optim.Adam([*tensors, *(bias for _, bias in self.layers)], lr=1e-3)

    def forward(self, x):
        """The logits, and the KL of the draw."""
        kl = 0
        for i, (parts, bias) in enumerate(self.layers):
            matrices = []
            for part in parts:
                if torch.is_tensor(part):
                    matrices.append(part)
                else:
                    value, own = part.draw()
                    matrices.append(value)
                    kl = kl + own
            x = functional.linear(x if len(matrices) == 1 else x @ matrices[0], matrices[-1], bias)
            x = torch.relu(x) if i + 1 < len(self.layers) else x
        return x, kl

    def step(self, x, y):
        self.optimiser.zero_grad()
        logits, kl = self.forward(x)
        (functional.cross_entropy(logits, y) + kl / ROWS).backward()
        self.optimiser.step()

    @torch.no_grad()
    def predict(self, x):
        return sum(functional.softmax(self.forward(x)[0], -1) for _ in range(DRAWS)) / DRAWS


def milliseconds(work, seconds=0.7):
    work()
    start, count = time.process_time(), 0
    while time.process_time() - start < seconds:
        work()
        count += 1
    return 1e3 * (time.process_time() - start) / count


def theirs():
    torch.set_num_threads(1)
    x, y = torch.rand(128, SIZES[0][0]), torch.arange(128) % SIZES[-1][1]
    times = {}
    for kind in ("dense", "mean_field", "low_rank"):
        peer = Peer(kind)
        times[f"step/{kind}"] = milliseconds(lambda: peer.step(x, y))
        for rows in (1, 16, 64) if kind == "low_rank" else ():
            times[f"predict/{kind}/{rows}"] = milliseconds(lambda: peer.predict(x[:rows]))
    return times


def ours(bench):
    names = {f"BM_variational_step/{kind}": f"step/{kind}" for kind in ("dense", "mean_field", "low_rank")}
    for way in ("together", "apart"):
        names |= {f"BM_draws_{way}/low_rank/rows:{rows}": f"predict/low_rank/{rows}" + ("/apart" if way == "apart" else "")
                  for rows in (1, 16, 64)}
    words = [bench, "--benchmark_filter=^(" + "|".join(names) + ")$", "--benchmark_min_time=0.7", "--benchmark_format=json"]
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    return {names[one["name"]]: one["cpu_time"] for one in json.loads(done.stdout)["benchmarks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build-bench", help="folder with the program bench")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "random_weights.csv")
    parsed = parser.parse_args()
    least = {}
    for _ in range(parsed.turns):
        for side, times in (("ours", ours(Path(parsed.build) / "bench")), ("pytorch", theirs())):
            for name, value in times.items():
                least[side, name] = min(value, least.get((side, name), value))
    rows = []
    for (side, name), value in least.items():
        if side != "ours":
            continue
        peer = least["pytorch", name.removesuffix("/apart")]
        rows.append({"what": name, "ours_ms": f"{value:.2f}", "pytorch_ms": f"{peer:.2f}", "ratio": f"{value / peer:.2f}"})
        print("{what:<30} ours {ours_ms:>8} ms   pytorch {pytorch_ms:>8} ms   ratio {ratio}".format(**rows[-1]))
    dense = least["ours", "step/dense"]
    for kind in ("mean_field", "low_rank"):
        print(f"step/{kind} by the deterministic step: {least['ours', 'step/' + kind] / dense:.2f}")
    with open(parsed.out, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
