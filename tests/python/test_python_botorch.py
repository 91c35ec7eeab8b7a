"""The BoTorch model: its posterior is the regressor's, BoTorch optimises on it, and observations are learned exactly."""

import sys
import warnings

import numpy as np
import pytest
import slimbayes as sb
import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound, qLogNoisyExpectedImprovement
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.optim import optimize_acqf
from linear_operator.utils.warnings import NumericalWarning
from slimbayes.botorch import Model
from test_python_torch import numbers, rows

BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)


def hill(x):
    return np.exp(-8 * ((x[:, 0] - 0.7) ** 2 + (x[:, 1] - 0.3) ** 2))


def sample(n=60):
    draw = np.random.default_rng(1)
    x = draw.random((n, 2))
    return x, hill(x) + 0.02 * draw.normal(size=n)


@pytest.fixture(scope="module", params=["bll", "gp-exact"])
def model(request):
    options = {"steps": 400, "hidden": 32} if request.param == "bll" else {"iterations": 60}
    return Model(sb.Regressor(request.param, **options).fit(*sample()))


def test_the_posterior_is_the_regressors(model):
    x = torch.rand(5, 3, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    posterior, told = model.posterior(x), model.regressor.predict_dist(x.reshape(-1, 2).numpy())
    assert posterior.mean.shape == (5, 3, 1) and model.num_outputs == 1 and model.batch_shape == ()
    assert posterior.mean.flatten().detach().numpy() == pytest.approx(told.mean, rel=1e-4, abs=1e-5)
    assert posterior.variance.flatten().detach().numpy() == pytest.approx(told.epistemic_var, rel=1e-3, abs=1e-9)
    noisy = model.posterior(x, observation_noise=True).variance.flatten().detach().numpy()
    assert noisy == pytest.approx(told.epistemic_var + told.aleatoric_var, rel=1e-3)
    given = model.posterior(x, observation_noise=torch.full((5, 3, 1), 0.5, dtype=torch.float64)).variance.flatten().detach().numpy()
    assert given == pytest.approx(told.epistemic_var + 0.5, rel=1e-3)
    doubled = model.posterior(x, posterior_transform=ScalarizedPosteriorTransform(torch.tensor([2.0], dtype=torch.float64)))
    assert torch.allclose(doubled.mean, 2 * posterior.mean)


def test_samples_have_its_moments_and_gradients(model):
    x = torch.tensor([[0.2, 0.9], [0.25, 0.9], [0.9, 0.1]], dtype=torch.float64, requires_grad=True)
    torch.manual_seed(0)
    posterior = model.posterior(x)
    draws = posterior.rsample(torch.Size([4000]))
    assert draws.shape == (4000, 3, 1)
    sd, covariance = posterior.variance.sqrt().squeeze(-1), posterior.distribution.covariance_matrix
    assert ((draws.mean(0).squeeze(-1) - posterior.mean.squeeze(-1)).abs() < 5 * sd / 4000 ** 0.5).all()
    assert torch.allclose(torch.cov(draws.squeeze(-1).T), covariance, atol=0.1 * float(covariance.diagonal().max()))
    draws.sum().backward()
    assert x.grad.abs().sum() > 0 and torch.isfinite(x.grad).all()


@pytest.mark.parametrize("make", [lambda model, y: UpperConfidenceBound(model, beta=4.0), lambda model, y: LogExpectedImprovement(model, best_f=y.max())])
def test_botorch_optimises_an_acquisition_function(model, make):
    acquisition = make(model, sample()[1])
    torch.manual_seed(1)
    best, value = optimize_acqf(acquisition, BOUNDS, q=1, num_restarts=4, raw_samples=64)
    axis = torch.linspace(0, 1, 41, dtype=torch.float64)
    grid = torch.cartesian_prod(axis, axis)
    with torch.no_grad():
        highest = acquisition(grid.unsqueeze(1)).max()
    assert value >= highest - 0.02 * abs(highest), "the optimiser is behind a grid of 41 x 41"
    assert ((best >= 0) & (best <= 1)).all()


def test_a_run_of_bayesian_optimisation_finds_the_hill():
    x, y = sample(25)
    model, seen = Model(sb.Regressor("rich-bll", steps=400, hidden=32, mean="posterior").fit(x, y)), torch.tensor(x)
    start, best = y.max(), -np.inf
    for step in range(6):
        torch.manual_seed(step)
        acquisition = qLogNoisyExpectedImprovement(model, seen, prune_baseline=False)
        new, _ = optimize_acqf(acquisition, BOUNDS, q=1, num_restarts=3, raw_samples=48)
        measured = torch.tensor(hill(new.numpy()))[:, None]
        best = max(best, float(measured))
        model, seen = model.condition_on_observations(new, measured), torch.cat([seen, new])
    assert best > 0.9 and best >= start - 0.05, "the hill is 1 high"


def test_observations_are_learned_exactly():
    x, y = sample()
    before = Model(sb.Regressor("bll", steps=400, hidden=32, mean="posterior").fit(x, y))
    new, value = torch.tensor([[0.05, 0.95], [0.5, 0.5]], dtype=torch.float64), torch.tensor([[0.4], [0.1]], dtype=torch.float64)
    old = before.posterior(new)
    after = before.condition_on_observations(new, value)
    same = sb.Regressor("bll", steps=400, hidden=32, mean="posterior").fit(x, y).update(new.numpy(), value.squeeze(-1).numpy()).predict_dist(new.numpy())
    assert after.posterior(new).mean.flatten().detach().numpy() == pytest.approx(same.mean, rel=1e-5, abs=1e-6)
    assert (after.posterior(new).variance < old.variance).all()
    assert torch.equal(before.posterior(new).mean, old.mean)
    wild = before.condition_on_observations(new, value + 30)
    assert ((wild.posterior(new).mean - old.mean) > 3).all(), "what was observed must move the mean"
    kept = Model(sb.Regressor("bll", steps=40).fit(x, y))
    with pytest.raises(ValueError, match="expected a mean that observations move.*mean=\"posterior\""):
        kept.condition_on_observations(new, value)


@pytest.mark.parametrize("scale", [1.0, 1e6])
@pytest.mark.parametrize("method", ["bll", "rich-bll", "dbk-exact", "gp-exact", "dbk"])
def test_many_rows_at_once_have_samples(method, scale):
    """More rows than features, and rows that are the same: the covariance is singular up to rounding, in whatever units."""
    options = {"iterations": 40} if method == "gp-exact" else {"steps": 100, "hidden": 16}
    rows, y = sample()
    model = Model(sb.Regressor(method, **options).fit(rows, scale * y))
    x = torch.rand(200, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    x[1] = x[0]
    posterior = model.posterior(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumericalWarning)  # that GPyTorch adds a jitter of its own, which knows no units
        draws = posterior.rsample(torch.Size([8]))
    assert torch.isfinite(draws).all() and torch.allclose(draws[:, 0], draws[:, 1], atol=float(posterior.variance.max()) ** 0.5 / 100)
    assert torch.allclose(posterior.variance.squeeze(-1), model.module(x).epistemic_var, rtol=1e-6, atol=2e-9 * float(posterior.variance.max()))


def test_columns_of_a_frame():
    frame, y = rows(140, 1)
    model = Model(sb.Regressor("bll", steps=60, hidden=16, mean="posterior").fit(frame, y))
    fresh, price = rows(6, 2)
    fresh, price = fresh[1:], price.to_numpy()[1:]  # the first has a missing cell
    x = numbers(fresh, model.module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        after = model.condition_on_observations(x, torch.tensor(price[:, None]))
        same = sb.Regressor("bll", steps=60, hidden=16, mean="posterior").fit(frame, y).update(fresh, price).predict_dist(fresh)
    assert after.posterior(x).variance.flatten().detach().numpy() == pytest.approx(same.epistemic_var, rel=1e-3)
    learned = model._rows(torch.tensor([[np.nan, 3.0, np.nan, 2.0], [80.0, 1.0, 1.0, 2.0]], dtype=torch.float64))
    assert learned["street"].tolist() == ["other_____", "park"] and learned["old"].tolist() == [None, True] and np.isnan(learned["size"][0])
    with pytest.raises(ValueError, match="the place of a category in column 'street', from 0 to 3; received 1.6"):
        model._rows(torch.tensor([[80.0, 1.6, 1.0, 2.0]], dtype=torch.float64))
    fixed = np.column_stack([np.random.default_rng(1).random((60, 2)), np.ones(60)])
    with pytest.raises(ValueError, match="expected columns that vary in training; received 3 columns"):
        Model(sb.Regressor("bll", steps=40).fit(fixed, sample()[1]))


def test_refuses_what_has_no_such_posterior(monkeypatch):
    x, y = sample()
    with pytest.raises(TypeError, match="one Gaussian posterior.* received auto, a mixture"):
        Model(sb.Regressor("auto", candidates="constant,ridge").fit(x, y))
    with pytest.raises(TypeError, match="received a model of mc-dropout"):
        Model(sb.Regressor("mc-dropout", steps=40).fit(x, y))
    plain = Model(sb.Regressor("gp-exact", iterations=20).fit(x, y))
    with pytest.raises(ValueError, match="expected X .n, d. and Y .n, 1."):
        plain.condition_on_observations(torch.zeros(2, 3, 2), torch.zeros(2, 3, 1))
    with pytest.raises(ValueError, match="expected the output 0; received .1."):
        plain.posterior(torch.zeros(1, 2), output_indices=[1])
    with pytest.raises(ValueError, match="expected a method with an exact posterior; received gp-exact"):
        plain.condition_on_observations(torch.zeros(1, 2, dtype=torch.float64), torch.zeros(1, 1, dtype=torch.float64))
    with pytest.raises(ValueError, match="expected no noise"):
        plain.condition_on_observations(torch.zeros(1, 2), torch.zeros(1, 1), noise=torch.ones(1, 1))
    monkeypatch.setitem(sys.modules, "botorch.models.model", None)
    monkeypatch.delitem(sys.modules, "slimbayes.botorch")
    with pytest.raises(ImportError, match="pip install botorch"):
        import slimbayes.botorch  # noqa: F401
