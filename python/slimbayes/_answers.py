"""What a fitted model answers, as arrays, for estimators and loaded models alike."""

import json
import weakref
from typing import NamedTuple

import numpy as np

from slimbayes import _data, _groups, _labels, _options, _targets, _texts, _weights
from slimbayes._library import core
from slimbayes._notes import warn, warn_as
from slimbayes._seen import no_inputs


_number_rows = weakref.WeakKeyDictionary()  # compiled model: {number of columns: what answers such rows}


class Distribution(NamedTuple):
    """The predictive of n rows. Numbers and counts have mean, median and two variances; classes have probabilities and entropies."""

    mean: np.ndarray | None = None  # [n] in units of the target
    median: np.ndarray | None = None  # [n]
    aleatoric_var: np.ndarray | None = None  # [n] variance of the noise
    epistemic_var: np.ndarray | None = None  # [n] variance of what the model does not know
    probabilities: np.ndarray | None = None  # [n, C], in the order of `classes_`
    entropy: np.ndarray | None = None  # [n] of the averaged probabilities, in nats
    expected_entropy: np.ndarray | None = None  # [n] of the probabilities, averaged over the posterior
    mutual_information: np.ndarray | None = None  # [n] their difference, the epistemic part

    @property
    def sd(self):
        """[n] total standard deviation; None for classes, which have entropies."""
        if self.aleatoric_var is None:
            return None
        return np.sqrt(self.aleatoric_var + self.epistemic_var)


