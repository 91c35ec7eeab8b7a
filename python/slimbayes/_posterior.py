"""A variance around a network that somebody trained with PyTorch."""

import io
import json
import struct
from collections.abc import Mapping
from contextlib import contextmanager, nullcontext

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


def _is_pair(data):
    return isinstance(data, (tuple, list)) and len(data) == 2 and all(hasattr(part, "__len__") for part in data)


def _joined(parts):
    """One batch of the inputs of several: tensors, or tuples or dictionaries of them."""
    import torch

    first = parts[0]
    if isinstance(first, Mapping):
        return {name: _joined([each[name] for each in parts]) for name in first}
    if isinstance(first, (tuple, list)):
        return tuple(_joined([each[i] for each in parts]) for i in range(len(first)))
    return torch.cat(parts) if isinstance(first, torch.Tensor) else np.concatenate([_numbers(each) for each in parts])


def _pair(data, what):
    """(x, y) of a pair, or of what yields pairs, such as a DataLoader. x is a tensor or an array, or a tuple or dictionary of them."""
    if _is_pair(data):
        return (data[0] if isinstance(data[0], (tuple, Mapping)) else _numbers(data[0])), _numbers(data[1])
    if hasattr(data, "__iter__") and not hasattr(data, "dtype") and not isinstance(data, (tuple, list, dict)):
        batches = list(data)
        if batches and all(isinstance(batch, (tuple, list)) and len(batch) == 2 for batch in batches):
            x = _joined([x for x, _ in batches])
            return (x if isinstance(x, (tuple, dict)) else _numbers(x)), np.concatenate([_numbers(y) for _, y in batches])
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


def _archive(module):
    """The bytes of a TorchScript module."""
    import torch

    out = io.BytesIO()
    torch.jit.save(module, out)  # it is loaded on the CPU, in evaluation mode
    return out.getvalue()


def _check_weights(module):
    """Raises ValueError for a module whose weights are not all there, or not all of one type that the library knows."""
    if any(type(part).__name__.startswith("Uninitialized") for part in module.parameters()):
        raise ValueError("posterior: expected a module with weights; received one whose lazy layers have none yet; call the module once")
    types = sorted({str(part.dtype).removeprefix("torch.") for part in module.parameters()})
    if any(part.is_meta for part in module.parameters()):
        raise ValueError("posterior: expected a module with weights; received one on the device 'meta', which holds none; load them: "
                         "module.to_empty(device='cpu'), then load_state_dict")
    if types not in ([], ["float32"], ["float64"]):
        raise ValueError(f"posterior: expected a module in float32 or float64; received {' and '.join(types)}; give module.float()")
    return types[0] if types else "float32"


class _Script:
    """A TorchScript module: C++ runs it, and a row is an array. Its `table` as that of a Host (slimbayes/_host.py)."""

    def __init__(self, module):
        self.module, self.type = _archive(module), _check_weights(module)

    @contextmanager
    def table(self, inputs):
        if isinstance(inputs, (tuple, Mapping)):
            raise ValueError(f"posterior: expected one tensor for a TorchScript module; received {type(inputs).__name__}; give the torch.nn.Module itself")
        array = _numbers(inputs)
        yield array.astype(self.type) if array.dtype.kind == "f" else array


class _Stored:
    """A TorchScript module in the file of a posterior, which C++ read."""

    @contextmanager
    def table(self, inputs):
        yield _numbers(inputs)


