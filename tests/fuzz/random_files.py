"""Writes a table as a file of a random format, and as a data frame of a random library."""

import csv
import gzip
import io
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.feather
import pyarrow.parquet

MISSING = ["", "NA", "N/A", "NaN", "null", "None", "?"]


class Format(NamedTuple):
    """How a table is written. A file that is not `clean` has a fault of form that a program may refuse with a sentence."""

    ending: str  # parquet, feather, csv, tsv, csv.gz
    separator: str = ","
    missing: str = ""
    quotes: int = csv.QUOTE_MINIMAL
    line_end: str = "\n"
    encoding: str = "utf-8"
    decimal_comma: bool = False
    ragged: bool = False

    @property
    def clean(self):
        encodings = ("utf-8", "utf-8-sig")
        usual = self.separator == ("\t" if self.ending == "tsv" else ",")
        return usual and self.encoding in encodings and not self.decimal_comma and not self.ragged

    @property
    def typed(self):
        return self.ending in ("parquet", "feather")


def random_format(draw):
    ending = str(draw.choice(["parquet", "feather", "csv", "tsv", "csv.gz"], p=[0.3, 0.2, 0.35, 0.1, 0.05]))
    if ending in ("parquet", "feather"):
        return Format(ending)
    fault = draw.random() < 0.15
    return Format(
        ending, "\t" if ending == "tsv" else ";" if fault and draw.random() < 0.4 else ",", str(draw.choice(MISSING)),
        csv.QUOTE_ALL if draw.random() < 0.2 else csv.QUOTE_MINIMAL, "\r\n" if draw.random() < 0.2 else "\n",
        str(draw.choice(["latin-1", "utf-16", "utf-8"]) if fault else draw.choice(["utf-8", "utf-8-sig"], p=[0.9, 0.1])),
        bool(fault and draw.random() < 0.4), bool(fault and draw.random() < 0.2))


def cell_text(value, form):
    if value is None:
        return form.missing
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = form.missing if value != value else repr(value)
        return text.replace(".", ",") if form.decimal_comma else text
    return str(value)


def texts_of(cells):
    """The cells as Python values whose text a CSV file holds: times in ISO 8601 and in UTC."""
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    if pa.types.is_timestamp(cells.type):
        pattern = "%Y-%m-%dT%H:%M:%S" + ("Z" if cells.type.tz else "")
        in_utc = cells.cast(pa.timestamp("us", "UTC" if cells.type.tz else None))
        return [None if t is None else t.strftime(pattern) + (f".{t.microsecond:06d}" if t.microsecond and not cells.type.tz else "")
                for t in in_utc.to_pylist()]
    return cells.to_pylist()


def as_csv(table, form):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=form.separator, quoting=form.quotes, lineterminator=form.line_end)
    alone = csv.QUOTE_ALL if table.num_columns == 1 else form.quotes  # an unquoted name of a single column may hold no separator
    csv.writer(out, delimiter=form.separator, quoting=alone, lineterminator=form.line_end).writerow(table.column_names)
    for number, row in enumerate(zip(*(texts_of(c) for c in table.columns), strict=True)):
        cells = [cell_text(value, form) for value in row]
        writer.writerow(cells[:-1] if form.ragged and number == 1 else cells)
    return out.getvalue().encode(form.encoding, "replace")


def write(table, path, form):
    if form.ending == "parquet":
        pyarrow.parquet.write_table(table, path)
    elif form.ending == "feather":
        pyarrow.feather.write_feather(table, str(path), compression="uncompressed")
    elif form.ending == "csv.gz":
        path.write_bytes(gzip.compress(as_csv(table, form), mtime=0))
    else:
        path.write_bytes(as_csv(table, form))


def as_frame(table, library):
    if library == "pandas":
        return table.to_pandas()
    if library == "polars":
        import polars

        return polars.from_arrow(table)
    return table


def library_for(draw, table):
    """pyarrow, or a library whose frames hold the same values: pandas makes doubles of whole numbers where some are missing."""
    library = str(draw.choice(["pyarrow", "pandas", "polars"], p=[0.5, 0.35, 0.15]))
    strange = any(pa.types.is_nested(f.type) or pa.types.is_decimal(f.type) or pa.types.is_null(f.type) for f in table.schema)
    large = any(pa.types.is_integer(f.type) and c.null_count and compute.max(c).as_py() is not None and compute.max(c).as_py() > 2**52
                for f, c in zip(table.schema, table.columns, strict=True))
    return "pyarrow" if strange or large else library
