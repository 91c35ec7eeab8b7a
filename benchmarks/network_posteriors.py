"""Posteriors around one trained network: slimbayes beside laplace-torch, in one run.

    .venv/bin/pip install --no-deps laplace-torch==0.2.2.2 curvlinops-for-pytorch==2.0.1 backpack-for-pytorch asdfghjkl \\
        torchmetrics lightning-utilities opt_einsum einops einconv unfoldNd tqdm
    .venv/bin/python benchmarks/network_posteriors.py --build build-bench

The tool trains a network (dnn) on a table. Then, in turns, the tool fits a method around it (--network-from) and
predicts the table, and laplace-torch does the same with the same weights, rows and encoded inputs. Time is that of
the processor, one thread. The tool's is what a command costs beyond dnn's own, so that start, reading and the network's
pass are not counted; laplace-torch's predictions include the pass. The noise is the validation MSE on both sides, the
prior sd has the largest evidence (rich-bll: the unit prior, its default).
"""

import argparse
import csv
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("SLIMBAYES_DATA", ROOT / "../shared/data"))
NETWORK = ["--network", "mlp", "--hidden", "50", "--blocks", "2", "--activation", "relu", "--steps", "3000"]
OURS = {"last-layer-laplace": ["--noise", "mse"], "bll": ["--noise", "mse", "--prior", "select", "--select", "evidence"],
        "rich-bll": ["--noise", "mse"],
        "ntk-gp": ["--noise", "mse", "--prior", "select", "--select", "evidence", "--max-rows", "1000000"]}
MOST_DENSE_ROWS = 2000  # above, the dense posteriors are left out


def encoded(table, model):
    """Inputs as the tool encodes numeric columns, the standardised target, the split, and the target's scale."""
    with safe_open(model, "numpy") as file:
        parts = {part: file.get_tensor(f"split.{part}") for part in ("train", "valid", "test")}
        encoder = json.loads(file.metadata()["encoder"])
    names = list(np.genfromtxt(table, delimiter=",", max_rows=1, dtype=str))
    values = np.genfromtxt(table, delimiter=",", skip_header=1)
    columns = [(values[:, names.index(c["name"])] - c["shift"]) / c["scale"] for c in encoder["columns"]]
    y = (values[:, names.index("y")] - encoder["y_shift"]) / encoder["y_scale"]
    to = lambda x: torch.tensor(np.asarray(x), dtype=torch.float32)
    return to(np.stack(columns, 1)), to(y), parts, encoder["y_scale"]


def network_of(model):
    """The tool's mlp as a PyTorch module, and the noise variance that it was given."""
    with safe_open(model, "pt") as file:
        spec = json.loads(file.metadata()["network"])
        layers = []
        for index, layer in enumerate(spec["layers"]):
            if layer["kind"] == "activation":
                layers.append(nn.ReLU())
                continue
            weight = file.get_tensor(f"network.{index}.weight")
            layers.append(nn.Linear(weight.shape[1], weight.shape[0]))
            layers[-1].weight.data, layers[-1].bias.data = weight, file.get_tensor(f"network.{index}.bias")
        return nn.Sequential(*layers), file.get_tensor("noise_var").item()


def nll(y, mean, variance):
    variance = variance.double()
    return (0.5 * torch.log(2 * torch.pi * variance) + 0.5 * (y - mean).double() ** 2 / variance).mean().item()


