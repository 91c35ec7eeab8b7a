"""One training step of `dnn` on windows, images and text, beside the same network in plain PyTorch: the time of a step, in one run.

Each round fits with the tool for some steps without validation rows (seconds of training as `fit --json` says, so without
reading and encoding) and takes as many steps in PyTorch on batches of the same shape; rounds alternate. Prints a CSV row a
network: median milliseconds of both, their ratio and its range over the rounds; of text also tokens a second.

    .venv/bin/python benchmarks/inputs.py [--rounds 5] [--tool build/slimbayes] [--data FOLDER] [--only lstm,...]
"""

import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[1]


class Lstm(nn.Module):
    def __init__(self, inputs, hidden=64):
        super().__init__()
        self.lstm, self.norm, self.out = nn.LSTM(inputs, hidden, 2, batch_first=True), nn.LayerNorm(hidden), nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.norm(self.lstm(x)[0][:, -1]))


class Block(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.first, self.second = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.attention = nn.MultiheadAttention(hidden, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(hidden, 4 * hidden), nn.GELU(), nn.Linear(4 * hidden, hidden))

    def forward(self, x, absent):
        y = self.first(x)
        x = x + self.attention(y, y, y, key_padding_mask=absent, need_weights=False)[0]
        return x + self.mlp(self.second(x))


class Transformer(nn.Module):
    def __init__(self, words, hidden=64, heads=4):
        super().__init__()
        self.embedding, self.norm, self.out = nn.Embedding(words, hidden), nn.LayerNorm(hidden), nn.Linear(hidden, 2)
        self.blocks = nn.ModuleList([Block(hidden, heads) for _ in range(2)])

    def forward(self, tokens):
        present = tokens > 0
        place = torch.arange(tokens.shape[1])[:, None] / 10000 ** (torch.arange(0, 64, 2) / 64)
        x = self.embedding(tokens) + torch.cat([place.sin(), place.cos()], 1)
        for block in self.blocks:
            x = block(x, ~present)
        weight = present / present.sum(1, keepdim=True)
        return self.out((self.norm(x) * weight[..., None]).sum(1))


def conv(inputs, outputs, kernel=3, stride=1):
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs)]


def convnet(hidden=64):
    half = hidden // 2
    return nn.Sequential(*conv(1, half), nn.ReLU(), *conv(half, half), nn.ReLU(), nn.MaxPool2d(2), *conv(half, hidden), nn.ReLU(),
                         *conv(hidden, hidden), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(49 * hidden, 2 * hidden), nn.ReLU(), nn.Linear(2 * hidden, 10))


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(*conv(inputs, outputs, 3, stride), nn.ReLU(), *conv(outputs, outputs))
        self.shortcut = nn.Identity() if stride == 1 and inputs == outputs else nn.Sequential(*conv(inputs, outputs, 1, stride))

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet18(hidden=64):
    layers, width = [*conv(3, hidden), nn.ReLU()], hidden
    for stage in range(4):
        for block in range(2):
            layers.append(Residual(width, hidden << stage, 2 if stage and not block else 1))
            width = hidden << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def sentences(path, batch):
    """Tokens a batch as the tool has them: rows of like length together."""
    import csv
    with gzip.open(path, "rt") as file:
        lengths = sorted(max(1, len(row["text"].split())) for row in csv.DictReader(file))
    starts = range(0, len(lengths) - batch, max(1, len(lengths) // 40))
    return [(lengths[i + batch], sum(lengths[i:i + batch])) for i in starts]


def steps_of(model, batches, loss):
    """Seconds a step of AdamW."""
    optimiser = torch.optim.AdamW(model.parameters(), 1e-3)
    times = []
    for x, y in batches:
        start = time.perf_counter()
        optimiser.zero_grad()
        loss(model(x), y).backward()
        optimiser.step()
        times.append(time.perf_counter() - start)
    return statistics.mean(times)


def classes_of(shape, batch, count):
    return [(torch.randn(batch, *shape), torch.randint(10, (batch,))) for _ in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tool", default=ROOT / "build" / "slimbayes")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(os.environ.get("SLIMBAYES_DATA", ROOT.parent / "shared" / "data")))
    parser.add_argument("--only", default="lstm,convnet,transformer,resnet18")
    options = parser.parse_args()
    torch.set_num_threads(1)
    entropy, squares = nn.CrossEntropyLoss(), lambda out, y: nn.functional.mse_loss(out[:, 0], y)
    data, table = options.data, {}
    if "lstm" in options.only:
        table["lstm"] = (["beijing_pm25.csv.gz", "--target", "pm2.5", "--window", "24", "--time", "year,month,day,hour", "--ignore", "No"], 256, 122,
                         lambda: Lstm(16), lambda: [(torch.randn(256, 24, 16), torch.randn(256)) for _ in range(20)], squares)
    if "convnet" in options.only:
        table["convnet"] = (["mnist/t10k-images-idx3-ubyte.gz"], 64, 10, convnet, lambda: classes_of((1, 28, 28), 64, 8), entropy)
    if "transformer" in options.only:
        lengths = sentences(data / "sst2_train.csv.gz", 256)
        batches = lambda: [(torch.randint(1, 12000, (256, t)), torch.randint(2, (256,))) for t, _ in lengths]
        table["transformer"] = (["sst2_train.csv.gz", "--target", "label", "--text", "text"], 256, 262, lambda: Transformer(12000), batches, entropy)
    if "resnet18" in options.only:
        with gzip.open(data / "cifar10_test.bin.gz") as file:
            records = file.read(160 * 3073)
        few = pathlib.Path(tempfile.mkdtemp()) / "few.bin"
        few.write_bytes(records)
        table["resnet18"] = ([few, "--format", "cifar10", "--network", "resnet18", "--crop", "4", "--flip"], 16, 10, resnet18,
                             lambda: classes_of((3, 32, 32), 16, 10), entropy)
    print("network,batch,slimbayes_ms,pytorch_ms,ratio,ratio_low,ratio_high,tokens_per_s,rounds")
    for name, (words, batch, steps, model, batches, loss) in table.items():
        ours, theirs = [], []
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as folder:
                command = [options.tool, "fit", data / words[0], *words[1:], "--method", "dnn", "--valid-fraction", "0", "--batch", str(batch), "--steps", str(steps),
                           "--threads", "1", "--json", "--time-limit", "0", "--model", f"{folder}/m"]
                if name == "convnet":  # an epoch of all images would take a minute
                    command += ["--test-fraction", "0.93"]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
            summary = json.loads(done.stdout)["summary"]
            ours.append(1e3 * summary["seconds"] / summary["steps"])
            theirs.append(1e3 * steps_of(model(), batches(), loss))
        ratios = [mine / other for mine, other in zip(ours, theirs)]
        tokens = statistics.mean(words for _, words in lengths) / statistics.median(ours) * 1e3 if name == "transformer" else None
        print(f"{name},{batch},{statistics.median(ours):.2f},{statistics.median(theirs):.2f},{statistics.median(ratios):.3f},{min(ratios):.3f},{max(ratios):.3f},"
              f"{f'{tokens:.0f}' if tokens else ''},{options.rounds}", flush=True)


if __name__ == "__main__":
    main()
