"""Ranks methods on one table."""

import json

import numpy as np

from slimbayes import _data, _options, _targets, _texts, _weights
from slimbayes._library import core
from slimbayes._notes import warn
from slimbayes._progress import shown

_SHOWN = ("mae", "rmse", "nll", "crps", "coverage", "width", "accuracy", "ece", "brier", "seconds")


def compare(frame, target, methods=None, *, seeds=5, repeats=1, folds=0, test_fraction=0.2, sample_weight=None, progress=None, **options):
    """Fits several methods on the same splits and seeds and returns their scores on the test rows as a pandas data frame, one row a
    method: the mean of each metric over the fits, and the sd as NAME_sd; sorted by NLL.

    frame : data frame with the column `target`, or an array X with the targets as `target`.
    methods : names, or pairs of a name and the options of the method, such as ["ridge", ("dbk", {"rank": 8})]; None: all that take these
        data. The plain ones (a straight line, a constant) are added.
    seeds : fits of a method on each split, with the seeds from `seed` (0) on; repeats : random splits; folds : cross-validation in the
        place of random test parts.
    sample_weight : weight of each row [n], as `fit` takes it; weights="column" names a column instead.
    options : those of a fit that all methods share, such as valid_fraction=0.1, window=24, calibrate="conformal".

    The frame's `attrs["runs"]` holds the report of every fit, `attrs["notes"]` what the fits had to say, `attrs["failures"]` why a method
    failed, `attrs["interrupted"]` whether Ctrl-C ended it.
    """
    import pandas as pd

    X = _data.as_table(frame)
    if isinstance(X, np.ndarray):
        _data.check_matrix(X)
    names = _data.column_names(X) or [f"x{i}" for i in range(X.shape[1])]
    data = _data.frame(X, names)
    name = target
    if not isinstance(target, str):
        name = _targets.free_name(_texts.checked(str(getattr(target, "name", None) or "target"), "a name of the targets"), names)
        _targets.add(data, name, _targets.read(target, _data.row_count(X)))
    elif target not in names:
        raise ValueError(f"compare: expected the name of a column; received {target!r}; the columns are {_texts.listed(names)}")
    known = {option["name"] for option in _options.description()["fit"]} - {*_options.FILES} | {"seed", "level", "threads", "device", "preset"}
    if unknown := sorted(set(options) - known):
        raise TypeError(f"compare: expected options of a fit; received {', '.join(unknown)}; an option of one method stands "
                        "beside its name: methods=[('dbk', {'rank': 8})]")
    column = _weights.add(data, _weights.read(sample_weight, X, "compare"), [*names, name])
    if column and options.get("weights"):
        raise ValueError("compare: expected sample_weight or weights; received both; leave one out")
    options = {**options, "weights": column} if column else options
    likelihood = options.pop("likelihood", "auto")
    request = _options.request({**options, "test_fraction": test_fraction}, likelihood, name)
    methods = [methods] if isinstance(methods, str) else methods or []
    if not isinstance(methods, (list, tuple)):
        raise TypeError(f"compare: expected a list of methods; received {_options.received(methods)}")
    asked = [_choice(one) for one in methods]
    plan = _options.as_json({"methods": asked, "plan": {"seeds": seeds, "repeats": repeats, "folds": folds}})
    with shown(progress, "compare") as show:
        found = json.loads(core.compare(data, request, plan, show))
    for result, choice in zip(found["results"], asked):  # the results begin with the methods that were asked for
        result["method"] = _label(result["method"], choice["options"])
    table = _summary(pd, found["results"])
    if found["interrupted"]:
        warn(["interrupted: the comparison holds the fits that were done, some methods perhaps with fewer"])
    table.attrs["interrupted"] = found["interrupted"]
    return table


def _choice(one):
    """A method and its options as the library reads them."""
    pair = (one, {}) if isinstance(one, str) else one
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[1], dict)):
        raise TypeError(f"compare: expected names of methods, or pairs of a name and a dict of options; received {one!r}")
    method, options = pair
    known = [option["name"] for option in _options.describe(method)["options"]]
    if unknown := sorted(set(options) - set(known)):
        raise TypeError(f"compare: expected options of {method} ({', '.join(known)}); received {', '.join(unknown)}")
    return {"method": method, "options": dict(options)}


def _label(method, options):
    return f"{method}({', '.join(f'{name}={value!r}' for name, value in options.items())})" if options else method


def _summary(pd, results):
    rows, notes = [], {}
    for result in results:
        runs = pd.DataFrame(result["runs"])
        row = {"method": result["method"], "fits": len(runs)}
        for metric in _SHOWN:
            if metric in runs:
                row[metric], row[f"{metric}_sd"] = runs[metric].mean(), runs[metric].std()
        rows.append(row)
        for run in result["runs"]:
            notes.update(dict.fromkeys(f"{result['method']}: {note}" for note in run.get("notes", [])))
    table = pd.DataFrame(rows).set_index("method")
    table = table.sort_values("nll") if "nll" in table else table
    table.attrs["runs"] = {result["method"]: result["runs"] for result in results}
    table.attrs["notes"] = list(notes)
    table.attrs["failures"] = {result["method"]: result["failure"] for result in results if result["failure"]}
    warn([f"{method} failed: {why}" for method, why in table.attrs["failures"].items()])
    return table
