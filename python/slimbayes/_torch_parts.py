"""What the torch modules of fitted models are made of: columns, features, heads, numbers (slimbayes/engine)."""

import json
import math
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from slimbayes._torch_network import Fourier, InducingPoints, Network, like


class Moments(NamedTuple):
    """The answer to rows: `mean` and the two parts of the variance, each of the shape of the rows without their columns."""

    mean: torch.Tensor
    aleatoric_var: torch.Tensor
    epistemic_var: torch.Tensor

    @property
    def variance(self):
        """The total variance."""
        return self.aleatoric_var + self.epistemic_var


def contents(data):
    """The metadata and the arrays of a model file's bytes (the safetensors layout)."""
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    types = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}

    def array(entry):
        first, last = entry["data_offsets"]
        return np.frombuffer(data[start + first:start + last], types[entry["dtype"]])

    return header["__metadata__"], {name: array(entry) for name, entry in header.items() if name != "__metadata__"}


def number(value):
    return {"inf": math.inf, "-inf": -math.inf}.get(value, value) if isinstance(value, str) else float(value)


class Numbers(nn.Module):
    """Numbers as float64 tensors, by name: exporters write a Python number as float32, and buffers follow the module to its device."""

    def __init__(self, **values):
        super().__init__()
        for name, value in values.items():
            self.register_buffer(name, torch.tensor(number(value), dtype=torch.float64))


def held(module, arrays, node, **shapes):
    """Registers the arrays that `node` names as float64 buffers; None for one that it lacks."""
    for name, shape in shapes.items():
        values = None if name not in node else torch.tensor(arrays[node[name]], dtype=torch.float64).reshape(shape)
        module.register_buffer(name, values)


class _Encoder(nn.Module):
    """Encoder::inputs: the user's columns [..., columns] to the inputs [..., d] of the model, as float32."""

    def __init__(self, encoder):
        super().__init__()
        self.columns = [column for column in encoder["columns"] if self._width(column) > 0]
        self.register_buffer("like", like(torch.float32))
        self.numbers = nn.ModuleList(Numbers(fill=column["fill"], shift=column["shift"], scale=column["scale"]) for column in self.columns)

    @staticmethod
    def _width(column):
        return int(column["scaled"]) + len(column["levels"]) + int(column["other"]) + int(column["indicator"])

    def forward(self, x):
        parts = []
        for j, (column, own) in enumerate(zip(self.columns, self.numbers)):
            cell = x[..., j]
            missing = torch.isnan(cell)
            if column["scaled"]:
                parts.append((torch.where(missing, own.fill, cell) - own.shift) / own.scale)
            for level in range(len(column["levels"]) + int(column["other"])):
                parts.append((cell == level).to(x.dtype))
            if column["indicator"]:
                parts.append(missing.to(x.dtype))
        return torch.stack(parts, -1).to(self.like.dtype)


class _Inputs(nn.Module):
    def forward(self, x):
        return x.to(torch.float64), None


def features_of(node, arrays):
    if "network" not in node:
        return _Inputs()
    of = Network(node, arrays) if node["network"]["layers"] else _Inputs()
    expansion = {"rbf": InducingPoints, "fourier": Fourier}.get(node["basis"])
    return expansion(of, node["values"], arrays) if expansion else of


class Head(nn.Module):
    """engine/linear_head.h, on features."""

    def __init__(self, head, arrays):
        super().__init__()
        self.of = Numbers(**{key: head[key] for key in ("constant", "noise_var", "constant_var", "response_constant", "largest", "prior_var") if key in head})
        self.varies, self.kernel, self.bounded = number(head["constant_var"]) > 0, "prior_var" in head, "largest" in head
        rank = next((len(arrays[head[key]]) for key in ("weights", "response") if key in head), None)
        root = arrays[head["root"]] if "root" in head else None
        if rank is None and root is not None:
            rank = math.isqrt(len(root)) if "root_constant" not in head else len(root) // len(arrays[head["root_constant"]])
        held(self, arrays, head, weights=(-1,), response=(-1,), root_constant=(-1,), root=(-1, rank or 1))

    def forward(self, phi):
        """The mean of f without the network's output, its factors [..., q] and the variance that the features [..., r] do not cover: the
        covariance of two rows is the product of their factors, plus what the features do not cover of theirs."""
        mean = self.of.constant + 0 * phi.sum(-1)  # a constant has the gradient 0
        if self.weights is not None:
            mean = mean + phi @ self.weights
        factors = []
        if self.root is not None:
            through = phi @ self.root.T
            factors.append(through if self.root_constant is None else through + self.root_constant)
        if self.varies:
            response = 0 if self.response is None else phi @ self.response
            factors.append((self.of.constant_var.sqrt() * (1 - response - self.of.response_constant + 0 * mean)).unsqueeze(-1))
        factors = torch.cat(factors, -1) if factors else 0 * phi.sum(-1, keepdim=True)
        covered, missing = phi.square().sum(-1), torch.zeros_like(mean)
        if self.kernel or self.bounded:
            missing = torch.clamp((self.of.prior_var if self.kernel else self.of.largest) - covered, min=0)
        return mean, factors, missing


class View(nn.Module):
    """The inputs as a member of `auto` sees them."""

    def __init__(self, node, arrays):
        super().__init__()
        held(self, arrays, node, input_shift=(-1,), input_scale=(-1,))
        self.register_buffer("like", like(torch.float32))

    def forward(self, x):
        return x if self.input_shift is None else ((x.to(torch.float64) - self.input_shift) / self.input_scale).to(self.like.dtype)


class FlatModule(nn.Module):
    """A fitted model of the rows of a table as a module: its columns, and what every task does with a row."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = _Encoder(encoder)
        self.columns = [column["name"] for column in self.encoder.columns]
        self.levels = {column["name"]: column["levels"] for column in self.encoder.columns if column["levels"]}
        self.kinds = {column["name"]: column["kind"] for column in self.encoder.columns}
        self.register_buffer("exact", like(torch.float64))

    def _apply(self, fn, recurse=True):
        moved = super()._apply(fn, recurse)
        if self.exact.dtype != torch.float64:
            raise TypeError(f"to_torch: expected float64, in which the posterior is computed; received {self.exact.dtype}; make the module anew")
        return moved

    def inputs(self, frame):
        """The rows of a pandas data frame as the module takes them, [n, columns] in float64: NaN for a missing cell, seconds since 1970 UTC for a
        time, and for a category its place in `levels` (their number for any other)."""
        import pandas as pd

        found = []
        for name in self.columns:
            cells = frame[name]
            if self.kinds[name] == "categorical":
                places = {level: place for place, level in enumerate(self.levels[name])}
                cells = cells.map(lambda cell, places=places: math.nan if pd.isna(cell) else places.get(str(cell), len(places)))
            elif self.kinds[name] == "datetime":
                times = pd.to_datetime(cells, utc=True)
                cells = (times - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
            found.append(torch.tensor(cells.astype("float64").to_numpy(np.float64, copy=True)))
        return torch.stack(found, -1).to(self.exact.device)

    def _checked(self, x):
        if x.shape[-1] != len(self.columns):
            raise ValueError(f"expected rows of the columns {', '.join(self.columns)}; received {x.shape[-1]} columns")
        return self.encoder(x)
