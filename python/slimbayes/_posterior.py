"""A variance around a network that somebody trained with PyTorch."""

import io
import json
import struct

import numpy as np

from slimbayes import _data, _options, _texts
from slimbayes._answers import Distribution
from slimbayes._library import core
from slimbayes._notes import warn


def _numbers(values):
    """A tensor, array or list as an array that the library takes; float16 becomes float32, other whole numbers int64."""
    array = _data.native(values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"expected numbers as a tensor or an array; received {type(values).__name__} of {array.dtype}")
    if array.dtype.kind == "f" and array.dtype not in (np.float32, np.float64):
        return array.astype(np.float32)
    if array.dtype.kind in "iub" and array.dtype not in (np.int64, np.uint8):
        return array.astype(np.int64)
    return array


def _pair(data, what):
    """(x, y) of a pair, or of what yields pairs, such as a DataLoader."""
    if isinstance(data, (tuple, list)) and len(data) == 2 and all(hasattr(part, "__len__") for part in data):
        return _numbers(data[0]), _numbers(data[1])
    if hasattr(data, "__iter__") and not hasattr(data, "dtype") and not isinstance(data, (tuple, list, dict)):
        batches = list(data)
        if batches and all(isinstance(batch, (tuple, list)) and len(batch) == 2 for batch in batches):
            parts = [(_numbers(x), _numbers(y)) for x, y in batches]
            return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])
    raise ValueError(f"posterior: expected {what} as a pair (x, y) or a DataLoader that yields pairs; received {type(data).__name__}")


def _last_linear(module):
    """The path of the last linear layer of a module, in the order in which its layers were made."""
    import torch

    linear = [name for name, part in module.named_modules()
              if isinstance(part, torch.nn.Linear) or getattr(part, "original_name", "") == "Linear"]
    if linear == [""]:
        raise ValueError("posterior: expected a network whose last layer has a name; received a bare torch.nn.Linear; wrap it: "
                         "torch.nn.Sequential(layer)")
    if not linear:
        raise ValueError("posterior: expected a module that ends in a torch.nn.Linear; received one without; name its last layer by "
                         "layer=, or add a linear layer as its output")
    return linear[-1]


def _copied(module):
    """A copy of the module. torch copies no tensor that was computed, such as a weight that weight_norm derives: it is given as a value."""
    import copy

    import torch

    computed = (value for part in module.modules() for value in vars(part).values() if isinstance(value, torch.Tensor) and not value.is_leaf)
    return copy.deepcopy(module, {id(value): value.detach().clone() for value in computed})


def _without_parametrisations(module):
    """The module, in evaluation mode, with the weights that weight_norm, spectral_norm or pruning compute from others in the place of these
    others. A copy of a parametrised module shares its class, on which parametrize.remove_parametrizations would act."""
    import torch
    from torch.nn.utils import parametrize

    if isinstance(module, torch.jit.ScriptModule):
        return module
    for part in list(module.modules()):
        if parametrize.is_parametrized(part):
            values = {name: getattr(part, name).detach() for name in part.parametrizations}
            part.__class__ = parametrize.type_before_parametrizations(part)
            del part.parametrizations
            for name, value in values.items():
                part.register_parameter(name, torch.nn.Parameter(value))
        for key, hook in list(part._forward_pre_hooks.items()):
            if type(hook).__module__.startswith("torch.nn.utils") and hasattr(hook, "remove"):
                hook.remove(part)
                del part._forward_pre_hooks[key]
    return module


def _archive(module, x):
    """The module as a TorchScript archive. A copy on the CPU in evaluation mode is scripted or, where that fails, traced."""
    import torch

    if not isinstance(module, torch.nn.Module):
        raise ValueError(f"posterior: expected a torch.nn.Module; received {type(module).__name__}")
    module = _without_parametrisations(_copied(module).cpu().eval())
    if not isinstance(module, torch.jit.ScriptModule):
        like = next(iter(module.parameters()), None)
        rows = torch.from_numpy(np.ascontiguousarray(x[:8]))
        if like is not None and rows.is_floating_point():
            rows = rows.to(like.dtype)
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                module = torch.jit.script(module)
            except Exception as scripting:
                try:
                    module = torch.jit.trace(module, rows)
                except Exception as tracing:
                    raise ValueError(f"posterior: expected a module that torch.jit can script, or trace on {tuple(rows.shape)} inputs; "
                                     f"neither worked: {str(scripting).splitlines()[0]}; {str(tracing).splitlines()[0]}") from tracing
    out = io.BytesIO()
    torch.jit.save(module, out)
    return out.getvalue()


