"""Answers to batches of rows by slimbayes.scoring, with the engines that users have: Dask here; Spark and Ray where they are installed
(tests/requirements-clusters.txt)."""

import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import slimbayes as sb
from slimbayes.scoring import Scorer

warnings.simplefilter("ignore", sb.Note)


def rows(n=240, seed=1):
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": draw.normal(size=n), "street": draw.choice(["park", "north"], n), "id": np.arange(n) + 10**12,
                          "day": pd.date_range("2026-01-01", periods=n)})
    frame["price"] = 2 * frame["size"] + (frame["street"] == "park") + 0.1 * draw.normal(size=n)
    return frame


@pytest.fixture(name="models", scope="module")
def model_files(tmp_path_factory):
    folder, frame = tmp_path_factory.mktemp("models"), rows()
    inputs = frame[["size", "street"]]
    sb.Regressor("dbk", hidden=8, rank=8, steps=40).fit(inputs, frame["price"]).save(folder / "numbers.safetensors")
    classes = np.where(frame["price"] > 0, "dear", "cheap")
    sb.Classifier("dnn", hidden=8, steps=40, calibrate="conformal").fit(inputs, classes).save(folder / "classes.safetensors")
    sb.CountRegressor("vbll", hidden=8, rank=8, steps=40).fit(inputs, np.arange(len(frame)) % 5).save(folder / "counts.safetensors")
    sb.Regressor("bag-of-words", text="street", hidden=8, steps=40).fit(inputs[["street"]], frame["price"]).save(folder / "texts.safetensors")
    sb.Forecaster("dbk", window=3, time="day", hidden=8, rank=8, steps=20).fit(frame[["day", "price"]], "price").save(folder / "series.safetensors")
    return folder


@pytest.fixture(name="workers_here")
def workers_with_this_python(monkeypatch):
    """The worker processes of an engine find what this process has imported."""
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)


def same(found, expected):
    """Whether two frames have the same answers, to the rounding of batches of other sizes."""
    assert list(found) == list(expected)
    return all(np.allclose(found[name], expected[name], rtol=1e-5, atol=1e-7, equal_nan=True) if expected[name].dtype.kind in "fi"
               else found[name].tolist() == expected[name].tolist() for name in expected)


NAMES = ["numbers", "classes", "counts", "texts"]


@pytest.mark.parametrize("name", NAMES)
def test_each_kind_of_batch_has_the_answers_of_predict_frame(models, name):
    frame, path = rows(seed=2), models / f"{name}.safetensors"
    expected = sb.load(path).predict_frame(frame, level=0.8)
    score = Scorer(path, level=0.8, keep="id")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    by_pandas, by_table = score(frame), score(table)
    assert list(by_pandas) == ["id", *expected] and by_pandas.index.equals(frame.index)
    assert same(by_pandas[list(expected)], expected)
    assert by_table.schema == score.schema(table.schema) and by_table["id"].to_pylist() == frame["id"].tolist()
    batches = list(score.batches(iter([*table.to_batches(max_chunksize=100), *table.schema.empty_table().to_batches()])))
    assert [len(batch) for batch in batches] == [100, 100, 40] and same(pa.Table.from_batches(batches).to_pandas(), by_table.to_pandas())
    arrays = score({column: frame[column].to_numpy() for column in ("size", "street", "id")})
    assert same(pd.DataFrame(arrays)[list(expected)], expected)


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_that_of_every_answer(models, name):
    score = Scorer(models / f"{name}.safetensors", keep=["day", "id"])
    table = pa.Table.from_pandas(rows(5), preserve_index=False)
    schema = score.schema(table.schema)
    assert schema.names[:2] == ["day", "id"] and not any(pa.types.is_dictionary(field.type) for field in schema)
    without = table.set_column(1, "street", pa.nulls(5, pa.string())).set_column(0, "size", pa.nulls(5, pa.float64()))
    for batch in table, without, table.slice(0, 1), table.slice(0, 0):
        answered = score(batch)
        assert answered.schema == schema and len(answered) == len(batch)
    meta = score.meta(rows(3))
    assert len(meta) == 0 and list(meta) == schema.names
    assert score(table.to_pandas()).dtypes.to_dict() == meta.dtypes.to_dict()
    assert score(pa.RecordBatch.from_pylist([], table.schema)).schema == schema


def test_a_bad_row_is_blank_and_ends_no_job(models):
    frame = rows(6)
    frame.loc[2, "size"], frame.loc[3, "size"] = np.inf, np.nan
    answered = Scorer(models / "numbers.safetensors", keep="id")(frame)
    assert answered["mean"].isna().tolist() == [False, False, True, False, False, False]
    assert answered["id"].tolist() == frame["id"].tolist()
    with pytest.raises(sb.DataError, match="finite numbers in column 'size'.*row 3"):
        Scorer(models / "numbers.safetensors", on_bad_row="error")(frame)


def test_a_kept_column_stays_as_it_is(models):
    frame = rows(4)
    frame.loc[1, "size"] = np.inf
    answered = Scorer(models / "numbers.safetensors", keep="size")(frame)
    assert answered["size"].tolist() == frame["size"].tolist() and np.isnan(answered["mean"][1])


def test_arrays_may_be_masked_or_hold_missing_texts_and_other_columns(models):
    frame = rows(4)
    expected = Scorer(models / "numbers.safetensors")(frame.assign(size=[np.nan, *frame["size"][1:]], street=["park", None, "park", "north"]))
    answered = Scorer(models / "numbers.safetensors")({"size": np.ma.masked_array(frame["size"].to_numpy(), [True, False, False, False]),
                                                       "street": np.array(["park", np.nan, "park", "north"], dtype=object),
                                                       "image": np.zeros((4, 2, 2)), "any": np.array([1, "a", None, {}], dtype=object)})
    assert same(pd.DataFrame(answered), expected)


