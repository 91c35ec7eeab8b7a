"""A fit in Python and a fit of the tool on the same data are the same model, and each opens the other's file."""

import sys

import subprocess

import numpy as np
import pandas as pd
import pytest
import torch
import toys
from pyarrow import parquet

import slimbayes as sb

sys.path.append(str(toys.ROOT / "tests" / "cli"))
from inputs import reviews, series

sys.path.pop()

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")


@pytest.fixture(autouse=True)
def one_thread():
    """The number of threads decides in which order sums are taken, so it must be the same in both programs."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def answers_of_tool(folder, model, data):
    toys.tool(folder, "predict", model, data, "--out", "every_digit.parquet", "--threads", 1)
    return parquet.read_table(folder / "every_digit.parquet").to_pandas()


def check_both(folder, estimator, data, flags, X, y, numbers):
    """Fits both ways and compares the answers of all four pairs of model and reader. `numbers`: columns of the answers."""
    toys.tool(folder, "fit", data, *flags, "--model", "tool.safetensors", "--threads", 1)
    ours = estimator.fit(X, y)
    ours.save(folder / "ours.safetensors")
    by_tool = [answers_of_tool(folder, model, data) for model in ("tool.safetensors", "ours.safetensors")]
    by_python = [one.predict_frame(X) for one in (sb.load(folder / "tool.safetensors"), ours, sb.load(folder / "ours.safetensors"))]
    for found in by_tool[1:] + by_python:
        for name in numbers:
            assert (found[name].to_numpy() == by_tool[0][name].to_numpy()).all(), name


TABLES = {"mixed": toys.table(200), "numbers": (lambda X, y: (pd.DataFrame(X, columns=list("uvw")), pd.Series(y, name="y")))(*toys.matrix(200))}
concrete = pd.read_csv(toys.ROOT / "examples" / "data" / "concrete.csv")
TABLES["concrete"] = (concrete.drop(columns="y").iloc[:300], concrete["y"].iloc[:300])
SHORT = {"gp-exact": {}, "dbk": {"steps": 60}, "auto": {"steps": 60}}


@pytest.mark.parametrize("method", SHORT)
@pytest.mark.parametrize("name", TABLES)
def test_tables(tmp_path, name, method):
    X, y = TABLES[name]
    X.assign(**{y.name: y}).to_csv(tmp_path / "data.csv", index=False)
    back = pd.read_csv(tmp_path / "data.csv")
    flags = ["--target", y.name, "--method", method, *(["--steps", 60] if SHORT[method] else [])]
    check_both(tmp_path, sb.Regressor(method, **SHORT[method]), "data.csv", flags, back.drop(columns=y.name), back[y.name],
               ["mean", "sd", "lower", "upper"])


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["boston", "concrete", "energy", "wine_red", "yacht"])
def test_published_tables(tmp_path, name):
    path = toys.data() / f"{name}.csv.gz"
    frame = pd.read_csv(path)
    check_both(tmp_path, sb.Regressor("dbk", steps=60), path, ["--target", "y", "--method", "dbk", "--steps", 60],
               frame.drop(columns="y"), frame["y"], ["mean", "sd", "lower", "upper"])


@pytest.mark.parametrize("labels", [["no", "yes"], ["a", "b", "c"], [0, 1], [3, 7, 11]])
def test_classes(tmp_path, labels):
    X, y = toys.table(200)
    X["label"] = np.array(labels)[np.digitize(y, np.quantile(y, np.arange(1, len(labels)) / len(labels)))]
    X.to_csv(tmp_path / "data.csv", index=False)
    back = pd.read_csv(tmp_path / "data.csv")
    kind = "bernoulli" if len(labels) == 2 else "softmax"
    check_both(tmp_path, sb.Classifier("vbll", steps=60), "data.csv",
               ["--target", "label", "--method", "vbll", "--steps", 60, "--likelihood", kind],
               back.drop(columns="label"), back["label"], [f"p_{label}" for label in labels] + ["entropy"])


def test_series(tmp_path):
    series(tmp_path / "a.csv", hours=200, city="A")
    series(tmp_path / "b.csv", hours=200, seed=2, city="B")
    frame = pd.concat([pd.read_csv(tmp_path / f"{name}.csv", parse_dates=["time"]) for name in "ab"])
    frame.to_parquet(tmp_path / "data.parquet", index=False)
    flags = ["--target", "y", "--window", 8, "--horizon", 2, "--time", "time", "--group", "city", "--method", "dbk", "--steps", 40]
    forecaster = sb.Forecaster("dbk", window=8, horizon=2, time="time", group="city", steps=40)
    check_both(tmp_path, forecaster, "data.parquet", flags, frame, "y", ["mean", "sd", "lower", "upper"])
    assert {"city", "forecast_time", "actual"} <= set(forecaster.predict_frame(frame).columns)
    assert forecaster.evaluate(frame)["rmse"] > 0 and np.isfinite(forecaster.score(frame))


def test_texts(tmp_path):
    reviews(tmp_path / "data.csv", 200)
    frame = pd.read_csv(tmp_path / "data.csv")
    check_both(tmp_path, sb.Classifier("dnn", text="text", steps=40), "data.csv",
               ["--target", "label", "--text", "text", "--method", "dnn", "--steps", 40, "--likelihood", "bernoulli"],
               frame.drop(columns="label"), frame["label"], ["p_0", "p_1"])


def test_images(tmp_path):
    from inputs import idx, squares

    images, labels = squares(120)
    idx(tmp_path / "train-images-idx3-ubyte", images, labels)
    pixels = np.array(images, dtype=np.uint8)
    toys.tool(tmp_path, "fit", "train-images-idx3-ubyte", "--method", "dnn", "--epochs", 2, "--model", "tool.safetensors", "--threads", 1)
    ours = sb.Classifier("dnn", epochs=2).fit(pixels, np.array(labels))
    ours.save(tmp_path / "ours.safetensors")
    answers = [answers_of_tool(tmp_path, model, "train-images-idx3-ubyte") for model in ("tool.safetensors", "ours.safetensors")]
    for found in sb.load(tmp_path / "tool.safetensors").predict_proba(pixels), ours.predict_proba(pixels[:, None]):
        for answer in answers:
            assert (found == answer[["p_0", "p_1"]].to_numpy()).all()
    assert ours.evaluate(pixels, np.array(labels))["accuracy"] == (ours.predict(pixels) == labels).mean()


def test_a_file_of_images_keeps_the_names_of_the_classes(tmp_path):
    from inputs import idx, squares

    images, labels = squares(120)
    idx(tmp_path / "train-images-idx3-ubyte", images, labels)
    pixels, names = np.array(images, dtype=np.uint8), np.array(["upper", "lower"])[labels]
    for given, classes, columns in (
        (names, ["lower", "upper"], ["p_lower", "p_upper"]),
        (np.array(["7", "3"])[labels], ["3", "7"], ["p_3", "p_7"]),  # texts stay texts
        (np.array([9, 4])[labels], [4, 9], ["p_4", "p_9"]),
        (np.array(labels) == 0, [False, True], ["p_false", "p_true"]),
    ):
        ours = sb.Classifier("dnn", epochs=2).fit(pixels, given)
        ours.save(tmp_path / "ours.safetensors")
        loaded = sb.load(tmp_path / "ours.safetensors")
        assert loaded.classes_.tolist() == classes
        assert (loaded.predict(pixels) == ours.predict(pixels)).all()
        assert loaded.evaluate(pixels, given)["accuracy"] == ours.evaluate(pixels, given)["accuracy"] == (ours.predict(pixels) == given).mean()
        answer = answers_of_tool(tmp_path, "ours.safetensors", "train-images-idx3-ubyte")
        assert (loaded.predict_proba(pixels) == answer[columns].to_numpy()).all()
        # Labels of a file are numbers, which need not be in the order of the names.
        scored = subprocess.run([toys.TOOL, "evaluate", "ours.safetensors", "train-images-idx3-ubyte"], cwd=tmp_path, capture_output=True, text=True)
        assert scored.returncode != 0 and "expected labels of the training images" in scored.stderr
        with pytest.raises(ValueError, match="unseen labels"):
            loaded.evaluate(pixels, np.where(np.arange(120) == 5, "other", given.astype(object)).astype(str))


def test_colour_images_may_have_their_channels_last():
    draw = np.random.default_rng(0)
    labels = np.array(["red", "blue"])[np.arange(80) % 2]
    pixels = draw.integers(0, 60, (80, 9, 8, 3), dtype=np.uint8)
    pixels[labels == "red", :, :, 0] += 150
    model = sb.Classifier("dnn", epochs=3).fit(pixels, labels)
    assert (model.predict_proba(pixels) == model.predict_proba(pixels.transpose(0, 3, 1, 2))).all()
    assert set(model.predict(pixels)) <= {"red", "blue"}
    with pytest.raises(sb.DataError, match="uint8"):
        model.predict(pixels / 255)
    with pytest.raises(ValueError, match="images"):
        model.predict(pixels[:, 0, 0])