def tool(binary, *words):
    """Runs the tool; processor seconds and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([binary, *map(str, words)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"expected `slimbayes {words[0]}` to work; received {done.stderr.strip()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


class Tool:
    """One of our methods around the network."""

    def __init__(self, binary, table, base, folder, method, flags):
        self.binary, self.table, self.base, self.method, self.flags = binary, table, base, method, flags
        self.model, self.out = folder / f"{method}.st", folder / "answers.parquet"

    def fit(self):
        words = ["fit", self.table, "--network-from", self.base, "--method", self.method, "--model", self.model, *self.flags]
        return tool(self.binary, *words, "--threads", 1)[0]

    def predict(self):
        return tool(self.binary, "predict", self.model, self.table, "--out", self.out, "--threads", 1)[0]

    def test_nll(self):
        words = ["evaluate", self.model, self.table, "--split", "test", "--json"]
        return json.loads(tool(self.binary, *words)[1])["nll_standardized"]


class Rival:
    """One of laplace-torch's posteriors."""

    def __init__(self, table, base, subset, structure):
        self.x, self.y, self.parts, self.scale = encoded(table, base)
        self.subset, self.structure = subset, structure
        self.network, self.noise = network_of(base)

    def fit(self):
        from laplace import Laplace
        rows = self.parts["train"]
        data = DataLoader(TensorDataset(self.x[rows], self.y[rows].unsqueeze(1)), batch_size=512)
        more = {"n_subset": len(rows)} if self.structure == "gp" else {}
        begin = time.process_time()
        self.posterior = Laplace(self.network, "regression", subset_of_weights=self.subset,
                                 hessian_structure=self.structure, sigma_noise=self.noise**0.5, **more)
        self.posterior.fit(data)
        self.posterior.optimize_prior_precision(method="marglik")
        return time.process_time() - begin

    def answer(self, x):
        means, variances = zip(*[self.posterior(part) for part in x.split(512)])
        return torch.cat(means).squeeze(1).detach(), torch.cat(variances).flatten().detach() + self.noise

    def predict(self):
        begin = time.process_time()
        self.answer(self.x)
        return time.process_time() - begin

    def test_nll(self):
        rows = self.parts["test"]
        return nll(self.y[rows], *self.answer(self.x[rows]))


def measured(binary, name, rounds, folder):
    """A row a posterior of this table."""
    table, base = DATA / f"{name}.csv.gz", folder / f"{name}.st"
    tool(binary, "fit", table, "--target", "y", "--method", "dnn", *NETWORK, "--test-fraction", "0.1", "--model", base, "--threads", 1)
    x, y, parts, _ = encoded(table, base)
    with torch.no_grad():
        mse = (network_of(base)[0](x[parts["valid"]]).squeeze(1) - y[parts["valid"]]).square().mean().item()
    if abs(mse / network_of(base)[1] - 1) > 1e-4:
        sys.exit(f"expected the tool's network in PyTorch; received a validation MSE of {mse}, not {network_of(base)[1]}")
    n = len(parts["train"])
    all_of = {("slimbayes", m): Tool(binary, table, base, folder, m, flags) for m, flags in OURS.items()}
    all_of[("slimbayes", "dnn")] = Tool(binary, table, base, folder, "dnn", [])
    all_of[("laplace-torch", "last layer, full")] = Rival(table, base, "last_layer", "full")
    all_of[("laplace-torch", "functional (gp)")] = Rival(table, base, "all", "gp")
    if n > MOST_DENSE_ROWS:
        del all_of[("slimbayes", "ntk-gp")], all_of[("laplace-torch", "functional (gp)")]
    times = {key: [] for key in all_of}
    order = list(all_of)
    for index in range(rounds):
        random.Random(index).shuffle(order)
        for key in order:
            times[key].append((all_of[key].fit(), all_of[key].predict()))
        print(f"{name}: round {index + 1} of {rounds}", flush=True)
    base_fit, base_predict = (statistics.median(t[i] for t in times[("slimbayes", "dnn")]) for i in (0, 1))
    rows = []
    for key, pairs in times.items():
        if key[1] == "dnn":
            continue
        ours = key[0] == "slimbayes"
        fit, predict = ([t[i] - (b if ours else 0) for t in pairs] for i, b in ((0, base_fit), (1, base_predict)))
        rows.append({"table": name, "rows": n, "predicted": len(y), "library": key[0], "posterior": key[1],
                     "fit_s": statistics.median(fit), "fit_low_s": min(fit), "fit_high_s": max(fit),
                     "predict_s": statistics.median(predict), "predict_low_s": min(predict), "predict_high_s": max(predict),
                     "nll_standardized": all_of[key].test_nll(), "rounds": rounds})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build-bench", help="folder of slimbayes")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tables", default="concrete,power_plant")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "network_posteriors.csv")
    chosen = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    binary = chosen.build.resolve() / "slimbayes"
    git = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for name in chosen.tables.split(",") for row in measured(binary, name, chosen.rounds, Path(folder))]
    print(f"{'table':12}{'rows':>6}  {'posterior':36}{'fit s':>9}{'predict s':>11}{'NLL':>9}")
    for row in rows:
        who = f"{row['library']}, {row['posterior']}"
        print(f"{row['table']:12}{row['rows']:6}  {who:36}{row['fit_s']:9.3f}{row['predict_s']:11.4f}{row['nll_standardized']:9.3f}")
    with chosen.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "commit", "torch"], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            short = {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in row.items()}
            writer.writerow(short | {"commit": commit, "torch": torch.__version__})


if __name__ == "__main__":
    main()