def test_a_changed_file_is_another_model(models, tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes((models / "numbers.safetensors").read_bytes())
    old = Scorer(path)
    path.write_bytes((models / "classes.safetensors").read_bytes())
    assert "label" in Scorer(path)(rows(3)) and "mean" in old(rows(3))  # which this process has open
    program = "import pickle, sys; score, frame = pickle.load(sys.stdin.buffer); score(frame)"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], input=pickle.dumps((old, rows(3))), capture_output=True, check=False,
                          env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    assert b"make the scorer anew" in done.stderr


def test_a_scorer_leaves_the_threads_of_its_process(models):
    from slimbayes._library import core

    before = core.threads()
    core.set_threads(2)
    Scorer(models / "numbers.safetensors")(rows(3))
    assert core.threads() == 2
    core.set_threads(before)


def test_a_model_travels_with_its_scorer(models):
    """A fitted estimator, whose file no worker has; opened once in a process, not once a batch."""
    model = sb.load(models / "numbers.safetensors")
    program = ("import pickle, sys, slimbayes as sb\n"
               "score, frame = pickle.load(sys.stdin.buffer)\n"
               "opened = []\n"
               "load = sb.load\n"
               "sb.load = lambda path: opened.append(path) or load(path)\n"
               "answers = [score(frame), score(frame)]\n"
               "pickle.dump((answers[1], len(opened)), sys.stdout.buffer)\n")
    frame = rows(7)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], input=pickle.dumps((Scorer(model, level=0.7), frame)), capture_output=True,
                          check=True, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    answered, opened = pickle.loads(done.stdout)
    assert opened == 1 and answered["mean"].tolist() == model.predict_frame(frame)["mean"].tolist()


@pytest.mark.parametrize("made, sentence", [
    (lambda folder: Scorer(folder / "absent.safetensors"), "absent.safetensors"),
    (lambda folder: Scorer(folder / "series.safetensors"), "depends on this row alone"),
    (lambda folder: Scorer(folder / "numbers.safetensors", level=1.5), "a level between 0 and 1"),
    (lambda folder: Scorer(folder / "numbers.safetensors", on_bad_row="skip"), "'blank' or 'error'"),
    (lambda folder: Scorer(folder / "numbers.safetensors", threads=0), "at least one thread"),
    (lambda folder: Scorer(folder / "numbers.safetensors", keep=[3]), "names of columns in keep"),
    (lambda folder: Scorer(folder / "numbers.safetensors", keep="zip")(rows(3)), "the kept column 'zip'"),
    (lambda folder: Scorer(folder / "numbers.safetensors", keep="sd"), "of other names than the answers; received sd"),
    (lambda folder: Scorer(folder / "numbers.safetensors")(rows(3)[["street"]]), "size"),
    (lambda folder: Scorer(folder / "numbers.safetensors").meta(rows(3)[["street"]]), "received none named size"),
    (lambda folder: Scorer(3), "the path of a model file, or a fitted estimator; received int"),
    (lambda folder: Scorer(folder / "numbers.safetensors")([1, 2]), "expected a batch as a pyarrow table")])
def test_what_no_worker_could_answer_is_refused_at_once(models, made, sentence):
    with pytest.raises((ValueError, OSError), match=sentence):
        made(models)


@pytest.mark.usefixtures("workers_here")
def test_dask_answers_on_two_workers(models):
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask.dataframe")
    frame = rows(120, seed=3)
    score = Scorer(models / "numbers.safetensors", level=0.9, keep="id")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        lazy = dask.from_pandas(frame, npartitions=6)
        answered = lazy.map_partitions(score, meta=score.meta(lazy._meta)).compute()
        opened = client.run(lambda: len(sys.modules["slimbayes.scoring"]._opened) if "slimbayes.scoring" in sys.modules else 0)
    assert max(opened.values()) == 1
    expected = sb.load(models / "numbers.safetensors").predict_frame(frame, level=0.9)
    assert answered["id"].tolist() == frame["id"].tolist() and np.allclose(answered["upper"], expected["upper"], rtol=1e-5)


@pytest.mark.usefixtures("workers_here")
def test_spark_answers_on_two_workers(models):
    sql = pytest.importorskip("pyspark.sql")
    frame = rows(120, seed=3)
    score = Scorer(models / "numbers.safetensors", level=0.9, keep="id")
    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    try:
        houses = session.createDataFrame(frame).repartition(6)
        answered = houses.mapInArrow(score.batches, score.spark_schema(houses.schema)).toPandas().sort_values("id")
    finally:
        session.stop()
    expected = sb.load(models / "numbers.safetensors").predict_frame(frame, level=0.9)
    assert answered["id"].tolist() == frame["id"].tolist() and np.allclose(answered["upper"], expected["upper"], rtol=1e-5)


@pytest.mark.usefixtures("workers_here")
def test_ray_answers_on_two_workers(models):
    ray = pytest.importorskip("ray")
    frame = rows(120, seed=3)
    score = Scorer(models / "numbers.safetensors", level=0.9, keep="id")
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 * 2**20)
    try:
        answered = ray.data.from_pandas(frame).repartition(6).map_batches(score, batch_format="pyarrow").to_pandas().sort_values("id")
    finally:
        ray.shutdown()
    expected = sb.load(models / "numbers.safetensors").predict_frame(frame, level=0.9)
    assert answered["id"].tolist() == frame["id"].tolist() and np.allclose(answered["upper"], expected["upper"], rtol=1e-5)
