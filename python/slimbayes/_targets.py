"""Targets of Python as the library reads them: an array beside the inputs, or a column of their frame; several of both."""

import sys
from typing import NamedTuple

import numpy as np

from slimbayes import _data, _texts
from slimbayes._library import DataError
from slimbayes._notes import warn, warn_as


class Several(NamedTuple):
    """Several targets."""

    names: list | None  # of the columns, if they have names
    cells: np.ndarray | None  # [n, k] float64, NaN where a target is missing; None where the names are columns of X


def read(y, n=None):
    """The targets as an array [n]. A column [n, 1] is taken with a warning, as scikit-learn does."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: give the targets, or the name of their column")
    array = _data.native(as_array(y))
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn_as("A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
                "example using ravel().", DataConversionWarning)
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead." + (_SEVERAL if array.ndim == 2 else ""))
    if n is not None and len(array) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(array)}]")
    _check_present(array)
    for kind in (str, bool, int) if array.dtype.kind == "O" else ():
        if all(type(value) is kind or (kind is str and isinstance(value, str)) for value in array):
            return np.array(array.tolist())
    return array


_SEVERAL = (" `fit` of Regressor takes several numbers and that of CountRegressor several counts; for classes "
            "fit a model for each column, or name the columns to the command-line tool, which takes numbers, counts and classes together.")


def width(y):
    """The number of columns of a matrix of targets; 0 for what is no matrix."""
    if hasattr(y, "num_columns"):  # pyarrow
        return y.num_columns
    shape = getattr(y, "shape", None)
    if shape is None and hasattr(y, "__array__"):
        shape = np.asarray(y).shape
    if shape is None and isinstance(y, (list, tuple)) and len(y) and hasattr(y[0], "__len__") and not isinstance(y[0], (str, bytes, dict)):
        shape = len(y), len(y[0])
    return shape[1] if isinstance(shape, tuple) and len(shape) == 2 else 0


def are_names(y, X):
    """Whether y is a list of different names of columns of the data frame X. Raises ValueError where some are and others are not."""
    if not hasattr(X, "columns") and not hasattr(X, "column_names"):
        return False
    if isinstance(y, (list, tuple)) and not y and _data.row_count(X):
        raise ValueError("fit: expected the target of each row, or names of columns; received an empty list")
    if not (isinstance(y, (list, tuple)) and y and all(isinstance(one, str) for one in y)):
        return False
    names = _data.column_names(X)
    if set(y) <= set(names) and len(set(y)) < len(y) != _data.row_count(X):
        raise ValueError(f"fit: expected each column once as a target; received {next(name for name in y if list(y).count(name) > 1)!r} twice")
    if (some := set(y) & set(names)) and len(some) < len(set(y)) and len(y) != _data.row_count(X):
        check_column(next(name for name in y if name not in some), names)
    return len(some) == len(y)


def one(y, X):
    """The single target y: the name in a list of one. Raises ValueError for a list of several names of columns of X."""
    if not are_names(y, X):
        return y
    if len(y) > 1:
        raise ValueError(f"fit: expected one target; received the columns {_texts.listed(y)}." + _SEVERAL)
    return y[0]


def read_several(y, n, numbers):
    """The targets in a matrix or data frame y [n, k], None and NaN being missing ones. `numbers` makes numbers of an array of objects."""
    names = None
    if not isinstance(y, (np.ndarray, list, tuple)) and (hasattr(y, "columns") or hasattr(y, "column_names")):
        names = _data.column_names(y)
    if hasattr(y, "num_columns"):
        y = np.column_stack([np.asarray(y.column(i).to_numpy(), dtype=object) for i in range(y.num_columns)])
    array = _data.native(as_array(y))
    if len(array) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(array)}]")
    if array.dtype.kind in "OUS":
        known = ~_missing(array)
        cells = np.full(array.shape, np.nan)
        cells[known] = numbers(array[known])
    elif array.dtype.kind in "biuf":
        cells = array.astype(np.float64)
    else:
        raise ValueError(f"fit: expected numbers as the targets; received {array.dtype}")
    if np.isinf(cells).any():
        raise DataError(f"Input y contains infinity or a value too large for {array.dtype}. Leave those cells empty (NaN).")
    return Several(names, cells)


def names_of(several, taken):
    """The names of several targets, checked. Those beside X get none of the names `taken`, of its columns."""
    if several.names is None:
        wanted = [f"y{i}" for i in range(several.cells.shape[1])]
    else:
        wanted = [_texts.checked(name, "names of the targets") for name in several.names]
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"fit: expected targets of different names; received {_texts.listed(wanted)}")
    for name in wanted:
        if not name or "," in name or name != name.strip():
            raise ValueError(f"fit: expected names of targets without a comma and without blanks at the ends; received {name!r}; rename the column")
    if several.cells is not None:
        if several.names is not None and (both := [name for name in wanted if name in taken]):
            warn([f"X has a column '{both[0]}' as the targets are called: it is an input; fit(X, {wanted}) would leave the targets out of the inputs"])
        wanted = [free_name(name, taken) for name in wanted]
    if ",".join(wanted) in taken:
        raise ValueError(f"fit: expected no column of X whose name lists the targets; received {','.join(wanted)!r}; rename it")
    return wanted


def listed(target):
    """The names of the targets of a fit: of one, whose name is given, or of several."""
    return [target] if isinstance(target, str) else list(target)


def check_named(target, own):
    """Raises ValueError if the target of rows to be scored is named and is not what the model predicts. `own`: the names of its targets."""
    if isinstance(target, str) and [target] != own:
        expected = repr(own[0]) if len(own) == 1 else str(own)
        raise ValueError(f"expected the targets, or the name of the column that the model predicts, {expected}; received {target!r}")


def as_array(y):
    """What numpy reads of a column of a frame library; other values as they are."""
    if not hasattr(y, "to_numpy"):
        return y
    try:
        return y.to_numpy()
    except Exception as error:  # each library has exceptions of its own
        raise DataError(f"expected targets that numpy can hold; received a column of {getattr(y, 'dtype', type(y).__name__)}: {error}") from error


def _check_present(array):
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        what = "NaN" if np.isnan(array).any() else f"infinity or a value too large for {array.dtype}"
        raise DataError(f"Input y contains {what}. Leave those rows out of X and y.")
    if array.dtype.kind == "O" and _missing(array).any():
        raise DataError("Input y contains NaN. Leave those rows out of X and y.")


def _missing(array):
    """Which values of an array of objects or texts are None, NaN and the like."""
    if array.dtype.kind != "O":
        return np.zeros(array.shape, dtype=bool)
    pandas = sys.modules.get("pandas")
    return pandas.isna(array) if pandas else np.array([v is None or v != v for v in array.flat], dtype=bool).reshape(array.shape)


def add(frame, name, array):
    """Adds the targets as one more column."""
    if array.dtype.kind in "biuf" and not _data.are_large(array):
        frame.add_numbers(array.astype(np.float32) if array.dtype == np.float16 else array, [name])
    else:
        import pyarrow as pa

        frame.add_stream(pa.table({name: _data.arrow_column(list(array), name)}).__arrow_c_stream__())


def check_column(name, names):
    """Raises ValueError unless the targets' column is one of these."""
    if name not in names:
        raise ValueError(f"fit: expected the name of a column as y; received {name!r}; the columns are {_texts.listed(names)}")


