"""Weights of rows, scikit-learn's `sample_weight`: a column of its own in the table that the library reads."""

import numbers

import numpy as np

from slimbayes import _data, _targets

NAME = "sample_weight"  # of the column, with underscores behind it where X has such a column
_LARGEST = 1e100  # the library's, of a table: slimbayes/data/dataset.h


def read(sample_weight, X, caller):
    """The weights [n] as float64; None for None. Raises ValueError for another length, for weights that are missing, negative or beyond 1e100,
    and for zeros alone. One number stands for that weight of every row."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, str):
        raise ValueError(f"{caller}: expected sample_weight as an array; received the text {sample_weight!r}; the keyword weights={sample_weight!r} "
                         "of the estimator names a column")
    if _data.are_images(X):
        raise ValueError(f"{caller}: expected no sample_weight with images; received one; leave it out")
    from sklearn.utils.validation import _check_sample_weight

    rows = np.empty((_data.row_count(X), 1))
    given = sample_weight if isinstance(sample_weight, numbers.Number) else _data.native(_targets.as_array(sample_weight))
    weights = _check_sample_weight(given, rows, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError(f"{caller}: expected sample_weight from 0 on; Negative values in data passed to `sample_weight`: the first is "
                         f"{weights[weights < 0][0]:g}, of row {int(np.argmax(weights < 0)) + 1}")
    if (weights > _LARGEST).any():
        raise ValueError(f"{caller}: expected sample_weight up to {_LARGEST:g}; received {weights[weights > _LARGEST][0]:g} of row "
                         f"{int(np.argmax(weights > _LARGEST)) + 1}; sums of larger ones overflow: divide all weights by one number (only their "
                         "proportions count, unless weights_are='counts')")
    return weights


def of_known(weights, X, y):
    """The weights of the rows of X that have a target in the column y (_targets.without_column)."""
    return weights if weights is None else weights[_targets.known_rows(X, y)]


def add(frame, weights, taken, wanted=NAME):
    """Adds the weights as one more column and returns its name; None without weights."""
    if weights is None:
        return None
    name = _targets.free_name(wanted, taken)
    frame.add_numbers(weights, [name])
    return name


def check_alone(weights, model):
    """Raises ValueError if the weights come as an array and as a column."""
    if weights is not None and model.weights:
        raise ValueError(f"fit: expected sample_weight or weights; received both, the column {model.weights!r} and an array; leave one out")


def of_valid(valid, asked, are_weighted):
    """(X, y, sample_weight) of the validation rows that `fit` was given. `asked`: the targets of the fit."""
    several = isinstance(valid, (tuple, list)) and len(valid) in (2, 3)
    if not several and not isinstance(asked, str) and not _targets.are_names(asked, valid):
        raise ValueError("fit: expected valid as a pair (X, y); received X alone, which serves where y names a column")
    X, y, *own = valid if several else (valid, asked)
    if are_weighted and not own:
        raise ValueError("fit: expected valid as (X, y, sample_weight), as the training rows have weights; received none for the validation rows")
    if own and not are_weighted:
        raise ValueError("fit: expected valid as a pair (X, y), as the training rows have no sample_weight; received weights of the validation rows")
    return X, y, own[0] if own else None
