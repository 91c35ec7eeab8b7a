"""slimbayes.serve answers as the estimators, without torch."""

import json
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
import slimbayes as sb
import toys
from slimbayes import serve
from test_python_torch import rows

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    frame, y = rows(140, 1)
    frame["sold"] = pd.date_range("2024-01-01", periods=140, freq="31h")
    model = sb.Regressor("dbk", steps=60, hidden=16, rank=12).fit(frame, y)
    path = tmp_path_factory.mktemp("serve") / "m.safetensors"
    model.save(path)
    return model, serve.Model(path), path


def fresh_rows():
    frame, _ = rows(40, 2)
    frame["sold"] = pd.date_range("2024-02-01", periods=40, freq="7h")
    frame.loc[3, "street"] = "elsewhere"
    frame.loc[4, "street"] = None
    return frame


def dictionaries(frame):
    return frame.to_dict("records")


@pytest.mark.parametrize("form", [lambda frame: frame, pl.from_pandas, dictionaries, lambda frame: frame.to_numpy(object).tolist()],
                         ids=["pandas", "polars", "dictionaries", "lists"])
def test_the_answers_are_those_of_the_estimator(pair, form):
    model, served, _ = pair
    frame = fresh_rows()[served.columns]
    found = served.predict(form(frame), level=0.8)
    mean, sd = model.predict(frame, return_std=True)
    low, high = model.predict_interval(frame, level=0.8)
    for told, expected in (found.mean, mean), (found.sd, sd), (found.lower, low), (found.upper, high):
        assert told == pytest.approx(expected, rel=1e-9)
    assert np.hypot(found.sd_aleatoric, found.sd_epistemic) == pytest.approx(sd, rel=1e-9)


@pytest.fixture(scope="module")
def of_classes(tmp_path_factory):
    frame, y = rows(140, 1)
    classes = np.where(y < np.quantile(y, 0.4), "cheap", np.where(y < np.quantile(y, 0.7), "fair", "dear"))
    model = sb.Classifier("logistic", calibrate="conformal", calibration_fraction=0.3).fit(frame, classes)
    path = tmp_path_factory.mktemp("serve") / "classes.safetensors"
    model.save(path)
    return model, serve.Model(path)


def test_classes_are_those_of_the_estimator(of_classes):
    model, served = of_classes
    frame = rows(40, 2)[0]
    found = served.classify(frame)
    assert served.classes == list(model.classes_)
    assert found.probabilities == pytest.approx(model.predict_proba(frame), rel=1e-6, abs=1e-9)
    assert list(found.label) == list(model.predict(frame))
    assert (found.mutual_information >= 0).all() and (found.entropy >= found.mutual_information).all()
    assert (served.prediction_set(frame, level=0.8) == model.predict_set(frame, level=0.8)).all()
    assert served.classify(frame[:0]).probabilities.shape == (0, 3)


def test_classes_and_numbers_name_each_others_function(pair, of_classes):
    frame = rows(3, 2)[0]
    with pytest.raises(serve.ServeError, match="classify"):
        of_classes[1].predict(frame)
    with pytest.raises(serve.ServeError, match="predict"):
        pair[1].classify(fresh_rows())
    with pytest.raises(serve.ServeError, match="calibration"):
        of_classes[1].prediction_set(frame, level=0.9999)


def test_counts_are_served(tmp_path):
    frame, y = rows(140, 1)
    counts = np.floor(3 * (y - y.min())).astype(int)
    model = sb.CountRegressor("vbll", steps=60, hidden=16, rank=12).fit(frame, counts)
    model.save(tmp_path / "counts.safetensors")
    served, fresh = serve.Model(tmp_path / "counts.safetensors"), rows(40, 2)[0]
    found, (low, high) = served.predict(fresh, level=0.8), model.predict_interval(fresh, level=0.8)
    assert found.mean == pytest.approx(model.predict(fresh), rel=1e-6)
    assert (found.lower == low).all() and (found.upper == high).all()
    assert found.sd_aleatoric == pytest.approx(np.sqrt(found.mean)) and served.describe()["task"] == "counts"


