"""A fitted regression as a torch module: the same numbers as the model file holds for serving, differentiable in the inputs.

The file's part `serve` is data (slimbayes/engine/row_spec.h): features of a row, a head on them, and the mixture of `auto`. Each has a
module here, which computes what the C++ row model computes, in the same precisions.
"""

import json
import math
from typing import NamedTuple

import torch
from torch import nn

from slimbayes._torch_network import inverse_factor
from slimbayes._torch_parts import FlatModule, Head, Moments, Numbers, View, contents, features_of, held, number


class _Linear(nn.Module):
    """LinearRows of engine/row_spec.h."""

    def __init__(self, node, arrays):
        super().__init__()
        self.features, self.head = features_of(node["features"], arrays), Head(node["head"], arrays)

    def latent(self, x):
        phi, output = self.features(x)
        mean, factors, missing = self.head(phi)
        return mean if output is None else mean + output[..., 0], factors, missing, phi

    def forward(self, x):
        mean, factors, missing, _ = self.latent(x)
        return Moments(mean, self.head.of.noise_var.expand_as(mean), factors.square().sum(-1) + missing)

    def joint(self, x):
        mean, factors, missing, phi = self.latent(x)
        if self.head.kernel:  # rows vary together in the kernel that the features approximate
            rest = self.features.kernel(x) - phi @ phi.transpose(-1, -2)
        else:
            rest = torch.diag_embed(missing)
        return mean, factors @ factors.transpose(-1, -2) + rest


class _Kernel(nn.Module):
    """engine/kernel_rows.h."""

    def __init__(self, node, arrays):
        super().__init__()
        self.features = features_of(node["features"], arrays)
        self.of = Numbers(**{key: node[key] for key in ("amplitude", "noise_var", "offset", "diagonal")})
        n = len(arrays[node["alpha"]])
        held(self, arrays, node, lengthscale=(-1,), rows=(n, -1), alpha=(-1,), ones=(-1,))
        own = self._kernel(self.rows, self.rows) + self.of.diagonal * torch.eye(n, dtype=torch.float64)
        self.register_buffer("inverse", inverse_factor(own))
        self.register_buffer("root", self.ones.sum().sqrt())

    def _kernel(self, a, b):
        distance = (a.unsqueeze(-2) - b.unsqueeze(-3)).square().sum(-1)
        return self.of.amplitude * torch.exp(-0.5 * distance)

    def _points(self, x):
        u = self.features(x)[0] / self.lengthscale
        cross = self._kernel(u, self.rows)  # [..., n]
        return u, self.of.offset + cross @ self.alpha, cross @ self.inverse.T, (1 - cross @ self.ones) / self.root

    def forward(self, x):
        _, mean, solved, left = self._points(x)
        var = torch.clamp(self.of.amplitude - solved.square().sum(-1), min=0) + left.square()
        return Moments(mean, self.of.noise_var.expand_as(mean), var)

    def joint(self, x):
        u, mean, solved, left = self._points(x)
        covariance = self._kernel(u, u) - solved @ solved.transpose(-1, -2) + left.unsqueeze(-1) * left.unsqueeze(-2)
        return mean, covariance


class Component(NamedTuple):
    """What all rows share of a component of a density; ComponentShape of density/row_mixture.h explains the fields. Tensors, but for two."""

    weight: torch.Tensor
    dof: float = math.inf
    log: bool = False
    shift: torch.Tensor | float = 0.0
    scale: torch.Tensor | float = 1.0
    most: torch.Tensor | float = math.inf
    spare_var: torch.Tensor | float = 0.0


def _in_target_units(p, c):
    """target_moments() of density/row_mixture.h."""
    mean, aleatoric, epistemic = p
    if not c.log:
        return Moments(c.shift + c.scale * mean, c.scale ** 2 * aleatoric, c.scale ** 2 * epistemic)
    room = torch.clamp(c.most - mean, min=c.spare_var)
    share = torch.clamp(room / (aleatoric + epistemic), max=1)
    aleatoric, epistemic = share * aleatoric, share * epistemic
    unit = torch.exp(mean + 0.5 * (aleatoric + epistemic))
    square = (c.scale * unit).square()
    return Moments(c.shift + c.scale * unit, square * torch.exp(epistemic) * torch.expm1(aleatoric), square * torch.expm1(epistemic))


def _mixed(found):
    """mixed_moments(): the law of total variance. `found`: components with the moments of their warped targets; the weights have the sum 1."""
    weights, parts = [one.weight for one, _ in found], [_in_target_units(p, one) for one, p in found]
    mean, aleatoric, epistemic = (sum(w * part[k] for w, part in zip(weights, parts)) for k in range(3))
    if len(parts) > 1:
        epistemic = epistemic + sum(w * (part.mean - mean).square() for w, part in zip(weights, parts))
    return Moments(mean, aleatoric, epistemic)


