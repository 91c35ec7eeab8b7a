"""A fitted regression as a torch module: the same numbers as the model file holds for serving, differentiable in the inputs.

The file's part `serve` is data (slimbayes/engine/row_spec.h): features of a row, a head on them, and the mixture of `auto`. Each has a
module here, which computes what the C++ row model computes, in the same precisions.
"""

import json
import math
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from slimbayes._torch_network import InducingPoints, Network


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


def _number(value):
    return {"inf": math.inf, "-inf": -math.inf}.get(value, value) if isinstance(value, str) else float(value)


def _held(module, arrays, node, **shapes):
    """Registers the arrays that `node` names as float64 buffers; None for one that it lacks."""
    for name, shape in shapes.items():
        values = None if name not in node else torch.tensor(arrays[node[name]], dtype=torch.float64).reshape(shape)
        module.register_buffer(name, values)


class _Encoder(nn.Module):
    """Encoder::inputs: the user's columns [..., columns] to the inputs [..., d] of the model, as float32."""

    def __init__(self, encoder):
        super().__init__()
        self.columns = [column for column in encoder["columns"] if self._width(column) > 0]

    @staticmethod
    def _width(column):
        return int(column["scaled"]) + len(column["levels"]) + int(column["other"]) + int(column["indicator"])

    def forward(self, x):
        parts = []
        for j, column in enumerate(self.columns):
            cell = x[..., j]
            missing = torch.isnan(cell)
            if column["scaled"]:
                parts.append((torch.where(missing, column["fill"], cell) - column["shift"]) / column["scale"])
            for level in range(len(column["levels"]) + int(column["other"])):
                parts.append((cell == level).to(x.dtype))
            if column["indicator"]:
                parts.append(missing.to(x.dtype))
        return torch.stack(parts, -1).to(torch.float32)


class _Inputs(nn.Module):
    def forward(self, x):
        return x.to(torch.float64), None


def _features(node, arrays):
    if "network" not in node:
        return _Inputs()
    of = Network(node, arrays) if node["network"]["layers"] else _Inputs()
    return InducingPoints(of, node["values"], arrays) if node["basis"] == "rbf" else of


class _Linear(nn.Module):
    """engine/linear_head.h."""

    def __init__(self, node, arrays):
        super().__init__()
        self.features, head = _features(node["features"], arrays), node["head"]
        self.constant, self.noise, self.constant_var = (_number(head[key]) for key in ("constant", "noise_var", "constant_var"))
        self.response_constant, self.largest, self.prior_var = _number(head["response_constant"]), head.get("largest"), head.get("prior_var")
        rank = next((len(arrays[head[key]]) for key in ("weights", "response") if key in head), None)
        root = arrays[head["root"]] if "root" in head else None
        if rank is None and root is not None:
            rank = math.isqrt(len(root))
        _held(self, arrays, head, weights=(-1,), response=(-1,), root_constant=(-1,), root=(-1, rank or 1))

    def latent(self, x):
        """The mean of f, its factors [..., q] and the variance that the features [..., r] do not cover: the covariance of two rows is the product
        of their factors, plus what the features do not cover of theirs."""
        phi, output = self.features(x)
        mean = self.constant + 0 * phi.sum(-1)  # a constant has the gradient 0
        if self.weights is not None:
            mean = mean + phi @ self.weights
        if output is not None:
            mean = mean + output
        factors = []
        if self.root is not None:
            through = phi @ self.root.T
            factors.append(through if self.root_constant is None else through + self.root_constant)
        if self.constant_var > 0:
            response = 0 if self.response is None else phi @ self.response
            factors.append((math.sqrt(self.constant_var) * (1 - response - self.response_constant + 0 * mean)).unsqueeze(-1))
        factors = torch.cat(factors, -1) if factors else phi.new_zeros((*phi.shape[:-1], 1))
        covered = phi.square().sum(-1)
        if self.prior_var is not None:
            missing = torch.clamp(_number(self.prior_var) - covered, min=0)
        elif self.largest is not None:
            missing = torch.clamp(_number(self.largest) - covered, min=0)
        else:
            missing = torch.zeros_like(mean)
        return mean, factors, missing, phi

    def forward(self, x):
        mean, factors, missing, _ = self.latent(x)
        return Moments(mean, torch.full_like(mean, self.noise), factors.square().sum(-1) + missing)

    def joint(self, x):
        mean, factors, missing, phi = self.latent(x)
        if self.prior_var is not None:  # rows vary together in the kernel that the features approximate
            rest = self.features.kernel(x) - phi @ phi.transpose(-1, -2)
        else:
            rest = torch.diag_embed(missing)
        return mean, factors @ factors.transpose(-1, -2) + rest


