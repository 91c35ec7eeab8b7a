"""Data frames, arrays and images of Python as the library's frames.

Numbers in an array are converted once. Typed columns (pandas, polars, pyarrow, and whatever else has the Arrow stream) enter
without a copy. Columns of Python objects become Arrow's by their values.
"""

import numpy as np

from slimbayes import _texts
from slimbayes._library import DataError, core


def module_of(value):
    return type(value).__module__.partition(".")[0]


def _is_frame(X):
    return hasattr(X, "__arrow_c_stream__") or module_of(X) in ("pandas", "polars", "pyarrow")


def as_table(X):
    """X as it is if it is a data frame, else as an array. Raises for what is neither."""
    if _is_frame(X):
        if getattr(X, "ndim", 2) != 2 or type(X).__name__ == "Series":
            raise ValueError("Expected 2D array, got a 1D series instead: give a data frame; one row of a frame is frame.iloc[[i]]")
        if type(X).__name__ == "LazyFrame":
            raise ValueError("expected a data frame; received a LazyFrame, which holds no rows yet: give frame.collect()")
        return X if hasattr(X, "columns") or hasattr(X, "column_names") else _read_stream(X)
    if hasattr(X, "tocsr") or module_of(X) == "scipy":
        raise TypeError("Sparse data was passed, but dense data is required: use X.toarray()")
    array = native(X)
    if array.ndim == 0:
        raise ValueError(f"Expected 2D array, got {type(X).__name__} instead: give a data frame, an array [n, d] or a list of rows")
    return array


def _read_stream(X):
    import pyarrow as pa

    try:
        return pa.table(X)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ValueError(f"expected a data frame; received {type(X).__name__}, which holds no table") from error


def native(values):
    """Values as an array in this machine's byte order and types, without a mask. Lists that hold texts and numbers keep both."""
    if module_of(values) == "torch" and hasattr(values, "detach"):
        values = of_tensor(values)
    if isinstance(values, np.ma.MaskedArray):
        values = _unmasked(values)
    try:
        array = values if isinstance(values, np.ndarray) else np.asarray(values)
        if array is not values and array.dtype.kind in "US":
            array = np.asarray(values, dtype=object)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"expected rows with the same number of values each; received others ({type(values).__name__})") from error
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if array.dtype.kind == "V":
        raise ValueError(f"expected an array of numbers or texts; received records ({array.dtype}); give pandas.DataFrame(X)")
    return _in_own_types(array)


