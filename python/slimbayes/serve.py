"""Answers rows by a model file without torch: `libslimbayes_serve` through ctypes. It needs numpy alone, and is a package of its own, too:
`slimbayes_serve` (`pip install slimbayes-serve`) for containers and functions in the cloud.

    from slimbayes.serve import Model        # or: from slimbayes_serve import Model
    model = Model("price.safetensors")
    answer = model.predict([{"size": 80, "street": "north"}], level=0.9)
    answer.mean, answer.sd, answer.lower, answer.upper
"""

import ctypes
import json
import math
import os
import pathlib
from numbers import Number
from typing import NamedTuple

import numpy as np

__all__ = ["Answers", "ClassAnswers", "Model", "ServeError"]
_NAME = "libslimbayes_serve.so"


class ServeError(ValueError):
    """A file that cannot be served, or a row that the model refuses; the message says why."""


class Answers(NamedTuple):
    """The answers to n rows, in units of the target, [n] each. The two parts of the sd are aleatoric and epistemic where `describe()` says so."""

    mean: np.ndarray
    sd: np.ndarray
    sd_aleatoric: np.ndarray
    sd_epistemic: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class ClassAnswers(NamedTuple):
    """The answers to n rows of a classification."""

    label: np.ndarray  # [n] the name of the most probable class
    probabilities: np.ndarray  # [n, classes], in the order of `Model.classes`
    entropy: np.ndarray  # [n] of the probabilities, in nats
    mutual_information: np.ndarray  # [n] its part that is ignorance of the model, in nats


class _ClassAnswer(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("label", ctypes.c_size_t), ("entropy", ctypes.c_double), ("mutual_information", ctypes.c_double)]


class _Answer(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), *[(name, ctypes.c_double) for name in Answers._fields]]