def test_numbers_quantiles_and_scores(pair):
    _, served, path = pair
    frame = fresh_rows().dropna()[served.columns][1:]
    levels = {column["name"]: column["levels"] for column in served.describe()["columns"] if column["type"] == "category"}
    numbers = frame.assign(street=[levels["street"].index(name) if name in levels["street"] else 3 for name in frame["street"]], old=frame["old"].astype(float),
                           sold=(frame["sold"] - pd.Timestamp(0)).dt.total_seconds()).to_numpy(float)
    by_cells, by_numbers = served.predict(frame, 0.9), served.predict(numbers, 0.9)
    assert (by_cells.mean == by_numbers.mean).all() and (by_cells.upper == by_numbers.upper).all()
    assert served.quantile(numbers, 0.95) == pytest.approx(by_numbers.upper, rel=1e-9)
    assert (served.quantile(frame.to_numpy(object).tolist(), 0.95) == served.quantile(numbers, 0.95)).all()
    beyond, distance = served.scores(numbers)
    assert (beyond >= 0).all() and (distance > 0).all() and beyond.shape == (len(frame),)
    assert serve.Model(path.read_bytes()).predict(numbers).mean == pytest.approx(by_numbers.mean, rel=0)
    assert served.predict(numbers[:0]).mean.shape == (0,)