class _Candidate(nn.Module):
    """CandidateRows of engine/row_spec.h, as engine/mixture_rows.cpp answers it."""

    def __init__(self, node, arrays):
        super().__init__()
        view, spread = node["view"], node["spread"]
        self.members = nn.ModuleList(_rows(member, arrays) for member in node["members"])
        self.log, self.of_folds, self.wild = view["warp"] == "log", spread["of_folds"], number(spread["wild_share"]) > 0
        self.dof = number(spread["dof"])
        self.seen = View(view, arrays)
        low, high = number(view["seen_low"]), number(view["seen_high"])
        self.view = Numbers(width=max(high - low, 1.0), **{key: value for key, value in view.items() if key != "warp" and not key.startswith("input_")})
        self.spread_of = Numbers(weight=node["weight"], **{key: value for key, value in spread.items()
                                                           if key not in ("of_folds", "dof", "centre", "spread", "weights")})
        held(self, arrays, spread, centre=(-1,), spread=(-1,), weights=(-1,))

    def _member(self, module, seen, x):
        mean, aleatoric, epistemic = module(seen)
        s = self.spread_of
        if self.weights is not None:
            score = (torch.cat([x.to(torch.float64), mean.unsqueeze(-1)], -1) - self.centre) / self.spread
            factor = torch.exp(torch.clamp(score @ self.weights, s.low, s.high))
            near = torch.clamp(epistemic, max=s.seen_epistemic)
            aleatoric, epistemic = factor * aleatoric, factor * near + (epistemic - near)
        if self.of_folds:
            aleatoric, epistemic = s.factor * aleatoric, s.factor * epistemic
        return Moments(mean, aleatoric, epistemic)

    def _pooled(self, x):
        seen = self.seen(x)
        parts = [self._member(module, seen, x) for module in self.members]
        if len(parts) == 1:
            return parts[0]
        mean, aleatoric, epistemic = (torch.stack([part[k] for part in parts]).mean(0) for k in range(3))
        between = torch.stack([(part.mean - mean).square() for part in parts]).mean(0)
        if not self.of_folds:
            return Moments(mean, aleatoric, epistemic + between)
        share = (aleatoric + epistemic) / (aleatoric + epistemic + between)
        return Moments(mean, share * aleatoric, share * epistemic + between)

    def forward(self, x):
        """The components of the answer, each a `Component` and the moments of its warped target."""
        v, s = self.view, self.spread_of
        mean, aleatoric, epistemic = self._pooled(x)
        own = Component(s.weight, self.dof)
        if self.log:
            own = Component(s.weight, log=True, shift=v.low, scale=v.unit, most=v.log_mean + v.log_sd * v.seen_high,
                            spare_var=(v.spare_sd * v.log_sd).square())
            shrunk = torch.clamp(v.width.square() / (aleatoric + epistemic), max=1) * v.log_sd.square()
            mean = v.log_mean + v.log_sd * torch.clamp(mean, v.seen_low - v.width, v.seen_high + 2 * v.spare_sd)
            aleatoric, epistemic = shrunk * aleatoric, shrunk * epistemic
        if not self.of_folds:
            aleatoric, epistemic = s.factor * aleatoric, s.factor * epistemic
        if self.log:
            share = torch.clamp((v.width * v.log_sd).square() / (aleatoric + epistemic), max=1)
            aleatoric, epistemic = share * aleatoric, share * epistemic
        warped = Moments(mean, aleatoric, epistemic)
        if not self.wild:
            return [(own, warped)]
        sound = _in_target_units(warped, own)
        wild = Moments(sound.mean, s.wild_factor * sound.aleatoric_var, s.wild_factor * sound.epistemic_var)
        return [(Component(s.wild_share * s.weight), wild), (own._replace(weight=(1 - s.wild_share) * s.weight), warped)]


class _Mixture(nn.Module):
    def __init__(self, node, arrays):
        super().__init__()
        self.candidates = nn.ModuleList(_Candidate(each, arrays) for each in node["candidates"])
        self.wrong, self.dof = number(node["wrong_share"]) > 0, number(node["wrong_dof"])
        self.of = Numbers(share=node["wrong_share"], factor=node["wrong_factor"])

    def components(self, x):
        """The components of the density of the standardised target, each with the moments of its warped target, and the moments of the whole."""
        found = [each for candidate in self.candidates for each in candidate(x)]
        total = sum(one.weight for one, _ in found)
        found = [(one._replace(weight=one.weight / total), p) for one, p in found]
        p = _mixed(found)
        if not self.wrong:
            return found, p
        found = [(one._replace(weight=(1 - self.of.share) * one.weight), p) for one, p in found]
        wrong = Moments(p.mean, self.of.factor * p.aleatoric_var, self.of.factor * p.epistemic_var)
        found.append((Component(self.of.share, self.dof), wrong))
        return found, _mixed(found)

    def forward(self, x):
        return self.components(x)[1]