class _Kernel(nn.Module):
    """engine/kernel_rows.h."""

    def __init__(self, node, arrays):
        super().__init__()
        self.features = _features(node["features"], arrays)
        self.amplitude, self.noise, self.offset = (_number(node[key]) for key in ("amplitude", "noise_var", "offset"))
        n = len(arrays[node["alpha"]])
        _held(self, arrays, node, lengthscale=(-1,), rows=(n, -1), alpha=(-1,), ones=(-1,))
        own = self._kernel(self.rows, self.rows) + _number(node["diagonal"]) * torch.eye(n, dtype=torch.float64)
        self.register_buffer("factor", torch.linalg.cholesky(own))

    def _kernel(self, a, b):
        distance = (a.unsqueeze(-2) - b.unsqueeze(-3)).square().sum(-1)
        return self.amplitude * torch.exp(-0.5 * distance)

    def _points(self, x):
        u = self.features(x)[0] / self.lengthscale
        cross = self._kernel(u, self.rows)  # [..., n]
        whole = cross.reshape(-1, cross.shape[-1])
        solved = torch.linalg.solve_triangular(self.factor, whole.T, upper=False).T.reshape(cross.shape)
        left = (1 - cross @ self.ones) / self.ones.sum().sqrt()
        return u, self.offset + cross @ self.alpha, solved, left

    def forward(self, x):
        _, mean, solved, left = self._points(x)
        var = torch.clamp(self.amplitude - solved.square().sum(-1), min=0) + left.square()
        return Moments(mean, torch.full_like(mean, self.noise), var)

    def joint(self, x):
        u, mean, solved, left = self._points(x)
        covariance = self._kernel(u, u) - solved @ solved.transpose(-1, -2) + left.unsqueeze(-1) * left.unsqueeze(-2)
        return mean, covariance


def _in_target_units(mean, aleatoric, epistemic, c):
    """target_moments() of density/row_mixture.h; c: a component."""
    if not c["log"]:
        return Moments(c["shift"] + c["scale"] * mean, c["scale"] ** 2 * aleatoric, c["scale"] ** 2 * epistemic)
    room = torch.clamp(c["most"] - mean, min=c["spare_var"])
    share = torch.clamp(room / (aleatoric + epistemic), max=1)
    aleatoric, epistemic = share * aleatoric, share * epistemic
    unit = torch.exp(mean + 0.5 * (aleatoric + epistemic))
    square = (c["scale"] * unit).square()
    return Moments(c["shift"] + c["scale"] * unit, square * torch.exp(epistemic) * torch.expm1(aleatoric), square * torch.expm1(epistemic))


def _mixed(weights, parts):
    """mixed_moments(): the law of total variance."""
    mean, aleatoric, epistemic = (sum(w * part[k] for w, part in zip(weights, parts)) for k in range(3))
    if len(parts) > 1:
        epistemic = epistemic + sum(w * (part.mean - mean).square() for w, part in zip(weights, parts))
    return Moments(mean, aleatoric, epistemic)


