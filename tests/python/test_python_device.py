"""`device` of estimators and of load, on a machine without a GPU."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import torch
import toys
from sklearn.base import clone

import slimbayes as sb

pytestmark = [pytest.mark.skipif(torch.accelerator.is_available(), reason="this machine has an accelerator"),
              pytest.mark.filterwarnings("ignore::slimbayes.Note")]


@pytest.fixture(scope="module")
def rows():
    return toys.matrix(120)


@pytest.fixture(scope="module")
def model(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sb.Regressor("dnn", steps=30, valid_fraction=0.2, noise_folds=0).fit(*rows)


@pytest.mark.parametrize("cls", [sb.Regressor, sb.Classifier, sb.CountRegressor, sb.Forecaster])
def test_the_device_is_a_keyword_of_every_estimator(cls):
    assert cls().get_params()["device"] == "cpu"
    given = cls(device="cuda:1")
    assert clone(given).device == given.get_params()["device"] == "cuda:1"
    assert given.set_params(device="cuda") is given and given.device == "cuda"
    assert "device : default='cpu'" in cls.__doc__


def test_the_cpu_is_what_no_device_gives(rows, model):
    X, y = rows
    for device in ("cpu", None, torch.device("cpu")):
        other = clone(model).set_params(device=device).fit(X, y)
        assert np.array_equal(other.predict(X), model.predict(X)) and other.notes_ == model.notes_


@pytest.mark.parametrize("device", ["cuda", "cuda:7", torch.device("cuda", 1)])
def test_a_device_that_is_not_there_is_refused(rows, model, tmp_path, device):
    X, y = rows
    absent = f"a machine with the device {device}; received .*device='cpu' computes on the processor"
    with pytest.raises(ValueError, match=absent):
        sb.Regressor("dnn", device=device).fit(X, y)
    with pytest.raises(ValueError, match=absent):
        sb.Regressor("dnn", device=device).fit(X, np.stack([y, -y], 1))
    with pytest.raises(ValueError, match=absent):
        sb.compare(X, y, ["dnn"], seeds=1, device=str(device))
    model.save(tmp_path / "m.safetensors")
    with pytest.raises(ValueError, match=absent):
        sb.load(tmp_path / "m.safetensors", device=device)


def test_what_is_no_device_is_refused(rows):
    for nonsense in ("gpu", "cuda:x", "CPU"):
        with pytest.raises(ValueError, match=f"to be cpu, auto, cuda or cuda:NUMBER; received '{nonsense}'"):
            sb.Regressor("dnn", device=nonsense).fit(*rows)
    with pytest.raises(ValueError, match="expected a text or None for device; received 3"):
        sb.Regressor("dnn", device=3).fit(*rows)


def test_auto_without_a_gpu_is_the_cpu(rows, model):
    other = clone(model).set_params(device="auto").fit(*rows)
    assert np.array_equal(other.predict(rows[0]), model.predict(rows[0]))


def test_a_fitted_model_moves_with_set_params(rows, model):
    own = copy.deepcopy(model)
    before = own.predict(rows[0])
    assert np.array_equal(own.set_params(device="auto").predict(rows[0]), before)
    with pytest.raises(ValueError, match="a machine with the device cuda"):
        own.set_params(device="cuda")
    assert own.device == "auto" and np.array_equal(own.predict(rows[0]), before)  # as it was


def test_a_loaded_model_computes_on_the_cpu(rows, model, tmp_path):
    model.save(tmp_path / "m.safetensors")
    found = sb.load(tmp_path / "m.safetensors", device="cpu")
    assert found.device == "cpu" and np.array_equal(found.predict(rows[0]), model.predict(rows[0]))
    other = copy.deepcopy(model)
    other.device = "cuda"  # as after a fit on another machine
    back = pickle.loads(pickle.dumps(other))
    assert back.device == "cuda" and np.array_equal(back.predict(rows[0]), model.predict(rows[0]))


def test_a_posterior_around_a_module_takes_no_device(rows, tmp_path):
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    X, y = (torch.tensor(values, dtype=torch.float32) for values in rows)
    sb.posterior(net, (X, y)).save(tmp_path / "p.safetensors")
    with pytest.raises(ValueError, match="expected no device for a posterior around a module; received 'auto'"):
        sb.load(tmp_path / "p.safetensors", module=net, device="auto")
