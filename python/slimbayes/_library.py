"""Loads the compiled module, after a check that the torch of this environment is the one that it was built with."""

import os
from importlib import metadata


def _minor(version):
    return version.split("+")[0].split(".")[:2]


def _check_torch(built):
    """Raises ImportError for another torch: libtorch's binary interface changes with every minor version."""
    try:
        found = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return  # a libtorch without Python, on the library's path
    if _minor(found) != _minor(built):
        raise ImportError(f"slimbayes was built with torch {built} and found torch {found}: install torch=={built}, or build "
                          "slimbayes again in this environment (pip install --force-reinstall --no-deps .)")


def _built_with():
    """The version of torch that the installed module was built with; None in a build folder of the checkout."""
    try:
        from slimbayes._built import TORCH
    except ImportError:
        return None
    return TORCH


if (_built := _built_with()) is not None:
    _check_torch(_built)

from slimbayes import _core as core

_check_torch(core.torch_version)
DataError, NumericalError = core.DataError, core.NumericalError

_forked = []


def _in_child():
    """A child of fork has none of the threads that its parent computed with, and would wait for them."""
    _forked.append(True)
    core.set_threads(1)


def is_forked():
    """Whether this process is a child of fork, in which every computation takes one thread."""
    return bool(_forked)


os.register_at_fork(after_in_child=_in_child)
