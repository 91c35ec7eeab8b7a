"""Classes and counts as a torch module and as an ONNX graph: the answers of the estimators."""

import json
import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
import slimbayes as sb
import torch
from slimbayes._torch_classes import philox_normals
from test_python_onnx import answered, cells, fresh_rows
from test_python_torch import SMALL, numbers, rows
from toys import TOOL

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")
CLASSES = {
    "constant": ("constant", {}), "dnn": ("dnn", SMALL), "realmlp": ("dnn", {**SMALL, "network": "realmlp"}), "vbll": ("vbll", {**SMALL, "rank": 9}),
    "sv-dkl": ("sv-dkl", {**SMALL, "rank": 12}), "sv-rbf": ("sv-rbf", {"steps": 60, "rank": 12}), "bll": ("bll", SMALL), "rich-bll": ("rich-bll", SMALL),
    "laplace": ("last-layer-laplace", SMALL), "kronecker": ("last-layer-laplace", {**SMALL, "structure": "kronecker"}), "logistic": ("logistic", {}),
    "trees": ("extra-trees", {"trees": 10}), "ensemble": ("ensemble", {**SMALL, "members": 2}),
    "auto": ("auto", {"candidates": "constant,logistic,extra-trees,dnn", "trees": 10, "steps": 40})}
COUNTS = {"constant": ("constant", {}), "vbll": ("vbll", {**SMALL, "rank": 9}), "sv-rbf": ("sv-rbf", {"steps": 60, "rank": 12}),
          "ensemble": ("ensemble", {**SMALL, "members": 2, "of": "vbll", "rank": 9}), "auto": ("auto", {"candidates": "constant,vbll", "steps": 40, "rank": 9})}


def classes(y, count):
    if count == 2:
        return np.where(y < np.median(y), "no", "yes")
    return np.where(y < np.quantile(y, 0.4), "cheap", np.where(y < np.quantile(y, 0.7), "fair", "dear"))


def classifier(name, count):
    frame, y = rows(140, 1)
    frame.loc[7, "street"] = None
    method, options = CLASSES[name]
    return sb.Classifier(method, **options).fit(frame, classes(y, count))


def session_of(model, path, **options):
    model.export_onnx(path, **options)
    onnx.checker.check_model(str(path), full_check=True)
    return onnxruntime.InferenceSession(path)


def metadata(path):
    return json.loads(next(entry.value for entry in onnx.load(path).metadata_props if entry.key == "slimbayes"))


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", CLASSES)
def test_classes(name, count, tmp_path):
    model = classifier(name, count)
    module, fresh = model.to_torch(), rows(60, 2)[0]
    x = numbers(fresh, module).requires_grad_()
    found, told = module(x), model.predict_dist(fresh)
    assert module.classes == list(model.classes_)
    assert found.probabilities.detach().numpy() == pytest.approx(told.probabilities, abs=1e-6)
    assert found.entropy.detach().numpy() == pytest.approx(told.entropy, abs=1e-5)
    assert found.mutual_information.detach().numpy() == pytest.approx(told.mutual_information, abs=1e-5)
    assert torch.allclose(module(x.reshape(4, 15, -1)).probabilities.reshape(60, -1), found.probabilities, atol=1e-6)
    if name not in ("constant", "trees"):
        found.probabilities[:, 0].sum().backward()
        assert torch.isfinite(x.grad[~torch.isnan(x)]).all() and x.grad.abs().nan_to_num().sum() > 0

    session, fresh = session_of(model, tmp_path / "m.onnx"), fresh_rows(300)  # with missing and unseen cells
    out = answered(session, cells(fresh, session))
    p = model.predict_proba(fresh)
    assert out["probabilities"] == pytest.approx(p, abs=1e-5)
    clear = np.sort(p, 1)[:, -1] - np.sort(p, 1)[:, -2] > 1e-4
    assert (out["label"] == p.argmax(1))[clear].all() and out["label"].dtype == np.int64
    assert out["mutual_information"] == pytest.approx(model.predict_dist(fresh).mutual_information, abs=1e-5)
    alone = answered(session, cells(fresh[4:5], session))
    assert alone["probabilities"] == pytest.approx(out["probabilities"][4:5], abs=1e-6)
    assert metadata(tmp_path / "m.onnx")["classes"] == list(model.classes_)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name, tmp_path):
    frame, y = rows(140, 1)
    method, options = COUNTS[name]
    model = sb.CountRegressor(method, **options).fit(frame, np.floor(3 * (y - y.min())).astype(int))
    module, fresh = model.to_torch(), rows(60, 2)[0]
    rates, (mean, sd) = module(numbers(fresh, module)), model.predict(fresh, return_std=True)
    assert rates.mean.numpy() == pytest.approx(mean, rel=1e-6)
    assert torch.sqrt(rates.mean + rates.variance).numpy() == pytest.approx(sd, rel=1e-6)
    session, fresh = session_of(model, tmp_path / "m.onnx"), fresh_rows(300)
    out = answered(session, cells(fresh, session))
    mean, sd = model.predict(fresh, return_std=True)
    assert out["mean"] == pytest.approx(mean, rel=1e-5) and out["sd"] == pytest.approx(sd, rel=1e-5)
    assert np.hypot(out["sd_aleatoric"], out["sd_epistemic"]) == pytest.approx(sd, rel=1e-5)


