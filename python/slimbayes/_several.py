"""Models of several targets: what a `Regressor` or `CountRegressor` is after a fit of a matrix of targets."""

import numpy as np

from slimbayes import _data, _options, _targets, _weights
from slimbayes._library import core
from slimbayes._notes import warn

_SIGNS = (">", ">=", "<", "<=", "=", "==")  # of conditions
_MOST_DRAWS, _MOST_SEED = 10**9, 2**63 - 1


class _Answered:
    """Answers as core.Answered has them for one target, with an axis of the targets behind that of the rows."""

    def __init__(self, joint, targets):
        self.joint, self.notes = joint, joint.notes
        self._each = [joint.marginal(i) for i in range(targets)]

    def part(self, name):
        return np.stack([one.part(name) for one in self._each], axis=-1)

    def parts(self):
        return _stacked([one.parts() for one in self._each])

    def levels(self):
        """For each level the ends of the intervals (lower, upper)."""
        return [tuple(np.stack(ends, axis=-1) for ends in zip(*of_level)) for of_level in zip(*(one.levels() for one in self._each))]

    def quantile(self, q):
        return np.stack([one.quantile(q) for one in self._each], axis=-1)

    def ood(self):
        return _stacked([one.ood() for one in self._each])

    def evaluate(self, level):
        return self.joint.evaluate(level)

    def stream(self, kept, parts, quantiles):
        return self.joint.stream(kept, parts, quantiles)


def _stacked(each):
    """Arrays by name that every target has, stacked."""
    return {name: np.stack([one[name] for one in each], axis=-1) for name in each[0] if all(name in one for one in each)}


