"""A torch.nn.Module that C++ calls: no script, no trace, no copy of its weights."""

import copy
import hashlib
import itertools
import json
import threading
from collections.abc import Mapping
from contextlib import contextmanager
from types import MethodType

import numpy as np
import torch

from slimbayes import _data


def rows_in(inputs):
    """The number of rows of what a module takes: a tensor, or a tuple or dictionary of them."""
    if any(each.dim() == 0 for each in parts_of(inputs)):
        raise ValueError("posterior: expected inputs with a row each; received a single number")
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
        values = torch.from_numpy(np.array(array, order="C"))
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


def _shadow(module, leaf, seen):
    """A module of the same class with the same children. `leaf` gives the tensor that takes the place of each of the user's parameters and
    buffers. What a call changes, such as hooks, flags and buffers, it changes in the shadow alone. `seen`: the shadows that were made
    already, by the user's modules, so that a module in two places has one."""
    if isinstance(module, torch.jit.ScriptModule):
        raise ValueError(f"posterior: expected modules of Python; received a TorchScript module inside, {type(module).__name__}")
    if module in seen:
        return seen[module]
    twin = seen[module] = object.__new__(type(module))
    for name, value in vars(module).items():
        if isinstance(value, MethodType) and value.__self__ is module:  # a forward that was put on this object
            value = MethodType(value.__func__, twin)
        twin.__dict__[name] = copy.copy(value) if isinstance(value, dict) else value
    for kind in "_parameters", "_buffers":
        twin.__dict__[kind] = {name: None if value is None else leaf(value) for name, value in getattr(module, kind).items()}
    twin.__dict__["_modules"] = {name: None if part is None else _shadow(part, leaf, seen) for name, part in module._modules.items()}
    return twin


class Host:
    """What C++ sees of a module (HostModule of nn/script_network.h). A row is its table's number and its place in it: the inputs themselves,
    which may be several or of any shape, stay in Python. The module that is called is a shadow of the user's, with leaves that share the
    memory of its parameters, so that the user's own stays as it is and threads may use it meanwhile."""

    def __init__(self, module, layer):
        self.module, self.layer = module, layer
        self._lock, self._tables, self._numbers, self._seen = threading.RLock(), {}, itertools.count(), threading.local()
        last = module.get_submodule(layer)
        own = {id(each) for each in last.parameters()}
        elsewhere = {id(each) for name, each in module.named_parameters(remove_duplicate=False) if not name.startswith(f"{layer}.")}
        self._leaves = {}

        def leaf(value):
            if id(value) not in self._leaves:
                counts = isinstance(value, torch.nn.Parameter) and value.is_floating_point() and (id(value) not in own or id(value) in elsewhere)
                shared = self._shared(value)
                self._leaves[id(value)] = shared.requires_grad_(counts) if isinstance(value, torch.nn.Parameter) else shared.clone()
            return self._leaves[id(value)]

        with torch.inference_mode(False), torch.enable_grad():
            self._net = _shadow(module, leaf, {}).eval()
        self._last = self._net.get_submodule(layer)
        self._last.register_forward_hook(self._keep, with_kwargs=True)
        named = {name: self._leaves[id(each)] for name, each in module.named_parameters()}
        self.names = [name for name, each in named.items() if each.requires_grad]
        self._parameters = [named[name] for name in self.names]
        self.untrained = [name for name, each in module.named_parameters() if not each.requires_grad]
        floats = [each for each in named.values() if each.is_floating_point()]
        self.dtype = floats[0].dtype if floats else torch.float32
        self.fingerprint = self._fingerprint()
        with torch.no_grad(), _computed(self._last):
            self.weight = self._shared(self._last.weight)
            self.bias = None if getattr(self._last, "bias", None) is None else self._shared(self._last.bias)
        self._watched = list(named.values())
        self._versions = self._version()

    @staticmethod
    def _shared(value):
        value = value.detach().cpu()
        return value.clone() if value.is_inference() else value

    def _version(self):
        """Changes with the weights, the last layer's too: a leaf has the counter of the parameter whose memory it shares."""
        return [each._version for each in self._watched]

    def _fingerprint(self):
        """Weights, and the kind of each part. The code of a forward is not in it."""
        digest = hashlib.sha256()
        for name, part in self.module.named_modules():
            digest.update(f"{name} {type(part).__qualname__} {part.extra_repr()}\n".encode())
        state = dict(self.module.named_parameters()) | dict(self.module.named_buffers())
        for name, each in state.items():
            value = self._shared(each)
            digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
            digest.update(value.contiguous().view(torch.uint8).numpy() if value.numel() and value.dim() else str(value.tolist()).encode())
        return json.dumps({"class": type(self.module).__qualname__, "layer": self.layer, "sha256": digest.hexdigest(),
                           "numbers": sum(each.numel() for each in state.values())})

    def _keep(self, _, given, named, out):
        self._seen.calls.append((given[0] if given else next(iter(named.values())), out))

    # What C++ reads: pointers to tensors that this object holds.
    def weight_handle(self):
        return torch._C._tensor_impl_raw_handle(self.weight)

    def bias_handle(self):
        return None if self.bias is None else torch._C._tensor_impl_raw_handle(self.bias)

    def parameter_handles(self):
        return [torch._C._tensor_impl_raw_handle(each) for each in self._parameters]

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
        if self._version() != self._versions:
            raise ValueError("expected the weights that the posterior was made of; received others: the module was trained since")
        inputs = picked(self._tables[number], rows[:, 1])
        args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs if isinstance(inputs, tuple) else (inputs,), {})
        with self._lock:
            self._seen.calls = []
            found = self._net(*args, **kwargs)
            calls, self._seen.calls = self._seen.calls, []
        if len(calls) != 1:
            raise ValueError(f"expected one call of the layer '{self.layer}' in a pass; received {len(calls)}")
        hidden, output = calls[0]
        tensors = _output_in(found, output, self.layer), hidden, output
        return tensors, tuple(torch._C._tensor_impl_raw_handle(each) for each in tensors)


def _output_in(found, output, layer):
    """The one of the tensors that a module returns that is its last layer's output: the same memory, else the same numbers, else as many."""
    alike = [each for each in _tensors_in(found) if each.numel() == output.numel()]
    for same in (lambda each: each.data_ptr() == output.data_ptr(), lambda each: torch.equal(each.detach().reshape(-1), output.detach().reshape(-1)),
                 lambda each: True):
        if (chosen := next((each for each in alike if same(each)), None)) is not None:
            return chosen
    raise ValueError(f"expected the output of the layer '{layer}' among what the module returns; received {type(found).__name__} without it")


@contextmanager
def _computed(layer):
    """Runs the hooks of a layer that compute its weight from others, as old weight_norm, spectral_norm and pruning have them."""
    for hook in list(layer._forward_pre_hooks.values()):
        if type(hook).__module__.startswith("torch.nn.utils"):
            hook(layer, ())
    yield
