"""Targets of Python as the library reads them: an array beside the inputs, or a column of their frame."""

import sys

import numpy as np

from slimbayes import _data, _texts
from slimbayes._library import DataError
from slimbayes._notes import warn, warn_as


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
        raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
    if n is not None and len(array) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(array)}]")
    _check_present(array)
    for kind in (str, bool, int) if array.dtype.kind == "O" else ():
        if all(type(value) is kind or (kind is str and isinstance(value, str)) for value in array):
            return np.array(array.tolist())
    return array


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
    if array.dtype.kind == "O":
        pandas = sys.modules.get("pandas")
        missing = pandas.isna(array) if pandas else np.array([v is None or v != v for v in array], dtype=bool)
        if missing.any():
            raise DataError("Input y contains NaN. Leave those rows out of X and y.")


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