def _input_type(module, x):
    """x in the type of the module's parameters; whole numbers (tokens) stay."""
    if any(type(part).__name__.startswith("Uninitialized") for part in module.parameters()):
        raise ValueError("posterior: expected a module with weights; received one whose lazy layers have none yet; call the module once")
    types = sorted({str(part.dtype).removeprefix("torch.") for part in module.parameters()})
    if any(part.is_meta for part in module.parameters()):
        raise ValueError("posterior: expected a module with weights; received one on the device 'meta', which holds none; load them: "
                         "module.to_empty(device='cpu'), then load_state_dict")
    if types not in ([], ["float32"], ["float64"]):
        raise ValueError(f"posterior: expected a module in float32 or float64; received {' and '.join(types)}; give module.float()")
    return x.astype(types[0]) if types and x.dtype.kind == "f" else x


def posterior(module, data, method="rich-bll", layer=None, *, valid=None, valid_fraction=0.1, classes=None, seed=0, **options):
    """Adds a posterior variance to a trained torch module, without training. Its mean stays the module's output.

    module : torch.nn.Module that takes one tensor of rows and returns numbers or logits; it is scripted, or traced where that fails.
        A module on another device or in training mode is copied to the CPU and evaluated as by eval(); it is left as it is.
    data : (x, y), the rows that it was trained on, as tensors or arrays, or a DataLoader. y: numbers, or class numbers from 0.
    method : "rich-bll" (all layers, projected on the last), "bll" (the last layer alone) or "last-layer-laplace" (classes: with the
        covariance of the logits).
    layer : path of the last linear layer, such as "head" or "net.4"; None: the last one that the module has.
    valid : (x, y) of rows that the module has not seen, which give the noise of a regression. Give them if you have some: the
        training rows make the noise too small. None: the last `valid_fraction` of the rows.
    classes : number of classes; None: taken from a y of whole numbers if the module has several outputs, else a regression. 2 for a
        module whose one output is the logit of class 1.
    options : those of the method (slimbayes.describe("rich-bll")), such as ridge=1e-5, prior="select".

    >>> bayes = sb.posterior(net, (x, y), layer="head", valid=(x_valid, y_valid))
    >>> mean, sd = bayes.predict(x_new, return_std=True)
    """
    valid_fraction = _options.number("valid_fraction", valid_fraction)
    if not 0 <= valid_fraction < 1:
        raise ValueError(f"posterior: expected a valid_fraction of at least 0 and below 1; received {valid_fraction}")
    x, y = _pair(data, "the training rows")
    x = _input_type(module, x) if hasattr(module, "parameters") else x
    if len(x) != len(y):
        raise ValueError(f"posterior: expected as many targets as rows; received {len(y)} and {len(x)}")
    archive = _archive(module, x)
    if layer is not None and not isinstance(layer, str):
        layer = next((name for name, part in module.named_modules() if part is layer), None)
    layer = _options.text("layer", layer) or _last_linear(module)
    classes = _classes_of(module, layer, y) if classes is None else _options.whole("classes", classes, 2**24)
    own = None
    if valid is not None:
        own = _pair(valid, "the validation rows")
        own = (_input_type(module, own[0]), _targets(own[1], classes))
    elif valid_fraction > 0 and len(x) >= 20:
        keep = len(x) - max(round(valid_fraction * len(x)), 1)
        own = (x[keep:], _targets(y[keep:], classes))
        x, y = x[:keep], y[:keep]
    made = core.ModulePosterior(archive, layer, (x, _targets(y, classes)), own, classes, _options.text("method", method), _options.as_json(options),
                                _options.as_json({"seed": seed}))
    notes = made.notes()
    if classes == 0 and set(np.unique(y)) == {0, 1} and y.dtype.kind in "iu":
        notes.append("y holds 0 and 1 and the module has one output: taken as numbers. If the output is the logit of class 1, "
                     "give classes=2")
    if valid is None and not classes:
        notes.append("the noise comes from rows that the module may have been trained on, so it may be too small: give rows that it "
                     "has not seen by valid=(x, y)")
    warn(notes)
    return Posterior(made)