class _Ensemble(nn.Module):
    """EnsembleRows of engine/row_spec.h: an equal mixture, as one Gaussian."""

    def __init__(self, node, arrays):
        super().__init__()
        self.members = nn.ModuleList(_rows(member, arrays) for member in node["members"])

    def _mean(self, parts):
        return torch.stack(parts).mean(0)

    def forward(self, x):
        parts = [member(x) for member in self.members]
        mean = self._mean([part.mean for part in parts])
        apart = self._mean([(part.mean - mean).square() for part in parts])
        return Moments(mean, self._mean([part.aleatoric_var for part in parts]), self._mean([part.epistemic_var for part in parts]) + apart)

    def joint(self, x):
        parts = [member.joint(x) for member in self.members]
        mean = self._mean([own for own, _ in parts])
        apart = [(own - mean).unsqueeze(-1) * (own - mean).unsqueeze(-2) for own, _ in parts]
        return mean, self._mean([covariance for _, covariance in parts]) + self._mean(apart)


_ROWS = {"linear": _Linear, "kernel": _Kernel, "mixture": _Mixture, "ensemble": _Ensemble}


def _rows(node, arrays):
    return _ROWS[node["kind"]](node["rows"], arrays)


class TorchModel(FlatModule):
    """A fitted regression as a module: rows of the user's columns in, mean and variance in units of the target out.

    A row has one number a column, in the order of `columns`: NaN is a missing cell, yes and no are 1 and 0, a time is seconds since 1970
    UTC, and a category its place in `levels[column]` (their number for any other). Any number of dimensions may stand before the columns. The
    answers are differentiable in the inputs and follow the module to its device; they are those of `predict`, to rounding. Networks compute in
    float32, as they were trained; `module.double()` makes them float64, for gradients without steps. Nothing checks that a row lies near the
    training rows, as `predict` does.
    """

    def __init__(self, encoder, serve, arrays):
        super().__init__(encoder)
        self.rows = _rows(serve["rows"], arrays)
        if "bounds" in encoder:
            raise TypeError("to_torch: expected a model of a target without bounds; received one within bounds (bounds=), whose answers are "
                            "transformed; slimbayes.serve and predict answer its rows")
        self.mixture = isinstance(self.rows, _Mixture)
        low = 0.0 if encoder["low"] >= 0 else -math.inf
        self.of = Numbers(shift=encoder["y_shift"], scale=encoder["y_scale"], low=low,  # no interval goes below `low`
                          least=low if self.mixture else -math.inf, least_noise=0.0 if self.mixture else serve["least_noise"])

    def forward(self, x):
        """`Moments` of rows [..., columns]: mean, aleatoric_var, epistemic_var, variance, each [...]."""
        mean, aleatoric, epistemic = self.rows(self._checked(x))
        aleatoric = torch.clamp(aleatoric, min=self.of.least_noise)
        mean, square = torch.clamp(self.of.shift + self.of.scale * mean, min=self.of.least), self.of.scale.square()
        return Moments(mean, square * aleatoric, square * epistemic)

    def components(self, x):
        """Of `auto`: what all rows share of each `Component` of the density, in units of the target, and the mean and the sd of its warped target t
        in each row [..., components]. The target is shift + scale t, or shift + scale exp(t) where `log` is true; t is Gaussian, or has a
        Student-t distribution with `dof` degrees of freedom. None for a Gaussian answer.
        """
        if not self.mixture:
            return None
        found, _ = self.rows.components(self._checked(x))
        shapes = [one._replace(shift=self.of.shift + self.of.scale * one.shift, scale=self.of.scale * one.scale) for one, _ in found]
        mean, sd = (torch.stack(values, -1) for values in zip(*[(p.mean, p.variance.sqrt()) for _, p in found]))
        return shapes, mean, sd

    def joint(self, x):
        """The posterior of the function at the rows [..., q, columns], jointly: its mean [..., q] and covariance [..., q, q], without the noise.
        Raises TypeError for `auto`, whose answer is a mixture.
        """
        if self.mixture:
            raise TypeError("joint: expected a method with one Gaussian posterior, such as dbk or gp-exact; received auto, a mixture")
        mean, covariance = self.rows.joint(self._checked(x))
        return self.of.shift + self.of.scale * mean, self.of.scale.square() * covariance


def served(model, method, function):
    """The metadata and the arrays of a compiled model that has a part for serving; TypeError for others."""
    metadata, arrays = contents(model.__getstate__())
    if "serve" not in metadata:
        raise TypeError(f"{function}: expected a model of the rows of a table, by a method and a network that the engine knows "
                        f"(docs/serving.md lists them); received a model of {method}")
    if kind := json.loads(metadata["encoder"]).get("kind"):
        raise TypeError(f"{function}: expected a model of the rows of a table; received one of {kind}; slimbayes.serve answers it")
    return metadata, arrays


def module_of(metadata, arrays):
    """The module of a model file's contents, of any task."""
    encoder, serve = (json.loads(metadata[name]) for name in ("encoder", "serve"))
    kind = serve["rows"]["kind"]
    if kind in _ROWS:
        return TorchModel(encoder, serve, arrays)
    from slimbayes import _torch_classes

    return (_torch_classes.TorchCounts if kind == "rate" else _torch_classes.TorchClassifier)(encoder, serve, arrays)


def to_torch(model, method, function="to_torch"):
    """The module of a compiled model."""
    return module_of(*served(model, method, function))
