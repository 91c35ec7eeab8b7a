"""MLflow's flavour: a model that is saved, logged and registered answers with the same bits, by its own loader and by pyfunc's."""

import sys

import numpy as np
import pandas as pd
import pytest
import slimbayes as sb
import slimbayes.mlflow
import toys

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def fitted():
    frame, y = toys.table()
    return sb.Regressor("ridge").fit(frame, y), frame


def test_without_mlflow_a_call_says_what_to_install(fitted, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow.models", None)
    for call in lambda: slimbayes.mlflow.save_model(fitted[0], tmp_path / "m"), lambda: slimbayes.mlflow.load_model(tmp_path / "m"):
        with pytest.raises(ImportError, match="pip install mlflow"):
            call()


def test_a_saved_model_is_loaded_with_the_same_bits(fitted, tmp_path):
    mlflow = pytest.importorskip("mlflow")
    model, frame = fitted
    slimbayes.mlflow.save_model(model, tmp_path / "m", input_example=frame[:5], metadata={"team": "prices"})
    assert (slimbayes.mlflow.load_model(tmp_path / "m").predict(frame) == model.predict(frame)).all()
    served = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    found = served.predict(frame.astype({"n": "int64"}))
    assert {"mean", "sd", "lower", "upper"} <= set(found.columns)
    pd.testing.assert_frame_equal(found, model.predict_frame(frame))
    low, high = model.predict_interval(frame, level=0.5)
    half = served.predict(frame, params={"level": 0.5})
    assert np.allclose(half["lower"], low) and np.allclose(half["upper"], high)
    assert served.metadata.flavors["slimbayes"]["method"] == "ridge" and served.metadata.metadata == {"team": "prices"}
    assert f"slimbayes=={sb.__version__}" in (tmp_path / "m" / "requirements.txt").read_text()
    assert (sb.load(tmp_path / "m" / "model.safetensors").predict(frame) == model.predict(frame)).all()
    with pytest.raises(TypeError, match="expected a fitted estimator; received dict"):
        slimbayes.mlflow.save_model({}, tmp_path / "other")


def test_a_logged_model_of_classes_is_registered(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(f"file://{tmp_path / 'runs'}")
    X, y = toys.matrix(300)
    model = sb.Classifier("logistic").fit(X, np.where(y > 0, "up", "down"))
    with mlflow.start_run():
        info = slimbayes.mlflow.log_model(model, name="trend", registered_model_name="trend", input_example=X[:5],
                                          pip_requirements=["slimbayes", "numpy"])
    assert (slimbayes.mlflow.load_model("models:/trend/1").predict_proba(X) == model.predict_proba(X)).all()
    found = mlflow.pyfunc.load_model(info.model_uri).predict(X)
    assert (found["p_up"] == model.predict_proba(X)[:, 1]).all() and (found["label"] == model.predict(X)).all()
