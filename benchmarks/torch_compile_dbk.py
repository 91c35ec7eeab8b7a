"""One training step of dbk in PyTorch on a GPU, plain and by torch.compile: what scripts/gpu_check.sh compares the tool with.

The network is the default of tables, the objective dPPGP by automatic differentiation, the optimiser fused AdamW; float32 without TF32, as
the tool computes. Prints one JSON object: the milliseconds of a step, the median of blocks of steps between two synchronisations.

    python benchmarks/torch_compile_dbk.py [--device cuda] [--batch 1024] [--hidden 512] [--rank 512] [--inputs 26] [--seconds 3]
"""

import argparse
import json
import math
import statistics
import time

import torch
from torch import nn

ALPHA = BETA = 0.01
ROWS = 18000  # of the training, by which the KL term is divided
BLOCK = 20  # steps between two looks at the clock


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, x):
        return x + self.body(x)


class Dbk(nn.Module):
    """phi = s * SiLU(W g + b), q(w) = N(m, L L^T)."""

    def __init__(self, inputs, hidden, rank):
        super().__init__()
        blocks = [Residual(hidden) for _ in range(2)]
        self.net = nn.Sequential(nn.Linear(inputs, hidden), *blocks, nn.LayerNorm(hidden), nn.SiLU())
        self.expand = nn.Linear(hidden, rank)
        self.scale = nn.Parameter(torch.sign(torch.rand(rank) - 0.5) / math.sqrt(rank))
        self.mean = nn.Parameter(torch.zeros(rank))
        self.log_diagonal = nn.Parameter(torch.full((rank,), -0.5 * math.log(rank)))
        self.lower = nn.Parameter(torch.randn(rank, rank) / rank)
        self.offset = nn.Parameter(torch.zeros(()))
        self.log_noise = nn.Parameter(torch.tensor(math.log(1e-2)))

    def forward(self, x, y):
        """The loss of a batch [b, inputs], [b]."""
        phi = nn.functional.silu(self.expand(self.net(x))) * self.scale
        factor = torch.tril(self.lower, -1) + torch.diag(self.log_diagonal.exp())
        noise = self.log_noise.exp() + 1e-6
        var = (phi @ factor).square().sum(-1) + noise
        data = 0.5 * (torch.log(2 * math.pi * var) + (y - phi @ self.mean - self.offset).square() / var).mean()
        prior_var = phi.square().sum(-1)
        trace = (prior_var.max() - prior_var.mean()) / (2 * noise)
        kl = 0.5 * (self.mean.square().sum() + factor.square().sum() - 2 * self.log_diagonal.sum() - len(self.mean))
        return data + ALPHA * trace + BETA * kl / ROWS


def milliseconds(step, device, seconds):
    """The median time of a step, after steps that compile and warm up."""
    for _ in range(BLOCK):
        step()
    torch.accelerator.synchronize(device)
    taken, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(taken) < 3:
        start = time.perf_counter()
        for _ in range(BLOCK):
            step()
        torch.accelerator.synchronize(device)
        taken.append((time.perf_counter() - start) / BLOCK)
    return 1e3 * statistics.median(taken)


def stepper(given, compiled):
    """A function that makes one step on new rows of a table on the device."""
    torch.manual_seed(0)
    model = Dbk(given.inputs, given.hidden, given.rank).to(given.device)
    loss_of = torch.compile(model, mode=compiled) if compiled else model
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    x = torch.randn(8 * given.batch, given.inputs, device=given.device)
    y = torch.randn(8 * given.batch, device=given.device)

    def step():
        rows = torch.randint(0, len(y), (given.batch,), device=given.device)
        optimiser.zero_grad()
        loss_of(x[rows], y[rows]).backward()
        optimiser.step()

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    for name, default in ("batch", 1024), ("hidden", 512), ("rank", 512), ("inputs", 26):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seconds", type=float, default=3, help="of measuring each")
    given = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    found = {"torch": torch.__version__}
    for name, mode in ("plain", None), ("compile", "default"), ("compile, CUDA graphs", "reduce-overhead"):
        try:
            found[name] = milliseconds(stepper(given, mode), given.device, given.seconds)
        except Exception as error:  # no compiler, for instance: the others are still measured
            found[name] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    print(json.dumps(found))


if __name__ == "__main__":
    main()
