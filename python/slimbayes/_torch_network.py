"""The passes of a network as a torch module, of the layers that the engine knows for rows of numbers."""

import math

import torch
from torch import nn

ACTIVATIONS = {"silu": nn.functional.silu, "tanh": torch.tanh, "relu": torch.relu, "gelu": nn.functional.gelu,
               "mish": nn.functional.mish, "smooth-clip": lambda x: _clipped(torch.clamp(x, -1e9, 1e9))}


def _clipped(x):
    return x * torch.rsqrt(1 + (x / 3) ** 2)


def inverse_factor(matrix):
    """L^-1 of the positive definite L L^T, in float64: a product where a triangular solve would stand, which exporters know."""
    eye = torch.eye(len(matrix), dtype=matrix.dtype)
    return torch.linalg.solve_triangular(torch.linalg.cholesky(matrix), eye, upper=False)


def _scalar(value, x):
    """The number in the type of x: exporters write a Python number as float32."""
    return torch.tensor(value, dtype=x.dtype)


def like(dtype):
    """An empty buffer by whose type a module knows in which type it computes: module.double() changes it."""
    return torch.zeros(0, dtype=dtype)


class Network(nn.Module):
    """The layers of catalog/network/layers.h that the engine knows for rows of numbers, in float32 or, `exact`, in float64."""

    KNOWN = {"linear", "activation", "scale", "periodic", "layer_norm", "batch_norm", "dropout", "residual"}

    def __init__(self, features, arrays):
        super().__init__()
        self.layers = features["network"]["layers"]
        self.register_buffer("like", like(torch.float64 if features["exact"] else torch.float32))
        self.basis, self.rank = features["basis"], features["rank"]
        if features["of"] == "sketch":
            raise TypeError("to_torch: expected features of the network's values; received ntk-sketch, whose features are those of its gradient; slimbayes.serve answers it")
        self.last = features["of"] == "last_layer"
        for name, of in features["values"].items():
            self.register_buffer(self._key(name), torch.tensor(arrays[of], dtype=self.like.dtype))
        unknown = {layer["kind"] for layer in self._every(self.layers)} - self.KNOWN
        if unknown:
            raise ValueError(f"to_torch: expected layers of {', '.join(sorted(self.KNOWN))}; received {', '.join(sorted(unknown))}")

    @staticmethod
    def _key(name):
        return name.replace(".", "_")

    def _every(self, layers):
        for layer in layers:
            yield layer
            yield from self._every([*layer.get("body", []), *layer.get("shortcut", [])])

    def _value(self, name, *shape):
        return getattr(self, self._key(name)).reshape(shape)

    def _dense(self, name, x, weight_scale=1.0, bias_scale=1.0, bias=True):
        weight = self._value(f"{name}.weight", -1, x.shape[-1])
        y = x @ weight.T if weight_scale == 1 else _scalar(weight_scale, x) * (x @ weight.T)
        if not bias:
            return y
        own = self._value(f"{name}.bias", -1)
        return y + (own if bias_scale == 1 else _scalar(bias_scale, x) * own)

    def _run(self, layers, name, x):
        for i, layer in enumerate(layers):
            x = self._layer(layer, f"{name}.{i}", x)
        return x

    def _layer(self, layer, name, x):
        kind = layer["kind"]
        if kind == "linear":
            return self._dense(name, x, layer.get("weight_scale", 1.0), layer.get("bias_scale", 1.0), layer.get("bias", True))
        if kind == "activation":
            return ACTIVATIONS[layer.get("function", "silu")](x)
        if kind == "scale":
            return x * self._value(f"{name}.weight", -1)
        if kind == "layer_norm":
            return nn.functional.layer_norm(x, x.shape[-1:], self._value(f"{name}.weight", -1), self._value(f"{name}.bias", -1), 1e-5)
        if kind == "batch_norm":
            weight, bias, mean, var = (self._value(f"{name}.{part}", -1) for part in ("weight", "bias", "running_mean", "running_var"))
            return (x - mean) * torch.rsqrt(var + 1e-5) * weight + bias
        if kind == "periodic":
            return self._periodic(name, x)
        if kind == "residual":
            return self._run(layer.get("shortcut", []), f"{name}.shortcut", x) + self._run(layer["body"], name, x)
        return x  # a dropout, which predictions leave out

    def _periodic(self, name, x):
        d = x.shape[-1]
        frequency, phase = (self._value(f"{name}.{part}", d, -1) for part in ("frequency", "phase"))
        weight, bias = self._value(f"{name}.weight", d, -1, frequency.shape[1]), self._value(f"{name}.bias", d, -1)
        cosines = torch.cos(_scalar(2 * math.pi, x) * x.unsqueeze(-1) * frequency + phase)
        sums = torch.einsum("...df,def->...de", cosines, weight) + bias
        return torch.cat([sums, x.unsqueeze(-1)], -1).flatten(-2)

    def forward(self, x):
        """The features, and the network's outputs [..., k] where they are the inputs of its last layer; else None. Float64."""
        x = x.to(self.like.dtype)
        if self.last:
            features = self._run(self.layers[:-1], "network", x)
            output = self._layer(self.layers[-1], f"network.{len(self.layers) - 1}", features)
            return features.to(torch.float64), output.to(torch.float64)
        x = self._run(self.layers, "network", x)
        if self.basis == "linear":
            share = 1 / math.sqrt(self.rank)
            x = self._dense("basis", x, share, share)
        elif self.basis == "silu":
            x = self._value("basis.scale", -1) * nn.functional.silu(self._dense("basis", x))
        return x.to(torch.float64), None


