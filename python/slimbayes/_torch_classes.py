"""A fitted classification, or regression of counts, as a torch module: the same numbers as the model file holds for serving.

The file's part `serve` is data (slimbayes/engine/classes/class_spec.h, engine/rate_model.h). Each of its kinds has a module here, which
computes what the C++ model computes, in the same precisions, over the same draws.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from slimbayes._torch_parts import FlatModule, Head, Numbers, View, features_of, held


TINY = 1e-30  # a probability that adds nothing to an entropy; exporters write it as float32


class ClassMoments(NamedTuple):
    """The answer to rows: `probabilities` [..., classes], `entropy` of them and `mutual_information`, its part that is ignorance of the model, in
    nats, each of the shape of the rows without their columns."""

    probabilities: torch.Tensor
    entropy: torch.Tensor
    mutual_information: torch.Tensor


class Rates(NamedTuple):
    """The answer to rows: `mean` and `variance` of the rate, whose logarithm is Gaussian with `log_mean` and `log_var`."""

    mean: torch.Tensor
    variance: torch.Tensor
    log_mean: torch.Tensor
    log_var: torch.Tensor


def philox_normals(key, count):
    """The first `count` numbers of a stream (slimbayes/density/philox.h): Philox4x32-10 (Salmon et al. 2011), then Box and Muller."""
    blocks = np.arange((count + 1) // 2, dtype=np.uint64)
    mask, zero = np.uint64(0xFFFFFFFF), np.zeros_like(blocks)
    counter = [blocks & mask, blocks >> np.uint64(32), zero, zero]
    keys = [np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [(second >> np.uint64(32)) ^ counter[1] ^ keys[0], second & mask, (first >> np.uint64(32)) ^ counter[3] ^ keys[1], first & mask]
        keys = [(keys[0] + np.uint64(0x9E3779B9)) & mask, (keys[1] + np.uint64(0xBB67AE85)) & mask]
    one, two = (((low | (high << np.uint64(32))) >> np.uint64(12)).astype(np.float64) for low, high in ((counter[0], counter[1]), (counter[2], counter[3])))
    radius, angle = np.sqrt(-2 * np.log((one + 0.5) * 2.0 ** -52)), 2 * np.pi * (two + 0.5) * 2.0 ** -52
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)[:count]


def entropy_of(p):
    return -(p * torch.log(torch.clamp(p, min=TINY))).sum(-1)


def _softmax(logits):
    """Of one logit f the classes are (sigmoid(-f), sigmoid(f))."""
    if logits.shape[-1] == 1:
        return torch.cat([torch.sigmoid(-logits), torch.sigmoid(logits)], -1)
    return torch.softmax(logits, -1)


class _AverageSigmoid(nn.Module):
    """average_sigmoid() of density/class_average.h, with an absolute error of 1e-7 in place of a relative one."""

    WIDE, REACH, STEP = 9.0, 38.0, 0.5

    def __init__(self):
        super().__init__()
        nodes, weights = np.polynomial.hermite_e.hermegauss(64)
        line = np.arange(-self.REACH, self.REACH + self.STEP / 2, self.STEP)
        step = np.where(np.abs(line) == self.REACH, self.STEP / 2, self.STEP)
        density = step * np.exp(-np.abs(line)) / (1 + np.exp(-np.abs(line))) ** 2
        for name, values in {"nodes": nodes, "weights": weights / weights.sum(), "line": line, "density": density, "step": step,
                             "line_entropy": self._entropy(torch.tensor(line)).numpy()}.items():
            self.register_buffer(name, torch.tensor(values, dtype=torch.float64))
        self.of = Numbers(root=math.sqrt(2 * math.pi), ratio=math.sqrt(0.5), least=1e-30)

    @staticmethod
    def _entropy(f):
        e = torch.exp(-f.abs())
        return torch.log1p(e) + f.abs() * e / (1 + e)

    def forward(self, mean, var):
        """The probabilities [..., 2] and the average of their entropy, from the mean and the variance of the logit."""
        wide = var > self.WIDE
        sd = torch.sqrt(torch.clamp(torch.where(wide, torch.ones_like(var), var), min=self.of.least))
        f = mean.unsqueeze(-1) + sd.unsqueeze(-1) * self.nodes
        p, expected = torch.sigmoid(f) @ self.weights, self._entropy(f) @ self.weights
        large = torch.sqrt(torch.where(wide, var, torch.full_like(var, self.WIDE)))
        z = (mean.unsqueeze(-1) - self.line) / large.unsqueeze(-1)
        # ONNX Runtime has Erf in float32 alone.
        phi = 0.5 * (1 + torch.erf((z * self.of.ratio).to(torch.float32)).to(torch.float64))
        far = phi @ self.density
        spread = (torch.exp(-0.5 * z.square()) @ (self.step * self.line_entropy)) / (large * self.of.root)
        p, expected = torch.where(wide, far, p), torch.where(wide, spread, expected)
        return torch.stack([1 - p, p], -1), expected


class _AverageSoftmax(nn.Module):
    """SoftmaxDraws of engine/classes/softmax_draws.h."""

    def __init__(self, key, logits, samples=1024):
        super().__init__()
        self.register_buffer("z", torch.tensor(philox_normals(key, samples // 2 * logits).reshape(-1, logits)))

    def forward(self, mean, offsets):
        """offsets [..., draws, k] of the logits from their mean [..., k]."""
        f = torch.cat([mean.unsqueeze(-2) + offsets, mean.unsqueeze(-2) - offsets], -2)
        log_p = torch.log_softmax(f, -1)
        each = torch.exp(log_p)
        p = each.mean(-2)
        return p / p.sum(-1, keepdim=True), -(each * log_p).sum(-1).mean(-1)


class _Known(nn.Module):
    def __init__(self, node, arrays):
        super().__init__()
        self.features = features_of(node["features"], arrays)

    def forward(self, x):
        p = _softmax(self.features(x)[0])
        return p, entropy_of(p)


class _Independent(nn.Module):
    def __init__(self, node, arrays):
        super().__init__()
        self.features = features_of(node["features"], arrays)
        self.heads = nn.ModuleList(Head(head, arrays) for head in node["heads"])
        self.average = _AverageSigmoid() if len(self.heads) == 1 else _AverageSoftmax(node["draws"], len(self.heads))

    def forward(self, x):
        phi, output = self.features(x)
        means, variances = [], []
        for c, head in enumerate(self.heads):
            mean, factors, missing = head(phi)
            means.append(mean if output is None else mean + output[..., c])
            variances.append(factors.square().sum(-1) + missing)
        if len(means) == 1:
            return self.average(means[0], variances[0])
        return self.average(torch.stack(means, -1), torch.stack(variances, -1).sqrt().unsqueeze(-2) * self.average.z)


class _Correlated(nn.Module):
    ROUNDS = 48  # of the iteration to the root of the covariance, which finds the root of an eigenvalue 1e-12 times the largest one
    NUGGET = 1e-12  # of the norm: it keeps a 0 that rounding made negative above 0

    def __init__(self, node, arrays):
        super().__init__()
        self.features, self.k = features_of(node["features"], arrays), node["outputs"]
        self.of, self.last, self.centred = Numbers(scale=node["scale"], last=node.get("last", 0.0)), "last" in node, node["centred"]
        k = self.k
        held(self, arrays, node, centre=(-1,), weights=(k, -1), contrasts=(-1, k), of_classes=(k, k), variances=(-1, k))
        r = len(arrays[node["weights"]]) // k if "weights" in node else None
        if "half" in node:
            size = math.isqrt(len(arrays[node["half"]]))
            half = torch.tensor(arrays[node["half"]], dtype=torch.float64).reshape(size, k, r or size // k)
            self.register_buffer("factor", half - half.mean(1, keepdim=True) if self.centred else half)  # [q, k, r]
        else:
            self.factor = None
            held(self, arrays, node, of_features=(math.isqrt(len(arrays[node["of_features"]])), -1))
            if self.centred:
                self.of_classes = self.of_classes - self.of_classes.mean(0)
        logits = k if self.contrasts is None else len(self.contrasts)
        self.average = _AverageSigmoid() if logits == 1 else _AverageSoftmax(0, logits)
        self.register_buffer("eye", torch.eye(logits, dtype=torch.float64))

    def _covariance(self, phi):
        if self.factor is not None:
            turned = torch.einsum("qcr,...r->...cq", self.factor, phi)
            return turned @ turned.transpose(-1, -2)
        along = (phi @ self.of_features).square() @ self.variances  # [..., k]
        return (self.of_classes * along.unsqueeze(-2)) @ self.of_classes.T

    def _root(self, s):
        """The symmetric root of each covariance, by the coupled iteration of Newton and Schulz: exporters know no eigenvectors. The covariance is
        singular along (1, ..., 1), where it gets an eigenvalue of its own: softmax does not see what is added to all logits."""
        norm = torch.sqrt(s.square().sum((-1, -2), keepdim=True)) + TINY
        ones = torch.ones_like(self.eye) / len(self.eye)
        y, z = (s / norm + ones) / 2 + self.NUGGET * self.eye, self.eye.expand_as(s)
        for _ in range(self.ROUNDS):
            t = 1.5 * self.eye - 0.5 * (z @ y)
            y, z = y @ t, t @ z
        return y * torch.sqrt(norm + norm)

    def forward(self, x):
        h, output = self.features(x)
        phi = (h if self.centre is None else h - self.centre) * self.of.scale
        if self.last:
            phi = torch.cat([phi, self.of.last.expand(*phi.shape[:-1], 1)], -1)
        mean, s = output if self.weights is None else phi @ self.weights.T, self._covariance(phi)
        if self.contrasts is not None:
            mean, s = mean @ self.contrasts.T, self.contrasts @ s @ self.contrasts.T
        if mean.shape[-1] == 1:
            return self.average(mean[..., 0], s[..., 0, 0])
        return self.average(mean, self.average.z @ self._root(s))


class _Forest(nn.Module):
    """engine/classes/forest.h: all trees beside each other, a step down at a time."""

    def __init__(self, node, arrays):
        super().__init__()
        classes, sizes = node["classes"], arrays[node["sizes"]].reshape(-1, 2)
        columns, thresholds, rights = (arrays[node[name]] for name in ("columns", "thresholds", "rights"))
        counts = arrays[node["counts"]].reshape(-1, classes).astype(float)
        first = np.concatenate([[0], np.cumsum(sizes[:, 0])])
        of_tree, inner = np.repeat(np.arange(len(sizes)), sizes[:, 0]), columns >= 0
        own = np.arange(len(columns))
        left, right = np.where(inner, own + 1, own), np.where(inner, first[of_tree] + rights, own)
        mean, entropy, depth = self._leaves(columns, left, right, counts, np.cumsum(~inner) - 1, first[:-1], node["parent_rows"])
        self.depth = int(depth)
        for name, values in {"column": np.maximum(columns, 0).astype(np.int64), "left": left, "right": right, "roots": first[:-1]}.items():
            self.register_buffer(name, torch.tensor(values.astype(np.int64)))
        self.register_buffer("threshold", torch.tensor(thresholds.astype(np.float32)))
        self.register_buffer("mean", torch.tensor(mean))
        self.register_buffer("entropy", torch.tensor(entropy))

    @staticmethod
    def _leaves(columns, left, right, counts, leaf, roots, parent_rows):
        """leaf_posterior(): the mean and the expected entropy at each node, of which those of leaves are used, and the greatest depth."""
        n, classes = len(columns), counts.shape[1]
        of_node = np.zeros((n, classes))
        for i in range(n - 1, -1, -1):
            of_node[i] = counts[leaf[i]] if columns[i] < 0 else of_node[left[i]] + of_node[right[i]]
        above, weight, depth = np.full((n, classes), 1.0 / classes), np.ones(n), np.zeros(n, int)
        alpha = np.zeros((n, classes))
        for i in range(n):
            alpha[i] = weight[i] * above[i] + of_node[i]
            if columns[i] < 0:
                continue
            for child in left[i], right[i]:
                weight[child], depth[child] = parent_rows, depth[i] + 1
                above[child] = alpha[i] / alpha[i].sum()
        total = alpha.sum(1, keepdims=True)
        mean = alpha / total
        digamma = torch.special.digamma(torch.tensor(np.concatenate([alpha, total], 1) + 1)).numpy()
        return mean, digamma[:, -1] - (mean * digamma[:, :-1]).sum(1), depth.max()

    def forward(self, x):
        x = x.to(self.threshold.dtype)
        at = self.roots.expand(*x.shape[:-1], len(self.roots))
        for _ in range(self.depth):
            cell = torch.gather(x, -1, self.column[at])
            at = torch.where(cell <= self.threshold[at], self.left[at], self.right[at])
        p = self.mean[at].sum(-2)
        return p / p.sum(-1, keepdim=True), self.entropy[at].mean(-1)


class _Fixed(nn.Module):
    def __init__(self, node, arrays):
        super().__init__()
        held(self, arrays, node, probabilities=(-1,))
        self.of = Numbers(expected=node["expected_entropy"])

    def forward(self, x):
        nothing = 0 * x[..., :1].to(torch.float64)
        return self.probabilities + nothing, self.of.expected + nothing[..., 0]


def _with_softmax(p, expected, logits):
    """The answer with other probabilities: the share of ignorance in the entropy stays."""
    before, after = entropy_of(p), torch.softmax(logits, -1)
    share = torch.where(before > 0, expected / torch.clamp(before, min=TINY), torch.ones_like(before))
    return after, share * entropy_of(after)


class _PoolMember(nn.Module):
    def __init__(self, node, arrays):
        super().__init__()
        self.members, self.of_folds = nn.ModuleList(_classes(member, arrays) for member in node["members"]), node["of_folds"]
        self.view, self.tempers = View(node, arrays), node["power"] != 1
        self.of = Numbers(weight=node["weight"], power=node["power"], least=1e-300)

    def _tempered(self, p, expected):
        return _with_softmax(p, expected, self.of.power * torch.log(torch.clamp(p, min=self.of.least))) if self.tempers else (p, expected)

    def forward(self, x):
        found = [member(self.view(x)) for member in self.members]
        if self.of_folds:
            found = [self._tempered(*one) for one in found]
        p, expected = (torch.stack(parts).mean(0) for parts in zip(*found))
        return (p, expected) if self.of_folds else self._tempered(p, expected)


class _Pool(nn.Module):
    LEAST = 1e-12

    def __init__(self, node, arrays):
        super().__init__()
        self.candidates = nn.ModuleList(_PoolMember(each, arrays) for each in node["candidates"])
        self.of = Numbers(power=node["power"])

    def forward(self, x):
        found = [candidate(x) for candidate in self.candidates]
        if len(found) == 1:
            return found[0]
        weights = [candidate.of.weight for candidate in self.candidates]
        total = sum(weights)
        p, expected = (sum(w / total * one[k] for w, one in zip(weights, found)) for k in range(2))
        logits = sum(self.of.power * w * torch.log(torch.clamp(one[0], min=self.LEAST)) for w, one in zip(weights, found))
        return _with_softmax(p, expected, logits)


KINDS = {"known": _Known, "independent": _Independent, "correlated": _Correlated, "forest": _Forest, "fixed": _Fixed, "pool": _Pool}


def _classes(node, arrays):
    return KINDS[node["kind"]](node["rows"], arrays)


class TorchClassifier(FlatModule):
    """A fitted classification as a module: rows of the user's columns in, as `TorchModel` takes them, and `ClassMoments` out. The probabilities
    are those of `predict_proba`, to rounding, in the order of `classes`; trees have the gradient 0."""

    def __init__(self, encoder, serve, arrays):
        super().__init__(encoder)
        self.rows, self.classes = _classes(serve["rows"], arrays), list(encoder["levels"])

    def forward(self, x):
        """`ClassMoments` of rows [..., columns]."""
        p, expected = self.rows(self._checked(x))
        entropy = entropy_of(p)
        return ClassMoments(p, entropy, torch.clamp(entropy - expected, min=0))


class _RateCandidate(nn.Module):
    def __init__(self, node, arrays):
        super().__init__()
        self.features = nn.ModuleList(features_of(member["features"], arrays) for member in node["members"])
        self.heads = nn.ModuleList(Head(member["head"], arrays) for member in node["members"])
        self.view, self.of = View(node, arrays), Numbers(weight=node["weight"])

    def forward(self, x):
        """The mean and the variance of the log rate by each member, and its share."""
        seen = self.view(x)
        for features, head in zip(self.features, self.heads):
            phi, output = features(seen)
            mean, factors, missing = head(phi)
            yield (mean if output is None else mean + output[..., 0]), factors.square().sum(-1) + missing


def _mixed_rate(parts):
    """The log-normal rate with the mean and the variance of a mixture of (mean, variance of the log rate, share)."""
    if len(parts) == 1:
        return parts[0][:2]
    centres, variances = torch.stack([mean + 0.5 * var for mean, var, _ in parts]), torch.stack([var for _, var, _ in parts])
    shares = torch.stack([share for _, _, share in parts]).reshape(-1, *[1] * (centres.dim() - 1))
    most = centres.amax(0)
    whole = most + torch.log((shares * torch.exp(centres - most)).sum(0))
    var = torch.clamp(torch.log1p((shares * torch.expm1(2 * (centres - whole) + variances)).sum(0)), min=0)
    return whole - 0.5 * var, var


class TorchCounts(FlatModule):
    """A fitted regression of counts as a module: rows of the user's columns in, as `TorchModel` takes them, and `Rates` out. The count of a row is
    Poisson with the rate; its variance is the mean plus the variance of the rate."""

    def __init__(self, encoder, serve, arrays):
        super().__init__(encoder)
        self.candidates = nn.ModuleList(_RateCandidate(each, arrays) for each in serve["rows"]["candidates"])

    def forward(self, x):
        """`Rates` of rows [..., columns]."""
        x, parts = self._checked(x), []
        total = sum(candidate.of.weight for candidate in self.candidates)
        for candidate in self.candidates:
            found = list(candidate(x))
            share = torch.ones_like(candidate.of.weight) / len(found)
            parts.append((*_mixed_rate([(mean, var, share) for mean, var in found]), candidate.of.weight / total))
        mean, var = _mixed_rate(parts)
        rate = torch.exp(mean + 0.5 * var)
        return Rates(rate, rate.square() * torch.expm1(var), mean, var)