def _in_own_types(array):
    """The array with numbers that the library reads: extended floats become doubles."""
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        return array.astype(np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _unmasked(values):
    """A masked array with NaN, or None among texts, for the masked cells."""
    if not np.ma.getmaskarray(values).any():
        return values.data
    if values.dtype.kind in "biuf":
        return values.astype(np.float64).filled(np.nan)
    return values.astype(object).filled(None)


def of_tensor(tensor):
    """A torch tensor as an array. Floats that numpy lacks, such as bfloat16, become float32."""
    try:
        tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
        if tensor.is_floating_point() and str(tensor.dtype) not in ("torch.float16", "torch.float32", "torch.float64"):
            tensor = tensor.float()
        return tensor.numpy()
    except (RuntimeError, TypeError, NotImplementedError) as error:
        kind, layout = (str(part).removeprefix("torch.") for part in (tensor.dtype, tensor.layout))
        raise ValueError(f"expected a dense tensor of numbers, with values; received one of {kind} ({layout}) on the device "
                         f"'{tensor.device}'; convert it, for instance by to_dense() or dequantize()") from error


def column_names(X):
    """The names of a frame's columns as texts; None for an array."""
    if isinstance(X, np.ndarray):
        return None
    if module_of(X) == "pandas":
        return _names_in_index(X.columns)
    return _checked_names(X.column_names if hasattr(X, "column_names") else X.columns)


def _checked_names(names):
    return [_texts.checked(str(name), "names of columns") for name in names]


_last_index = (None, [])  # the pandas index that was read last, which never changes, and its names


def _names_in_index(index):
    """The names in the index of a pandas frame. Reading them takes 10 us and half of the caches, so that a program which predicts row
    after row of one frame would wait for them as long as for the answer."""
    global _last_index
    known, names = _last_index
    if known is None or not index.is_(known):
        names = _checked_names(index.tolist())
        _last_index = (index, names)
    return list(names)


def row_count(X):
    return len(X) if not hasattr(X, "num_rows") else X.num_rows


def are_images(X):
    return isinstance(X, np.ndarray) and X.ndim in (3, 4)


def images(X, labels=None, classes=(), named="categorical"):
    """Images [n, h, w], [n, c, h, w] or [n, h, w, c] of uint8. `labels` [n] int64; `classes`: their names, from 0 on, if they have any;
    `named`: what the names are, categorical, numeric or boolean."""
    if len(X) == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    if X.dtype != np.uint8:
        whole = X.size > 0 and X.dtype.kind in "iuf" and X.min() >= 0 and 1 < X.max() <= 255
        advice = "convert them: X.astype('uint8')" if whole else "scale them to 0 to 255 first: from 0 to 1, (255 * X).astype('uint8')"
        raise DataError(f"expected images of uint8 (0 to 255); received {X.dtype}; {advice}")
    if X.ndim == 3:
        X = X[:, None]
    elif X.shape[3] in (1, 3, 4) and X.shape[1] not in (1, 3, 4):
        X = X.transpose(0, 3, 1, 2)
    return core.Images(np.ascontiguousarray(X), labels, [_texts.checked(name, "names of classes") for name in classes], named)


def _small_numbers(frame):
    """A few rows of a pandas frame of numbers as an array, which costs a tenth of Arrow's way; None for other frames. Whole numbers
    beyond 2^53 beside fractions take Arrow's way too, which keeps them apart."""
    if module_of(frame) != "pandas" or not 0 < len(frame) <= 64 or frame.shape[1] == 0 or not frame.columns.is_unique:
        return None
    try:
        array = frame.values
    except UnicodeEncodeError:  # pandas hashes categories in UTF-8; _no_column says what is wrong with them
        return None
    small = array.dtype in (np.float32, np.float64) and array.dtype.isnative and not (np.abs(array) >= 2**53).any()
    return array if small else None


def check_matrix(array):
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: X.reshape(-1, 1) for one column, "
                         "X.reshape(1, -1) for one row")
    if array.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")


def arrow_column(values, name):
    """Values of Python as an Arrow array. Raises DataError for values of several types, and for those that are no cells of a table."""
    import pyarrow as pa

    kind = getattr(values, "dtype", None)
    if type(kind).__name__ == "SparseDtype":
        values = np.asarray(values)
    elif kind == np.longdouble:
        values = values.astype(np.float64)
    try:
        array = pa.array(values, from_pandas=True)
        if not isinstance(getattr(array.type, "value_type", array.type), pa.BaseExtensionType):  # periods and intervals of pandas
            return array
    except (pa.ArrowException, ValueError, TypeError, OverflowError, NotImplementedError) as error:
        raise _no_column(values, name) from error
    raise _no_column(values, name)


def _no_column(values, name):
    """The exception for values that Arrow cannot hold."""
    cells = [value for value in values if value is not None and value == value] if len(values) else []
    for cell in cells:
        if isinstance(cell, str):
            _texts.checked(cell, f"texts of column '{name}'")
    kinds = sorted({type(cell).__name__ for cell in cells})
    received = " and ".join(kinds[:4]) if not hasattr(values, "dtype") or values.dtype == object else str(values.dtype)
    if any(isinstance(cell, int) and not -(2**63) <= cell < 2**63 for cell in cells):
        received = "whole numbers beyond 64 bits"
    return DataError(f"the frame: expected numbers, truth values, texts or times of one type in column '{name}'; received {received}; "
                     "convert them, for instance by astype(str), astype(float) or pandas.to_numeric(errors='coerce')")


def _column_or_nulls(values, name, ignored):
    """The column for Arrow; one without values where it is not needed and Arrow cannot hold it."""
    try:
        return arrow_column(values, name)
    except DataError:
        if not ignored(name):
            raise
        import pyarrow as pa

        return pa.nulls(len(values))


