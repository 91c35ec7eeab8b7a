#!/usr/bin/env python3
"""N's recipe as its text gives it, in plain PyTorch, on the rows of a slimbayes model's split.

  experiments/torch_fit.py TABLE --split MODEL [--seed S] [--objective mse|elbo|dppgp] [--epochs 400]

A second witness where `--preset paper` does not reach N's numbers: it shares no code with slimbayes, so what both miss is
not in N's text (section 4, appendix B). mse: DNN; elbo: VBLL; dppgp: DBK-SiLU with alpha = beta = 0.01, which N tunes. One thread.
"""

import copy
import json
import math
import time

import torch
from rival import answer, arguments, metrics, rows_of
from torch import nn
from torch.nn import functional as F

HIDDEN, RANK, BATCH, STRENGTH = 64, 128, 1024, 0.01


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN)

    def forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))


class Model(nn.Module):
    """Inputs [b, d] to basis functions [b, RANK]; the posterior N(m, L L^T) of their weights; one noise variance."""

    def __init__(self, inputs, objective):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(inputs, HIDDEN), Block(), Block(), nn.LayerNorm(HIDDEN), nn.SiLU())
        self.objective, self.log_noise = objective, nn.Parameter(torch.tensor(math.log(1e-2)))
        if objective == "mse":
            self.head = nn.Linear(HIDDEN, 1)
            return
        self.expansion = nn.Linear(HIDDEN, RANK)
        self.scale = nn.Parameter((2 * torch.randint(2, (RANK,)) - 1) / math.sqrt(RANK))
        self.constant, self.m = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(RANK))
        self.log_diagonal = nn.Parameter(torch.full((RANK,), -0.5 * math.log(RANK)))
        self.lower = nn.Parameter(torch.randn(RANK, RANK) / RANK)

    def forward(self, x):
        """Mean and variance of f [b], its features [b, RANK]."""
        z = self.backbone(x)
        if self.objective == "mse":
            return self.head(z)[:, 0], torch.zeros(len(x)), None
        phi = self.scale * F.silu(self.expansion(z))
        return self.constant + phi @ self.m, (phi @ self.factor()).square().sum(1), phi

    def factor(self):
        return self.lower.tril(-1) + self.log_diagonal.exp().diag()

    def noise(self):
        return self.log_noise.exp() + 1e-6

    def loss(self, x, y, n):
        mean, variance, phi = self(x)
        if self.objective == "mse":
            return (mean - y).square().mean()
        noise = self.noise()
        kl = 0.5 * (self.m.square().sum() + self.factor().square().sum() - 2 * self.log_diagonal.sum() - RANK)
        if self.objective == "elbo":
            return gaussian(y, mean, noise) + (variance / (2 * noise)).mean() + kl / n
        norm = phi.square().sum(1)
        trace = ((norm.max() - norm) / (2 * noise)).mean()
        return gaussian(y, mean, variance + noise) + STRENGTH * trace + STRENGTH * kl / n


def gaussian(y, mean, variance):
    return 0.5 * ((y - mean).square() / variance + torch.log(2 * math.pi * variance)).mean()


def fit(x, y, split, options):
    """The checkpoint with the best validation NLL (mse: MSE) of all epochs, and the steps taken."""
    torch.manual_seed(options.seed)
    model, train = Model(x.shape[1], options.objective), torch.as_tensor(split["train"])
    decayed = list(model.backbone.parameters()) + (list(model.head.parameters()) if options.objective == "mse" else [])
    rest = [p for p in model.parameters() if not any(p is q for q in decayed)]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 1e-2}, {"params": rest, "weight_decay": 0}], lr=1e-3)
    best, kept, steps = math.inf, None, 0
    for _ in range(options.epochs):
        for rows in train[torch.randperm(len(train))].split(BATCH):
            loss = model.loss(x[rows], y[rows], len(train))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
        with torch.no_grad():
            mean, variance, _ = model(x[split["valid"]])
            truth = y[split["valid"]]
            mse = options.objective == "mse"
            score = (mean - truth).square().mean() if mse else gaussian(truth, mean, variance + model.noise())
        if score < best:
            best, kept = score, copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)
    if options.objective == "mse":  # as `dnn`: the validation rows' residuals
        with torch.no_grad():
            model.log_noise.copy_(torch.log(best - 1e-6))
    return model, steps


def main():
    parser = arguments(__doc__)
    parser.add_argument("--objective", choices=["mse", "elbo", "dppgp"], default="dppgp")
    parser.add_argument("--epochs", type=int, default=400)
    options = parser.parse_args()
    torch.set_num_threads(1)
    inputs, y, split, scale = rows_of(options.table, options.split, options.target)
    low, high = inputs.min(0), inputs.max(0)  # N: of the whole table
    x = 2 * (inputs - low) / (high - low).clip(1e-12) - 1
    center = y[split["train"]].mean()
    x, standardized = torch.tensor(x, dtype=torch.float32), torch.tensor((y - center) / scale, dtype=torch.float32)
    start = time.perf_counter()
    model, steps = fit(x, standardized, split, options)
    seconds = time.perf_counter() - start

    def score(rows):
        with torch.no_grad():
            mean, variance, _ = model(x[rows])
            total = (variance + model.noise()).double().numpy()
        return metrics(y[rows], center + scale * mean.double().numpy(), scale**2 * total, scale)

    print(json.dumps(answer(split, score, steps, "budget", seconds)))


if __name__ == "__main__":
    main()