class _Candidate(nn.Module):
    """CandidateRows of engine/row_spec.h, as engine/mixture_rows.cpp answers it."""

    def __init__(self, node, arrays):
        super().__init__()
        self.members = nn.ModuleList(_rows(member, arrays) for member in node["members"])
        self.view = {key: value if isinstance(value, str) and key == "warp" else _number(value) for key, value in node["view"].items()
                     if not key.startswith("input_")}
        self.spread_of = {key: value if isinstance(value, bool) else _number(value) for key, value in node["spread"].items()
                          if key not in ("centre", "spread", "weights")}
        self.weight = _number(node["weight"])
        _held(self, arrays, node["view"], input_shift=(-1,), input_scale=(-1,))
        _held(self, arrays, node["spread"], centre=(-1,), spread=(-1,), weights=(-1,))

    def _member(self, module, seen, x):
        mean, aleatoric, epistemic = module(seen)
        s = self.spread_of
        if self.weights is not None:
            score = (torch.cat([x.to(torch.float64), mean.unsqueeze(-1)], -1) - self.centre) / self.spread
            factor = torch.exp(torch.clamp(score @ self.weights, s["low"], s["high"]))
            near = torch.clamp(epistemic, max=s["seen_epistemic"])
            aleatoric, epistemic = factor * aleatoric, factor * near + (epistemic - near)
        if s["of_folds"]:
            aleatoric, epistemic = s["factor"] * aleatoric, s["factor"] * epistemic
        return Moments(mean, aleatoric, epistemic)

    def _pooled(self, x):
        seen = x
        if self.input_shift is not None:
            seen = ((x.to(torch.float64) - self.input_shift) / self.input_scale).to(torch.float32)
        parts = [self._member(module, seen, x) for module in self.members]
        if len(parts) == 1:
            return parts[0]
        mean, aleatoric, epistemic = (sum(part[k] for part in parts) / len(parts) for k in range(3))
        between = sum((part.mean - mean).square() for part in parts) / len(parts)
        if not self.spread_of["of_folds"]:
            return Moments(mean, aleatoric, epistemic + between)
        share = (aleatoric + epistemic) / (aleatoric + epistemic + between)
        return Moments(mean, share * aleatoric, share * epistemic + between)

    def forward(self, x):
        """The weights of the components of the answer, and the moments of the target under each."""
        v, s = self.view, self.spread_of
        mean, aleatoric, epistemic = self._pooled(x)
        base = {"log": v["warp"] == "log", "shift": 0.0, "scale": 1.0, "most": math.inf, "spare_var": 0.0}
        width = max(v["seen_high"] - v["seen_low"], 1.0)
        if base["log"]:
            base |= {"shift": v["low"], "scale": v["unit"], "most": v["log_mean"] + v["log_sd"] * v["seen_high"],
                     "spare_var": (v["spare_sd"] * v["log_sd"]) ** 2}
            shrunk = torch.clamp(width ** 2 / (aleatoric + epistemic), max=1) * v["log_sd"] ** 2
            mean = v["log_mean"] + v["log_sd"] * torch.clamp(mean, v["seen_low"] - width, v["seen_high"] + 2 * v["spare_sd"])
            aleatoric, epistemic = shrunk * aleatoric, shrunk * epistemic
        if not s["of_folds"]:
            aleatoric, epistemic = s["factor"] * aleatoric, s["factor"] * epistemic
        if base["log"]:
            share = torch.clamp((width * v["log_sd"]) ** 2 / (aleatoric + epistemic), max=1)
            aleatoric, epistemic = share * aleatoric, share * epistemic
        own = _in_target_units(mean, aleatoric, epistemic, base)
        if s["wild_share"] == 0:
            return [1.0], [own]
        wild = Moments(own.mean, s["wild_factor"] * own.aleatoric_var, s["wild_factor"] * own.epistemic_var)
        return [s["wild_share"], 1 - s["wild_share"]], [wild, own]