class Fourier(nn.Module):
    """The expansion of basis/fourier.cpp, in the type of its network."""

    def __init__(self, of, values, arrays):
        super().__init__()
        self.of = of
        for name in ("weight", "bias", "log_amplitude"):
            self.register_buffer(name, torch.tensor(arrays[values[f"basis.{name}"]], dtype=torch.float32))
        self.weight = self.weight.reshape(len(self.bias), -1)
        self.register_buffer("share", torch.tensor(math.sqrt(2 / len(self.bias)), dtype=torch.float32))

    def forward(self, x):
        """The features [..., r]; None in the place of an output."""
        g = self.of(x)[0].to(self.weight.dtype)
        return (torch.cos(g @ self.weight.T + self.bias) * (self.share * torch.exp(self.log_amplitude))).to(torch.float64), None


class InducingPoints(nn.Module):
    """The expansion of basis/rbf.cpp: the features L^-1 k_Z(g) of an RBF kernel k with the points Z, L L^T = K_ZZ, in float64."""

    NUGGET = 1e-11  # of basis/rbf.cpp

    def __init__(self, of, values, arrays):
        super().__init__()
        points, log_lengthscale, log_amplitude = (torch.tensor(arrays[values[f"basis.{name}"]], dtype=torch.float64)
                                                  for name in ("inducing_points", "log_lengthscale", "log_amplitude"))
        self.of = of
        self.register_buffer("lengthscale", log_lengthscale.exp())
        self.register_buffer("amplitude", log_amplitude.exp().squeeze())
        self.register_buffer("points", points.reshape(-1, len(log_lengthscale)) / self.lengthscale)
        nugget = self.NUGGET * self.amplitude * torch.eye(len(self.points), dtype=torch.float64)
        self.register_buffer("inverse", inverse_factor(self._between(self.points, self.points) + nugget))

    def _between(self, u, v):
        return self.amplitude * torch.exp(-0.5 * (u.unsqueeze(-2) - v.unsqueeze(-3)).square().sum(-1))

    def _scaled(self, x):
        return self.of(x)[0] / self.lengthscale

    def forward(self, x):
        """The features [..., r]; None in the place of an output."""
        return self._between(self._scaled(x), self.points) @ self.inverse.T, None

    def kernel(self, x):
        """k of every two of the rows x [..., q, d]. [..., q, q]"""
        u = self._scaled(x)
        return self._between(u, u)
