"""Random columns: the cells of n rows as an Arrow array, with the signal that a target may follow.

A kind is a function (draw, n, earlier) -> Column, where `earlier` are the columns that the table has already. KINDS lists them
with their weights. Most are what tables hold; the others are what they should not hold and sometimes do.
"""

import datetime
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute


class Column(NamedTuple):
    cells: pa.Array
    signal: np.ndarray  # [n] finite, of the order of 1
    exact: bool = True  # whether a CSV file with these cells is read as this type
    wild: bool = False  # whether some cells are so far from the others that an answer may be refused


def standardised(values):
    """[n] finite values of mean 0 and sd 1 in the order of `values`; 0 where they are all the same."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(float)
    return (ranks - ranks.mean()) / (ranks.std() or 1.0)


def _numbers(values, **facts):
    values = np.asarray(values, dtype=float)
    return Column(pa.array(values), standardised(values), **facts)


def plain(draw, n, earlier):
    return _numbers(draw.normal(size=n))


def of_a_scale(draw, n, earlier):
    return _numbers(draw.normal(size=n) * 10.0 ** draw.uniform(-300, 300))


def offset(draw, n, earlier):
    return _numbers(draw.choice([1e16, 1e8, -1e12]) + draw.normal(size=n) * draw.choice([1.0, 100.0]))


def subnormal(draw, n, earlier):
    return _numbers(draw.integers(-9, 10, n) * 5e-324)


def beyond_whole(draw, n, earlier):
    """Whole numbers around 2^53, beyond which a double skips some."""
    values = 2**53 + draw.integers(-3, 4, n)
    return Column(pa.array(values), standardised(values), exact=False)


def ulps(draw, n, earlier):
    """Values that differ by units in the last place: 0.3 and 0.1 + 0.2."""
    first = draw.choice([0.3, 1.0, -1e5, 123.456])
    return _numbers(first + draw.integers(0, 4, n) * np.spacing(abs(first)))


def constant(draw, n, earlier):
    return _numbers(np.full(n, draw.choice([0.0, 1.0, -7.5, 1e300, 0.1])))


def repeated(draw, n, earlier):
    return _numbers(draw.choice(draw.normal(size=3), n))


def near_copy(draw, n, earlier):
    known = [c for c in earlier if pa.types.is_float64(c.cells.type) and not c.wild and c.cells.null_count == 0]
    if not known:
        return plain(draw, n, earlier)
    values = known[draw.integers(len(known))].cells.to_numpy()
    with np.errstate(over="ignore"):
        changed = values * (1 + draw.choice([0.0, 1e-15, 1e-9, 1e-3]) * draw.normal(size=n))
    return _numbers(np.where(np.isfinite(changed), changed, values))


def heavy(draw, n, earlier):
    return _numbers(draw.standard_cauchy(n) ** draw.choice([1, 3]), wild=True)


def one_wild(draw, n, earlier):
    values = draw.normal(size=n)
    values[draw.integers(n)] = draw.choice([-1, 1]) * 10.0 ** draw.choice([3, 6, 15, 100, 300])
    return _numbers(values, wild=True)


def whole(draw, n, earlier):
    kind = draw.choice(["int8", "int32", "int64", "uint8", "uint64"])
    values = draw.integers(0, draw.choice([2, 5, 100]), n)
    return Column(pa.array(values).cast(kind), standardised(values))


def single(draw, n, earlier):
    values = draw.normal(size=n).astype(np.float32)
    return Column(pa.array(values), standardised(values))


def decimal(draw, n, earlier):
    values = draw.integers(-10**6, 10**6, n)
    return Column(pa.array([Decimal(int(v)) / 100 for v in values], pa.decimal128(12, 2)), standardised(values))


def boolean(draw, n, earlier):
    values = draw.random(n) < draw.choice([0.5, 0.05])
    return Column(pa.array(values), standardised(values))


def yes_no(draw, n, earlier):
    words = [("no", "yes"), ("FALSE", "TRUE"), ("No", "Yes"), ("0", "1")][draw.integers(4)]
    values = draw.integers(0, 2, n)
    return Column(pa.array([words[v] for v in values]), standardised(values), exact=False)


LEVELS = ["red", "green", "blue", "Zürich", "São Paulo", "北京", "a b", "x,y", 'said "so"', "semi;colon", "it's", "-", "#1", "=1+1", "<b>",
          "e\u0301", "\U0001f600", "tab\there", "\u202eflip\u202c", "back\\slash"]


def category(draw, n, earlier):
    levels = list(draw.permutation(LEVELS)[: draw.integers(1, 9)])
    values = draw.integers(0, len(levels), n)
    cells = pa.array([str(levels[v]) for v in values])
    exact = "\u202e" not in "".join(levels)
    return Column(cells.dictionary_encode() if draw.random() < 0.3 else cells, standardised(values), exact)


def many_levels(draw, n, earlier):
    values = draw.integers(0, max(2, int(n * draw.choice([0.2, 1.0, 5.0]))), n)
    return Column(pa.array([f"level {v}" for v in values]), standardised(values % 7))


def code(draw, n, earlier):
    values = draw.integers(0, 90, n)
    return Column(pa.array([f"{v:03d}" for v in values]), standardised(values % 3))


def odd_text(draw, n, earlier):
    """Texts that a CSV file reads as something else: numbers, missing cells, dates."""
    words = ["1", "2.5", "NA", "null", "?", "2020-01-01", "", " blank ", "1e400", "nan", "inf", "0x10", "1,5", "$5", "true"]
    chosen = draw.permutation(words)[: draw.integers(1, 6)]
    values = draw.integers(0, len(chosen), n)
    return Column(pa.array([str(chosen[v]) for v in values]), standardised(values), exact=False)


def words(draw, n, earlier):
    known = ["the", "film", "was", "good", "bad", "very", "not", "Ärger", "naïve", "数据", "🙂", "don't", "3.5", "--"]
    values = draw.integers(0, len(known), (n, draw.integers(1, 12)))
    return Column(pa.array([" ".join(known[v] for v in row) for row in values]), standardised((values == 3).sum(1)))


def date(draw, n, earlier):
    days = draw.integers(-20000, 40000, n) if draw.random() < 0.3 else 18000 + draw.integers(0, 900, n)
    return Column(pa.array(days.astype("int32")).cast(pa.date32()), standardised(days))


def moment(draw, n, earlier):
    seconds = 1_600_000_000 + draw.integers(0, 10**7, n)
    kind = pa.timestamp(draw.choice(["s", "ms", "us", "ns"]), [None, "UTC", "Europe/Berlin"][draw.integers(3)])
    return Column(pa.array(seconds * 10**9).cast(pa.timestamp("ns", kind.tz)).cast(kind), standardised(seconds))


def empty(draw, n, earlier):
    return Column(pa.nulls(n, [pa.null(), pa.float64(), pa.string()][draw.integers(3)]), np.zeros(n), exact=False)


def not_finite(draw, n, earlier):
    values = draw.normal(size=n)
    values[draw.integers(n)] = draw.choice([np.inf, -np.inf])
    return Column(pa.array(values), standardised(values), wild=True)


def strange_type(draw, n, earlier):
    """A type that is no column of numbers, texts, booleans or times."""
    return Column(pa.array([[datetime.time(1, 2), b"\x00", [1.0], {"a": 1}][draw.integers(4)]] * n), np.zeros(n), exact=False)


KINDS = {plain: 30, of_a_scale: 4, offset: 2, subnormal: 1, beyond_whole: 1, ulps: 3, constant: 3, repeated: 4, near_copy: 4, heavy: 2,
         one_wild: 2, whole: 8, single: 3, decimal: 1, boolean: 4, yes_no: 2, category: 10, many_levels: 2, code: 2, odd_text: 1, words: 1,
         date: 3, moment: 3, empty: 1, not_finite: 0.3, strange_type: 0.2}


def with_missing(column, draw):
    """The column with some cells missing: most often none, else a few or half of them."""
    share = draw.choice([0.0, 0.03, 0.5], p=[0.85, 0.1, 0.05])
    if share == 0 or len(column.cells) == 0 or pa.types.is_null(column.cells.type):
        return column
    gone = draw.random(len(column.cells)) < share
    if pa.types.is_nested(column.cells.type):
        return column
    cells = compute.if_else(pa.array(gone), pa.scalar(None, column.cells.type), column.cells)
    return column._replace(cells=cells, signal=np.where(gone, 0, column.signal))


def random_column(draw, n, earlier):
    kinds = list(KINDS)
    weights = np.array([KINDS[kind] for kind in kinds], dtype=float)
    kind = kinds[draw.choice(len(kinds), p=weights / weights.sum())]
    return with_missing(kind(draw, n, earlier), draw)
