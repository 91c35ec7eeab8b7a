"""What the answers of a model depend on: importance of columns, partial dependence, and the account of one row."""

import json
import math
import warnings

import numpy as np

from slimbayes import _data, _options, _texts
from slimbayes._library import core
from slimbayes._notes import warn

NUMBERS = ("nll", "rmse", "accuracy", "mean", "aleatoric", "epistemic", "width")
MOST_BACKGROUND = 100  # rows of the background that explain_row() uses


def _table(columns):
    """A data frame of pandas, or the dict of lists itself without pandas."""
    try:
        import pandas as pd
    except ImportError:
        return columns
    return pd.DataFrame(columns)


def _report(model, examples, level, /, **asked):
    whole = {"groups": [], "auto_groups": False, "repeats": 1, "rows": 2000, "columns": [], "importance": False, **asked}
    report = json.loads(core.explain(model, examples, json.dumps({**whole, "level": level})))
    warn([*report["notes"], *(note for curve in report.get("partial_dependence", []) for note in curve["notes"])])
    return report


def _whole(name, value, least):
    found = _options.whole(name, value, 10**9)
    if found < least:
        raise ValueError(f"expected at least {least} for {name}; received {found}")
    return found


def _groups(groups):
    """The groups as lists of names, and whether the library shall find them."""
    if groups is None or (isinstance(groups, str) and groups == "auto"):
        return [], groups == "auto"
    if isinstance(groups, str) or not isinstance(groups, (list, tuple)) or any(isinstance(one, str) for one in groups):
        raise ValueError(f'expected "auto", None or a list of lists of columns, such as [["a", "b"], ["c", "d"]], for groups; received {groups!r}')
    return [_options.names(list(one), "groups") for one in groups], False


def importance(model, rows, groups, repeats, most, level):
    """The table of `importance`."""
    given, is_auto = _groups(groups)
    found = _report(model, rows, level, groups=given, auto_groups=is_auto, repeats=_whole("repeats", repeats, 1),
                    rows=_whole("rows", most, 10), importance=True)["importance"]
    columns = {"group": [one["group"] for one in found]}
    for name in NUMBERS:
        if any(name in one for one in found):
            columns[name] = [one.get(name, {}).get("value", math.nan) for one in found]
            columns[name + "_se"] = [one.get(name, {}).get("se", math.nan) for one in found]
    return _table(columns)


def partial_dependence(model, rows, column, level):
    """The table of `partial_dependence`."""
    points = _report(model, rows, level, columns=[column])["partial_dependence"][0]["points"]
    columns = {}
    for point in points:
        flat = {"value": point["value"], "rows": point["rows"]}
        flat |= {f"p_{name}": p for name, p in point.get("probabilities", {}).items()}
        flat |= {name: number for name, number in point.items() if name not in ("value", "rows", "probabilities")}
        for name, number in flat.items():
            columns.setdefault(name, []).append(number)
    return _table(columns)


def _frame(X, names=None):
    """Rows as a data frame of pandas. A Series or a dict is one row."""
    import pandas as pd

    if isinstance(X, pd.Series):
        return pd.DataFrame([X])
    if isinstance(X, dict):
        return pd.DataFrame([X])
    if not isinstance(X, np.ndarray) and hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if isinstance(X, pd.DataFrame):
        return X
    array = np.atleast_2d(_data.as_table(X))
    return pd.DataFrame(array, columns=names if names is not None else [f"x{i}" for i in range(array.shape[1])])


def _outputs(dist, classes):
    """The numbers of answers that are divided among the columns: a dict of arrays [n]."""
    if dist.probabilities is not None:
        return {f"p_{name}": dist.probabilities[:, i] for i, name in enumerate(classes)} | {"mutual_information": dist.mutual_information}
    outputs = {"mean": dist.mean}
    with np.errstate(divide="ignore"):
        outputs["log_sd_epistemic"] = np.log(dist.epistemic_var) / 2
        outputs["log_sd_aleatoric"] = np.log(dist.aleatoric_var) / 2
    return outputs


class _Mixed:
    """The numbers of rows whose cells come from several rows: entry [i, c] of a matrix is the number, in `rows`, of the row that column c
    of row i is taken from. So cells of any type pass through shap, which knows numbers alone."""

    def __init__(self, model, rows, columns, classes):
        self.model, self.rows, self.columns, self.classes = model, rows, columns, classes
        own = self._numbers(rows)
        self.names = [name for name, values in own.items() if np.isfinite(values).all()]
        if not self.names:
            raise ValueError("explain_row: expected rows with a finite answer; received some without; see predict_frame")

    def _numbers(self, frame):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _outputs(self.model.predict_dist(frame), self.classes)

    def __call__(self, places):
        import pandas as pd

        places = np.asarray(places, dtype=int)
        frame = self.rows.iloc[places[:, 0]].reset_index(drop=True)
        mixed = {name: self.rows[name].iloc[places[:, c]].reset_index(drop=True) for c, name in enumerate(self.columns)}
        numbers = self._numbers(pd.DataFrame({name: mixed.get(name, frame[name]) for name in frame.columns}))
        out = np.column_stack([numbers[name] for name in self.names])
        if not np.isfinite(out).all():
            raise ValueError("explain_row: expected a finite answer to every mixture of the row and the background; received one without: give "
                             "a background of rows like this one")
        return out


def explain_row(model, row, background, draws, inputs, classes, names):
    """The account of `explain_row`: {"base": ..., "answer": ..., "columns": {column: ...}}."""
    draws = _whole("draws", draws, 1)
    try:
        import shap
    except ImportError:
        raise ImportError("explain_row: expected the package shap, which divides the answer among the columns; it is not installed: "
                          "pip install shap") from None
    import pandas as pd

    others, one = _frame(background, names), _frame(row, names)
    if len(one) != 1:
        raise ValueError(f"explain_row: expected one row; received {len(one)}; give frame.iloc[[i]]")
    columns = [name for name in others.columns if str(name) in inputs]
    if missing := [name for name in columns if name not in one.columns]:
        raise ValueError(f"explain_row: expected the columns of the background in the row; received none of {_texts.listed(map(str, missing))}")
    if len(others) < 2 or not columns:
        raise ValueError(f"explain_row: expected a background of at least two rows with columns of the model; received {len(others)}")
    others = others[columns].iloc[np.unique(np.linspace(0, len(others) - 1, min(len(others), MOST_BACKGROUND)).astype(int))]
    both = pd.concat([others, one[columns].astype(others.dtypes)], ignore_index=True)
    answer_of = _Mixed(model, both, columns, classes)
    n, d = len(others), len(columns)
    places = np.repeat(np.arange(n + 1.0)[:, None], d, axis=1)
    state = np.random.get_state()  # shap seeds the global generator
    try:
        explainer = shap.explainers.Permutation(answer_of, shap.maskers.Independent(places[:n], max_samples=n), seed=0)
        found = explainer(places[n:], max_evals=draws * (2 * d + 1), silent=True)
    finally:
        np.random.set_state(state)
    values, own = np.asarray(found.values).reshape(d, -1), answer_of(places[n:])[0]
    base = answer_of(places[:n]).mean(0)
    return {"base": dict(zip(answer_of.names, map(float, base))), "answer": dict(zip(answer_of.names, map(float, own))),
            "columns": {str(name): dict(zip(answer_of.names, map(float, values[c]))) for c, name in enumerate(columns)}}
