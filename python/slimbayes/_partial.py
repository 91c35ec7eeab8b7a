"""`partial_fit`: the exact update in scikit-learn's words."""

import functools
from types import MethodType

import numpy as np
from sklearn.base import is_classifier

from slimbayes import _data, _options, _targets


def _refusal(model):
    """Why an estimator has no `partial_fit`; None for one that has it."""
    methods = _options.description()["methods"]
    if hasattr(model, "model_"):
        if "targets" in model._facts:
            return "partial_fit: expected a model of one target; received one of several; fit it again on all rows"
        name, updates, calibrated = model._facts["method"], model._facts["updates"], model._facts["calibrated"] and not model._facts.get("adaptive")
        weights = model._facts["fit"].get("weights")
    else:
        given = model.method or "auto"
        known = [method for method in methods if given in (method["name"], *method["aliases"])]
        name, updates = (known[0]["name"], known[0]["updates"]) if known else (given, True)  # `fit` refuses an unknown name
        calibrated, weights = model.calibrate == "conformal", model.weights
    if not updates:
        task = "classification" if is_classifier(model) else "regression"
        able = ", ".join(method["name"] for method in methods if method["updates"] and task in method["tasks"])
        return f"partial_fit: expected a method with an exact posterior; received {name}; {able} have one; fit this one again on all rows"
    if weights:
        return ("partial_fit: expected a model without weights; received one fitted with them, whose posterior does not know by what weight "
                "it would learn a row; fit this one again on all rows")
    if calibrated:
        return ("partial_fit: expected a model without conformal calibration; received one whose calibration would not hold for the new "
                "posterior; fit it without calibrate")
    return None


class where_exact:
    """A method of estimators whose posterior learns rows exactly. Others do not have it, as with scikit-learn's available_if, and the
    AttributeError says why."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._function = function

    def __get__(self, model, cls=None):
        if model is None:
            return self._function
        if (why := _refusal(model)) is not None:
            raise AttributeError(why)
        return MethodType(self._function, model)


def learn(model, X, y, classes=None, sample_weight=None):
    """Fits the estimator at the first call, updates it later. `classes`: those that the rows must have; None: any."""
    if sample_weight is not None:
        raise ValueError("partial_fit: expected no sample_weight, as an update does not know by what weight it would learn a row; received "
                         "one; fit takes weights")
    if _targets.width(y) > 1 or _targets.are_names(y, X) and len(y) > 1:
        raise ValueError("partial_fit: expected one target; received several, of which there is no exact update; fit takes them")
    is_first = not hasattr(model, "model_")
    if classes is not None:
        classes = np.unique(classes)
        own = np.unique(_targets.read(model._given(_data.as_table(X), y)[1])) if is_first else model.classes_
        if not np.array_equal(classes, own):
            raise ValueError(f"partial_fit: expected rows of every class in the first call, which fits the network; received classes="
                             f"{classes.tolist()} and rows of {own.tolist()}" if is_first else
                             f"`classes={classes.tolist()}` is not the same as on last call to partial_fit, was: {own.tolist()}")
    return model.fit(X, y) if is_first else model.update(X, y)
