"""Opens model files."""

import json

from slimbayes._library import core


def load(path, module=None, device="cpu"):
    """Opens a model file that the command-line tool, a C++ program or `save` wrote, as a fitted estimator: a `Regressor`,
    `Classifier`, `CountRegressor` or `Forecaster`, of several targets if they are all numbers or all counts; as a `Posterior` if it holds one
    around a torch module. It gives the same bits
    as the tool. A posterior around a torch.nn.Module takes the module that it was made of as `module`. Load posteriors of TorchScript modules only
    from people that you trust: such a module is a program. `device`: where the model computes its answers, as the keyword of the estimators;
    a posterior around a module computes where the module lies.
    """
    from slimbayes import _options, _texts
    from slimbayes._posterior import is_posterior, read

    path = _texts.path(path)
    device = _options.device(device)
    if is_posterior(path):
        if device != "cpu":
            raise ValueError(f"load: expected no device for a posterior around a module; received {device!r}; it computes where the module lies")
        return read(path, module)
    if module is not None:
        raise ValueError("load: expected no module for a file that holds no posterior around one; received " + type(module).__name__)
    model = core.load(path)
    if device != "cpu":
        model = model.on(device)
    out = _fitted_around(model, json.loads(model.facts()))
    out.device = device
    return out


def _fitted_around(model, facts):
    """The estimator of a model that was read from a file."""
    from slimbayes import _estimators, _options

    task, tasks = facts["task"], sorted(set(facts.get("tasks", [])))
    if len(tasks) > 1 or tasks == ["classification"]:
        raise ValueError(f"load: expected a model of one target, or of several that are all numbers or all counts; received one of several targets: "
                         f"{' and '.join(tasks)}; the command-line tool opens it")
    if facts["fit"]["window"] > 0:
        cls = _estimators.Forecaster
    else:
        cls = {"regression": _estimators.Regressor, "classification": _estimators.Classifier,
               "counts": _estimators.CountRegressor}.get(task)
    if cls is None:
        raise ValueError(f"load: expected a model of numbers, classes, counts or forecasts; received one of {task}; the command-line "
                         "tool opens it")
    known = cls().get_params()
    usual = {option["name"]: option["default"] for option in _options.describe(facts["method"])["options"]}
    own = {name: value for name, value in facts["options"].items() if value != usual.get(name)}
    given = {"method": facts["method"], "seed": facts["seed"], "level": facts["level"], **facts["fit"], **own}
    params = {name: value for name, value in given.items()
              if name in known and value not in ([], "") and not isinstance(value, dict) and name != "likelihood"}
    if facts["likelihood"] in cls._likelihoods and "likelihood" in known and facts["fit"]["likelihood"] != "auto":
        params["likelihood"] = facts["likelihood"]
    if "targets" not in facts:
        params.pop("share_network", None)  # of the model of one of several targets
    out = cls(**params)
    out._take(model)
    out._seen_in(facts)
    return out
