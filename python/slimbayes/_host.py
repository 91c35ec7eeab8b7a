"""A torch.nn.Module that C++ calls as it is: no script, no trace, no copy of its weights."""

import hashlib
import itertools
import json
import threading
from collections.abc import Mapping
from contextlib import contextmanager

import numpy as np
import torch

from slimbayes import _data


def rows_in(inputs):
    """The number of rows of what a module takes: a tensor, or a tuple or dictionary of them."""
    counts = {len(each) for each in parts_of(inputs)}
    if len(counts) != 1:
        raise ValueError(f"posterior: expected inputs of one number of rows; received {' and '.join(map(str, sorted(counts))) or 'none'}")
    return counts.pop()


def parts_of(inputs):
    return list(inputs.values()) if isinstance(inputs, dict) else list(inputs) if isinstance(inputs, tuple) else [inputs]


def tensors_of(values, dtype):
    """What the user gives as the inputs of a module: a tensor or array, or a tuple or dictionary of them; numbers with fractions in `dtype`."""
    if isinstance(values, Mapping):  # also what a tokenizer returns
        return {str(name): _tensor(each, dtype) for name, each in values.items() if each is not None}
    return tuple(_tensor(each, dtype) for each in values) if isinstance(values, tuple) else _tensor(values, dtype)


def _tensor(values, dtype):
    if not isinstance(values, torch.Tensor):
        array = _data.native(values)
        if array.dtype.kind not in "fiub":
            raise ValueError(f"expected numbers as a tensor or an array; received {type(values).__name__} of {array.dtype}")
        values = torch.from_numpy(np.ascontiguousarray(array))
    if values.is_meta:
        raise ValueError("expected rows with values; received a tensor on the device 'meta'")
    if values.is_complex():
        raise ValueError("Complex data not supported")
    values = values.detach().cpu()
    if values.is_inference():
        values = values.clone()
    return values.to(dtype) if values.is_floating_point() else values


def picked(inputs, rows):
    if isinstance(inputs, dict):
        return {name: each[rows] for name, each in inputs.items()}
    return tuple(each[rows] for each in inputs) if isinstance(inputs, tuple) else inputs[rows]


def _tensors_in(found):
    """The tensors of what a module returns, in order."""
    if isinstance(found, torch.Tensor):
        yield found
    elif isinstance(found, Mapping):
        for each in found.values():
            yield from _tensors_in(each)
    elif isinstance(found, (tuple, list)):
        for each in found:
            yield from _tensors_in(each)


@contextmanager
def _in_evaluation_mode(module):
    training = [part for part in module.modules() if part.training]
    for part in training:
        part.training = False
    try:
        yield
    finally:
        for part in training:
            part.training = True


class Host:
    """What C++ sees of a module (HostModule of nn/script_network.h). A row is its table's number and its place in it: the inputs themselves,
    which may be several or of any shape, stay in Python. Leaves that share the memory of the module's parameters take their place in a
    call, so that the module keeps its own as they are."""

    def __init__(self, module, layer):
        self.module, self.layer = module, layer
        self._lock, self._tables, self._numbers = threading.RLock(), {}, itertools.count()
        self._last = module.get_submodule(layer)
        own = {id(each) for each in self._last.parameters()}
        elsewhere = {id(each) for name, each in module.named_parameters(remove_duplicate=False) if not name.startswith(f"{layer}.")}
        with torch.inference_mode(False), torch.enable_grad():
            self._values = {name: self._leaf(each, id(each) not in own or id(each) in elsewhere) for name, each in module.named_parameters()}
            self._buffers = {name: self._shared(each) for name, each in module.named_buffers()}
        self.names = [name for name, each in self._values.items() if each.requires_grad]
        self.untrained = [name for name, each in module.named_parameters() if not each.requires_grad]
        floats = [each for each in self._values.values() if each.is_floating_point()]
        self.dtype = floats[0].dtype if floats else torch.float32
        with torch.no_grad(), _in_evaluation_mode(module), _computed(self._last):
            self.weight = self._shared(self._last.weight)
            self.bias = None if getattr(self._last, "bias", None) is None else self._shared(self._last.bias)
        self.fingerprint = self._fingerprint()

    @staticmethod
    def _shared(value):
        value = value.detach().cpu()
        return value.clone() if value.is_inference() else value

    def _leaf(self, value, counts):
        return self._shared(value).requires_grad_(counts and value.is_floating_point())

    def _fingerprint(self):
        digest, kind = hashlib.sha256(), type(self.module)
        state = self._values | self._buffers
        for name, each in state.items():
            digest.update(f"{name} {each.dtype} {tuple(each.shape)}".encode())
            digest.update(each.detach().contiguous().view(torch.uint8).numpy() if each.numel() and each.dim() else str(each.tolist()).encode())
        return json.dumps({"class": f"{kind.__module__}.{kind.__qualname__}", "layer": self.layer, "sha256": digest.hexdigest(),
                           "numbers": sum(each.numel() for each in state.values())})

    # What C++ reads: pointers to tensors that this object holds.
    def weight_handle(self):
        return torch._C._tensor_impl_raw_handle(self.weight)

    def bias_handle(self):
        return None if self.bias is None else torch._C._tensor_impl_raw_handle(self.bias)

    def parameter_handles(self):
        return [torch._C._tensor_impl_raw_handle(self._values[name]) for name in self.names]

    @contextmanager
    def table(self, inputs):
        """The rows of these inputs as C++ takes them, [n, 2] int64, while the context lasts."""
        number = next(self._numbers)
        self._tables[number] = inputs = tensors_of(inputs, self.dtype)
        try:
            yield np.stack([np.full(rows_in(inputs), number), np.arange(rows_in(inputs))], axis=1)
        finally:
            del self._tables[number]

    def run(self, handle):
        """The module's output and the inputs and outputs of its last layer, at rows [b, 2]; and a handle of each."""
        rows = torch._C._wrap_tensor_impl(handle)
        number, = {*rows[:, 0].tolist()} or {next(iter(self._tables))}
        inputs, seen = picked(self._tables[number], rows[:, 1]), []
        args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs if isinstance(inputs, tuple) else (inputs,), {})
        with self._lock, _in_evaluation_mode(self.module):
            hook = self._last.register_forward_hook(lambda _, given, out: seen.append((given[0], out)))
            try:
                found = torch.func.functional_call(self.module, self._values | self._buffers, args, kwargs)
            finally:
                hook.remove()
        if len(seen) != 1:
            raise ValueError(f"expected one call of the layer '{self.layer}' in a pass; received {len(seen)}")
        hidden, output = seen[0]
        whole = next((each for each in _tensors_in(found) if each.numel() == output.numel()), None)
        if whole is None:
            raise ValueError(f"expected the output of the layer '{self.layer}' among what the module returns; received {type(found).__name__} without it")
        tensors = whole, hidden, output
        return tensors, tuple(torch._C._tensor_impl_raw_handle(each) for each in tensors)


@contextmanager
def _computed(layer):
    """Runs the hooks of a layer that compute its weight from others, as old weight_norm, spectral_norm and pruning have them."""
    for hook in list(layer._forward_pre_hooks.values()):
        if type(hook).__module__.startswith("torch.nn.utils"):
            hook(layer, ())
    yield
