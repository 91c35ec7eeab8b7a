"""What scikit-learn reads of a fit: the columns that it saw."""

import re

import numpy as np

from slimbayes import _data


def no_inputs(fit):
    """The columns of an array that are no inputs, as the options `fit` of a fit name them."""
    own = fit.get("weights", "")
    return [*fit["ignore"], *([own] if re.fullmatch(r"x\d+", own) and own not in fit["ignore"] else [])]


class Seen:
    """Sets `n_features_in_` and `feature_names_in_`."""

    def _seen(self, X, targets):
        """Sets them after a fit. The columns of the targets and of the weights are none of them, where X is a data frame."""
        for name in ("feature_names_in_", "n_features_in_", "_is_unordered"):
            if hasattr(self, name):
                delattr(self, name)
        if _data.are_images(X):
            return
        if isinstance(X, np.ndarray):
            self.n_features_in_ = X.shape[1]
            return
        names = [name for name in _data.column_names(X) if name not in (*targets, getattr(self, "weights", None))]
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)

    def _seen_in(self, facts):
        """Sets what _seen sets as far as a model file knows it: the columns of an array, or the names of those that the model reads, in
        their order in the fit. A file does not know the place of columns that the fit ignored, nor the order of those of windows."""
        names, others = facts["inputs"], no_inputs(facts["fit"])
        if names is None and facts["kind"] == "text":
            names, others = facts["columns"], []
        if names is None and facts["kind"] == "windows":
            known = (facts["target"], facts["fit"].get("weights", ""))
            names, self._is_unordered = [name for name in facts["columns"] if name not in known], True
        if names is None:
            return
        every = [*names, *others]
        are_of_array = sorted(every) == sorted(f"x{i}" for i in range(len(every)))
        self.n_features_in_ = len(every) if are_of_array else len(names)
        if not are_of_array:
            self.feature_names_in_ = np.array(names, dtype=object)
