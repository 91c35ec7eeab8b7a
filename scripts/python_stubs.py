#!/usr/bin/env python3
"""Writes the type stubs of the Python package, python/slimbayes/__init__.pyi, from the built package: the keywords of the estimators
derive from the library's options. Run it after an option has changed; a test compares.

    PYTHONPATH=build/python .venv/bin/python scripts/python_stubs.py > python/slimbayes/__init__.pyi
"""

import inspect
import textwrap

import slimbayes as sb

TYPES = {"integer": "int", "number": "float", "boolean": "bool", "text": "str", "list": "str | Sequence[str]"}
GENERAL = {"method": "str | None", "seed": "int", "preset": "str | None", "tune": "bool | Sequence[str]", "level": "float",
           "threads": "int | None", "progress": "bool | None", "device": "Any",
           "bounds": "str | tuple[float | None, float | None] | None"}
ESTIMATORS = [sb.Regressor, sb.CountRegressor, sb.Classifier, sb.Forecaster]

HEAD = '''\
# Written by scripts/python_stubs.py from the library's options: do not edit.
from collections.abc import Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

__version__: str

Floats = NDArray[np.float64]

class Note(UserWarning): ...
class DataError(ValueError): ...
class NumericalError(ArithmeticError): ...
'''


def option_types():
    """name -> type of every option of a fit and of every method."""
    from slimbayes import _options

    options = [*_options.description()["fit"], *(o for m in _options.description()["methods"] for o in m["options"])]
    return {option["name"]: TYPES[option["type"]] for option in options}


def annotated(name, parameter, types):
    kind = GENERAL.get(name) or types[name]
    if parameter.default is None and "None" not in kind:
        kind += " | None"
    return f"{name}: {kind} = {parameter.default!r}"


def constructor(cls, types):
    parameters = [annotated(name, p, types) for name, p in inspect.signature(cls).parameters.items()]
    return "def __init__(self, " + ", ".join([parameters[0], "*", *parameters[1:]]) + ") -> None: ..."


RESULTS = {"predict_proba": "Floats", "predict_log_proba": "Floats", "predict_interval": "tuple[Floats, Floats]", "predict_quantiles": "Floats",
           "predict_set": "NDArray[np.bool_]", "predict_dist": "Distribution", "ood_scores": "dict[str, Floats]",
           "evaluate": "dict[str, Any]", "report": "Report", "save": "None", "predict_frame": "Any", "score": "float", "predict": "Any", "to_torch": "Any",
           "export_onnx": "None", "card": "str", "importance": "Any", "partial_dependence": "Any", "explain_row": "dict[str, Any]", "region": "tuple[Floats, Floats]", "probability": "Floats", "sample": "Floats"}
CHANGES = ("fit", "partial_fit", "update", "forget", "merge", "shard")  # their result is an estimator or a posterior
ARGUMENTS = {"by": "str | Sequence[str] | ArrayLike | None", "conditional": "bool", "encoded": "bool", "classes": "ArrayLike | None", "name": "str | None", "license": "str | None", "X": "Any", "x": "Any", "y": "Any", "valid": "Any", "network_from": "str | PathLike[str] | None", "return_std": "bool",
             "level": "float | None", "part": "str", "q": "float | Sequence[float]", "keep": "Sequence[str]", "parts": "bool", "other": "Any",
             "quantiles": "Sequence[float]", "groups": "str | Sequence[Sequence[str]] | None", "repeats": "int", "rows": "int", "column": "str | int",
             "row": "Any", "background": "Any", "draws": "int",
             "n": "int", "seed": "int", "conditions": "dict[str, Any]",
             "path": "str | PathLike[str]", "randomised": "bool", "sample_weight": "ArrayLike | None"}


def method(cls, name):
    parameters = []
    for argument, p in inspect.signature(getattr(cls, name)).parameters.items():
        if argument == "self":
            parameters.append("self")
            continue
        if p.kind is p.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        default = "" if p.default is p.empty else f" = {p.default!r}"
        parameters.append(f"{argument}: {ARGUMENTS[argument]}{default}")
    result = cls.__name__ if name in CHANGES else RESULTS[name]
    return f"def {name}({', '.join(parameters)}) -> {result}: ..."


def own(cls):
    """The public methods that the package itself defines."""
    names = {name for base in cls.__mro__ if base.__module__.startswith("slimbayes") for name, value in vars(base).items()
             if inspect.isfunction(inspect.unwrap(value)) and not name.startswith("_")}
    return sorted((names | ({"score"} if hasattr(cls, "score") else set())) - {"set_params"})  # which has a line of its own


def text():
    types = option_types()
    lines = [HEAD, "class Distribution(NamedTuple):"]
    lines += [f"    {field}: Floats | None = None" for field in sb.Distribution._fields]
    lines += ["    @property", "    def sd(self) -> Floats: ...", ""]
    for cls in ESTIMATORS:
        lines.append(f"class {cls.__name__}:")
        lines += ["    n_features_in_: int", "    feature_names_in_: NDArray[np.object_]", "    notes_: list[str]", "    interrupted_: bool",
                  "    valid_report_: dict[str, Any] | None", "    test_report_: dict[str, Any] | None"]
        lines += ["    classes_: NDArray[Any]"] if cls is sb.Classifier else []
        if hasattr(cls, "region"):
            lines += ["    target_names_: list[str]", "    error_correlation_: Floats", "    @property", f"    def models_(self) -> dict[str, {cls.__name__}]: ..."]
        lines += textwrap.wrap(constructor(cls, types), 128, initial_indent="    ", subsequent_indent="        ", break_long_words=False,
                               break_on_hyphens=False)
        lines.append("    def get_params(self, deep: bool = True) -> dict[str, Any]: ...")
        lines.append(f"    def set_params(self, **params: Any) -> {cls.__name__}: ...")
        lines += [f"    {method(cls, name)}" for name in own(cls)]
        lines.append("")
    lines += ["class Report:", "    facts: dict[str, Any]", "    html: str", "    def save(self, path: str | PathLike[str]) -> None: ...", ""]
    lines.append("class Posterior:")
    lines += ["    @property", "    def method(self) -> str: ...", "    @property", "    def facts(self) -> list[str]: ..."]
    lines += [f"    {method(sb.Posterior, name)}" for name in own(sb.Posterior)]
    lines += ["", "def load(path: str | PathLike[str], module: Any = None, device: Any = 'cpu') -> Any: ...", "def methods() -> list[dict[str, Any]]: ...",
              "def describe(method: str) -> dict[str, Any]: ...",
              "def compare(frame: Any, target: Any, methods: str | Sequence[str | tuple[str, dict[str, Any]]] | None = None, *, seeds: int = 5, repeats: int = 1, folds: int = 0,",
              "            test_fraction: float = 0.2, progress: bool | None = None, **options: Any) -> pd.DataFrame: ...",
              "def posterior(module: Any, data: Any, method: str = 'rich-bll', layer: str | None = None, *, valid: Any = None,",
              "              valid_fraction: float = 0.1, classes: int | None = None, seed: int = 0, **options: Any) -> Posterior: ..."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(text(), end="")
