"""Random methods and options, read off the library's own description of them, so that new ones are covered without a change here.

`description` is what `slimbayes describe --json` says of every method ("methods") and of the fit ("fit"): names, types, bounds,
choices, defaults.
"""

import math
from typing import Any, NamedTuple

import numpy as np


class Fit(NamedTuple):
    method: str
    options: dict[str, Any]  # of the method
    general: dict[str, Any]  # of every fit: split, calibration, scales
    seed: int
    level: float
    beyond: str  # the option with a value outside its bounds, which must be refused; "": none


# A whole number is drawn up to 40 where the description does not bound it: most set how long a fit takes or how much memory.
MOST = {"steps": 60, "epochs": 3, "members": 3, "draws": 20, "blocks": 3, "iterations": 10, "deviations": 6, "averaged": 6,
        "batch_members": 5, "folds": 4, "heads": 8, "noise_folds": 3, "longest": 30}
# These may be as large as their bounds permit: they stop, select or bound, and cost nothing.
FREE = {"patience", "kl_zero", "kl_ramp", "batch", "class_rows", "max_rows", "max_columns", "evidence_rows", "split_seed", "chunk",
        "vocabulary"}
# What decides how long a fit takes is always drawn.
BUDGET = ("steps", "epochs", "members", "iterations", "draws", "hidden", "rank", "deviations", "averaged", "sketch", "folds")
BEYOND = [2**31, 2**63, -1, -(2**63), 1e308, -1e-300, float("nan"), float("inf"), 0.5]


def of_kind(method, table):
    """Whether the method takes such a table."""
    return table.task in method["tasks"] and table.kind in method["inputs"]


def _integer(draw, name, low, high):
    if name in FREE and draw.random() < 0.3:
        return int(high) if high < 2**63 else 2**63 - 1
    most = min(high, max(low, MOST.get(name, 40)))
    return round(math.exp(draw.uniform(math.log(max(low, 0.7)), math.log(max(most, 1)))))


def _number(draw, low, high, default):
    kind = draw.choice(["near", "between", "bound"], p=[0.6, 0.25, 0.15])
    if kind == "bound":
        return float(low if draw.random() < 0.5 else high)
    if kind == "near" and default:
        return float(np.clip(default * 10.0 ** draw.uniform(-1, 1), low, high))
    least = low if low > 0 else min(1e-6, high)
    return float(np.clip(math.exp(draw.uniform(math.log(least), math.log(high))), low, high))


def value_of(draw, option):
    """A legal value of the option; None where its description does not say what is legal (a text, a list)."""
    name, kind = option["name"], option["type"]
    if "choices" in option:
        return str(draw.choice(option["choices"]))
    if kind == "boolean":
        return bool(draw.random() < 0.5)
    if "range" not in option:
        return None
    low, high = option["range"]
    return _integer(draw, name, low, high) if kind == "integer" else _number(draw, low, high, option["default"])


def outside(draw, option):
    """A value that the option must refuse; None where every value is legal."""
    if "range" not in option:
        return "no such choice" if "choices" in option else None
    low, high = option["range"]
    whole = option["type"] == "integer"
    near = [low - 1, high * 2 + 1] if whole else [low - 0.1, high * 1.001]
    values = [int(v) if whole else v for v in near] + BEYOND
    values = [v for v in values if not (low <= v <= high) or (whole and v != int(v))]
    return values[draw.integers(len(values))]


def _own_texts(draw, method, options, methods, table):
    """Options whose legal values only a reader of their sentence knows."""
    if "layer_ranks" in [o["name"] for o in method["options"]] and draw.random() < 0.1:
        options["layer_ranks"] = [str(draw.integers(1, 9)) for _ in range(draw.integers(1, 4))]
    if method["name"] == "auto":
        if draw.random() < 0.75 or table.data.num_rows > 200:
            cheap = [m["name"] for m in methods if of_kind(m, table) and (not m["seeded"] or m["name"] == "extra-trees") and m["name"] != "gp-exact"] or ["vbll"]
            options["candidates"] = ",".join(map(str, draw.permutation(cheap)[:2]))
        else:
            options["time_limit"] = float(draw.choice([0.2, 0.5, 1.0]))


