"""A posterior around a torch module."""

import copy
import pickle

import numpy as np
import pytest
import torch
import toys

import slimbayes as sb

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")


def net(out=1, dtype=torch.float32):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 20), torch.nn.Tanh(), torch.nn.Linear(20, out)).to(dtype)


def trained(out=1, loss=None, y=None, dtype=torch.float32):
    X, target = toys.matrix(300)
    y = target if y is None else y
    module = net(out, dtype)
    x, t = torch.tensor(X, dtype=dtype), torch.tensor(y, dtype=torch.int64 if out > 1 else dtype)
    step = torch.optim.Adam(module.parameters(), 0.02)
    for _ in range(200):
        step.zero_grad()
        z = module(x[:200])
        (torch.nn.functional.cross_entropy(z, t[:200]) if out > 1 else ((z[:, 0] - t[:200]) ** 2).mean()).backward()
        step.step()
    return module, X, y


@pytest.fixture(scope="module")
def regression():
    return trained()


@pytest.mark.parametrize("method", ["rich-bll", "bll", "last-layer-laplace"])
def test_the_mean_is_the_modules_and_the_variance_grows_away(regression, method):
    module, X, y = regression
    before = copy.deepcopy(module.state_dict())
    bayes = sb.posterior(module, (X[:200], y[:200]), method, valid=(X[200:], y[200:]))
    mean, sd = bayes.predict(X, return_std=True)
    assert np.allclose(mean, module(torch.tensor(X, dtype=torch.float32)).detach().numpy()[:, 0], atol=1e-6)
    low, high = bayes.predict_interval(X, level=0.9)
    assert 0.8 < np.mean((low[200:] <= y[200:]) & (y[200:] <= high[200:])) < 0.98
    dist = bayes.predict_dist(X)
    assert np.allclose(dist.sd, sd) and (bayes.predict_dist(10 * X).epistemic_var.mean() > dist.epistemic_var.mean())
    assert np.allclose(bayes.ood_scores(X)["epistemic_sd"], np.sqrt(dist.epistemic_var))
    assert all((before[k] == v).all() for k, v in module.state_dict().items())


def test_files_pickles_and_updates(regression, tmp_path):
    module, X, y = regression
    bayes = sb.posterior(module, (X[:150], y[:150]), valid=(X[200:], y[200:]))
    bayes.save(tmp_path / "p.safetensors")
    for twin in sb.load(tmp_path / "p.safetensors", module=module), pickle.loads(pickle.dumps(bayes)):
        assert isinstance(twin, sb.Posterior) and (twin.predict_dist(X).epistemic_var == bayes.predict_dist(X).epistemic_var).all()
    more = bayes.update(X[150:200], y[150:200])
    assert (more.predict_dist(X).epistemic_var <= bayes.predict_dist(X).epistemic_var).all()
    assert np.allclose(more.forget(X[150:200], y[150:200]).predict_dist(X).epistemic_var, bayes.predict_dist(X).epistemic_var)


def test_what_was_not_learned_is_not_forgotten(regression):
    module, X, y = regression
    bayes = sb.posterior(module, (X[:150], y[:150]), "bll")
    with pytest.raises(ValueError, match="expected rows that the posterior has learned"):
        bayes.forget(100 * X[150:250], y[150:250])
    with pytest.raises(ValueError, match="received DataLoader of object"):
        bayes.predict(torch.utils.data.DataLoader(X))


@pytest.mark.parametrize("method", ["rich-bll", "last-layer-laplace"])
def test_classes_have_probabilities(method):
    X, target = toys.matrix(300)
    labels = np.digitize(target, [-0.7, 0.3])
    module, X, y = trained(3, y=labels)
    bayes = sb.posterior(module, (X[:200], y[:200]), method, valid=(X[200:], y[200:]))
    p = bayes.predict_proba(X)
    assert p.shape == (300, 3) and np.allclose(p.sum(1), 1) and (bayes.predict(X) == y).mean() > 0.7
    for ask in (bayes.predict_interval, lambda rows: bayes.predict(rows, return_std=True)):
        with pytest.raises(ValueError, match="regression"):
            ask(X)


@pytest.mark.parametrize("method", ["rich-bll", "bll", "last-layer-laplace"])
def test_one_output_may_be_the_logit_of_two_classes(method, tmp_path):
    X, target = toys.matrix(300)
    labels = (target > 0).astype(int)
    module = net()
    x, t = torch.tensor(X, dtype=torch.float32), torch.tensor(labels, dtype=torch.float32)
    step = torch.optim.Adam(module.parameters(), 0.02)
    for _ in range(200):
        step.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(module(x[:200])[:, 0], t[:200]).backward()
        step.step()
    bayes = sb.posterior(module, (X[:200], labels[:200]), method, valid=(X[200:], labels[200:]), classes=2)
    plain, p = torch.sigmoid(module(x))[:, 0].detach().numpy(), bayes.predict_proba(X)
    assert p.shape == (300, 2) and (bayes.predict(X) == (plain > 0.5)).all()
    assert (np.abs(p[:, 1] - 0.5) <= np.abs(plain - 0.5) + 1e-6).all()
    bayes.save(tmp_path / "p.safetensors")
    assert (sb.load(tmp_path / "p.safetensors", module=module).predict_proba(X) == p).all()
    with pytest.warns(sb.Note, match="classes=2"):
        assert sb.posterior(module, (X, labels), method).predict_dist(X).probabilities is None


class Column(torch.nn.Module):
    """Its output is the only column of the last layer's."""

    def __init__(self):
        super().__init__()
        self.net = net()

    def forward(self, x):
        return self.net(x)[..., 0]


