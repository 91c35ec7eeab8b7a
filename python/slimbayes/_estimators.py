"""The estimators: scikit-learn's interface around fits of the library."""

import json
import os

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from slimbayes import _data, _labels, _options, _targets, _texts, _weights
from slimbayes._answers import Answers
from slimbayes._card import card
from slimbayes._library import DataError, core
from slimbayes._notes import warn
from slimbayes._partial import learn, where_exact
from slimbayes._progress import shown
from slimbayes._seen import Seen
from slimbayes._several import SeveralTargets

_COLUMNS_ONLY = (*(name for name in _options.WINDOWS if name != "time"), *_options.EVENTS)  # `time` is for split="time" too


class _Estimator(Seen, Answers, BaseEstimator):
    """What all estimators share: the fit, and the checks of scikit-learn around it."""

    _likelihoods = ("gaussian",)

    def fit(self, X, y=None, sample_weight=None, *, valid=None, network_from=None):
        """Fits the model. Ctrl-C ends the fit with the best model so far; it raises KeyboardInterrupt where there is none yet.

        X : data frame (pandas, polars, pyarrow) or array [n, d]; of images an array of uint8. NaN is a missing cell.
        y : targets [n], or the name of their column in X; rows without a target are then left out. `Regressor` and `CountRegressor` take several:
            an array or data frame [n, k] in which NaN is a missing target, or a list of names of columns. Each gets a model of its own, on one
            split of the rows, and the correlation of their held-out errors binds them. Ctrl-C then raises KeyboardInterrupt.
        sample_weight : weight of each row [n], from 0 on: a row of weight 2 counts as two equal rows, one of weight 0 is left out.
            `weights_are` says what they mean for the certainty of the model. The keyword `weights` names a column of X instead.
        valid : (X, y) of validation rows of your own, in the place of `valid_fraction`; with a name as y, a data frame; with
            sample_weight (X, y, sample_weight).
        network_from : model file whose trained network the fit takes instead of training one (methods `rich-bll`, `swag`, ...).
        """
        X = _data.as_table(X)
        if _data.row_count(X) == 1:
            raise ValueError("fit: expected at least 2 rows; received 1 sample; give more rows")
        if isinstance(X, np.ndarray) and not _data.are_images(X):
            _data.check_matrix(X)
        asked = y
        X, y, target, cells, weights = self._read(X, y, sample_weight)
        _weights.check_alone(weights, self)
        classes = self._classes_in(cells if weights is None or cells is None else cells[weights > 0])
        data, target = self._data_of(X, y, cells, classes, target)
        taken = [*(_data.column_names(X) or []), *_targets.listed(target)]
        column = _weights.add(data, weights, taken)
        own = None
        if valid is not None:
            own_X, own_y, own_weight = _weights.of_valid(valid, asked, column is not None)
            own_X, own_y, _, own_cells, own_weight = self._read(_data.as_table(own_X), own_y, own_weight)
            own = self._data_of(own_X, own_y, own_cells, classes, target)[0]
            _weights.add(own, own_weight, [], column)
        likelihood = "auto" if _data.are_images(X) else self._likelihood(classes)
        network_from = None if network_from is None else os.fsdecode(_texts.path(network_from))
        given = {"network_from": network_from} if column is None else {"network_from": network_from, "weights": column}
        request = _options.request({**self.get_params(), **given}, likelihood, ",".join(_targets.listed(target)))
        with shown(getattr(self, "progress", None), self.method or "auto") as show:
            fit = (core.fit if isinstance(target, str) else core.fit_joint)(data, request, own, show)
        self._take(fit.model, classes)
        self._seen(X, _targets.listed(target))
        self.valid_report_, self.test_report_ = json.loads(fit.valid), json.loads(fit.test)
        self.notes_, self.interrupted_ = fit.notes, fit.interrupted
        warn(fit.notes)
        return self

    def _read(self, X, y, sample_weight):
        """(X, y, name of the target as _given says, the targets or None where y names a column of X, the weights or None)."""
        weights = _weights.read(sample_weight, X, "fit")
        y = _targets.one(y, X)
        rows, named = X, y
        X, y, target = self._given(X, y)
        if X is not rows:
            weights = _weights.of_known(weights, rows, named)
        return X, y, target, None if isinstance(y, str) else self._target_cells(_targets.read(y, _data.row_count(X))), weights

    def _given(self, X, y):
        """(inputs, targets or the name of their column in the inputs, the name of the target if it is known)."""
        return X, y, None

    def _likelihood(self, classes):
        return getattr(self, "likelihood", self._likelihoods[0])

    def _classes_in(self, cells):
        """The classes of the targets; None for numbers."""
        return None

    def _data_of(self, X, y, cells, classes, target=None):
        """(the library's data, the name of the target). `cells`: the targets, None where y names a column of X."""
        if _data.are_images(X):
            if classes is None:
                raise ValueError(f"fit: expected a table; received images; Classifier takes them, {type(self).__name__} does not")
            return _data.images(X, *_labels.numbered(cells, classes)), ""
        names = _data.column_names(X) or [f"x{i}" for i in range(X.shape[1] if X.ndim == 2 else 0)]
        by = getattr(self, "calibrate_by", "")  # needed even if it is no input
        ignored = [name for name in _options.names(self.ignore) if name != by]
        frame = _data.frame(X, names, ignored.__contains__)
        if cells is None:
            _targets.check_column(y, names)
            return frame, y
        own = getattr(y, "name", None)
        if isinstance(own, str) and own in names and target is None:
            warn([f"X has a column '{own}' as the targets are called: it is an input; fit(X, '{own}') would leave it out of the inputs"])
        own = _texts.checked(own, "a name of the targets") if isinstance(own, str) and own else "target"
        target = target or _targets.free_name(own, names)
        _targets.add(frame, target, self._cells(cells))
        return frame, target

    def _repr_html_(self):
        return card(self._facts) if hasattr(self, "model_") else super()._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, **kwargs):
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags


