"""Opens model files."""

import json

from slimbayes._library import core


def load(path):
    """Opens a model file that the command-line tool, a C++ program or `save` wrote, as a fitted estimator: a `Regressor`,
    `Classifier`, `CountRegressor` or `Forecaster`; as a `Posterior` if it holds one around a torch module. It gives the same bits
    as the tool. Load posteriors of modules only from people that you trust: a module is a program.
    """
    from slimbayes import _estimators, _texts
    from slimbayes._posterior import Posterior, is_posterior

    path = _texts.path(path)
    if is_posterior(path):
        return Posterior(core.ModulePosterior.load(path))
    model = core.Model.load(path)
    return _estimators.fitted_around(model, json.loads(model.facts()))