class Branched(torch.nn.Module):
    """A forward that TorchScript does not know (a keyword dictionary)."""

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(3, 8)
        self.head = torch.nn.Linear(8, 1)

    def forward(self, x, **unused):
        return self.head(torch.relu(self.body(x)))


@pytest.mark.parametrize("module", [
    pytest.param(Branched(), id="keywords"), pytest.param(net().train(), id="training mode"), pytest.param(net(dtype=torch.float64), id="float64"),
    pytest.param(torch.jit.script(net()), id="scripted"), pytest.param(torch.nn.Sequential(net(), torch.nn.Flatten(0)), id="flat"),
    pytest.param(Column(), id="column")])
def test_modules_of_many_kinds(module):
    X, y = toys.matrix(100)
    training = module.training
    bayes = sb.posterior(module, (X, y), layer="head" if isinstance(module, Branched) else None)
    assert np.isfinite(bayes.predict(X, return_std=True)[1]).all() and module.training == training


def normed(norm, every=True):
    """A network whose weights, or those of its last layer, are computed from others."""
    module = net()
    for part in module if every else module[-1:]:
        if isinstance(part, torch.nn.Linear):
            norm(part)
    with torch.no_grad():
        for part in module.parameters():
            part.mul_(1.5)
    return module


def pruned(part):
    from torch.nn.utils import prune

    prune.random_unstructured(part, "weight", 0.3)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("norm", [torch.nn.utils.weight_norm, torch.nn.utils.parametrizations.weight_norm, torch.nn.utils.spectral_norm,
                                  torch.nn.utils.parametrizations.spectral_norm, pruned])
def test_weights_may_be_computed_from_others(norm, every, tmp_path):
    X, y = toys.matrix(100)
    torch.manual_seed(0)
    module = normed(norm, every).eval()
    rows = torch.tensor(X, dtype=torch.float32)
    expected = module(rows)[:, 0].detach().numpy()
    names = [name for name, _ in module.named_parameters()]
    for given in module, module.train():  # also right after a step of training
        bayes = sb.posterior(given, (X, y))
        np.testing.assert_allclose(bayes.predict(X), expected, rtol=1e-5, atol=1e-6)
    assert [name for name, _ in module.named_parameters()] == names and module.training
    bayes.save(tmp_path / "p.safetensors")
    assert (sb.load(tmp_path / "p.safetensors", module=module).predict(X) == bayes.predict(X)).all()


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_gradients_may_be_off(regression, mode):
    module, X, y = regression
    with mode():
        bayes = sb.posterior(module, (X[:150], y[:150])).update(X[150:], y[150:])
    assert np.isfinite(bayes.predict(X, return_std=True)[1]).all()


def test_data_may_come_from_a_loader(regression):
    module, X, y = regression
    rows = torch.utils.data.TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y))
    loader = torch.utils.data.DataLoader(rows, batch_size=32)
    assert (sb.posterior(module, loader).predict(X) == sb.posterior(module, (X, y)).predict(X)).all()


class TwoInputs(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(3, 1)

    def forward(self, x, z):
        return self.head(x + z)


X, Y = toys.matrix(50)
BAD = {
    "no linear layer": (torch.nn.Conv2d(1, 1, 1), (X, Y), {}, "ends in a torch.nn.Linear"), "two inputs": (torch.jit.script(TwoInputs()), (X, Y), {}, "one tensor|one input"),
    "no module": ("net", (X, Y), {}, "torch.nn.Module"), "no such layer": (net(), (X, Y), {"layer": "head"}, "head"),
    "another method": (net(), (X, Y), {"method": "gp-exact"}, "rich-bll"), "another width": (net(), (X[:, :2], Y), {}, "module"),
    "short targets": (net(), (X, Y[:3]), {}, "as many targets"), "no pair": (net(), X, {}, "pair"), "no option": (net(), (X, Y), {"rnak": 1}, "rnak"),
    "soft labels": (net(), (X, 0.9 + 0 * Y), {"classes": 2}, "class numbers"), "a text of classes": (net(), (X, Y), {"classes": "2"}, "whole number"),
    "fewer classes": (net(), (X, Y), {"classes": -1}, "whole number"), "bfloat16": (net(dtype=torch.bfloat16), (X, Y), {}, "float32 or float64"),
    "a layer inside": (net(), (X, Y), {"layer": "0"}, "0"), "nan": (net(), (X * np.nan, Y), {}, "finite"),
    "a module without weights": (net().to("meta"), (X, Y), {}, "device 'meta'"),
    "rows without values": (net(), (torch.zeros(50, 3, device="meta"), Y), {}, "device 'meta'"),
    "two types": (torch.nn.Sequential(net(), torch.nn.Linear(1, 1, dtype=torch.float64)), (X, Y), {}, "received float32 and float64"),
    "weights of later": (torch.nn.Sequential(torch.nn.LazyLinear(4), torch.nn.Linear(4, 1)), (X, Y), {}, "call the module once"),
    "complex rows": (net(), (X + 1j, Y), {}, "Complex"), "texts": (net(), (X.astype(str), Y), {}, "expected numbers"),
    "huge classes": (net(), (X, Y), {"classes": 10**400}, "whole number"), "half a layer": (net(), (X, Y), {"layer": "\udc80"}, "UTF-8"),
    "half a method": (net(), (X, Y), {"method": "\udc80"}, "UTF-8"), "a huge option": (net(), (X, Y), {"ridge": 10**400}, "below 2\\^64")}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_network_is_refused(case):
    module, rows, options, text = BAD[case]
    with pytest.raises(ValueError, match=text):
        sb.posterior(module, rows, **options)