class _Numbers(RegressorMixin, _Estimator):
    """Estimators whose answers are numbers."""

    def predict(self, X, return_std=False):
        """The mean of each row [n]; with `return_std` also the total standard deviation [n], both in units of the target. [n, k] of k targets."""
        rows = self._number_rows(X)
        found = rows.predict(X, bool(return_std)) if rows is not None else None
        if found is not None:
            return (found[0], np.sqrt(found[1] + found[2])) if return_std else found
        answered = self._answered(X)
        mean = answered.part("mean")
        if not return_std:
            return mean
        return mean, np.sqrt(answered.part("aleatoric_var") + answered.part("epistemic_var"))

    def _target_cells(self, y):
        if y.dtype.kind in "OUS":
            try:
                return y.astype(np.float64)
            except OverflowError as error:
                raise DataError("fit: expected numbers as y that a double can hold; received a whole number beyond") from error
            except (TypeError, ValueError) as error:
                raise ValueError(f"fit: expected numbers as y; received others, such as {_no_number(y)}; Classifier takes classes") from error
        return y


def _no_number(y):
    """The first value that is no number, as a message quotes it."""
    for value in y.tolist():
        try:
            float(value)
        except (TypeError, ValueError):
            return repr(value.item() if isinstance(value, np.generic) else value)
    return repr(y.tolist()[0])


def _with_keywords(**given):
    """Gives a class its keywords, its constructor and the section of its docstring on them."""

    def decorated(cls):
        found = _options.keywords(cls._likelihoods, **given)
        cls.__init__ = _options.constructor(found)
        cls.__doc__ = f"{cls.__doc__.rstrip()}\n\n{_options.documented(found)}\n"
        return cls

    return decorated


@_with_keywords(left_out=(*_COLUMNS_ONLY, *_options.IMAGES))
class Regressor(SeveralTargets, _Numbers):
    """Predicts numbers with a mean, an interval, and how much of the error bar is noise and how much is ignorance.

    >>> model = sb.Regressor().fit(frame, y)
    >>> mean, sd = model.predict(frame, return_std=True)
    >>> low, high = model.predict_interval(frame, level=0.9)
    >>> sb.Regressor("dbk", rank=64).fit(frame, "price").save("price.safetensors")
    >>> both = sb.Regressor().fit(frame, ["price", "rent"])                         # or an array [n, 2]: several targets
    >>> both.probability(frame, {"price": ("<=", 300), "rent": (">", 1)})           # of both at once

    After a fit of several targets `target_names_` has their names, `error_correlation_` [k, k] the correlation of the normal scores of their
    held-out errors, and `models_` the fitted estimator of each target alone.
    """

    _likelihoods = ("gaussian", "student")

    @where_exact
    def partial_fit(self, X, y=None, sample_weight=None):
        """Fits at the first call; a later call learns its rows exactly and without training, as `update` does, and keeps the network, the
        features and the noise of the first: the exact update of the last layer. Of `bll` and `rich-bll` it moves the variance alone, as their
        mean is the network's; with `mean="posterior"` both. Give each row once, and many in the first call. `fit` begins anew.

        For methods with an exact posterior, of which `sb.methods()` says that they have `updates`; other estimators do not have it.
        sample_weight : None. An update does not know by what weight it would learn a row; `fit` takes weights.
        """
        return learn(self, X, y, sample_weight=sample_weight)

    def to_torch(self):
        """The model as a `torch.nn.Module`, differentiable in the inputs: rows [..., columns] of numbers in, `mean` and the two parts of the
        `variance` out, and with `joint(x)` the posterior of several rows together. It moves to any device.

        >>> module = model.to_torch()
        >>> x = module.inputs(frame).requires_grad_()
        >>> module(x).mean.sum().backward()

        For models of table rows that the serving library answers, too (docs/serving.md); raises TypeError for others.
        """
        from slimbayes._torch import to_torch

        return to_torch(*self._compiled())

    def export_onnx(self, path, level=None, encoded=False):
        """Writes the model as an ONNX graph (opset 18), for runtimes of other languages and machines; needs `pip install onnx onnxscript`.

        Each column is an input [n, 1] of its name: numbers and yes and no as float, times as double in seconds since 1970 UTC, categories as
        string. A missing number is NaN, a missing category the empty string, and one that training did not have is none of them. With `encoded`
        there is one input `rows` [n, columns] in double, as `to_torch` takes it. The outputs [n], in double: `mean`, `sd`; `sd_aleatoric` and
        `sd_epistemic` where `predict` names them so; `lower` and `upper` of the interval at `level` (0.95), calibrated if the model is. `auto`
        has no interval there, but the components of its mixture, `component_mean` and `component_sd` [n, components], before a conformal
        calibration; their weights and shapes stand in the metadata `slimbayes` (docs/serving.md says how to read them, and how to feed dates).

        >>> model.export_onnx("price.onnx", level=0.9)
        >>> session = onnxruntime.InferenceSession("price.onnx")
        >>> session.run(["mean", "sd"], feed(session, frame))  # docs/serving.md has `feed`, which makes these inputs of a data frame

        For models of table rows that the serving library answers, too (docs/serving.md); raises TypeError for others.
        """
        from slimbayes._onnx import export

        export(*self._compiled(), path, level, bool(encoded))


