"""The ONNX graph of a fitted regression gives the answers of `predict` in ONNX Runtime."""

import json
import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
import slimbayes as sb
from scipy import stats
from test_python_torch import METHODS, SMALL, rows
from toys import TOOL

NEAR = 1e-5  # of the sd of the target: cells are float32 in the graph
INDEX = {f"{method} {options.get('basis', '')}{options.get('network', '')}{options.get('candidates', '')}".strip(): (method, options)
         for method, options in METHODS[:-1]}  # the last is a mixture of what stands before it, and takes as long as all others


def written(model, tmp_path, **options):
    model.export_onnx(tmp_path / "m.onnx", **options)
    onnx.checker.check_model(str(tmp_path / "m.onnx"), full_check=True)
    return onnxruntime.InferenceSession(tmp_path / "m.onnx")


def cells(frame, session):
    """The feed of a session whose inputs are columns."""
    def column(given):
        if given.type == "tensor(string)":
            return frame[[given.name]].astype(object).where(frame[[given.name]].notna(), "").to_numpy()
        return frame[[given.name]].to_numpy({"tensor(double)": np.float64, "tensor(float)": np.float32}[given.type])

    return {given.name: column(given) for given in session.get_inputs()}


def answered(session, feed):
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, feed)))


def fresh_rows(n):
    frame, _ = rows(n, 2)
    frame.loc[3:4, "street"] = "elsewhere"
    frame.loc[5:6, "street"] = None
    return frame


def fitted(name, y=None, **more):
    frame, own = rows(140, 1)
    frame.loc[7, "street"] = None
    method, options = INDEX[name]
    return sb.Regressor(method, **options, **more).fit(frame, own if y is None else y(own)), np.std(own)


@pytest.mark.parametrize("name", INDEX)
def test_the_graph_answers_as_predict(name, tmp_path):
    model, scale = fitted(name)
    session, fresh = written(model, tmp_path), fresh_rows(1000)
    told, found = model.predict_dist(fresh), answered(session, cells(fresh, session))
    near = {"rel": 1e-5, "abs": NEAR * scale}
    assert found["mean"] == pytest.approx(told.mean, **near)
    assert found["sd"] == pytest.approx(np.sqrt(told.aleatoric_var + told.epistemic_var), **near)
    if "sd_epistemic" in found:
        assert found["sd_aleatoric"] == pytest.approx(np.sqrt(told.aleatoric_var), **near)
        assert found["sd_epistemic"] == pytest.approx(np.sqrt(told.epistemic_var), rel=1e-3, abs=10 * NEAR * scale)
    assert ("sd_epistemic" in found) == ("sd_epistemic" in model.predict_frame(fresh[:3]).columns)
    if model.method != "auto":
        low, high = model.predict_interval(fresh, level=0.95)
        assert found["lower"] == pytest.approx(low, **near) and found["upper"] == pytest.approx(high, **near)
    alone = answered(session, cells(fresh[4:5], session))
    assert alone["mean"][0] == pytest.approx(found["mean"][4], rel=1e-6) and alone["mean"].shape == (1,)


def test_the_components_of_auto_are_its_distribution(tmp_path):
    """The mixture's cdf at the ends of the model's interval is 5 % and 95 %."""
    draw = np.random.default_rng(3)
    frame, _ = rows(160, 1)
    y = np.exp(frame["rooms"] / 3 + 0.3 * draw.normal(size=160))
    y[::40] *= 30  # wild rows
    model = sb.Regressor("auto", candidates="constant,ridge").fit(frame, y)
    session, fresh = written(model, tmp_path), fresh_rows(50)
    found, shapes = answered(session, cells(fresh, session)), facts(tmp_path)["components"]
    assert len(shapes) > 2 and any(one["log"] for one in shapes) and sum(one["weight"] for one in shapes) == pytest.approx(1)
    for side, end in zip((0.05, 0.95), model.predict_interval(fresh, level=0.9)):
        cdf = np.zeros(50)
        for k, one in enumerate(shapes):
            t = (end - one["shift"]) / one["scale"]
            t = np.where(t > 0, np.log(np.maximum(t, 1e-300)), -np.inf) if one["log"] else t
            z, dof = (t - found["component_mean"][:, k]) / found["component_sd"][:, k], one["dof"]
            cdf += one["weight"] * (stats.norm.cdf(z) if dof is None else stats.t.cdf(z * np.sqrt(dof / (dof - 2)), dof))
        assert cdf[end > 0] == pytest.approx(side, abs=1e-4)


