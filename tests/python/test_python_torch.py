"""The torch module of a fitted regression gives the answers of the model, and their gradients."""

import numpy as np
import pandas as pd
import pytest
import slimbayes as sb
import torch

SMALL = {"steps": 60, "hidden": 16}
METHODS = [
    ("dbk", {**SMALL, "rank": 12}), ("dbk", {**SMALL, "rank": 12, "basis": "linear"}), ("vbll", {**SMALL, "rank": 9}), ("dnn", SMALL),
    ("dnn", {**SMALL, "network": "realmlp"}), ("bll", SMALL), ("rich-bll", {**SMALL, "network": "mlp", "parametrisation": "mup"}),
    ("last-layer-laplace", SMALL), ("dbk-exact", {**SMALL, "rank": 8}), ("gp-exact", {"iterations": 20}), ("dkl-exact", SMALL),
    ("dbk", {**SMALL, "rank": 12, "basis": "rbf"}), ("sv-dkl", {**SMALL, "rank": 12}), ("pp-dkl", {**SMALL, "rank": 12}),
    ("sv-rbf", {"steps": 60, "rank": 12}), ("dbk-exact", {**SMALL, "rank": 8, "basis": "rbf"}), ("ridge", {}), ("constant", {}), ("dbk", {**SMALL, "rank": 12, "basis": "fourier"}), ("auto", {"candidates": "constant,ridge,gp-exact"}), ("auto", {"candidates": "ridge,dnn", "steps": 40})]


def rows(n, seed):
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": 40 + 90 * draw.random(n), "street": draw.choice(["north", "park", "south"], n), "old": draw.random(n) < 0.3,
                          "rooms": draw.integers(1, 6, n).astype(float)})
    frame.loc[::11, "size"] = np.nan
    price = 3 * frame["size"].fillna(80) + 40 * frame["old"] + 25 * np.sin(frame["rooms"]) + 60 * (frame["street"] == "park")
    return frame, np.exp((price + 10 * draw.normal(size=n)) / 150)


def numbers(frame, module):
    own = {"street": frame["street"].map(lambda name: module.levels["street"].index(name))} if "street" in module.levels else {}
    return torch.tensor(frame.assign(**own)[module.columns].to_numpy(float))


@pytest.mark.parametrize(("method", "options"), METHODS, ids=lambda value: value if isinstance(value, str) else "")
def test_answers_as_the_model(method, options):
    frame, y = rows(140, 1)
    model = sb.Regressor(method, **options).fit(frame, y)
    module, (fresh, _) = model.to_torch(), rows(60, 2)
    x = numbers(fresh, module).requires_grad_()
    told, found = model.predict_dist(fresh), module(x)
    tolerance = {"rtol": 2e-5, "atol": 2e-5 * float(np.std(y))}  # of a network in float32
    assert found.mean.detach().numpy() == pytest.approx(told.mean, rel=tolerance["rtol"], abs=tolerance["atol"])
    assert found.aleatoric_var.detach().numpy() == pytest.approx(told.aleatoric_var, rel=1e-4, abs=1e-4 * float(np.var(y)))
    assert found.epistemic_var.detach().numpy() == pytest.approx(told.epistemic_var, rel=1e-4, abs=1e-4 * float(np.var(y)))
    (found.mean.sum() + found.variance.sum()).backward()
    assert torch.isfinite(x.grad[~torch.isnan(x)]).all()
    if method not in ("constant",):
        assert x.grad.abs().nan_to_num().sum() > 0
    together = module(x.reshape(4, 15, -1))
    assert torch.allclose(together.mean.flatten(), found.mean, rtol=1e-5)


@pytest.mark.parametrize(("method", "options"), [METHODS[i] for i in (0, 5, 8, 9, 10, 11, 12, 14, 15, 16)],
                         ids=lambda value: value if isinstance(value, str) else "")
def test_joint_has_the_variance_of_each_row_and_a_covariance(method, options):
    frame, y = rows(140, 1)
    module = sb.Regressor(method, **options).fit(frame, y).to_torch()
    x = numbers(rows(12, 2)[0], module)
    mean, covariance = module.joint(x)
    alone = module(x)
    assert torch.allclose(mean, alone.mean, rtol=1e-9)
    assert torch.allclose(covariance.diagonal(), alone.epistemic_var, rtol=1e-6, atol=1e-9 * float(alone.epistemic_var.max()))
    assert torch.linalg.eigvalsh(covariance).min() > -1e-8 * covariance.diagonal().max()
    # Near rows vary together.
    near = x[2:3].repeat(2, 1)
    near[1, 0] += 1e-3
    both = module.joint(near)[1]
    correlation = both[0, 1] / (both[0, 0] * both[1, 1]).sqrt()
    assert correlation > 0.9 or method == "dbk"  # whose correction may be each row's own


def test_the_gradient_is_that_of_differences():
    frame, y = rows(140, 1)
    module = sb.Regressor("dbk-exact", steps=60, hidden=16, rank=8, scale="standard").fit(frame[["size", "rooms"]].fillna(80), y).to_torch()
    x = torch.tensor([[70.0, 3.0]], dtype=torch.float64, requires_grad=True)
    gradient, = torch.autograd.grad(module(x).mean, x)
    step = torch.tensor([[0.5, 0.0]], dtype=torch.float64)
    assert (module(x + step).mean - module(x - step).mean).item() == pytest.approx(gradient[0, 0].item(), rel=0.05)


def test_refuses_what_it_has_no_form_of():
    frame, y = rows(100, 1)
    mixture = sb.Regressor("auto", candidates="constant,ridge").fit(frame, y).to_torch()
    with pytest.raises(TypeError, match="auto, a mixture"):
        mixture.joint(numbers(frame, mixture))
    with pytest.raises(ValueError, match="received 3 columns"):
        mixture(torch.zeros(2, 3))
    with pytest.raises(TypeError, match="a model of mc-dropout"):
        sb.Regressor("mc-dropout", **SMALL).fit(frame, y).to_torch()
    with pytest.raises(TypeError, match="received ntk-sketch"):
        sb.Regressor("ntk-sketch", **SMALL).fit(frame, y).to_torch()


@pytest.mark.parametrize("name", ["dbk", "auto"])
def test_torch_exports_and_compiles_it(name):
    frame, y = rows(100, 1)
    options = {**SMALL, "rank": 8} if name == "dbk" else {"candidates": "constant,ridge"}
    module = sb.Regressor(name, **options).fit(frame, y).to_torch()
    x = numbers(rows(9, 2)[0], module)
    program = torch.export.export(module, (x,), dynamic_shapes=({0: torch.export.Dim("n", min=1)},))
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    for found in program.module()(x[:4]), compiled(x[:4]):
        assert torch.allclose(found.mean, module(x[:4]).mean) and torch.allclose(found.epistemic_var, module(x[:4]).epistemic_var)


def test_in_float64_the_answers_are_near_and_have_no_steps():
    frame, y = rows(140, 1)
    model = sb.Regressor("bll", steps=60, hidden=16).fit(frame[["size", "rooms"]].fillna(80), y)
    module, x = model.to_torch(), torch.tensor([[70.0, 3.0]], dtype=torch.float64)
    wide = model.to_torch().double()
    assert wide(x).mean.item() == pytest.approx(module(x).mean.item(), rel=1e-5)
    step = torch.tensor([[1e-9, 0.0]], dtype=torch.float64)
    assert module(x + step).mean == module(x).mean and wide(x + step).mean != wide(x).mean
