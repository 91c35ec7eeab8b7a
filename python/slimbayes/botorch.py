"""A fitted regression as a BoTorch model, for Bayesian optimisation; needs `pip install botorch`.

>>> from slimbayes.botorch import Model
>>> model = Model(sb.Regressor("rich-bll", mean="posterior").fit(x, y))
>>> best, _ = optimize_acqf(qLogNoisyExpectedImprovement(model, x_tensor), bounds, q=1, num_restarts=8, raw_samples=64)
>>> model = model.condition_on_observations(best, measured)     # the exact update: no new training
"""

import copy
import json

import numpy as np
import torch

try:
    from botorch.models.model import Model as _BotorchModel
    from botorch.posteriors.gpytorch import GPyTorchPosterior
    from gpytorch.distributions import MultivariateNormal
    from linear_operator import to_linear_operator
except ImportError as error:
    raise ImportError("slimbayes.botorch: expected the package botorch; received a Python without it: pip install botorch") from error

__all__ = ["Model"]

NUGGET = 1e-9  # added to the variance of each row of a joint posterior, as a share of the largest


class Model(_BotorchModel):
    """The Gaussian posterior of a fitted `Regressor`, a function of one output, with gradients in the inputs.

    `regressor` is a fitted Regressor of a method with one Gaussian posterior (`Regressor.to_torch`, `TorchModel.joint`); raises TypeError for
    `auto`, whose answer is a mixture. The inputs X [..., q, d] have a number for each column, in the order of `columns`; a category is its
    place, which BoTorch's optimisers for mixed inputs can fix. Outputs are in units of the target. All is float64, networks too, so that
    the optimiser sees no steps.
    """

    def __init__(self, regressor):
        super().__init__()
        self.regressor, self.module = regressor, regressor.to_torch().double()
        self._options = json.loads(regressor.model_.facts()).get("options", {})
        if self.module.mixture:
            raise TypeError("slimbayes.botorch: expected a method with one Gaussian posterior, such as bll, dbk or gp-exact; received auto, a mixture")
        self.columns = self.module.columns
        if getattr(regressor, "n_features_in_", len(self.columns)) != len(self.columns):
            raise ValueError(f"slimbayes.botorch: expected columns that vary in training; received {regressor.n_features_in_} columns, of which "
                             f"{', '.join(self.columns)} do; leave the others out")

    @property
    def num_outputs(self):
        """1."""
        return 1

    @property
    def batch_shape(self):
        """No batch of models."""
        return torch.Size()

    def posterior(self, X, output_indices=None, observation_noise=False, posterior_transform=None):
        """The joint posterior of the function at X [..., q, d], with a billionth of its largest variance added to each row's; with `observation_noise` of the target, or with a tensor [..., q, 1] of noise
        variances that replace the model's."""
        if output_indices not in (None, [0]):
            raise ValueError(f"posterior: expected the output 0; received {output_indices}")
        mean, covariance = self.module.joint(X)
        if torch.is_tensor(observation_noise):
            covariance = covariance + torch.diag_embed(observation_noise.squeeze(-1).expand_as(mean))
        elif observation_noise:
            covariance = covariance + torch.diag_embed(self.module(X).aleatoric_var)
        # The functions of r features have a covariance of rank r, and near rows one that is singular up to rounding.
        own = NUGGET * covariance.diagonal(dim1=-2, dim2=-1).amax(-1, keepdim=True).clamp_min(torch.finfo(covariance.dtype).tiny)
        posterior = GPyTorchPosterior(MultivariateNormal(mean, to_linear_operator(covariance + torch.diag_embed(own.expand_as(mean)))))
        return posterior if posterior_transform is None else posterior_transform(posterior)

    def condition_on_observations(self, X, Y, noise=None):
        """A model that has learned the rows X [n, d] with the targets Y [n, 1] too, by the exact update (`Regressor.update`). This one stays as
        it is. Raises ValueError for a method without an exact posterior, for `bll` and `rich-bll` with the mean of their network, which no
        observation moves (fit them with mean="posterior"), for batches of rows, and for a noise of their own."""
        if X.dim() != 2 or Y.shape != (X.shape[0], 1):
            raise ValueError("condition_on_observations: expected X [n, d] and Y [n, 1]; received "
                             f"{list(X.shape)} and {list(Y.shape)}: fantasies of several sets of rows are not learned at once")
        if noise is not None:
            raise ValueError("condition_on_observations: expected no noise, since rows have that of the model; received one")
        if self._options.get("mean") == "network":
            raise ValueError("condition_on_observations: expected a mean that observations move; received that of the network; fit with "
                             'mean="posterior"')
        learned = copy.deepcopy(self.regressor)
        learned.update(self._rows(X), Y.detach().squeeze(-1).cpu().numpy())
        return Model(learned)

    def _rows(self, X):
        """The rows as the regressor was fitted on them: an array, or columns of their kinds."""
        numbers = X.detach().cpu().numpy().astype(np.float64)
        if not hasattr(self.regressor, "feature_names_in_"):
            return numbers
        import pandas as pd

        frame = pd.DataFrame(numbers, columns=self.columns)
        for name, kind in self.module.kinds.items():
            if kind == "categorical":
                frame[name] = [_level(self.module.levels[name], place, name) for place in frame[name]]
            elif kind == "boolean":
                frame[name] = [None if place != place else bool(place) for place in frame[name]]
            elif kind == "datetime":
                frame[name] = pd.to_datetime(frame[name], unit="s")
        return frame


def _level(levels, place, name):
    """The category of a place: None for a missing cell, and a text that is none of the levels for the place behind them."""
    if place != place:
        return None
    if place != int(place) or not 0 <= place <= len(levels):
        raise ValueError(f"condition_on_observations: expected the place of a category in column {name!r}, from 0 to {len(levels)}; received {place:g}")
    return levels[int(place)] if place < len(levels) else "other" + "_" * max(map(len, levels))
