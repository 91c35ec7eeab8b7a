#!/usr/bin/env python3
"""One fit of one method to one split of a table of classes, scored on the test rows.

    class_peers.py TABLE METHOD SPLIT FOLDER     prints one JSON object

Every program stands at its defaults, but for what makes it answer probabilities that a log loss may score: RealMLP-TD without label
smoothing, with the epoch chosen by the cross entropy, as its authors advise. The logistic regression of scikit-learn gets the columns
as slimbayes does: standardised, categories as 0 and 1, missing cells at the mean and a column that says so. One thread.
The default has no time limit here: other programs share the cores, and would decide which candidates end in time.
With SLIMBAYES_PROBABILITIES, a folder, the probabilities of the test rows are kept there.
"""

import json
import os
import pathlib
import sys
import time
import warnings

import numpy as np
import pandas as pd
from class_tables import frame_of, split_of

LEAST = 1e-15  # a probability counts as at least this
BINS = 15  # of equal mass


def texts_of(inputs):
    return [column for column in inputs if not pd.api.types.is_numeric_dtype(inputs[column])]


def slimbayes(train, label, test, seed):
    import slimbayes as sb

    model = sb.Classifier("auto", seed=seed, time_limit=3600).fit(train, label)  # other programs share the cores
    start = time.process_time()
    found = model.predict_proba(test), model.classes_
    return *found, time.process_time() - start


def with_vbll(train, label, test, seed):
    import slimbayes as sb

    model = sb.Classifier("auto", candidates="constant,logistic,extra-trees,vbll,dnn", seed=seed, time_limit=3600).fit(train, label)
    return model.predict_proba(test), model.classes_


def logistic(train, label, test, seed):
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    texts = texts_of(train)
    numbers = [column for column in train if column not in texts]
    columns = make_column_transformer((make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
                                      (OneHotEncoder(handle_unknown="ignore"), texts))
    model = make_pipeline(columns, LogisticRegression(max_iter=5000)).fit(train, label)
    return model.predict_proba(test), model.classes_


def catboost(train, label, test, seed):
    from catboost import CatBoostClassifier

    texts = texts_of(train)
    train, test = (frame.assign(**{name: frame[name].fillna("missing") for name in texts}) for frame in (train, test))
    model = CatBoostClassifier(random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False, cat_features=texts)
    model.fit(train, label)
    return model.predict_proba(test, thread_count=1), model.classes_


def boosting(train, label, test, seed):
    from sklearn.ensemble import HistGradientBoostingClassifier

    train, test = (frame.assign(**{name: frame[name].astype("category") for name in texts_of(frame)}) for frame in (train, test))
    for name in texts_of(train):
        test[name] = test[name].cat.set_categories(train[name].cat.categories)
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=seed).fit(train, label)
    return model.predict_proba(test), model.classes_


def realmlp(train, label, test, seed):
    from pytabkit import RealMLP_TD_Classifier

    texts = texts_of(train)
    centre = train.drop(columns=texts).mean()
    train, test = (frame.fillna(centre).assign(**{name: frame[name].fillna("missing").astype(str) for name in texts})
                   for frame in (train, test))  # it takes no missing numbers
    model = RealMLP_TD_Classifier(device="cpu", random_state=seed, n_threads=1, use_ls=False, val_metric_name="cross_entropy", verbosity=0)
    model.fit(train, label, cat_col_names=texts)
    return model.predict_proba(test), model.classes_


METHODS = {"auto": slimbayes, "auto-with-vbll": with_vbll, "logistic": logistic, "catboost": catboost, "boosting": boosting, "realmlp": realmlp}


def scores(probabilities, truth):
    """As slimbayes/answers/class_metrics.h. truth: the number of the class of each row."""
    p = np.clip(np.asarray(probabilities, dtype=float), LEAST, 1)
    rows = np.arange(len(truth))
    right = p.argmax(1) == truth
    confidence = p.max(1)
    bins = np.searchsorted(np.sort(confidence), confidence) * BINS // len(truth)
    gap = np.bincount(bins, right - confidence, BINS)
    return {"log_loss": -np.log(p[rows, truth]).mean(), "ece": np.abs(gap).sum() / len(truth), "accuracy": right.mean(),
            "brier": ((p - np.eye(p.shape[1])[truth]) ** 2).sum(1).mean()}


def main(table, method, seed, folder):
    warnings.simplefilter("ignore")
    inputs, label = frame_of(table, folder)
    train, test = split_of(label, seed)
    if method == "realmlp":
        import pytabkit  # noqa: F401 (before the clock starts)
    elif method.startswith("auto"):
        import slimbayes as sb
        sb.Classifier  # noqa: B018
    start, wall = time.process_time(), time.monotonic()
    answer = METHODS[method](inputs.iloc[train].reset_index(drop=True), label.iloc[train].reset_index(drop=True),
                             inputs.iloc[test].reset_index(drop=True), seed)
    probabilities, classes = answer[:2]
    seconds, wall = time.process_time() - start, time.monotonic() - wall
    numbers = {name: i for i, name in enumerate(classes)}
    truth = label.iloc[test].map(numbers).to_numpy()
    if folder_kept := os.environ.get("SLIMBAYES_PROBABILITIES"):
        np.savez_compressed(pathlib.Path(folder_kept) / f"{table}-{method}-{seed}.npz", p=probabilities, y=truth, classes=classes)
    found = {name: float(value) for name, value in scores(probabilities, truth).items()}
    if len(answer) == 3:
        found["predict_seconds"] = answer[2]
    print(json.dumps({**found, "rows": len(train), "test_rows": len(test), "classes": len(classes), "seconds": seconds, "wall": wall}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
