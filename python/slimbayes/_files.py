"""Opens model files."""

import json

from slimbayes._library import core


def load(path, module=None):
    """Opens a model file that the command-line tool, a C++ program or `save` wrote, as a fitted estimator: a `Regressor`,
    `Classifier`, `CountRegressor` or `Forecaster`; as a `Posterior` if it holds one around a torch module. It gives the same bits
    as the tool. A posterior around a torch.nn.Module takes the module that it was made of as `module`. Load posteriors of TorchScript modules only
    from people that you trust: such a module is a program.
    """
    from slimbayes import _estimators, _texts
    from slimbayes._posterior import is_posterior, read

    path = _texts.path(path)
    if is_posterior(path):
        return read(path, module)
    if module is not None:
        raise ValueError("load: expected no module for a file that holds no posterior around one; received " + type(module).__name__)
    model = core.Model.load(path)
    return _estimators.fitted_around(model, json.loads(model.facts()))
