"""The keywords of the estimators. Names, defaults, bounds and texts come from the library's own description of its options, which is
also what ``slimbayes describe`` prints."""

import decimal
import difflib
import functools
import inspect
import json
import math
import numbers
import sys
import textwrap
from typing import Any, NamedTuple

import numpy as np

from slimbayes import _texts
from slimbayes._library import core, is_forked

OWN = ("target", "likelihood", "format", "network_from")  # set by the estimators and by `fit`
FILES = ("thousands", "decimal", "date_format", "separator")  # how text files are read; frames have numbers and dates
WINDOWS = ("window", "horizon", "time", "group", "fill_gaps")
TEXT = ("text", "vocabulary", "longest")
IMAGES = ("crop", "flip", "pixel_divisor")
EVENTS = ("domain",)
SEVERAL = ("share_network",)  # of several targets of numbers
NUMBERS = ("bounds",)  # of targets that are neither classes nor counts


class Keyword(NamedTuple):
    name: str
    default: Any
    doc: str


@functools.cache
def description():
    """Every option of a fit ("fit") and every method with its options ("methods")."""
    return json.loads(core.description())


def methods():
    """The methods with their tasks, inputs and a sentence on each, as a list of dicts.

    >>> [m["name"] for m in sb.methods() if "counts" in m["tasks"]]
    """
    left_out = "options", "presets"
    return [{k: v for k, v in method.items() if k not in left_out} for method in description()["methods"]]


def describe(method):
    """Everything about one method, as a dict: its options with defaults, bounds and texts, its presets, its paper.

    >>> sb.describe("dbk")["options"][0]
    """
    for known in description()["methods"]:
        if method in (known["name"], *known["aliases"]):
            return known
    every = [known["name"] for known in description()["methods"]]
    near = difflib.get_close_matches(str(method), every, 1)
    raise ValueError(f"expected one of the methods {', '.join(every)}; received {method!r}" + (f"; did you mean {near[0]}?" if near else ""))


GENERAL = (
    Keyword("method", None, "name of the method (slimbayes.methods() lists them). None: the default of the task, `auto`, which fits "
                            "several methods and answers with those that predict held-out rows best."),
    Keyword("seed", 0, "seed of the initial weights and the batches. The same seed, data and machine give the same bits."),
    Keyword("preset", None, "name of a set of options, such as \"paper\"; see slimbayes.describe(method)[\"presets\"]."),
    Keyword("tune", False, "True: choose every option that has a grid by validation NLL; a list: these options."),
    Keyword("level", 0.95, "coverage of the intervals in reports."),
    Keyword("threads", None, "cores. None: all for independent fits (folds, members, candidates), one each; a single fit of a network takes one. 0: as many as the process uses."),
    Keyword("device", "cpu", "where `fit` and what the fitted model answers compute networks: \"cpu\", \"cuda\", \"cuda:1\", a torch.device, or "
                             "\"auto\", a GPU if there is one. A saved model opens everywhere; `set_params(device=...)` moves a fitted one."),
    Keyword("progress", None, "True: show a progress bar. None: only in a terminal or a notebook."),
)


def _default(option):
    return None if option["type"] == "list" or option["default"] == "" else option["default"]


def _limits(option):
    if "choices" in option:
        return ", one of " + ", ".join(map(repr, option["choices"]))
    if "range" in option:
        low, high = (f"{end:g}" for end in option["range"])
        return f", {low} to {high}"
    return ""


def _fit_keyword(option, default=None):
    default = _default(option) if default is None else default
    return Keyword(option["name"], default, f"({option['type']}{_limits(option)}) {option['doc']}")


def _method_keywords():
    """One keyword for each name that some method has as an option; None stands for the method's own default."""
    found = {}
    for method in description()["methods"]:
        for option in method["options"]:
            found.setdefault(option["name"], []).append((method["name"], option))
    for name, uses in found.items():
        of = [method for method, _ in uses]
        first = uses[0][1]
        shown = ", ".join(of[:6]) + (f" and {len(of) - 6} more" if len(of) > 6 else "")
        yield Keyword(name, None, f"({first['type']}{_limits(first)}) {first['doc']} [{shown}]")


def keywords(likelihoods, left_out=(), defaults=None):
    """The keywords of an estimator, in order. `likelihoods`: the choices of its `likelihood`, the first the default; one alone is no
    keyword. `left_out`: options of a fit that it has no use for. `defaults`: other defaults than the library's."""
    run = {option["name"]: option for option in description()["run"]}
    own = [one._replace(doc=f"({run[one.name]['type']}{_limits(run[one.name])}) {one.doc}") if one.name in run else one for one in GENERAL]
    if len(likelihoods) > 1:
        option = next(o for o in description()["fit"] if o["name"] == "likelihood")
        option = {**option, "choices": likelihoods, "default": likelihoods[0]}
        own.append(_fit_keyword(option))
    for option in description()["fit"]:
        if option["name"] not in (*OWN, *FILES, *left_out):
            own.append(_fit_keyword(option, (defaults or {}).get(option["name"])))
    taken = {keyword.name for keyword in own}
    return [*own, *(keyword for keyword in _method_keywords() if keyword.name not in taken)]


def documented(keywords_):
    """The section "Parameters" of a docstring."""
    lines = ["Parameters", "----------"]
    for keyword in keywords_:
        lines.append(f"{keyword.name} : default={keyword.default!r}")
        lines += textwrap.wrap(" ".join(keyword.doc.split()), 96, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines)