def without_column(X, name):
    """(the frame without the column, the column), without the rows that have no cell in it, of which a note tells. Raises ValueError for a
    name that the frame has not, and for an array."""
    names = _data.column_names(X)
    if names is None:
        raise ValueError(f"fit: expected a data frame, whose column y names; received an array and y = {name!r}: give the labels as y")
    known = known_rows(X, name)
    at = names.index(name)
    if hasattr(X, "iloc"):
        X = X if known.all() else X.iloc[known]
        found = X.iloc[:, [i for i in range(len(names)) if i != at]], X.iloc[:, at]
    elif _data.module_of(X) == "polars":
        X = X.filter(known)
        found = X.drop(name), X[name]
    else:
        import pyarrow as pa

        X = pa.table(X).filter(pa.array(known))
        found = X.remove_column(at), X.column(at)
    if missing := int((~known).sum()):
        warn([f"{missing} of {len(known)} rows have no {name!r}: left out"])
    return found


def without(X, names):
    """The data frame without those of its columns that have one of these names; an array as it is."""
    every = _data.column_names(X) or []
    kept = [i for i, name in enumerate(every) if name not in names]
    if len(kept) == len(every):
        return X
    if hasattr(X, "iloc"):
        return X.iloc[:, kept]
    if _data.module_of(X) == "polars":
        return X.drop([name for name in every if name in names])
    import pyarrow as pa

    return pa.table(X).select([every[i] for i in kept])


def known_rows(X, name):
    """Whether each row of a frame has a cell in this column, [n] bool. Raises ValueError for a name that the frame has not."""
    names = _data.column_names(X)
    check_column(name, names)
    if hasattr(X, "iloc"):
        return X.iloc[:, names.index(name)].notna().to_numpy()
    if _data.module_of(X) == "polars":
        return X[name].is_not_null().to_numpy()
    import pyarrow as pa

    return pa.table(X).column(names.index(name)).is_valid().to_numpy()


def free_name(wanted, taken):
    """`wanted`, with underscores behind it where a column has that name."""
    while wanted in taken:
        wanted += "_"
    return wanted