class Answers:
    """The answers of a fitted model. A subclass has `model_`, the compiled model, and `_facts`, what is known of it."""

    def _names(self, X):
        """The names of the columns of an array, as the model knows them."""
        count = X.shape[1] if X.ndim == 2 else 0
        expected, own = getattr(self, "n_features_in_", None), getattr(self, "feature_names_in_", None)
        if X.ndim == 2 and expected is not None and count != expected:
            raise ValueError(f"X has {count} features, but {type(self).__name__} is expecting {expected} features as input.")
        if own is not None and getattr(self, "_is_unordered", False):
            raise ValueError(f"predict: expected a data frame with the columns {_texts.listed(self._facts['columns'])}, which a model of windows from a "
                             f"file reads by name; received an array of {count} columns")
        if own is not None:
            warn_as(f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names", UserWarning)
            return list(own)
        names = [f"x{i}" for i in range(count)]
        if X.ndim == 2 and not set(self._facts["columns"]) <= set(names):
            raise ValueError(f"predict: expected a data frame with the columns {_texts.listed(self._facts['columns'])}, which the model "
                             f"reads by name; received an array of {count} columns")
        return names

    def _rows(self, X, with_target=False, target=None, kept=(), weights=None, by=None):
        """The examples in X as the model reads them. `target`: their targets, of one that is no column of X. `kept`: columns of X that
        answers copy. `weights`: the weight of each row, of a model that was fitted with weights. `by`: the Groups of the rows."""
        if type(X) is not np.ndarray or not X.dtype.isnative:
            X = _data.as_table(X)
        own = self._facts.get("targets", [self._facts["target"]])
        _targets.check_named(target, own)
        if self._facts["kind"] == "images":
            if not _data.are_images(X):
                raise ValueError("predict: expected images (an array [n, h, w] or [n, c, h, w] of uint8), as the model was fitted on; "
                                 f"received {'an array of shape ' + str(X.shape) if isinstance(X, np.ndarray) else 'a table'}")
            labelled = () if target is None else _labels.numbered(_targets.read(target, len(X)), self.classes_)
            return self.model_.read(_data.images(X, *labelled), with_target)[0]
        are_named = target is None or isinstance(target, str) or ("targets" in self._facts and _targets.are_names(target, X))
        if not are_named:  # a column of X that is called as a target is no input, and not what the rows are scored by
            X = _targets.without(X, set(own) - {*self._facts["columns"], *kept, *_groups.columns(by)})
        needed = {*self._facts["columns"], *own, *kept, *_groups.columns(by)}
        frame = _data.frame(X, self._names(X) if isinstance(X, np.ndarray) else None, lambda name: name not in needed)
        if target is not None and not isinstance(target, str):
            self._add_targets(frame, X, target)
        if (weights := _weights.read(weights, X, "evaluate")) is not None:
            if not (column := self._facts["fit"]["weights"]):
                raise ValueError("evaluate: expected no sample_weight for a model that was fitted without weights; received one")
            _weights.add(frame, weights, _data.column_names(X) or [], column)
        _groups.add(frame, by)
        rows, notes = self.model_.read(frame, with_target, list(kept))
        warn(notes)
        return rows

    def _add_targets(self, frame, X, target):
        """Adds the targets of the rows X to their frame."""
        _targets.add(frame, self._facts["target"], self._cells(self._target_cells(_targets.read(target, _data.row_count(X)))))

    def _groups_of(self, by, X):
        """The groups of the rows of X."""
        X = _data.as_table(X)
        if _data.are_images(X):
            raise ValueError("evaluate: expected no by with images, which have no columns; received one; leave it out")
        columns = self._names(X) if isinstance(X, np.ndarray) else _data.column_names(X)
        return _groups.read(by, X, columns, {*self._facts["columns"], self._facts["target"], self._facts["fit"]["weights"]})

    def _answered(self, X, levels=(), sets="randomised", with_target=False, target=None, kept=(), weights=None, by=None):
        self._check_fitted()
        answered = core.answers(self.model_, self._rows(X, with_target, target, kept, weights, by), list(levels), sets)
        warn(answered.notes)
        return answered

    def _number_rows(self, X):
        """What answers a few rows of numbers without a table, if X is an array of such rows and the model reads numbers alone; else None.
        It answers None for rows about which the way through a table may have something to say."""
        if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.kind != "f" or len(X) > 64 or hasattr(self, "feature_names_in_"):
            return None
        self._check_fitted()
        if "targets" in self._facts:
            return None
        known = _number_rows.setdefault(self.model_, {})
        count = X.shape[1]
        if count not in known:
            names = [f"x{i}" for i in range(count)]
            inputs = self._facts.get("inputs")
            every = inputs is not None and sorted([*inputs, *no_inputs(self._facts["fit"])]) == sorted(names)
            known[count] = core.number_rows(self.model_, names) if every and self.model_.device == "cpu" else None
        return known[count] if getattr(self, "n_features_in_", count) == count else None

    def _compiled(self):
        """The compiled model and the name of its method. Raises TypeError for a model of several targets."""
        try:
            self._check_one("to_torch and export_onnx")
        except ValueError as error:
            raise TypeError(str(error)) from None
        return self.model_, self._facts["method"]

    def _check_fitted(self):
        if not hasattr(self, "model_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                                 "before using this estimator.")

    def _check_one(self, caller):
        """Raises NotFittedError before a fit, ValueError for a model of several targets."""
        self._check_fitted()
        if several := self._facts.get("targets"):
            raise ValueError(f"{caller}: expected a model of one target; received one of several, {_texts.listed(several)}; "
                             f"models_[{several[0]!r}] is the model of one of them")

    def predict_dist(self, X):
        """The whole predictive of each row: a `Distribution`, whose arrays are [n, k] for a model of k targets."""
        parts = self._answered(X).parts()
        return Distribution(**{name: parts[name] for name in Distribution._fields if name in parts})

    def predict_interval(self, X, level=None):
        """The central interval of each row: (lower, upper), [n] each, in units of the target; of several targets [n, k] each, in which each target has
        its level alone (`region` holds all at once).

        level : coverage between 0 and 1; None: that of the fit (0.95 for a model from a file, which does not keep it). With
        ``calibrate="conformal"`` it holds on average over new rows.
        """
        rows = self._number_rows(X)
        ends = rows.interval(X, self._level(level)) if rows is not None else None
        if ends is not None:
            warn(rows.notes)
            return ends
        ends = self._answered(X, [self._level(level)]).levels()[0]
        if not isinstance(ends, tuple):
            raise ValueError("predict_interval: expected a model of numbers or counts; received classes; predict_set has their sets")
        return ends

    def predict_quantiles(self, X, q):
        """Quantiles of the predictive, [n] for one probability q, [n, len(q)] for several, as in `predict_frame(X, quantiles=q)`; of several targets
        [n, k] and [n, k, len(q)].

        Of a model of ``calibrate="conformal"`` they are the ends of calibrated intervals: q and 1 - q together hold their level, a single
        quantile need not. The median is that of the model.
        """
        answered = self._answered(X)
        if np.ndim(q) == 0:
            return answered.quantile(_options.number("q", q))
        columns = [answered.quantile(_options.number("q", one)) for one in q]
        return np.stack(columns, axis=-1) if columns else np.empty((*answered.part("mean").shape, 0))

    def predict_frame(self, X, level=None, keep=(), parts=False, quantiles=()):
        """The table that `slimbayes predict` writes, as a data frame of X's library (else pandas or pyarrow): the answers, for series
        the time of each forecast too, in the time zone of X's times, with whole numbers where X's times and groups are. `keep`: columns
        of X to copy. `parts`: show the parts of the sd for every method. `quantiles`: probabilities whose quantiles are columns, such
        as "q0.05" for 0.05; calibrated if the model is. Of several targets each column has the name of its target in front: "price.mean"."""
        import pyarrow as pa

        X, keep = _data.as_table(X), list(dict.fromkeys(_options.names(keep, "keep")))
        quantiles = [_options.number("quantiles", one) for one in np.atleast_1d(quantiles)]
        answered = self._answered(X, [self._level(level)], kept=keep)
        table = pa.table(_Stream(answered.stream(keep, bool(parts), quantiles)))
        table = self._in_own_types(table, X, keep)
        library = type(X).__module__.partition(".")[0]
        if library == "polars":
            import polars

            return polars.from_arrow(table)
        if library == "pyarrow":
            return table
        try:
            answers = table.to_pandas()
        except ImportError:
            return table
        if library == "pandas" and len(answers) == len(X):  # of series a row is a window
            answers.index = X.index
        return answers

    def _in_own_types(self, table, X, kept):
        """The Arrow table of answers with times and groups of series as X has them."""
        fit = self._facts["fit"]
        for name in set(fit["group"]) - set(kept):
            table = _data.like_column(table, name, X, name)
        for name in ("last_time", "forecast_time") if len(fit["time"]) == 1 else ():
            table = _data.like_column(table, name, X, fit["time"][0])
        return table

    def ood_scores(self, X):
        """Scores for out-of-distribution detection by name, [n] each; a larger score means farther from the training data. Of several targets
        [n, k] each, as the model of every target sees the rows."""
        return self._answered(X).ood()

    def evaluate(self, X, y=None, level=None, sample_weight=None, by=None, conditional=False):
        """The report of `slimbayes evaluate` as a dict: RMSE, NLL, CRPS, coverage and more; for classes accuracy, ECE and more. Of several targets
        "targets" is a list with the name ("target") and the metrics of each on the rows in which it is known, and "joint" says what the correlation
        of their errors gains and how often the region holds all of them; it is absent if no row has two targets.

        y : targets, in the place of columns of X with their names, if there are any; None: X has the column that the model predicts.
        sample_weight : weight of each row, of a model that was fitted with weights; None: those in the column `weights` of the fit if X has
            it, else each row counts once.
        by : name of a column of X, an input or not, or a list of names, or an array with the group of each row: "by" of the report has the
            coverage, width, NLL and error of each group. More than 20 different numbers are cut in five bins with equal numbers of rows.
        conditional : estimate how far the coverage given the inputs is from the level at least, "conditional" of the report: trains a
            classifier of the covered rows, which takes some seconds.
        """
        if by is not None or conditional:
            self._check_one("evaluate with by or conditional")
        if by is not None:
            by = self._groups_of(by, X)
        answered = self._answered(X, [self._level(level)], with_target=True, target=y, weights=sample_weight, by=by)
        # Answers of several targets take the level alone.
        more = (by.names if by else [], bool(conditional)) if by or conditional else ()
        text, notes = answered.evaluate(self._level(level), *more)
        warn(notes)
        return json.loads(text)

    def report(self, X, y=None, level=None, part=""):
        """A page that shows whether the model can be trusted on these rows, as `slimbayes report` writes: a `Report`, which a notebook
        shows and `save` writes as one HTML file. Of the rows of the fit itself only the test part is scored, if there is one.

        y : targets; None: X has the column that the model predicts. part : "train", "valid", "test" or "all" of the fit's own rows.
        """
        from slimbayes._report import Report

        self._check_one("report")
        rows = self._rows(X, with_target=True, target=y)
        return Report(*self.model_.report(rows, self._level(level), _options.text("part", part)))

    def importance(self, X, y=None, groups=None, repeats=5, rows=2000, level=None):
        """How much the answers depend on each column: the table of `slimbayes explain`, as a data frame of pandas (without pandas a dict of
        lists), the most important group of columns first. The cells of a column are permuted among the rows; then "nll", "rmse" (of classes
        "accuracy") say how much the error rises, "mean" the mean squared change of the mean over its variance between the rows, "aleatoric",
        "epistemic" and "width" how much these parts change, as a share of their mean. Each has its standard error beside it, as "nll_se".

        y : targets; None: X has the column that the model predicts, or the errors are left out. groups : lists of columns that are permuted
        together, or "auto": those that go together by more than 0.8. repeats : permutations of each group. rows : rows of X that are permuted,
        evenly spaced.
        """
        from slimbayes import _explain

        self._check_one("importance")
        return _explain.importance(self.model_, self._rows(X, with_target=True, target=y), groups, repeats, rows, self._level(level))

    def partial_dependence(self, X, column, level=None):
        """The mean answer over at most 500 of the rows X if all of them had the same value in a column, at up to 20 of its values or 30 of its
        categories: a data frame of pandas (without pandas a dict of lists) of "value", "mean", "sd_aleatoric", "sd_epistemic" and "width"; of
        classes "p_CLASS", "entropy" and "mutual_information".

        column : its name, or of an array its number.
        """
        from slimbayes import _explain

        self._check_one("partial_dependence")
        X = _data.as_table(X)
        if isinstance(X, np.ndarray) and not isinstance(column, str):
            names = self._names(X)
            number = _options.whole("column", column, max(len(names) - 1, 0))
            column = names[number]
        rows = self._rows(X, with_target=False)
        return _explain.partial_dependence(self.model_, rows, _options.text("column", str(column)), self._level(level))

    def explain_row(self, row, background, draws=10):
        """Divides the difference between the answer to a row and the mean answer to the background rows among the columns, by Shapley values
        (Lundberg and Lee 2017), with the package shap. Returns ``{"base": ..., "answer": ..., "columns": {column: ...}}``, dicts of "mean",
        "log_sd_epistemic" and "log_sd_aleatoric" (where an sd is 0 without its logarithm); of classes of "p_CLASS" and "mutual_information".
        The values of the columns and the base add up to the answer.

        row : a frame of one row, a Series, or an array [d]. background : rows of usual data, of which at most 100 are used, evenly spaced.
        draws : permutations of the columns.

        >>> account = model.explain_row(X.iloc[[0]], X.sample(50))
        >>> max(account["columns"].items(), key=lambda one: abs(one[1]["log_sd_epistemic"]))
        """
        from slimbayes import _explain

        self._check_one("explain_row")
        inputs = self._facts.get("inputs")
        if inputs is None:
            raise ValueError(f"explain_row: expected a model of a table; received one of {self._facts['kind']}")
        names = list(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        return _explain.explain_row(self, row, background, draws, set(inputs), self._facts["classes"], names)

    def card(self, X=None, y=None, *, name=None, license=None):
        """The model card for the Hugging Face Hub, as the text of a README.md: metadata in YAML with the scores, data, method, limits and use.

        X, y : rows that the fit has not seen, to be scored. None: the scores are those of the test part of the fit, else of its
        validation rows; a model from a file and one after an update have none.
        name : of the model. license : as the Hub names it, such as "mit".

        >>> pathlib.Path("README.md").write_text(model.card(test, "price", license="mit"))
        >>> huggingface_hub.ModelCard(model.card(test, "price")).push_to_hub("me/prices")
        """
        from slimbayes._model_card import model_card

        self._check_one("card")
        found, rows, is_chosen = None, "rows given for this card", False
        if X is not None:
            found = self.evaluate(X, y)
        elif any(self._facts["rows"].values()):  # else an update has changed the model since
            found, rows = getattr(self, "test_report_", None), "rows of the test part of the fit"
            if found is None:
                found, rows, is_chosen = getattr(self, "valid_report_", None), "rows of the validation part of the fit", True
        return model_card(self._facts, found, rows, self._level(None), is_chosen=is_chosen and found is not None, name=name, license=license)

    def update(self, X, y=None):
        """Learns more rows without training, where the method has an exact posterior; after `calibrate="adaptive"` the intervals follow their targets,
        of every method. Changes this model and returns it."""
        self._check_one("update")
        rows = self._rows(X, with_target=True, target=y)
        warn(self.model_.update_notes(rows))
        self._take(self.model_.update(rows), getattr(self, "classes_", None))
        return self

    def forget(self, X, y=None):
        """Removes rows that the model has learned from its posterior. Changes this model and returns it."""
        self._check_one("forget")
        self._take(self.model_.forget(self._rows(X, with_target=True, target=y)), getattr(self, "classes_", None))
        return self

    def merge(self, other):
        """Adds what another model has learned: shards of one fit that learned different rows. Changes this model and returns it."""
        self._check_one("merge")
        if not isinstance(other, Answers):
            raise TypeError(f"merge: expected another fitted model; received {type(other).__name__}")
        other._check_one("merge")
        self._take(self.model_.merge(other.model_), getattr(self, "classes_", None))
        return self

    def shard(self, X, y=None):
        """A new model with the posterior of these rows alone, to be merged with others."""
        import copy

        self._check_one("shard")
        out = copy.copy(self)
        out._take(self.model_.shard(self._rows(X, with_target=True, target=y)), getattr(self, "classes_", None))
        return out

    def save(self, path):
        """Writes a model file, which `slimbayes` (the tool), C++ programs and `slimbayes.load` open."""
        self._check_fitted()
        self.model_.save(_texts.path(path))

    def set_params(self, **params):
        """Sets keywords, as scikit-learn does. A new `device` holds for a fitted model too, and is refused where this machine lacks it."""
        if "device" in params and hasattr(self, "model_"):
            self.model_ = self.model_.on(_options.device(params["device"]))
        return super().set_params(**params)

    def _take(self, model, classes=None):
        self.model_ = model
        self._facts = json.loads(model.facts())

    def _level(self, level):
        return _options.number("level", self._facts.get("level", 0.95) if level is None else level)

    def _target_cells(self, y):
        return y

    def _cells(self, y):
        return y


class _Stream:
    """Hands an Arrow stream over once."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema=None):
        return self.capsule