def _library():
    """The library beside this file, or the one that SLIMBAYES_SERVE_LIBRARY names."""
    here = pathlib.Path(__file__).resolve().parent
    path = os.environ.get("SLIMBAYES_SERVE_LIBRARY") or next((str(each) for each in (pathlib.Path(__file__).parent / _NAME, here / _NAME) if each.exists()), None)
    if path is None:
        raise ImportError(f"slimbayes.serve: expected {_NAME} in {here}; received none; install slimbayes-serve, or name the library by SLIMBAYES_SERVE_LIBRARY")
    library = ctypes.CDLL(path)
    text, size, number, pointer = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_double, ctypes.c_void_p
    doubles, texts = ctypes.POINTER(number), ctypes.POINTER(text)
    for name, result, arguments in [
            ("version", text, []), ("error", text, []), ("open", pointer, [text]), ("open_bytes", pointer, [text, size]), ("close", None, [pointer]),
            ("describe", text, [pointer]), ("columns", size, [pointer]), ("row_numbers", size, [pointer]),
            ("predict", ctypes.c_int, [pointer, doubles, size, number, ctypes.POINTER(_Answer)]),
            ("predict_cells", ctypes.c_int, [pointer, texts, size, number, ctypes.POINTER(_Answer)]),
            ("numbers", ctypes.c_int, [pointer, texts, doubles]), ("quantile", ctypes.c_int, [pointer, doubles, number, doubles]),
            ("scores", ctypes.c_int, [pointer, doubles, doubles, doubles]),
            ("classify", ctypes.c_int, [pointer, doubles, size, doubles, ctypes.POINTER(_ClassAnswer)]),
            ("prediction_set", ctypes.c_int, [pointer, doubles, number, ctypes.POINTER(ctypes.c_ubyte)])]:
        function = getattr(library, f"slimbayes_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_lib = _library()
__version__ = _lib.slimbayes_version().decode()


def _text(cell, decimal="."):
    """A cell as a CSV file has it whose numbers have this decimal sign, or None for a missing one. Texts stay as they are."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)) or str(cell) in ("NaT", "<NA>", "nan"):
        return None
    text = str(bool(cell)).lower() if isinstance(cell, (bool, np.bool_)) else str(cell)
    if isinstance(cell, (Number, np.number)):
        text = text.replace(".", decimal)
    if "\0" in text:
        raise ServeError(f"expected texts without a NUL character; received {text[:80]!r}")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ServeError(f"expected texts that UTF-8 can hold; received {text[:80]!r}") from None


def _doubles(numbers):
    return numbers.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def _checked(status):
    if status != 0:
        raise ServeError(_lib.slimbayes_error().decode())


class Model:
    """A model file, by its path or its bytes. Immutable; threads may share it. Raises ServeError for a file that cannot be served."""

    def __init__(self, source):
        self._model = None
        opened = _lib.slimbayes_open_bytes(source, len(source)) if isinstance(source, bytes) else _lib.slimbayes_open(os.fsencode(source))
        if not opened:
            raise ServeError(_lib.slimbayes_error().decode())
        self._model = opened
        self._facts = json.loads(_lib.slimbayes_describe(opened).decode())
        self.columns = [column["name"] for column in self._facts["columns"]]
        self.classes = list(self._facts.get("classes", []))
        self.window = self._facts.get("window", {}).get("rows")  # rows of a window; None for a model of other inputs
        self._decimal = self._facts.get("decimal", ".")
        self._text, self._width = "text" in self._facts, _lib.slimbayes_row_numbers(opened)

    def __del__(self):
        if getattr(self, "_model", None):
            _lib.slimbayes_close(self._model)

    def describe(self):
        """What the model is: method, task, target, `sd_parts`, the classes, the columns with their types and levels, and of windows their rows, horizon and step."""
        return self._facts

    def predict(self, rows, level=0.95):
        """The `Answers` to the rows by a model of numbers or counts, with intervals at `level`. rows: an array [n, columns] of numbers (NaN is a missing cell, yes and no are 1 and 0,
        times are seconds since 1970 UTC, a category is its place in its levels); or cells as a CSV file has them, as a list of
        dictionaries or of lists, or as a data frame. A column that a dictionary leaves out is missing. A model of windows takes a list of windows, each
        such rows, oldest first, or an array [n, window, columns]; a model of texts a list of texts, or rows of that column."""
        rows = self._stacked(rows)
        if not self._are_numbers(rows):
            cells = self._cells(rows)
            count, given = len(cells), [_text(cell, self._decimal) for row in cells for cell in row]
            answers = (_Answer * max(count, 1))()
            answers[0].size = ctypes.sizeof(_Answer)
            _checked(_lib.slimbayes_predict_cells(self._model, (ctypes.c_char_p * max(len(given), 1))(*given), count, level, answers))
        else:
            numbers = self._numbers(rows)
            count = len(numbers)
            answers = (_Answer * max(count, 1))()
            answers[0].size = ctypes.sizeof(_Answer)
            _checked(_lib.slimbayes_predict(self._model, _doubles(numbers), count, level, answers))
        table = np.frombuffer(answers, dtype=[("size", np.uintp), *[(name, np.float64) for name in Answers._fields]])[:count]
        return Answers(*(table[name].copy() for name in Answers._fields))

    def classify(self, rows):
        """The `ClassAnswers` to the rows by a model of classes. rows: as for `predict`."""
        numbers = self._as_numbers(rows)
        count = len(numbers)
        probabilities = np.empty((count, max(len(self.classes), 1)))
        answers = (_ClassAnswer * max(count, 1))()
        answers[0].size = ctypes.sizeof(_ClassAnswer)
        _checked(_lib.slimbayes_classify(self._model, _doubles(numbers), count, _doubles(probabilities), answers))
        kinds = [("size", np.uintp), ("label", np.uintp), ("entropy", np.float64), ("mutual_information", np.float64)]
        table = np.frombuffer(answers, dtype=kinds)[:count]
        names = np.array(self.classes)[table["label"].astype(int)]
        return ClassAnswers(names, probabilities, table["entropy"].copy(), table["mutual_information"].copy())

    def prediction_set(self, rows, level=0.95):
        """Whether each class is in the prediction set of each row at this level, [n, classes] bool: the set holds the class of a new row with this
        probability. Sets are randomised, as those of `slimbayes predict`, and some may be empty. For a model that was fitted with `calibrate="conformal"`. rows: as for `predict`."""
        numbers = self._as_numbers(rows)
        sets = np.zeros((len(numbers), len(self.classes)), dtype=np.uint8)
        for row, own in zip(numbers, sets):
            _checked(_lib.slimbayes_prediction_set(self._model, _doubles(row), level, own.ctypes.data_as(ctypes.POINTER(ctypes.c_ubyte))))
        return sets.astype(bool)

    def quantile(self, rows, probability):
        """The quantile of each answer at this probability [n], without calibration: the ends of a calibrated interval are others. rows: as for `predict`."""
        return np.array([self._one(row, "quantile", probability)[0] for row in self._as_numbers(rows)])

    def scores(self, rows):
        """How far each row lies from the training rows: half-ranges beyond the training range of a column [n], and the root mean square distance in
        training sds [n]. rows: as for `predict`."""
        found = [self._one(row, "scores") for row in self._as_numbers(rows)]
        return np.array([one[0] for one in found]), np.array([one[1] for one in found])

    def _one(self, row, name, *arguments):
        out = ctypes.c_double(), ctypes.c_double()
        places = [ctypes.byref(each) for each in (out[:1] if name == "quantile" else out)]
        _checked(getattr(_lib, f"slimbayes_{name}")(self._model, _doubles(row), *arguments, *places))
        return [each.value for each in out]

    def _as_numbers(self, rows):
        rows = self._stacked(rows)
        if self._are_numbers(rows):
            return self._numbers(rows)
        cells = self._cells(rows)
        out = np.empty((len(cells), self._width))
        for number, (row, to) in enumerate(zip(cells, out), 1):
            given = (ctypes.c_char_p * max(len(row), 1))(*map(_text, row))
            if _lib.slimbayes_numbers(self._model, given, _doubles(to)):
                raise ServeError(f"row {number}: {_lib.slimbayes_error().decode().removeprefix('row: ')}")
        return out

    def _numbers(self, rows):
        shape = (self._width,) if self._text else (len(self.columns),) if self.window is None else (self.window, len(self.columns))
        numbers = np.ascontiguousarray(rows, dtype=np.float64)
        if numbers.shape[1:] != shape or numbers.ndim != len(shape) + 1:
            raise ServeError(f"expected {self._noun()} [n, {', '.join(map(str, shape))}] of {'tokens' if self._text else 'the columns ' + ', '.join(self.columns)}; "
                             f"received {list(numbers.shape)}")
        return numbers.reshape(len(numbers), self._width)

    def _stacked(self, rows):
        """Windows that are arrays of numbers of one shape as an array [n, window, columns]."""
        windows = self.window is not None and isinstance(rows, (list, tuple)) and len(rows) > 0 and all(map(self._are_numbers, rows))
        return np.stack(rows) if windows and len({each.shape for each in rows}) == 1 else rows

    @staticmethod
    def _are_numbers(rows):
        return isinstance(rows, np.ndarray) and rows.dtype.kind in "biufc"

    def _noun(self):
        return "texts" if self._text else "rows" if self.window is None else "windows"

    @staticmethod
    def _is_frame(rows):
        return hasattr(rows, "columns") and not isinstance(rows, np.ndarray) and not hasattr(rows, "to_pylist")

    def _cells(self, rows):
        """A list of cells for each row, window or text: those of a row in the order of the columns, of a window row after row."""
        if self.window is None:
            return self._cells_of_rows(rows)
        if self._is_frame(rows) or isinstance(rows, dict) or hasattr(rows, "to_pylist"):
            raise ServeError(f"expected a list of windows, each of {self.window} rows; received one table; put its last {self.window} rows into a list")
        found = []
        for number, window in enumerate(rows, 1):
            if isinstance(window, (dict, str, bytes)) or not (self._is_frame(window) or hasattr(window, "to_pylist") or hasattr(window, "__len__")):
                raise ServeError(f"expected a list of windows, each a frame or a list of {self.window} rows; received {type(window).__name__} in place of window {number}; "
                                 f"put the {self.window} rows of a window into one list")
            try:
                cells = self._cells_of_rows(window)
            except ServeError as error:
                raise ServeError(f"window {number}: {error}") from None
            if len(cells) != self.window:
                raise ServeError(f"window {number}: expected {self.window} rows, oldest first; received {len(cells)}")
            found.append([cell for row in cells for cell in row])
        return found

    def _cells_of_rows(self, rows):
        """A list of cells in the order of the columns for each row."""
        if self._is_frame(rows):
            if absent := [name for name in self.columns if name not in list(rows.columns)]:
                raise ServeError(f"expected a frame with the columns {', '.join(self.columns)}; received one without {', '.join(absent)}")
            return list(zip(*(rows[name].to_list() for name in self.columns))) if self.columns else [() for _ in range(len(rows))]
        if isinstance(rows, (dict, str)):
            raise ServeError(f"expected a list of {'texts' if self._text else 'rows'}; received one; put it into a list")
        if hasattr(rows, "to_pylist"):  # a pyarrow table
            rows = [{name: cell for name, cell in row.items() if name in self.columns} for row in rows.to_pylist()]
        found = []
        for number, row in enumerate(rows, 1):
            if isinstance(row, dict):
                if foreign := [str(name) for name in row if name not in self.columns]:
                    raise ServeError(f"row {number}: expected the columns {', '.join(self.columns)}; received {', '.join(foreign)}")
                row = [row.get(name) for name in self.columns]
            elif self._text and (isinstance(row, str) or (not hasattr(row, "__len__") and _text(row) is None)):
                row = [row]
            if isinstance(row, (str, bytes)) or not hasattr(row, "__len__") or len(row) != len(self.columns):
                what = "a text" if self._text else f"a dictionary or {len(self.columns)} cells"
                raise ServeError(f"row {number}: expected {what}; received {repr(row)[:200]}")
            found.append(list(row))
        return found