def _targets(y, classes):
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if classes and not (y == np.round(y)).all():
        raise ValueError("posterior: expected class numbers as y, from 0; received fractions or NaN")
    return y.astype(np.int64) if classes else y.astype(np.float64)


def _classes_of(module, layer, y):
    """The number of classes if y holds class numbers and the layer has several outputs, else 0."""
    for name in layer.split("."):
        module = getattr(module, name, None)
    weight = getattr(module, "weight", None)
    if weight is None or weight.ndim != 2:
        raise ValueError(f"posterior: expected the path of a linear layer as layer; received {layer!r}; named_modules() lists them")
    return int(weight.shape[0]) if weight.shape[0] > 1 and y.dtype.kind in "iu" and y.ndim == 1 else 0


class Posterior:
    """A posterior around a torch module, from `slimbayes.posterior` or `slimbayes.load`. Immutable; safe to share between threads."""

    def __init__(self, made):
        self._made = made

    @property
    def method(self):
        """ "rich-bll", "bll" or "last-layer-laplace"."""
        return self._made.method

    @property
    def facts(self):
        """Sentences on how the posterior was computed, such as the noise and the prior that were chosen."""
        return self._made.facts()

    def predict(self, x, return_std=False):
        """The mean [n] in units of y, with `return_std` also the total sd [n]; of a classifier the most probable class [n]."""
        parts = self._made.answers(_numbers(x))
        if "probabilities" in parts:
            if return_std:
                raise ValueError("predict: expected a regression for return_std; received a classifier; predict_proba has its probabilities")
            return np.argmax(parts["probabilities"], axis=1)
        if not return_std:
            return parts["mean"]
        return parts["mean"], np.sqrt(parts["aleatoric_var"] + parts["epistemic_var"])

    def predict_proba(self, x):
        """The probability of each class [n, C], averaged over the posterior of the logits."""
        parts = self._made.answers(_numbers(x))
        if "probabilities" not in parts:
            raise ValueError("predict_proba: expected a classifier; received a regression; predict has its mean")
        return parts["probabilities"]

    def predict_dist(self, x):
        """The whole predictive: a `Distribution`."""
        parts = self._made.answers(_numbers(x))
        return Distribution(**{name: parts[name] for name in Distribution._fields if name in parts})

    def predict_interval(self, x, level=0.95):
        """The central interval of each row, (lower, upper) [n] each."""
        parts = self._made.answers(_numbers(x), _options.number("level", level))
        if "lower" not in parts:
            raise ValueError("predict_interval: expected a regression; received a classifier; predict_proba has its probabilities")
        return parts["lower"], parts["upper"]

    def ood_scores(self, x):
        """Scores for out-of-distribution detection by name, [n] each; a larger score means farther from the training data."""
        return self._made.ood(_numbers(x))

    def update(self, x, y):
        """A new posterior that has learned these rows too. The module stays as it is."""
        return Posterior(self._made.update(self._rows(x, y)))

    def forget(self, x, y):
        """A new posterior without these rows, which it must have learned before."""
        return Posterior(self._made.forget(self._rows(x, y)))

    def save(self, path):
        """Writes a file for `slimbayes.load`. It holds the module, which is a program: load only files that you trust."""
        self._made.save(_texts.path(path))

    def _rows(self, x, y):
        return _numbers(x), _targets(_numbers(y), self._made.classes)

    def __reduce__(self):
        return _unpickled, (self._made.to_bytes(),)

    def __repr__(self):
        return f"<slimbayes.Posterior: {self.method}, {self._made.rows()} rows>"


def _unpickled(data):
    return Posterior(core.ModulePosterior.from_bytes(data))


def is_posterior(path):
    """Whether a file holds a posterior around a module: the metadata of its header say so."""
    try:
        with open(path, "rb") as file:
            size = struct.unpack("<Q", file.read(8))[0]
            if size > 1 << 26:
                return False
            return "module_posterior" in json.loads(file.read(size)).get("__metadata__", {})
    except (OSError, ValueError, struct.error, AttributeError, TypeError, RecursionError):
        return False  # the library says what is wrong with the file
