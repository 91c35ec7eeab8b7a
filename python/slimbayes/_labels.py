"""Class labels as Python has them and as the library names them."""

import numpy as np


def numbered(y, classes):
    """The labels of images as (numbers [n], names, what the names are): whole numbers from 0 stand for themselves and have no names; the
    number of another label is its place among the classes."""
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    if (unknown := classes[codes] != y).any():
        raise ValueError(f"y contains previously unseen labels: expected one of {classes.tolist()}; received {y[unknown][0]!r}")
    kind = classes.dtype.kind
    if kind in "iuf" and 0 <= classes[0] and classes[-1] < 2**63 and (kind != "f" or (classes == np.round(classes)).all()):
        return np.asarray(y).astype(np.int64), [], "numeric"
    named = "numeric" if kind in "iuf" else "boolean" if kind == "b" else "categorical"
    whole = kind == "f" and (np.abs(classes) < 2**53).all() and (classes == np.round(classes)).all()
    return codes.astype(np.int64), [text(value) for value in (classes.astype(np.int64) if whole else classes)], named


def check_order(y):
    """Raises ValueError for objects that have no order among them, such as numbers beside texts."""
    try:
        np.unique(y)
    except TypeError as error:
        kinds = sorted({type(cell).__name__ for cell in y})
        raise ValueError(f"fit: expected classes of one type as y; received {' and '.join(kinds[:4])}; convert them: y.astype(str)") from error


def text(value):
    return str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)


def text_of_number(name):
    """How Python writes the number that the library wrote as `name`: 1 is "1.0" among floats."""
    try:
        return str(float(name))
    except ValueError:
        return name


def values(names, kind):
    """The classes of a loaded model as Python's values."""
    if kind != "categorical" and names == ["false", "true"]:
        return np.array([False, True])
    for number in (int, float) if kind in ("numeric", "") else ():
        try:
            found = [number(name) for name in names]
        except ValueError:
            continue
        numbers = np.array(found, dtype=np.uint64 if number is int and max(found) >= 2**63 else None)
        whole = numbers.dtype.kind == "f" and (np.abs(numbers) < 2**53).all() and (numbers == np.round(numbers)).all()
        return numbers.astype(np.int64) if whole else numbers
    return np.array(names)


def in_table(table, name, names, classes):
    """An Arrow table whose column `name` holds values of `classes` in the place of their `names`. Texts stay as they are."""
    if classes.dtype.kind in "OUS":
        return table
    import pyarrow as pa

    place, value = table.column_names.index(name), dict(zip(names, classes.tolist()))
    values = [value.get(one) for one in table.column(place).to_pylist()]
    return table.set_column(place, name, pa.array(values, type=pa.array(classes).type))
