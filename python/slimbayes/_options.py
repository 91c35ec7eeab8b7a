"""The keywords of the estimators. Names, defaults, bounds and texts come from the library's own description of its options, which is
also what ``slimbayes describe`` prints."""

import functools
import inspect
import json
import textwrap
from typing import Any, NamedTuple

from slimbayes._library import core

OWN = ("target", "likelihood", "format", "network_from")  # set by the estimators and by `fit`
WINDOWS = ("window", "horizon", "time", "group", "fill_gaps")
TEXT = ("text", "vocabulary", "longest")
IMAGES = ("crop", "flip")
EVENTS = ("domain",)


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
    names = ", ".join(known["name"] for known in description()["methods"])
    raise ValueError(f"describe: expected one of the methods {names}; received {method!r}")


GENERAL = (
    Keyword("method", None, "name of the method (slimbayes.methods() lists them). None: the default of the task, `auto`, which fits "
                            "several methods and answers with those that predict held-out rows best."),
    Keyword("seed", 0, "seed of the initial weights and the batches. The same seed, data and machine give the same bits."),
    Keyword("preset", None, "name of a set of options, such as \"paper\"; see slimbayes.describe(method)[\"presets\"]."),
    Keyword("tune", False, "True: choose every option that has a grid by validation NLL; a list: these options."),
    Keyword("level", 0.95, "coverage of the intervals in reports."),
    Keyword("threads", None, "threads of the fit. None: the method's choice, one for networks. 0: as many as the process uses."),
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
    own = [*GENERAL]
    if len(likelihoods) > 1:
        option = next(o for o in description()["fit"] if o["name"] == "likelihood")
        option = {**option, "choices": likelihoods, "default": likelihoods[0]}
        own.append(_fit_keyword(option))
    for option in description()["fit"]:
        if option["name"] not in (*OWN, *left_out):
            own.append(_fit_keyword(option, (defaults or {}).get(option["name"])))
    taken = {keyword.name for keyword in own}
    return [*own, *(keyword for keyword in _method_keywords() if keyword.name not in taken)]


def documented(keywords_):
    """The section "Parameters" of a docstring."""
    lines = ["Parameters", "----------"]
    for keyword in keywords_:
        lines.append(f"{keyword.name} : default={keyword.default!r}")
        lines += textwrap.wrap(" ".join(keyword.doc.split()), 96, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def constructor(keywords_):
    """An __init__ with these keywords, of which the method alone may be given by position. scikit-learn reads its signature."""
    defaults = {keyword.name: keyword.default for keyword in keywords_}

    def __init__(self, method=None, **given):
        unknown = sorted(set(given) - set(defaults))
        if unknown:
            raise TypeError(f"{type(self).__name__}: expected a keyword of this class; received {', '.join(unknown)}; "
                            f"help({type(self).__name__}) lists them")
        for name, default in defaults.items():
            setattr(self, name, given.get(name, default))
        self.method = method

    kinds = {True: inspect.Parameter.POSITIONAL_OR_KEYWORD, False: inspect.Parameter.KEYWORD_ONLY}
    parameters = [inspect.Parameter(name, kinds[name == "method"], default=default) for name, default in defaults.items()]
    __init__.__signature__ = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *parameters])
    return __init__


def _as_list(value):
    return [value] if isinstance(value, str) else list(value)


def request(params, likelihood, target):
    """The request of a fit as the library reads it. `params` are the keywords with their values."""
    params = dict(params)
    fit = {"target": target, "likelihood": likelihood}
    for option in description()["fit"]:
        name = option["name"]
        if params.get(name) is None or name in ("target", "likelihood"):
            continue
        fit[name] = _as_list(params[name]) if option["type"] == "list" else params[name]
    names = {option["name"] for method in description()["methods"] for option in method["options"]}
    options = {name: params[name] for name in sorted(names) if params.get(name) is not None and name not in fit}
    tune = params.get("tune", False)
    return json.dumps({
        "fit": fit, "method": params.get("method") or "", "options": options, "seed": _whole("seed", params.get("seed", 0)),
        "level": params.get("level", 0.95), "threads": -1 if params.get("threads") is None else params["threads"],
        "preset": params.get("preset") or "", "tune": tune if isinstance(tune, bool) else _as_list(tune)}, default=_plain)


def _whole(name, value):
    if isinstance(value, bool) or int(value) != value or value < 0:
        raise ValueError(f"fit: expected a whole number from 0 for {name}; received {value!r}")
    return int(value)


def _plain(value):
    """numpy's numbers as Python's."""
    if hasattr(value, "item"):
        return value.item()
    raise ValueError(f"fit: expected numbers, texts or lists as options; received {type(value).__name__}")