@_with_keywords(left_out=(*_COLUMNS_ONLY, *_options.IMAGES, *_options.SEVERAL, *_options.NUMBERS))
class CountRegressor(SeveralTargets, _Numbers):
    """Predicts counts (whole numbers from 0): Poisson noise around a rate that is itself uncertain.

    >>> mean, sd = sb.CountRegressor().fit(frame, visits).predict(frame, return_std=True)
    """

    _likelihoods = ("poisson", "negative-binomial", "zero-inflated-poisson")

    def to_torch(self):
        """The model as a `torch.nn.Module`, differentiable in the inputs: rows [..., columns] of numbers in, `mean` and `variance` of the rate out,
        and the `log_mean` and `log_var` of its logarithm. As `Regressor.to_torch`."""
        from slimbayes._torch import to_torch

        return to_torch(*self._compiled())

    def export_onnx(self, path, encoded=False):
        """Writes the model as an ONNX graph, as `Regressor.export_onnx` does. The outputs [n], in double: `mean`, `sd`, `sd_aleatoric`, `sd_epistemic`,
        and `log_mean` and `log_var` of the rate. There is no interval: its ends are quantiles of counts, which ONNX has no operator for."""
        from slimbayes._onnx import export

        export(*self._compiled(), path, None, bool(encoded))