def constructor(keywords_):
    """An __init__ with these keywords, of which the method alone may be given by position. scikit-learn reads its signature."""
    defaults = {keyword.name: keyword.default for keyword in keywords_}

    def __init__(self, method=None, **given):
        unknown = sorted(set(given) - set(defaults))
        if unknown:
            near = difflib.get_close_matches(unknown[0], defaults, 1)
            raise TypeError(f"{type(self).__name__}: expected a keyword of this class; received {', '.join(unknown)}; "
                            + (f"did you mean {near[0]}?" if near else f"help({type(self).__name__}) lists them"))
        for name, default in defaults.items():
            setattr(self, name, given.get(name, default))
        self.method = method

    kinds = {True: inspect.Parameter.POSITIONAL_OR_KEYWORD, False: inspect.Parameter.KEYWORD_ONLY}
    parameters = [inspect.Parameter(name, kinds[name == "method"], default=default) for name, default in defaults.items()]
    __init__.__signature__ = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *parameters])
    return __init__


def names(value, option="a list of names"):
    """The names in an option that is a list, such as `ignore`: a text, a list of texts or of whole numbers (pandas has such names)."""
    if value is None or isinstance(value, str):
        value = [] if value is None else [value]
    if hasattr(value, "tolist"):  # an array, or an index of pandas
        value = value.tolist()
    if not isinstance(value, (list, tuple, set)) or not all(isinstance(one, (str, int)) for one in value):
        raise ValueError(f"expected a text or a list of texts for {option}; received {received(value)}")
    return [_texts.checked(str(one), f"texts for {option}") for one in value]


def bounds_text(value):
    """The bounds of a target as the library reads them, "LOW,HIGH": from that text, or from a pair of numbers, None for no bound."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)) or len(value) != 2 or any(
            one is not None and (isinstance(one, bool) or not isinstance(one, numbers.Real)) for one in value):
        raise ValueError(f"expected a pair (low, high) of numbers, None for no bound, or a text 'low,high' for bounds; received {received(value)}")
    return ",".join("" if one is None else repr(float(one)) for one in value)


def _check_preset(method, preset):
    """Raises ValueError for a preset that the method, or without a method any, does not have."""
    having = [known["name"] for known in description()["methods"] if preset in known["presets"]]
    own = describe(method)["name"] if method else None
    if preset and (not having or (own and own not in having)):
        raise ValueError(f"fit: expected a preset of {own or 'some method'}; received {preset!r}; methods with it: "
                         f"{', '.join(having) or 'none'}; slimbayes.describe(method)['presets'] lists them")


def request(params, likelihood, target):
    """The request of a fit as the library reads it. `params` are the keywords with their values."""
    params = dict(params)
    fit = {"target": target, "likelihood": likelihood}
    for option in description()["fit"]:
        name = option["name"]
        if params.get(name) is None or name in ("target", "likelihood"):
            continue
        value = bounds_text(params[name]) if name == "bounds" else params[name]
        fit[name] = names(value, name) if option["type"] == "list" else value
    known = {option["name"] for method in description()["methods"] for option in method["options"]}
    options = {name: params[name] for name in sorted(known) if params.get(name) is not None and name not in fit}
    tune = params.get("tune", False)
    _check_preset(text("method", params.get("method")), text("preset", params.get("preset")))
    if params.get("seed", 0) is None:
        raise ValueError("expected a whole number for seed; received None; a fit without a seed has seed 0")
    if isinstance(params.get("threads"), int) and params["threads"] < 0:
        raise ValueError(f"expected threads to be an integer from 0 to 4096; received {params['threads']}; 0 takes as many as the process uses")
    run = {name: params[name] for name in ("seed", "level", "threads") if params.get(name) is not None}
    run["device"] = device(params.get("device"))
    if is_forked():
        run["threads"] = 1
    return as_json({
        "fit": fit, "method": text("method", params.get("method")), "options": options, "run": run,
        "preset": text("preset", params.get("preset")), "tune": tune if isinstance(tune, bool) else names(tune, "tune")})


def as_json(value):
    """The value as JSON for the library, which takes texts in UTF-8 and numbers that a double can hold."""
    return json.dumps(_plain(value, "the options"))


def _plain(value, name):
    """numpy's numbers, and those within lists, as Python's. Raises ValueError for what JSON cannot hold."""
    if isinstance(value, (np.generic, np.ndarray)) and value.size == 1:
        value = float(value) if value.dtype == np.longdouble else value.item()
    if isinstance(value, dict):
        return {key: _plain(one, key) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one, name) for one in value]
    if isinstance(value, str):
        return _texts.checked(value, f"a text for {name}")
    if value is not None and not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, a text or a list for {name}; received {received(value)}")
    if isinstance(value, float) and not math.isfinite(value) or isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ValueError(f"expected a finite number below 2^64 for {name}; received {received(value)}")
    return value


def received(value):
    """A value for a message, in one line of moderate length."""
    if isinstance(value, numbers.Integral) and abs(value) >= 2**64:
        return f"a whole number of {int(abs(value)).bit_length()} bits"
    shown = repr(value)
    return shown if len(shown) <= 200 else shown[:200] + "..."


def text(name, value):
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"expected a text or None for {name}; received {received(value)}")
    return _texts.checked(value, f"a text for {name}")


def device(value):
    """The name of a device, given as a text or as a torch.device; None is the CPU."""
    return "cpu" if value is None else text("device", str(value) if type(value).__module__ == "torch" else value)


def number(name, value):
    if getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, decimal.Decimal)) or abs(value) > sys.float_info.max:
        raise ValueError(f"expected a number for {name}; received {received(value)}")
    return float(value)


def whole(name, value, most):
    """The value as an int from 0 to `most`."""
    is_whole = isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 <= value <= most and int(value) == value
    if not is_whole:
        raise ValueError(f"expected a whole number from 0 to {most} for {name}; received {received(value)}")
    return int(value)