def test_threads_share_a_model(pair):
    _, served, _ = pair
    frame, found = fresh_rows(), {}
    whole = served.predict(frame).mean
    threads = [threading.Thread(target=lambda k=k: found.update({k: served.predict(frame[k:k + 5]).mean})) for k in range(0, 40, 5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 8 and all((values == whole[k:k + 5]).all() for k, values in found.items())


def test_needs_no_torch(pair, tmp_path):
    """Neither here nor as the file of a package of its own."""
    library = next(path for path in map(str, [serve.__file__]) if path)
    program = ("import sys, json, importlib.util\n"
               "spec = importlib.util.spec_from_file_location('slimbayes_serve', sys.argv[1]); module = importlib.util.module_from_spec(spec)\n"
               "spec.loader.exec_module(module); model = module.Model(sys.argv[2])\n"
               "foreign = sorted({name.partition('.')[0] for name in sys.modules} & {'torch', 'pyarrow', 'slimbayes', 'pandas'})\n"
               "print(json.dumps([foreign, model.predict([{'size': 80, 'rooms': 3, 'old': True}]).mean[0]]))")
    done = subprocess.run([sys.executable, "-c", program, library, str(pair[2])], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    foreign, mean = json.loads(done.stdout)
    assert foreign == [] and mean == pair[1].predict([{"size": 80, "rooms": 3, "old": True}]).mean[0]


@pytest.mark.parametrize(("given", "text"), [
    ([{"sise": 80}], "row 1: expected the columns .*; received sise"), ([[80]], "row 1: expected a dictionary or 5 cells"), (["eighty"], "row 1"),
    (np.zeros((2, 3)), "expected rows .n, 5."), (pd.DataFrame({"size": [1.0]}), "received one without"), ([{"size": "eighty"}], "row.*'size'"),
    ([{"size": 80}, {"size": 1e30}], "row 2: ")])
def test_what_it_cannot_answer_is_refused(pair, given, text):
    with pytest.raises(serve.ServeError, match=text):
        pair[1].predict(given)


def test_files_and_levels_are_refused(pair, tmp_path):
    frame, y = rows(100, 1)
    sb.Regressor("mc-dropout", steps=40).fit(frame, y).save(tmp_path / "d.safetensors")
    for source, text in ((tmp_path / "d.safetensors", "mc-dropout"), (tmp_path / "absent", "absent"), (b"nothing", "the model")):
        with pytest.raises(serve.ServeError, match=text):
            serve.Model(source)
    with pytest.raises(serve.ServeError, match="level"):
        pair[1].predict([{}], level=1.0)


def test_rows_of_several_forms_and_the_row_of_a_mistake(of_classes):
    import pyarrow as pa
    model, served = of_classes
    frame = rows(40, 2)[0]
    table = pa.Table.from_pandas(frame.assign(more=1))
    assert served.classify(table).probabilities == pytest.approx(served.classify(frame).probabilities, rel=0)
    one = frame.iloc[0].to_dict()
    with pytest.raises(serve.ServeError, match="^row 2: expected a numeric cell in column 'size'"):
        served.classify([one, {**one, "size": "large"}])
    with pytest.raises(serve.ServeError, match="put it into a list"):
        served.classify(one)


def hours(n, seed):
    draw = np.random.default_rng(seed)
    time = pd.date_range("2024-03-01", periods=n, freq="h")
    load = 5 + np.sin(2 * np.pi * np.arange(n) / 24) + draw.normal(0, 0.2, n)
    return pd.DataFrame({"time": time, "warm": np.where(np.arange(n) % 17 == 9, np.nan, draw.uniform(10, 14, n)), "load": load})


def test_windows_of_a_series(tmp_path):
    model = sb.Forecaster("dbk", window=6, time="time", network="lstm", steps=60, hidden=8, rank=8).fit(hours(200, 1), "load")
    model.save(tmp_path / "m.safetensors")
    served = serve.Model(tmp_path / "m.safetensors")
    assert served.window == 6 and served.describe()["window"]["step"] == 3600
    frame = hours(40, 2)
    told = model.predict_frame(frame)
    windows = [frame.iloc[i:i + 6] for i in range(35)]
    found = served.predict(windows)
    assert found.mean == pytest.approx(told["mean"].to_numpy(), rel=1e-6) and found.upper == pytest.approx(told["upper"].to_numpy(), rel=1e-6)
    numbers = np.stack([window.assign(time=(window["time"] - pd.Timestamp(0)).dt.total_seconds())[served.columns].to_numpy(float) for window in windows])
    assert served.predict(numbers).mean == pytest.approx(found.mean, rel=0)
    assert served.predict(list(numbers)).mean == pytest.approx(found.mean, rel=0)
    assert served.quantile(windows[:2], 0.5) == pytest.approx(found.mean[:2])
    assert served.scores(windows[:2])[0].shape == (2,)
    for wrong, text in ((frame, "put its last 6 rows into a list"), ([frame.head(5)], "window 1: expected 6 rows"), (numbers[0], r"windows \[n, 6, 3\]"),
                        ([windows[0].iloc[::-1]], "^row 2 of the window: expected a time 3600 after"),
                        (["abc"], "in place of window 1"), (windows[0].to_dict("records"), "put the 6 rows of a window into one list")):
        with pytest.raises(serve.ServeError, match=text):
            served.predict(wrong)


def test_texts(tmp_path):
    texts = [("good " if i % 2 else "bad ") + " ".join(f"w{j}" for j in range(i % 7)) for i in range(160)]
    frame, label = pd.DataFrame({"text": texts}), np.where(np.arange(160) % 2, "up", "down")
    model = sb.Classifier("bag-of-words", text="text", longest=5, steps=60, hidden=8).fit(frame, label)
    model.save(tmp_path / "m.safetensors")
    served = serve.Model(tmp_path / "m.safetensors")
    fresh = ["good film", "bad", "", "w1, w2 and others, too"]
    expected = model.predict_proba(pd.DataFrame({"text": fresh}))
    for form in fresh, [[one] for one in fresh], [{"text": one} for one in fresh], pd.DataFrame({"text": fresh}), np.array(fresh), [*fresh[:2], None, fresh[3]]:
        assert served.classify(form).probabilities == pytest.approx(expected, abs=1e-6)
    tokens = served._as_numbers(fresh)
    assert tokens.shape == (4, 5) and served.classify(tokens).probabilities == pytest.approx(expected, abs=1e-6)
    with pytest.raises(serve.ServeError, match="put it into a list"):
        served.classify("good film")
    with pytest.raises(serve.ServeError, match="NUL"):
        served.classify(["good\0bad"])
    with pytest.raises(TypeError, match="received one of text"):
        model.export_onnx(tmp_path / "m.onnx")


def test_numbers_are_numbers_where_texts_have_decimal_commas(tmp_path):
    """A model of a file with 1.234,5 reads its texts in that way; the float 657.725 is no text."""
    draw = np.random.default_rng(2)
    x = draw.uniform(300, 3000, size=120).round(3)
    text = [f"{a:,.3f}".translate(str.maketrans(",.", ".,")) for a in x]
    (tmp_path / "t.tsv").write_text("x\ty\n" + "".join(f"{a}\t{3 * b:.0f}\n" for a, b in zip(text, x)))
    toys.tool(tmp_path, "fit", "t.tsv", "--target", "y", "--method", "ridge", "--thousands", ".", "--decimal", ",", "--model", "m", "--threads", 1)
    model = serve.Model(tmp_path / "m")
    expected = model.predict([{"x": a} for a in text]).mean
    assert abs(expected - 3 * x).max() < 30
    for rows_given in ([{"x": a} for a in x], [{"x": float(a)} for a in x], pd.DataFrame({"x": x}), pl.DataFrame({"x": x})):
        assert (model.predict(rows_given).mean == expected).all()
    assert model.predict([{"x": 1500}]).mean == model.predict([{"x": "1.500"}]).mean
