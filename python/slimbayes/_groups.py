"""The groups of rows that `evaluate` scores by themselves: columns of X, or an array with the group of each row."""

from typing import NamedTuple

import numpy as np

from slimbayes import _data, _targets, _texts


class Groups(NamedTuple):
    names: list  # of the columns
    array: np.ndarray | None = None  # [n] the cells of the one column that X has not


def read(by, X, columns, taken):
    """What `by` names; None for None. `columns`: the names of the columns of X. `taken`: names that a column of an array does not get.
    Raises ValueError for a name that X has not and for an array of another length."""
    if by is None:
        return None
    names = [by] if isinstance(by, str) else list(by) if isinstance(by, (list, tuple)) else None
    if names and all(isinstance(name, str) for name in names) and (isinstance(by, str) or set(names) <= set(columns)):
        if missing := [name for name in names if name not in columns]:
            raise ValueError(f"evaluate: expected columns of X as by; received {missing[0]!r}; the columns are {_texts.listed(columns)}")
        return Groups(names)
    array = np.asarray(_targets.as_array(by))
    if array.shape != (_data.row_count(X),):
        raise ValueError(f"evaluate: expected by as the name of a column of X, a list of names, or an array with a group for each of the "
                         f"{_data.row_count(X)} rows; received an array of shape {array.shape}")
    return Groups([_targets.free_name("by", {*columns, *taken})], array)


def columns(groups):
    """The names of the columns of X that are needed."""
    return () if groups is None or groups.array is not None else groups.names


def add(frame, groups):
    """Adds the array as one more column."""
    if groups is not None and groups.array is not None:
        _targets.add(frame, groups.names[0], groups.array)
