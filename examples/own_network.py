"""Trains a network with PyTorch and saves it as TorchScript, with the rows it was trained on: what own_network.cpp reads.

    python3 own_network.py data/concrete.csv FOLDER
"""

import csv
import pathlib
import sys

import torch
from torch import nn


class Net(nn.Module):
    """Takes the columns as they are and answers in units of the target: the module holds its own scaling."""

    def __init__(self, x, y, hidden=32):
        super().__init__()
        self.register_buffer("x_mean", x.mean(0))
        self.register_buffer("x_sd", x.std(0))
        self.body = nn.Sequential(nn.Linear(x.shape[1], hidden), nn.SiLU(), nn.Dropout(0.05), nn.Linear(hidden, hidden), nn.SiLU())
        self.head = nn.Linear(hidden, 1)  # the last layer, linear, in units of the target
        with torch.no_grad():
            self.head.weight.mul_(y.std())
            self.head.bias.fill_(y.mean())

    def forward(self, x):
        return self.head(self.body((x - self.x_mean) / self.x_sd)).squeeze(-1)


def train(net, x, y, epochs):
    """Adam on the squared error in units of the target's variance."""
    parameters = [{"params": net.body.parameters()}, {"params": net.head.parameters(), "lr": 3e-2}]
    optimiser = torch.optim.Adam(parameters, lr=3e-3)
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(64):
            optimiser.zero_grad()
            (((net(x[rows]) - y[rows]) ** 2).mean() / y.var()).backward()
            optimiser.step()


def main(table, folder, epochs=150):
    torch.manual_seed(1)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(table, newline="") as file:
        header, *rows = csv.reader(file)
    order = torch.randperm(len(rows)).tolist()
    parts = {"train": order[: len(rows) * 8 // 10], "valid": order[len(rows) * 8 // 10 : len(rows) * 9 // 10]}
    parts["test"] = order[len(rows) * 9 // 10 :]
    for name, own in parts.items():
        with open(folder / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([header, *(rows[i] for i in own)])
    numbers = torch.tensor([[float(cell) for cell in rows[i]] for i in parts["train"]])
    x, y = numbers[:, :-1], numbers[:, -1]
    net = Net(x, y)
    train(net, x, y, epochs)
    # Scripted or traced; not frozen, because torch.jit.freeze turns the parameters into constants.
    torch.jit.script(net.eval()).save(str(folder / "net.pt"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