def method_options(draw, method, methods, table):
    """Options of the method, and of the method that it is made of, such as an ensemble's."""
    chosen, listed = {}, list(method["options"])
    if method["inner"]:
        inner = [m for m in methods if of_kind(m, table) and m["seeded"] and not m["inner"] and m["name"] != "auto"]
        inner = inner[draw.integers(len(inner))]
        chosen[method["inner"]] = inner["name"]
        listed += [o for o in inner["options"] if o["name"] in BUDGET]
    share = draw.choice([0.0, 0.1, 0.3])
    for option in listed:
        name = option["name"]
        if name == "time_limit" or (name == "network" and draw.random() < 0.9):
            continue
        if name in BUDGET or draw.random() < share:
            value = value_of(draw, option)
            if value is not None:
                chosen[name] = value
    known = {o["name"] for o in listed}
    if "steps" in known and "epochs" in known:  # epochs decide where both are given
        chosen.pop(str(draw.choice(["steps", "epochs"])))
        if chosen.get("epochs") == 0:
            chosen["epochs"] = 1
    if 0 < chosen.get("batch", 0) < 8:
        chosen["batch"] += 8
    if method["name"] == "auto":
        chosen["folds"] = 2
    _own_texts(draw, method, chosen, methods, table)
    if "time_limit" in known and not method["inner"] and method["name"] != "auto" and draw.random() < 0.05:
        chosen["time_limit"] = float(draw.choice([1e-3, 0.05, 0.3]))
    return chosen


GENERAL = {"table": ("scale", "scale_on", "target_scale", "split", "split_seed", "valid_fraction", "test_fraction"),
           "windows": ("scale", "target_scale", "valid_fraction", "test_fraction"),
           "text": ("vocabulary", "longest", "split", "valid_fraction", "test_fraction")}


def general_options(draw, description, table):
    chosen = {"noise_folds": int(draw.choice([0, 2, 5], p=[0.8, 0.1, 0.1]))}
    if draw.random() < 0.12 and table.kind != "windows":
        chosen["calibrate"] = "conformal"
        chosen["calibration_fraction"] = 0.3
    share = draw.choice([0.0, 0.1])
    for option in description["fit"]:
        if option["name"] in GENERAL[table.kind] and draw.random() < share:
            chosen[option["name"]] = value_of(draw, option)
    for name in ("valid_fraction", "test_fraction"):
        if name in chosen and draw.random() < 0.8:
            chosen[name] = float(draw.choice([0.0, 0.1, 0.3, 0.5]))
    if table.kind == "table" and draw.random() < 0.04:
        chosen["ignore"] = [str(draw.choice(table.data.column_names))]
    if table.kind == "table" and draw.random() < 0.04:
        chosen["categorical"] = [str(draw.choice(table.data.column_names))]
    if draw.random() < 0.03:
        chosen["na"] = [str(draw.choice(["-999", "unknown", "-", "1", "red"]))]
    return {**chosen, **table.fit}


NOT_IN_PYTHON = ("likelihood", "format", "crop", "flip", "window", "horizon", "fill_gaps", "text", "vocabulary", "longest",
                 "calibration_fraction")  # of some estimator


def random_fit(draw, description, table):
    methods = description["methods"]
    fitting = [m for m in methods if of_kind(m, table)] if draw.random() < 0.97 else methods
    method = fitting[draw.integers(len(fitting))]
    if draw.random() < 0.06:
        method = methods[0]  # the default
    options = method_options(draw, method, methods, table)
    general = general_options(draw, description, table)
    beyond = ""
    if draw.random() < 0.05:
        known = [o for o in [*method["options"], *description["fit"]] if o["name"] not in NOT_IN_PYTHON and outside(draw, o) is not None]
        option = known[draw.integers(len(known))]
        beyond = option["name"]
        where = options if option in method["options"] else general
        where[beyond] = outside(draw, option)
    seed = int(draw.choice([0, 1, 7, 2**62]))
    return Fit(method["name"], options, general, seed, float(draw.choice([0.95, 0.5, 0.9, 0.999], p=[0.7, 0.1, 0.1, 0.1])), beyond)


def plainer(fit, table):
    """The same method with what decides the time of the fit and the options that the table needs."""
    options = {k: v for k, v in fit.options.items() if k in (*BUDGET, "of", "candidates", "time_limit") and k != fit.beyond}
    options |= {"hidden": 8} if "hidden" in options and table.kind == "text" else {}  # a multiple of the heads
    return fit._replace(options=options, general={"noise_folds": 0, **table.fit}, beyond="")


def words_of(fit, likelihood, target):
    """The flags of `slimbayes fit` for this fit."""
    words = ["--method", fit.method, "--seed", str(fit.seed), "--level", repr(fit.level), "--threads", "1"]
    if target:
        words += [f"--target={target}"]
    given = {"likelihood": likelihood, **fit.general, **fit.options}
    for name, value in given.items():
        text = ",".join(value) if isinstance(value, list) else str(value).lower() if isinstance(value, bool) else str(value)
        words.append(f"--{name.replace('_', '-')}={text}")
    return words
