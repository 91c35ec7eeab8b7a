"""Answers to rows where they lie: functions for Spark, Dask, Ray and any other engine that hands batches of a table to a Python function.

    score = Scorer("price.safetensors", level=0.9, keep=["id"])

    houses.mapInArrow(score.batches, score.spark_schema(houses.schema))       # PySpark
    houses.map_partitions(score, meta=score.meta(houses._meta))               # Dask
    houses.map_batches(score, batch_format="pyarrow")                         # Ray

Each worker process opens the model once. [More](../../docs/machines.md#scoring-where-the-rows-lie)
"""

import hashlib
import os
import pathlib
import tempfile
import threading
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

__all__ = ["Scorer"]
_opened, _opening = {}, threading.Lock()  # of this process: models by the hash of their files


def _columns(names):
    names = [names] if isinstance(names, str) else list(names)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"Scorer: expected names of columns in keep; received {names!r}")
    return list(dict.fromkeys(names))


class Scorer:
    """Answers batches of rows with the columns of `slimbayes predict`: mean, sd and interval of numbers and counts, probabilities and label of classes.
    It can be pickled, so that an engine can send it to its workers.

    model : path of a model file, which every worker must see at this path; or a fitted estimator, which travels with the scorer.
    level : of the interval.
    keep : columns of the batch to copy into the answer, such as the key of a row.
    parts : also the parts of the sd that are not aleatoric and epistemic.
    on_bad_row : "blank" answers a row with an infinite number by missing cells, "error" raises a ValueError that names it.
    threads : of an answer. Engines start a process for each core.
    """

    def __init__(self, model, level=0.95, keep=(), parts=False, on_bad_row="blank", threads=1):
        if not 0 < level < 1:
            raise ValueError(f"Scorer: expected a level between 0 and 1; received {level!r}")
        if on_bad_row not in ("blank", "error"):
            raise ValueError(f"Scorer: expected 'blank' or 'error' as on_bad_row; received {on_bad_row!r}")
        if not threads >= 1:
            raise ValueError(f"Scorer: expected at least one thread; received {threads!r}")
        self.level, self.keep, self.parts = float(level), _columns(keep), bool(parts)
        self.on_bad_row, self.threads = on_bad_row, int(threads)
        if not (isinstance(model, (str, os.PathLike)) or hasattr(model, "save")):
            raise ValueError(f"Scorer: expected the path of a model file, or a fitted estimator; received {type(model).__name__}")
        if isinstance(model, (str, os.PathLike)):
            self._path, self._bytes = str(pathlib.Path(model).absolute()), None
            found = pathlib.Path(self._path).read_bytes()
        else:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "model.safetensors"
                model.save(path)
                found = self._bytes = path.read_bytes()
                self._path = None
        self._hash, self._own_schema = hashlib.sha256(found).hexdigest(), None
        # A file that cannot be opened, a model of series and a column that answers have are refused here and not in a worker.
        own = self._answer_schema().names
        if twice := [name for name in self.keep if name in own]:
            raise ValueError(f"Scorer: expected kept columns of other names than the answers; received {', '.join(twice)}; rename them first")

    def _model(self):
        with _opening:
            if self._hash not in _opened:
                _opened[self._hash] = self._open()
        return _opened[self._hash]

    def _open(self):
        import slimbayes

        if self._path is not None:
            if hashlib.sha256(pathlib.Path(self._path).read_bytes()).hexdigest() != self._hash:
                raise ValueError(f"Scorer: expected the model that the scorer was made of in {self._path}; received another; make the scorer anew")
            model = slimbayes.load(self._path)
        else:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "model.safetensors"
                path.write_bytes(self._bytes)
                model = slimbayes.load(path)
        kind = model._facts["kind"] if hasattr(model, "_facts") else "posterior"
        if kind not in ("table", "text", "texts"):
            raise ValueError(f"Scorer: expected a model whose answer to a row depends on this row alone; received one of {kind}; answer such rows "
                             "in one process, with slimbayes.load(...).predict_frame")
        return model

    def __call__(self, batch):
        """The answers to a batch: a pyarrow table or record batch, a data frame of pandas, or a dictionary of arrays; the answer is one, too."""
        if isinstance(batch, pa.Table):
            return self._answers(batch)
        if isinstance(batch, pa.RecordBatch):
            answered = self._answers(pa.Table.from_batches([batch])).combine_chunks()
            return pa.RecordBatch.from_arrays([column.chunk(0) if column.num_chunks else pa.array([], column.type) for column in answered.columns],
                                              schema=answered.schema)
        if isinstance(batch, dict):
            answered = self._answers(pa.table({name: pa.array(batch[name] if isinstance(batch[name], np.ma.MaskedArray) else np.asarray(batch[name]),
                                                              from_pandas=True) for name in self._needed(batch)}))
            return {name: answered[name].to_numpy(zero_copy_only=False) for name in answered.column_names}
        if type(batch).__module__.partition(".")[0] == "pandas":
            answered = self._answers(pa.Table.from_pandas(batch[self._needed(batch)], preserve_index=False)).to_pandas()
            answered.index = batch.index
            return answered
        raise ValueError(f"Scorer: expected a batch as a pyarrow table, a data frame of pandas or a dictionary of arrays; received {type(batch).__name__}")

    def _needed(self, names):
        """Of these names of columns those that the model reads and those to keep; others may hold what Arrow does not know."""
        return [name for name in names if name in self.keep or name in self._model()._facts["columns"]]

    def batches(self, batches):
        """The answers to an iterator of record batches, as an iterator: what Spark's mapInArrow calls."""
        for batch in batches:
            if len(batch):
                yield self(batch)

    def schema(self, of=None):
        """The Arrow schema of the answers to batches of the schema `of`, which only `keep` needs."""
        return pa.schema([*(self._kept(of, name) for name in self.keep), *self._answer_schema()])

    def _answer_schema(self):
        """The answers' own columns: those of a row whose cells are all missing."""
        if self._own_schema is None:
            model = self._model()
            row = pa.table({name: pa.nulls(1, pa.float64()) for name in model._facts["columns"]})
            with warnings.catch_warnings():  # this row is no one's
                warnings.simplefilter("ignore")
                self._own_schema = self._plain(self._raw(row, model)).schema
        return self._own_schema

    @staticmethod
    def _kept(schema, name):
        """The field of a kept column, of an Arrow schema or one of Spark."""
        names = [] if schema is None else schema.names
        if name not in names:
            raise ValueError(f"Scorer: expected the kept column {name!r} in the schema of the batches; received {', '.join(names) or 'no schema'}")
        return schema[names.index(name)]

    def spark_schema(self, of=None):
        """The schema of the answers for mapInArrow. `of`: the schema of Spark's data frame, which only `keep` needs."""
        from pyspark.sql.pandas.types import from_arrow_schema
        from pyspark.sql.types import StructType

        return StructType([*(self._kept(of, name) for name in self.keep), *from_arrow_schema(self._answer_schema())])

    def meta(self, of=None):
        """An answer without rows as a data frame of pandas: Dask's `meta`. `of`: a frame with the columns of the batches, which only `keep` needs."""
        columns = self._model()._facts["columns"]
        if missing := [] if of is None else [name for name in columns if name not in of.columns]:
            raise ValueError(f"Scorer: expected frames with the columns {', '.join(columns)}; received none named {', '.join(missing)}")
        frame = self.schema(None if of is None else pa.Schema.from_pandas(of[self._needed(of)], preserve_index=False)).empty_table().to_pandas()
        return frame if of is None else frame.set_index(of.index[:0])

    def _answers(self, table):
        """The answers to a table of any number of rows, in the types of schema()."""
        schema = self.schema(table.schema)
        if len(table) == 0:
            return schema.empty_table()
        model = self._model()
        own = [name for name in table.column_names if name in model._facts["columns"]]
        finite, bad = self._without_infinite(table.select(own), own)
        answered = self._plain(self._raw(finite, model))
        columns = {name: answered[name] for name in answered.column_names}
        if bad is not None:
            columns = {name: compute.if_else(bad, pa.scalar(None, column.type), column) for name, column in columns.items()}
        columns = [*(table[name] for name in self.keep), *(columns[field.name].cast(field.type) for field in self._answer_schema())]
        return pa.table(columns, schema=schema)

    def _raw(self, table, model):
        from slimbayes._library import core

        before = core.threads()
        core.set_threads(self.threads)
        try:
            return model.predict_frame(table, level=self.level, parts=self.parts)
        finally:
            core.set_threads(before)

    @staticmethod
    def _plain(answered):
        """The table with texts in the place of dictionaries, which not every engine knows."""
        for i, field in enumerate(answered.schema):
            if pa.types.is_dictionary(field.type):
                answered = answered.set_column(i, field.name, answered[field.name].cast(field.type.value_type))
        return answered

    def _without_infinite(self, table, columns):
        """The table with missing cells in the place of infinite numbers, and which rows had one; None where none had."""
        if self.on_bad_row == "error":
            return table, None
        bad = None
        for i, field in enumerate(table.schema):
            if field.name not in columns or not pa.types.is_floating(field.type):
                continue
            infinite = compute.fill_null(compute.is_inf(table[field.name]), False)
            if not compute.any(infinite).as_py():
                continue
            from slimbayes._notes import warn

            warn([f"column {field.name!r}: rows with an infinite number are left blank (on_bad_row='error' names the first)"])
            table = table.set_column(i, field.name, compute.if_else(infinite, pa.scalar(None, field.type), table[field.name]))
            bad = infinite if bad is None else compute.or_(bad, infinite)
        return table, bad