class SeveralTargets:
    """A base before that of an estimator of numbers, which then takes several targets. `_facts["targets"]` tells a model of several."""

    def region(self, X, level=None):
        """The box that holds all targets of a row at once with probability `level`: (lower, upper), [n, k] each, in units of the targets.
        Every target lies within the same number of sds there, by the correlation of the errors, or after ``calibrate="conformal"`` by the
        calibration rows. Of a model of several targets.

        level : coverage between 0 and 1; None: that of the fit, as in `predict_interval`.
        """
        return self._jointly(X, "region").region(self._level(level))

    def probability(self, X, conditions):
        """The probability that all conditions hold in a row, [n], by the correlation of the errors. Of a model of several targets.

        conditions : for each target that has one a pair of an operator and a number, or a list of such pairs. The operators are those of
            `slimbayes predict --probability`: ">", ">=", "<", "<=", and of counts "=". Of numbers ">=" is the same as ">".

        >>> model.probability(frame, {"price": ("<=", 300), "rent": [(">", 1), ("<=", 2)]})
        """
        self._check_several("probability")
        return self._jointly(X, "probability").probability(_conditions(conditions, self.target_names_))

    def sample(self, X, n=1, seed=0):
        """Joint draws of all targets, [n, rows, k], in units of the targets: a draw has the same errors in mind for every target of a row, and
        rows are independent given the model. The same seed gives the same draws. Of a model of several targets.

        n : number of draws.
        """
        n, seed = _options.whole("n", n, _MOST_DRAWS), _options.whole("seed", seed, _MOST_SEED)
        return self._jointly(X, "sample").draws(n, seed)

    def score(self, X, y, sample_weight=None):
        """R squared of the means, as scikit-learn's regressors have it; of several targets the mean of theirs, each over the rows in which it is
        known."""
        if not hasattr(self, "target_names_"):
            return super().score(X, y, sample_weight)
        from sklearn.metrics import r2_score

        X = _data.as_table(X)
        cells = self._cells_of(y, _data.row_count(X))
        mean, known = self.predict(X), ~np.isnan(cells)
        weights = _weights.read(sample_weight, X, "score")
        if known.all():
            return r2_score(cells, mean, sample_weight=weights)
        return float(np.mean([r2_score(cells[some, i], mean[some, i], sample_weight=None if weights is None else weights[some])
                              for i, some in enumerate(known.T) if some.sum() > 1]))

    @property
    def models_(self):
        """The fitted estimators of the targets alone, by their names: what has no form for several targets, such as `export_onnx`, is theirs."""
        if not hasattr(self, "target_names_"):
            raise AttributeError(f"'{type(self).__name__}' object has models_ after a fit of several targets alone")
        return {name: self._alone(model) for name, model in zip(self.target_names_, self.model_.models())}

    def _alone(self, model):
        """The estimator of the compiled model of one of the targets."""
        from sklearn.base import clone

        one = clone(self)
        if hasattr(one, "share_network"):
            one.share_network = False  # that is of several targets: a fit of this one alone would refuse it
        one._take(model)
        one._facts["fit"]["ignore"] = self._facts["fit"]["ignore"]  # that of the model has the other targets, too
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(one, name, getattr(self, name))
        return one

    def _take(self, model, classes=None):
        super()._take(model, classes)
        for name in ("target_names_", "error_correlation_"):
            if hasattr(self, name):
                delattr(self, name)
        if "targets" in self._facts:
            self.target_names_ = list(self._facts["targets"])
            self.error_correlation_ = np.array(self._facts["correlation"]["matrix"])

    def _read(self, X, y, sample_weight):
        several = self._several(X, y)
        if several is None:
            return super()._read(X, y, sample_weight)
        return X, several, None, None, _weights.read(sample_weight, X, "fit")

    def _several(self, X, y):
        """Several targets as `fit` takes them; None for one."""
        if _targets.are_names(y, X):
            return _targets.Several(list(y), None) if len(y) > 1 else None
        return _targets.read_several(y, _data.row_count(X), self._target_cells) if _targets.width(y) > 1 else None

    def _data_of(self, X, y, cells, classes, target=None):
        """As that of one target. `target`: the names of the training rows' targets, for validation rows."""
        is_several = isinstance(y, _targets.Several)
        if target is not None and is_several == isinstance(target, str):
            raise ValueError(f"fit: expected validation rows with the targets of the fit; received {'several' if is_several else 'one'} for a fit of "
                             f"{'one' if is_several else 'several'}")
        if not is_several:
            return super()._data_of(X, y, cells, classes, target)
        if _data.are_images(X):
            return super()._data_of(X, "", None, classes, target)  # refuses them
        taken = _data.column_names(X) or [f"x{i}" for i in range(X.shape[1] if X.ndim == 2 else 0)]
        frame = _data.frame(X, taken, _options.names(self.ignore).__contains__)
        names = _targets.names_of(y, taken) if target is None or y.names is not None else target
        if y.cells is not None and (len(names) != y.cells.shape[1] or (target is not None and names != target)) or target not in (None, names):
            raise ValueError(f"fit: expected validation rows with the targets {_targets.listed(target)} in this order; received {_received(y)}")
        for i, name in enumerate(names if y.cells is not None else ()):
            _targets.add(frame, name, np.ascontiguousarray(y.cells[:, i]))
        return frame, names

    def _answered(self, X, levels=(), sets="randomised", with_target=False, target=None, kept=(), weights=None, by=None):
        self._check_fitted()
        if "targets" not in self._facts:
            return super()._answered(X, levels, sets, with_target, target, kept, weights, by)
        joint = core.joint_answers(self.model_, self._rows(X, with_target, target, kept, weights), list(levels), sets)
        warn(joint.notes)
        return _Answered(joint, len(self.target_names_))

    def _add_targets(self, frame, X, target):
        if "targets" not in self._facts:
            return super()._add_targets(frame, X, target)
        if _targets.are_names(target, X):
            if list(target) != self.target_names_:
                raise ValueError(f"expected the targets, or the names of the columns that the model predicts, {self.target_names_}; received {list(target)}")
            return None
        cells = self._cells_of(target, _data.row_count(X))
        for i, name in enumerate(self.target_names_):
            _targets.add(frame, name, np.ascontiguousarray(cells[:, i]))
        return None

    def _cells_of(self, y, n):
        """The targets of rows to be scored, [n, k] in the order of the model's: by the names of a frame's columns, or by their places where no
        name is that of a target."""
        k = len(self.target_names_)
        if (received := _targets.width(y)) != k:
            raise ValueError(f"expected the {k} targets {', '.join(self.target_names_)} as an array or data frame [n, {k}]; received "
                             + (f"{received} columns" if received else "one target"))
        found = _targets.read_several(y, n, self._target_cells)
        if found.names is not None and found.names != self.target_names_ and set(found.names) == set(self.target_names_):
            return found.cells[:, [found.names.index(name) for name in self.target_names_]]
        if found.names is not None and found.names != self.target_names_ and set(found.names) & set(self.target_names_):
            raise ValueError(f"expected the targets {self.target_names_}, in any order; received the columns {list(found.names)}, of which some have "
                             "the name of a target and others do not; rename them, or give an array")
        return found.cells

    def _jointly(self, X, caller):
        self._check_several(caller)
        return self._answered(X).joint

    def _check_several(self, caller):
        self._check_fitted()
        if "targets" not in self._facts:
            raise ValueError(f"{caller}: expected a model of several targets; received one of one; fit takes a matrix of targets, and predict_interval, "
                             "predict_quantiles and predict_dist answer for one")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _received(several):
    return f"{list(several.names)}" if several.names is not None else f"{several.cells.shape[1]} columns"


def _conditions(given, targets):
    """The conditions of `probability` as the library reads them."""
    if not isinstance(given, dict) or not given:
        raise ValueError(f"probability: expected conditions as a dict, such as {{{targets[0]!r}: ('>', 0)}}; received {_options.received(given)}")
    out = []
    for target, conditions in given.items():
        pairs = [conditions] if isinstance(conditions, tuple) else conditions
        if not isinstance(pairs, list) or not all(isinstance(one, (tuple, list)) and len(one) == 2 and one[0] in _SIGNS for one in pairs):
            raise ValueError(f"probability: expected (operator, number), such as ('>', 0), or a list of them, for {target!r}, with an operator of "
                             f"{' '.join(_SIGNS)}; received {_options.received(conditions)}")
        if target not in targets:
            raise ValueError(f"probability: expected conditions on the targets {', '.join(targets)}; received one on {target!r}")
        out += [(target, sign, repr(_options.number(f"a bound of {target}", bound))) for sign, bound in pairs]
    return out