def test_a_matrix_in_place_of_columns_and_a_module_in_float64(tmp_path):
    model = classifier("logistic", 3)
    session, module = session_of(model, tmp_path / "m.onnx", encoded=True), model.to_torch()
    x = numbers(rows(30, 2)[0], module)
    assert answered(session, {"rows": x.numpy()})["probabilities"] == pytest.approx(module(x).probabilities.numpy(), abs=1e-10)
    with pytest.raises(TypeError, match="float64"):
        module.float()


def test_a_wide_logit_is_averaged_over_the_line():
    from slimbayes._torch_classes import _AverageSigmoid
    average = _AverageSigmoid()
    draw = np.random.default_rng(1).normal(size=2_000_000)
    for mean, var in ((0.3, 4.0), (2.0, 8.9), (2.0, 9.1), (-20.0, 400.0)):
        p, expected = average(torch.tensor([mean], dtype=torch.float64), torch.tensor([var], dtype=torch.float64))
        each = 1 / (1 + np.exp(-(mean + np.sqrt(var) * draw)))
        assert p.sum().item() == pytest.approx(1) and p[0, 1].item() == pytest.approx(each.mean(), abs=2e-3)
        entropy = -np.where((each > 0) & (each < 1), each * np.log(np.maximum(each, 1e-300)) + (1 - each) * np.log(np.maximum(1 - each, 1e-300)), 0)
        assert expected.item() == pytest.approx(entropy.mean(), abs=2e-3)


def test_the_draws_are_those_of_philox():
    """The first block of Philox4x32-10 with the key 0 and the counter 0 (Random123's known answers), made normal."""
    words = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    first, second = (((low | high << 32) >> 12) + 0.5 for low, high in (words[:2], words[2:]))
    radius, angle = np.sqrt(-2 * np.log(first * 2.0 ** -52)), 2 * np.pi * second * 2.0 ** -52
    assert philox_normals(0, 2) == pytest.approx([radius * np.cos(angle), radius * np.sin(angle)], rel=1e-12)
    assert (philox_normals(5, 9) == philox_normals(5, 100)[:9]).all()


def test_the_tool_exports_classes(tmp_path):
    model = classifier("auto", 3)
    model.save(tmp_path / "m.safetensors")
    python = {**os.environ, "SLIMBAYES_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [TOOL, "export", "m.safetensors", "--onnx", "m.onnx"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, env=python)
    assert metadata(tmp_path / "m.onnx")["classes"] == ["cheap", "dear", "fair"]
    done = subprocess.run([*words, "--level", "0.9"], cwd=tmp_path, capture_output=True, text=True, env=python)
    assert done.returncode != 0 and "no level for classes" in done.stderr


def test_a_frame_becomes_the_inputs_of_a_module():
    import pandas as pd
    frame, y = rows(140, 1)
    frame["sold"] = pd.date_range("2024-01-01", periods=140, freq="31h")
    model = sb.Classifier("logistic").fit(frame, classes(y, 3))
    module, fresh = model.to_torch(), rows(60, 2)[0]
    fresh["sold"] = pd.date_range("2024-02-01", periods=60, freq="7h")
    fresh.loc[3, "street"], fresh.loc[4, "street"], fresh.loc[5, "sold"] = "elsewhere", None, None
    assert module(module.inputs(fresh)).probabilities.numpy() == pytest.approx(model.predict_proba(fresh), abs=1e-6)
