"""A fitted regression as a BoTorch model, for Bayesian optimisation; needs `pip install botorch`.

>>> from slimbayes.botorch import Model
>>> model = Model(sb.Regressor("bll").fit(x, y))
>>> best, _ = optimize_acqf(qLogNoisyExpectedImprovement(model, x_tensor), bounds, q=1, num_restarts=8, raw_samples=64)
>>> model = model.condition_on_observations(best, measured)     # the exact update: no new training
"""

import copy

import numpy as np
import torch

try:
    from botorch.models.model import Model as _BotorchModel
    from botorch.posteriors.gpytorch import GPyTorchPosterior
    from gpytorch.distributions import MultivariateNormal
except ImportError as error:
    raise ImportError("slimbayes.botorch: expected the package botorch; received a Python without it: pip install botorch") from error

__all__ = ["Model"]


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
        if self.module.mixture:
            raise TypeError("slimbayes.botorch: expected a method with one Gaussian posterior, such as bll, dbk or gp-exact; received auto, a mixture")
        self.columns = self.module.columns

    @property
    def num_outputs(self):
        """1."""
        return 1

    @property
    def batch_shape(self):
        """No batch of models."""
        return torch.Size()

    def posterior(self, X, output_indices=None, observation_noise=False, posterior_transform=None, **_):
        """The joint posterior of the function at X [..., q, d]; with `observation_noise` of the target, or with a tensor [..., q, 1] of noise
        variances that replace the model's."""
        if output_indices not in (None, [0]):
            raise ValueError(f"posterior: expected the output 0; received {output_indices}")
        mean, covariance = self.module.joint(X)
        if torch.is_tensor(observation_noise):
            covariance = covariance + torch.diag_embed(observation_noise.squeeze(-1).expand_as(mean))
        elif observation_noise:
            covariance = covariance + torch.diag_embed(self.module(X).aleatoric_var)
        posterior = GPyTorchPosterior(MultivariateNormal(mean, covariance))
        return posterior if posterior_transform is None else posterior_transform(posterior)

    def condition_on_observations(self, X, Y, **_):
        """A model that has learned the rows X [n, d] with the targets Y [n, 1] too, by the exact update (`Regressor.update`). This one stays as
        it is. Raises TypeError for a method without an exact posterior, ValueError for batches of rows."""
        if X.dim() != 2 or Y.shape != (X.shape[0], 1):
            raise ValueError("condition_on_observations: expected X [n, d] and Y [n, 1]; received "
                             f"{list(X.shape)} and {list(Y.shape)}: fantasies of several sets of rows are not learned at once")
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
                levels = self.module.levels[name]
                frame[name] = [levels[int(place)] if 0 <= place < len(levels) else None for place in frame[name]]
            elif kind == "boolean":
                frame[name] = frame[name].astype(bool)
            elif kind == "datetime":
                frame[name] = pd.to_datetime(frame[name], unit="s")
        return frame