def posterior(module, data, method="rich-bll", layer=None, *, valid=None, valid_fraction=0.1, classes=None, seed=0, **options):
    """Adds a posterior variance to a trained torch module, without training. Its mean stays the module's output.

    module : torch.nn.Module that returns numbers or logits, alone or among other outputs. Its forward is called in evaluation mode and on
        the CPU, and the module stays as it is; no script, no trace, no copy of its weights. Training it further ends the posterior.
        A TorchScript module is run by C++.
    data : (x, y), the rows that it was trained on, or a DataLoader. x: a tensor or array; a tuple of them for a module of several inputs, a
        dictionary for named ones, such as what a tokenizer returns. y: numbers, or class numbers from 0.
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
    network, layer = _network(module, layer)
    with network.table(x) as rows:
        count = len(rows)
        if count != len(y):
            raise ValueError(f"posterior: expected as many targets as rows; received {len(y)} and {count}")
        classes = _classes_of(module, layer, y) if classes is None else _options.whole("classes", classes, 2**24)
        targets, own = _targets(y, classes), None
        if valid is None and valid_fraction > 0 and count >= 20:
            keep = count - max(round(valid_fraction * count), 1)
            rows, targets, own = rows[:keep], targets[:keep], (rows[keep:], targets[keep:])
        with nullcontext() if valid is None else _table_of(network, _pair(valid, "the validation rows"), classes) as given:
            made = core.ModulePosterior(network.module if isinstance(network, _Script) else network, layer, (rows, targets), given or own, classes,
                                        _options.text("method", method), _options.as_json(options), _options.as_json({"seed": seed}))
    notes = made.notes()
    if classes == 0 and set(np.unique(y)) == {0, 1} and y.dtype.kind in "iu":
        notes.append("y holds 0 and 1 and the module has one output: taken as numbers. If the output is the logit of class 1, "
                     "give classes=2")
    if valid is None and not classes:
        notes.append("the noise comes from rows that the module may have been trained on, so it may be too small: give rows that it "
                     "has not seen by valid=(x, y)")
    warn(notes)
    return Posterior(made, network)


def _network(module, layer):
    """What calls the module, and the path of its last layer."""
    import torch

    if not isinstance(module, torch.nn.Module):
        raise ValueError(f"posterior: expected a torch.nn.Module; received {type(module).__name__}")
    _check_weights(module)
    if layer is not None and not isinstance(layer, str):
        layer = next((name for name, part in module.named_modules() if part is layer), None)
    layer = _options.text("layer", layer) or _last_linear(module)
    if isinstance(module, torch.jit.ScriptModule):
        return _Script(module), layer
    from slimbayes._host import Host

    _layer_of(module, layer)
    return Host(module, layer), layer


@contextmanager
def _table_of(network, pair, classes):
    with network.table(pair[0]) as rows:
        yield rows, _targets(pair[1], classes)


def _targets(y, classes):
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if classes and not (y == np.round(y)).all():
        raise ValueError("posterior: expected class numbers as y, from 0; received fractions or NaN")
    return y.astype(np.int64) if classes else y.astype(np.float64)


def _layer_of(module, layer):
    """The linear layer at this path."""
    for name in layer.split("."):
        module = getattr(module, name, None)
    weight = getattr(module, "weight", None)
    if weight is None or weight.ndim != 2:
        raise ValueError(f"posterior: expected the path of a linear layer as layer; received {layer!r}; named_modules() lists them")
    return module


def _classes_of(module, layer, y):
    """The number of classes if y holds class numbers and the layer has several outputs, else 0."""
    outputs = _layer_of(module, layer).weight.shape[0]
    return int(outputs) if outputs > 1 and y.dtype.kind in "iu" and y.ndim == 1 else 0


class Posterior:
    """A posterior around a torch module, from `slimbayes.posterior` or `slimbayes.load`. Immutable; safe to share between threads.

    It calls the module that it was made of: the weights of that module must stay as they are.
    """

    def __init__(self, made, network):
        self._made, self._network = made, network

    def _answers(self, x, *level):
        with self._network.table(x) as rows:
            return self._made.answers(rows, *level)

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
        parts = self._answers(x)
        if "probabilities" in parts:
            if return_std:
                raise ValueError("predict: expected a regression for return_std; received a classifier; predict_proba has its probabilities")
            return np.argmax(parts["probabilities"], axis=1)
        if not return_std:
            return parts["mean"]
        return parts["mean"], np.sqrt(parts["aleatoric_var"] + parts["epistemic_var"])

    def predict_proba(self, x):
        """The probability of each class [n, C], averaged over the posterior of the logits."""
        parts = self._answers(x)
        if "probabilities" not in parts:
            raise ValueError("predict_proba: expected a classifier; received a regression; predict has its mean")
        return parts["probabilities"]

    def predict_dist(self, x):
        """The whole predictive: a `Distribution`."""
        parts = self._answers(x)
        return Distribution(**{name: parts[name] for name in Distribution._fields if name in parts})

    def predict_interval(self, x, level=0.95):
        """The central interval of each row, (lower, upper) [n] each."""
        parts = self._answers(x, _options.number("level", level))
        if "lower" not in parts:
            raise ValueError("predict_interval: expected a regression; received a classifier; predict_proba has its probabilities")
        return parts["lower"], parts["upper"]

    def ood_scores(self, x):
        """Scores for out-of-distribution detection by name, [n] each; a larger score means farther from the training data."""
        with self._network.table(x) as rows:
            return self._made.ood(rows)

    def update(self, x, y):
        """A new posterior that has learned these rows too. The module stays as it is."""
        with self._rows(x, y) as rows:
            return Posterior(self._made.update(rows), self._network)

    def forget(self, x, y):
        """A new posterior without these rows, which it must have learned before."""
        with self._rows(x, y) as rows:
            return Posterior(self._made.forget(rows), self._network)

    def save(self, path):
        """Writes a file for `slimbayes.load(path, module=net)`. It holds the posterior and the fingerprint of the module (its weights and the kinds
        of its parts; the code of its forward is not in it), not the module. Around a TorchScript module it holds that too, which is a program: load only files that you trust."""
        self._made.save(_texts.path(path))

    def _rows(self, x, y):
        return _table_of(self._network, (x, _numbers(y)), self._made.classes)

    def __reduce__(self):
        module = getattr(self._network, "module", None)
        return _unpickled, (self._made.to_bytes(), None if isinstance(self._network, (_Script, _Stored)) else (module, self._network.layer))

    def __repr__(self):
        return f"<slimbayes.Posterior: {self.method}, {self._made.rows()} rows>"


def _unpickled(data, given):
    if given is None:
        return Posterior(core.ModulePosterior.from_bytes(data), _Stored())
    network, _ = _network(*given)
    return Posterior(core.ModulePosterior.from_bytes(data, network), network)


def _metadata(path):
    """The texts in the header of a file; {} of one that has none."""
    try:
        with open(path, "rb") as file:
            size = struct.unpack("<Q", file.read(8))[0]
            found = json.loads(file.read(size)).get("__metadata__", {}) if size <= 1 << 26 else {}
            return found if isinstance(found, dict) else {}
    except (OSError, ValueError, struct.error, AttributeError, TypeError, RecursionError):
        return {}  # the library says what is wrong with the file


def is_posterior(path):
    """Whether a file holds a posterior around a module: the metadata of its header say so."""
    return "module_posterior" in _metadata(path)


def read(path, module):
    """The posterior of a file, around the module that it was made of; None where the file holds a TorchScript module."""
    if "module_host" not in _metadata(path):
        if module is not None:
            raise ValueError("load: expected no module for a file that holds one; received " + type(module).__name__)
        return Posterior(core.ModulePosterior.load(path), _Stored())
    if module is None:
        raise ValueError("load: expected the module that the posterior was made of; received none: slimbayes.load(path, module=net)")
    network, _ = _network(module, str(_metadata(path).get("module_layer", "")))
    if isinstance(network, _Script):
        raise ValueError("load: expected the torch.nn.Module that the posterior was made of; received a TorchScript module")
    return Posterior(core.ModulePosterior.load(path, network), network)