def facts(tmp_path):
    entry, = onnx.load(tmp_path / "m.onnx").metadata_props
    return json.loads(entry.value)


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_calibrated_interval(repeats, tmp_path):
    frame, y = rows(300, 1)
    frame = pd.concat([frame] * repeats)
    model = sb.Regressor("ridge", calibrate="conformal", calibration_fraction=0.4).fit(frame, np.concatenate([y] * repeats))
    session, fresh = written(model, tmp_path, level=0.8), fresh_rows(40)
    found = answered(session, cells(fresh, session))
    low, high = model.predict_interval(fresh, level=0.8)
    assert found["lower"] == pytest.approx(low, abs=NEAR * np.std(y)) and found["upper"] == pytest.approx(high, abs=NEAR * np.std(y))
    plain = (found["upper"] - found["mean"]) / found["sd"]
    assert np.ptp(plain) < 1e-9 and abs(plain[0] - stats.norm.ppf(0.9)) > 1e-3, "a normal quantile would be no calibration"
    with pytest.raises(ValueError, match="expected more than .* calibration rows for a level of 0.999"):
        model.export_onnx(tmp_path / "m.onnx", level=0.999)


@pytest.mark.parametrize("level, factor", [(0.05, 1), (0.11, 2), (0.2, 2), (0.21, 3), (0.4, 3), (0.41, 4), (0.8, 4)])
def test_factor_of_weighted_calibration_rows(level, factor):
    from slimbayes._onnx import conformal_factor

    weights = np.array([0.5, 0.5, 1, 2])  # the cases of tests/answers/conformal_test.cpp
    assert conformal_factor(np.array([1.0, 2, 3, 4]), None, level, weights) == factor
    with pytest.raises(ValueError, match="calibration rows for a level of 0.81"):
        conformal_factor(np.array([1.0, 2, 3, 4]), None, 0.81, weights)


def test_one_matrix_as_the_torch_module_takes_it(tmp_path):
    import torch

    model, _ = fitted("gp-exact")
    session, module = written(model, tmp_path, encoded=True), model.to_torch()
    fresh, _ = rows(30, 2)
    places = fresh.assign(street=[module.levels["street"].index(name) for name in fresh["street"]])[module.columns].to_numpy(float)
    found, told = answered(session, {"rows": places}), module(torch.tensor(places))
    assert found["mean"] == pytest.approx(told.mean.numpy(), rel=1e-10)
    assert found["sd"] == pytest.approx(told.variance.sqrt().numpy(), rel=1e-10), "numbers of the model are written as float32"


def test_times_and_what_the_graph_says_of_itself(tmp_path):
    frame = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=200, freq="7h"), "x": np.linspace(0, 3, 200)})
    y = np.sin(frame["x"]) + 0.1 * np.random.default_rng(1).normal(size=200)
    model = sb.Regressor("ridge").fit(frame.assign(load=y), "load")
    session = written(model, tmp_path, level=0.5)
    seconds = (frame["when"] - pd.Timestamp(0)).dt.total_seconds().to_numpy()[:, None]
    found = answered(session, {"when": seconds, "x": frame[["x"]].to_numpy(np.float32)})
    assert found["mean"] == pytest.approx(model.predict(frame), abs=NEAR * np.std(y))
    assert facts(tmp_path) == {"method": "ridge", "target": "load", "level": 0.5, "columns": ["when", "x"]}
    assert {one.domain: one.version for one in onnx.load(tmp_path / "m.onnx").opset_import}[""] == 18