def _capsule_of(frame, ignored):
    """The Arrow stream of a data frame without its index."""
    if module_of(frame) == "pandas":
        import pyarrow as pa

        columns = {name: _column_or_nulls(frame.iloc[:, i], name, ignored) for i, name in enumerate(column_names(frame))}
        if len(columns) < frame.shape[1]:
            raise DataError("the frame: expected columns with different names; received a name twice; rename one")
        return pa.table(columns).__arrow_c_stream__() if columns else None
    return frame.__arrow_c_stream__() if column_names(frame) else None


def _add_objects(frame, array, names):
    """Adds the columns of an array of texts or objects."""
    import pyarrow as pa

    columns = {}
    for i, name in enumerate(names):
        column = array[:, i]
        columns[name] = arrow_column([_decoded(value, name) for value in column], name)
    frame.add_stream(pa.table(columns).__arrow_c_stream__())


def _decoded(value, name):
    """Bytes as the text that they hold."""
    try:
        return value.decode() if isinstance(value, (bytes, bytearray)) else value
    except UnicodeDecodeError as error:
        raise DataError(f"the frame: expected texts in UTF-8 in column '{name}'; received the bytes {value!r}; decode them") from error


def _numbers_of_objects(array):
    """An array of objects as float64 if all of them are numbers, else the array itself."""
    if array.dtype.kind != "O":
        return array
    if any(isinstance(value, (dict, list, tuple, set)) for value in array.flat):
        raise TypeError("argument must be a string or a real number, not a container: expected numbers or texts in X")
    if all(isinstance(value, (int, float, np.number, bool)) or value is None for value in array.flat):
        try:
            return array.astype(np.float64)
        except OverflowError:  # an integer beyond a double
            return array
    return array


def frame(X, names, ignored=lambda name: False, source="the frame"):
    """A frame of the library with the columns of X. `names`: those of an array's columns. `ignored` tells for a name whether the column is
    not needed: it may then hold what Arrow cannot."""
    out = core.Frame(source)
    if not isinstance(X, np.ndarray):
        if (small := _small_numbers(X)) is not None:
            out.add_numbers(small, column_names(X))
            return out
        capsule = _capsule_of(X, ignored)
        if capsule is not None:
            out.add_stream(capsule)
        return out
    check_matrix(X)
    if X.dtype.kind not in "biuf" or X.dtype == np.float16:
        X = X.astype(np.float32) if X.dtype == np.float16 else _numbers_of_objects(X)
    X = _in_own_types(X)
    if X.dtype.kind in "biuf" and X.dtype.itemsize <= 8 and not are_large(X):
        out.add_numbers(X, names)
    elif X.dtype.kind in "iu":
        _add_objects(out, X, names)
    elif X.dtype.kind in "OUS":
        _add_objects(out, X, names)
    else:
        raise DataError(f"the frame: expected an array of numbers or texts; received {X.dtype}; give a data frame for dates")
    return out


def are_large(array):
    """Whether integers lie beyond 2^53, where a double cannot tell one from the next: Arrow keeps them apart."""
    return array.dtype.kind in "iu" and array.dtype.itemsize == 8 and bool(((array > 2**53) | (array < -(2**53))).any())


def like_column(table, name, X, of):
    """An Arrow table whose column `name` has the type of the column `of` of X: its time zone, or none, for times, whole numbers where
    no value changes. Other columns stay as they are."""
    import pyarrow as pa

    if name not in table.column_names or isinstance(X, np.ndarray):
        return table
    at = column_names(X).index(of)
    # The type of an empty part.
    kind = pa.array(X.iloc[:0, at], from_pandas=True).type if hasattr(X, "iloc") else pa.table(X[:0]).schema.field(at).type
    place = table.column_names.index(name)
    own = table.schema.field(place).type
    values = table.column(place)
    if pa.types.is_dictionary(kind):  # categories that are numbers
        kind = kind.value_type
        values = values.cast(pa.string()) if pa.types.is_integer(kind) else values
        own = pa.float64() if pa.types.is_integer(kind) else own
    if pa.types.is_timestamp(own):
        kind = pa.timestamp("us", kind.tz if pa.types.is_timestamp(kind) else None)
    elif not (pa.types.is_floating(own) and pa.types.is_integer(kind)):
        return table
    try:
        return table.set_column(place, name, values.cast(kind))
    except pa.ArrowInvalid:  # a fraction of a step
        return table
