"""slimbayes: neural networks and Gaussian processes with honest uncertainty.

    import slimbayes as sb
    model = sb.Regressor().fit(frame, y)
    mean, sd = model.predict(frame, return_std=True)
    low, high = model.predict_interval(frame, level=0.9)

``Regressor``, ``Classifier``, ``CountRegressor`` and ``Forecaster`` are scikit-learn estimators. ``load`` opens a model file of
the command-line tool, ``compare`` ranks methods on a table, ``posterior`` adds a variance to a torch module. The names are
loaded at their first use, so that the import takes no time.
"""

from importlib import import_module

_HOMES = {
    "Regressor": "_estimators",
    "Classifier": "_estimators",
    "CountRegressor": "_estimators",
    "Forecaster": "_estimators",
    "Distribution": "_answers",
    "Report": "_report",
    "load": "_files",
    "compare": "_compare",
    "posterior": "_posterior",
    "Posterior": "_posterior",
    "methods": "_options",
    "describe": "_options",
    "Note": "_notes",
    "DataError": "_library",
    "NumericalError": "_library",
}

__all__ = [*sorted(_HOMES)]


def __getattr__(name):
    if name == "__version__":
        return import_module("slimbayes._library").core.__version__
    if name not in _HOMES:
        raise AttributeError(f"module 'slimbayes' has no attribute '{name}'")
    value = getattr(import_module(f"slimbayes.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return [*__all__, "__version__"]
