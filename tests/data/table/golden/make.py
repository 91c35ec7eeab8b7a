"""Writes the files of formats_test.cpp with pyarrow (26.0.1): python make.py, in this folder."""

import datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

when = datetime.datetime(2020, 1, 1, 12, 30, 15, 250000)
columns = {
    "i8": pa.array([1, -2, None], pa.int8()),
    "u64": pa.array([1, 7, None], pa.uint64()),
    "f32": pa.array([0.5, 1.5, None], pa.float32()),
    "f64": pa.array([0.1, float("nan"), None], pa.float64()),
    "flag": pa.array([True, False, None]),
    "text": pa.array(["b", "a", None]),
    "large": pa.array(["b", "a", None], pa.large_string()),
    "levels": pa.array(["b", "a", None]).dictionary_encode(),
    "date32": pa.array([datetime.date(1970, 1, 3), datetime.date(1969, 12, 31), None], pa.date32()),
    "date64": pa.array([datetime.date(1970, 1, 3), datetime.date(1969, 12, 31), None], pa.date64()),
    "s": pa.array([when.replace(microsecond=0), None, None], pa.timestamp("s")),
    "ns": pa.array([when, None, None], pa.timestamp("ns", tz="UTC")),
    "nothing": pa.nulls(3),
}
table = pa.table(columns)
# Two rows a group: dictionaries come chunk by chunk.
pa.parquet.write_table(table, "types.parquet", row_group_size=2)
pa.feather.write_feather(table, "types.feather", compression="lz4")
pa.parquet.write_table(pa.table({"x": [1.0], "l": [[1, 2]]}), "list.parquet")
pa.parquet.write_table(pa.table({"x": [1.0, float("inf")]}), "infinite.parquet")
pa.parquet.write_table(pa.table({"x": pa.array([], pa.float64())}), "no_rows.parquet")

# What no double holds.
kept = {
    "id": pa.array([2**53 + 1, None, -2**53 - 1], pa.int64()),
    "big": pa.array([2**63 + 1, None, 2**64 - 1], pa.uint64()),
    "cents": pa.array([Decimal("10000000000000000.01"), None, Decimal("-0.50")], pa.decimal128(30, 2)),
    "single": pa.array([0.1, None, float("inf")], pa.float32()),
    "yes": pa.array([True, None, False]),
    "day": pa.array([datetime.date(1969, 12, 31), None, datetime.date(2020, 2, 29)], pa.date32()),
    "stamp": pa.array([1577881815123456789, None, -1], pa.timestamp("ns")),
    "local": pa.array([1577878215, None, -62135596800], pa.timestamp("s", tz="Europe/Berlin")),
    "level": pa.array(["b", None, ""]).dictionary_encode(),
    "list": pa.array([[1, 2], None, []], pa.list_(pa.int64())),
}
pa.parquet.write_table(pa.table(kept), "kept.parquet", row_group_size=2)
pa.feather.write_feather(pa.table(kept), "kept.feather", compression="lz4")