def test_refuses_what_has_no_graph(tmp_path):
    frame, y = rows(120, 1)
    mixture = sb.Regressor("auto", candidates="constant,ridge").fit(frame, y)
    with pytest.raises(ValueError, match="expected no level for auto"):
        mixture.export_onnx(tmp_path / "m.onnx", level=0.9)
    with pytest.raises(TypeError, match="export_onnx: expected a model of the rows of a table.* received a model of mc-dropout"):
        sb.Regressor("mc-dropout", **SMALL).fit(frame, y).export_onnx(tmp_path / "m.onnx")
    named = sb.Regressor("ridge").fit(frame.rename(columns={"rooms": "mean"}), y)
    with pytest.raises(ValueError, match="other names than the outputs; received mean"):
        named.export_onnx(tmp_path / "m.onnx")
    with pytest.raises(ValueError, match="a level between 0 and 1; received 2"):
        named.export_onnx(tmp_path / "m.onnx", level=2, encoded=True)
    assert not (tmp_path / "m.onnx").exists()
    with pytest.raises(ValueError, match="received net/column/0"):
        sb.Regressor("ridge").fit(frame.rename(columns={"rooms": "net/column/0"}), y).export_onnx(tmp_path / "m.onnx")
    calibrated = sb.Regressor("auto", candidates="constant,ridge", calibrate="conformal", calibration_fraction=0.4).fit(frame, y)
    with pytest.warns(sb.Note, match="before the conformal calibration"):
        calibrated.export_onnx(tmp_path / "m.onnx")
    assert facts(tmp_path)["least"] == 0 and not list(tmp_path.glob("*.part"))
    with pytest.raises(TypeError, match="expected float64"):
        mixture.to_torch().float()


def test_says_which_packages_it_needs(tmp_path, monkeypatch):
    model, _ = fitted("ridge")
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ImportError, match="pip install onnx onnxscript"):
        model.export_onnx(tmp_path / "m.onnx")


def test_the_tool_calls_python(tmp_path):
    model, scale = fitted("dbk")
    model.save(tmp_path / "m.safetensors")
    python = {"SLIMBAYES_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}

    def run(*words, **variables):
        return subprocess.run([TOOL, "export", *words], cwd=tmp_path, capture_output=True, text=True, timeout=120, env={**os.environ, **python, **variables})

    (tmp_path / "onnx.py").write_text("raise SystemExit('code of the working folder ran')")
    done = run("m.safetensors", "--onnx", "m.onnx", "--level", "0.9", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"onnx": "m.onnx", "bytes": (tmp_path / "m.onnx").stat().st_size}
    session, fresh = onnxruntime.InferenceSession(tmp_path / "m.onnx"), fresh_rows(20)
    low, _ = model.predict_interval(fresh, level=0.9)
    assert answered(session, cells(fresh, session))["lower"] == pytest.approx(low, abs=NEAR * scale)
    for words, variables, code, said in [
            (("m.safetensors",), {}, 2, "expected --out or --onnx"), (("m.safetensors", "--onnx", "a", "--level", "3"), {}, 2, "a level between 0 and 1"),
            (("m.safetensors", "--onnx", "a"), {"SLIMBAYES_PYTHON": "no-python"}, 1, "received 'no-python'"),
            (("m.safetensors", "--onnx", "a"), {"SLIMBAYES_PYTHON": "false"}, 1, "expected a Python with slimbayes, onnx and onnxscript"),
            (("m.safetensors", "--onnx", "m.safetensors"), {}, 2, "another file than the model itself"), (("m.safetensors", "--onnx", "-"), {}, 2, "a file name"),
            (("m.safetensors", "--onnx", "a", "--level", "0"), {}, 2, "a level between 0 and 1"), (("absent", "--onnx", "a"), {}, 2, "absent"), (("m.safetensors", "--level", "0.5"), {}, 2, "--level requires --onnx")]:
        done = run(*words, **variables)
        assert done.returncode == code and said in done.stderr and not (tmp_path / "a").exists(), (words, done.stderr)