@_with_keywords(left_out=(*_COLUMNS_ONLY, *_options.SEVERAL, *_options.NUMBERS))
class Classifier(ClassifierMixin, _Estimator):
    """Predicts classes with probabilities that say how sure they are, of table rows, images (arrays of uint8) and texts.

    >>> model = sb.Classifier().fit(frame, species)
    >>> model.predict_proba(frame); model.predict_dist(frame).mutual_information
    >>> sb.Classifier(calibrate="conformal").fit(frame, species).predict_set(frame, level=0.9)
    >>> sb.Classifier("dnn", epochs=5).fit(images, labels)
    """

    _likelihoods = ("auto", "bernoulli", "softmax")

    @where_exact
    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        """Fits at the first call, learns the rows of a later call exactly, as `Regressor.partial_fit`.

        classes : all classes, which the rows of the first call must have, because they make the outputs of the network; later the same or
        None. None in the first call: those of the rows.
        sample_weight : None, as `Regressor.partial_fit`.
        """
        return learn(self, X, y, classes, sample_weight)

    def to_torch(self):
        """The model as a `torch.nn.Module`: rows [..., columns] of numbers in, `probabilities` [..., classes], `entropy` and `mutual_information` out;
        differentiable in the inputs, but for trees. As `Regressor.to_torch`.

        >>> module = model.to_torch()
        >>> module(module.inputs(frame)).probabilities
        """
        from slimbayes._torch import to_torch

        return to_torch(*self._compiled())

    def export_onnx(self, path, encoded=False):
        """Writes the model as an ONNX graph, as `Regressor.export_onnx` does. The outputs, in double: `probabilities` [n, classes], in the order of
        `classes` in the metadata `slimbayes`; `label` [n] int64, the place of the most probable class; `entropy` and `mutual_information` [n].

        >>> model.export_onnx("species.onnx")
        """
        from slimbayes._onnx import export

        export(*self._compiled(), path, None, bool(encoded))

    def _likelihood(self, classes):
        if self.likelihood != "auto" or classes is None:
            return self.likelihood
        return "softmax" if len(classes) > 2 else "bernoulli"

    def _given(self, X, y):
        """A column of classes is read as an array is: the type of its values decides what `classes_` holds."""
        return (*_targets.without_column(X, y), y) if isinstance(y, str) else (X, y, None)

    def _target_cells(self, y):
        from sklearn.utils.multiclass import check_classification_targets

        if y.dtype.kind == "O":
            _labels.check_order(y)
        check_classification_targets(y)
        return y

    def _classes_in(self, cells):
        if cells is None:
            return None
        classes = np.unique(cells)
        if len(classes) < 2:
            raise ValueError("Classifier can't train when only one class is present: expected at least two classes in y; received "
                             + (f"one class, {classes[0]!r}" if len(classes) else "no row"))
        return classes

    def _take(self, model, classes=None):
        super()._take(model)
        names = self._facts["classes"]
        classes = _labels.values(names, self._facts["target_kind"]) if classes is None else classes
        order = {_labels.text(value): i for i, value in enumerate(classes)} | {_labels.text_of_number(_labels.text(v)): i for i, v in enumerate(classes)}
        at = [order.get(name, order.get(_labels.text_of_number(name))) for name in names]
        if None in at or len(set(at)) < len(names):
            raise ValueError(f"Classifier: expected a model of the classes {classes}; received one of {names}")
        self.classes_ = classes[np.sort(at)]  # without labels that `na` declares missing
        self._columns = None if at == sorted(at) else np.argsort(at)

    def predict_proba(self, X):
        """The probability of each class [n, C], in the order of `classes_`, averaged over the posterior."""
        found = self._answered(X).part("probabilities")
        return found if self._columns is None else found[:, self._columns]

    def predict_log_proba(self, X):
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X):
        """The most probable class of each row [n]."""
        probabilities = self.predict_proba(X)
        if (without := np.isnan(probabilities[:, 0])).any():
            raise DataError(f"predict: expected rows that have an answer; received {without.sum()} of {len(without)} without one, the first "
                            f"is row {np.argmax(without) + 1}: leave them out; predict_proba gives NaN for them")
        return self.classes_[np.argmax(probabilities, axis=1)]

    def predict_set(self, X, level=None, randomised=True):
        """The plausible classes of each row, [n, C] bool in the order of `classes_`, for a model with calibrate="conformal": it holds
        the true class with probability `level`. A set that is not randomised is never empty and may be larger."""
        found = self._answered(X, [self._level(level)], "randomised" if randomised else "deterministic").levels()[0]
        if found is None:
            raise ValueError("predict_set: expected a model with calibrate='conformal'; received one without; fit it so")
        return found if self._columns is None else found[:, self._columns]

    def _in_own_types(self, table, X, kept):
        """Labels are values of `classes_`."""
        table = super()._in_own_types(table, X, kept)
        names = np.array(self._facts["classes"])[slice(None) if self._columns is None else self._columns]
        return table if "label" in kept else _labels.in_table(table, "label", names.tolist(), self.classes_)

    def predict_dist(self, X):
        found = super().predict_dist(X)
        return found if self._columns is None else found._replace(probabilities=found.probabilities[:, self._columns])


@_with_keywords(left_out=(*_options.TEXT, *_options.IMAGES, *_options.EVENTS, *_options.SEVERAL, "calibration_fraction"), defaults={"window": 24})
class Forecaster(_Numbers):
    """Forecasts a series from windows of its last rows, with the inputs and the target in them.

    >>> model = sb.Forecaster(window=24, horizon=1, time="date", group="station").fit(frame, "pm")
    >>> model.predict_frame(frame)   # a row for each window: its station, the time of the forecast, mean, sd, interval
    >>> model.predict(frame)         # the means alone, in the order of predict_frame
    """

    _likelihoods = ("gaussian", "student", "poisson", "negative-binomial", "zero-inflated-poisson")

    def score(self, X, y=None, sample_weight=None):
        """R squared of the forecasts whose target is in X. sample_weight : None; `evaluate` weighs the forecasts, by the column `weights` of
        the fit at the row that each predicts."""
        if sample_weight is not None:
            raise ValueError("score: expected no sample_weight for forecasts, of which there is not one for each row; received one; evaluate "
                             "weighs them by the column `weights` of the fit")
        found = self.predict_frame(X)
        mean, actual = (np.asarray(found[name], dtype=float) for name in ("mean", "actual"))
        known = np.isfinite(mean) & np.isfinite(actual)
        return 1 - np.mean((mean - actual)[known] ** 2) / np.var(actual[known])