class _Mixture(nn.Module):
    def __init__(self, node, arrays):
        super().__init__()
        self.candidates = nn.ModuleList(_Candidate(each, arrays) for each in node["candidates"])
        self.wrong_share, self.wrong_factor = _number(node["wrong_share"]), _number(node["wrong_factor"])

    def forward(self, x):
        weights, parts = [], []
        for candidate in self.candidates:
            shares, own = candidate(x)
            weights += [share * candidate.weight for share in shares]
            parts += own
        total = sum(weights)
        p = _mixed([weight / total for weight in weights], parts)
        if self.wrong_share == 0:
            return p
        wrong = Moments(p.mean, self.wrong_factor * p.aleatoric_var, self.wrong_factor * p.epistemic_var)
        every = [*((1 - self.wrong_share) * weight / total for weight in weights), self.wrong_share]
        return _mixed(every, [*parts, wrong])


def _rows(node, arrays):
    return {"linear": _Linear, "kernel": _Kernel, "mixture": _Mixture}[node["kind"]](node["rows"], arrays)


class TorchModel(nn.Module):
    """A fitted regression as a module: rows of the user's columns in, mean and variance in units of the target out.

    A row has one number a column, in the order of `columns`: NaN is a missing cell, yes and no are 1 and 0, a time is seconds since 1970
    UTC, and a category its place in `levels[column]` (their number for any other). Any number of dimensions may stand before the columns. The
    answers are differentiable in the inputs and follow the module to its device; they are those of `predict`, to rounding. Nothing checks that
    a row lies near the training rows, as `predict` does.
    """

    def __init__(self, encoder, serve, arrays):
        super().__init__()
        self.encoder, self.rows = _Encoder(encoder), _rows(serve["rows"], arrays)
        self.columns = [column["name"] for column in self.encoder.columns]
        self.levels = {column["name"]: column["levels"] for column in self.encoder.columns if column["levels"]}
        self.shift, self.scale = float(encoder["y_shift"]), float(encoder["y_scale"])
        self.least_noise = 0.0 if isinstance(self.rows, _Mixture) else float(serve["least_noise"])
        self.least = 0.0 if isinstance(self.rows, _Mixture) and encoder["low"] >= 0 else -math.inf

    def _checked(self, x):
        if x.shape[-1] != len(self.columns):
            raise ValueError(f"expected rows of the columns {', '.join(self.columns)}; received {x.shape[-1]} columns")
        return self.encoder(x)

    def forward(self, x):
        """`Moments` of rows [..., columns]: mean, aleatoric_var, epistemic_var, variance, each [...]."""
        mean, aleatoric, epistemic = self.rows(self._checked(x))
        aleatoric = torch.clamp(aleatoric, min=self.least_noise)
        mean = torch.clamp(self.shift + self.scale * mean, min=self.least)
        return Moments(mean, self.scale ** 2 * aleatoric, self.scale ** 2 * epistemic)

    def joint(self, x):
        """The posterior of the function at the rows [..., q, columns], jointly: its mean [..., q] and covariance [..., q, q], without the noise.
        Raises TypeError for `auto`, whose answer is a mixture.
        """
        if isinstance(self.rows, _Mixture):
            raise TypeError("joint: expected a method with one Gaussian posterior, such as dbk or gp-exact; received auto, a mixture")
        mean, covariance = self.rows.joint(self._checked(x))
        return self.shift + self.scale * mean, self.scale ** 2 * covariance


def to_torch(model, method):
    """The module of a compiled model."""
    metadata, arrays = contents(model.__getstate__())
    if "serve" not in metadata:
        raise TypeError("to_torch: expected a regression on the rows of a table, by a method and a network that the engine knows "
                        f"(docs/serving.md lists them); received a model of {method}")
    return TorchModel(json.loads(metadata["encoder"]), json.loads(metadata["serve"]), arrays)
