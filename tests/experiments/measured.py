"""Results as they would stand in results.csv, and the module of a study."""

import csv

import studies
from results import FIELDS, hash_of, write_recipes
from run import ROOT
from scores import METRICS, NAMES

FLAGS = {name: plain for plain, name in NAMES.items()}  # by the paper's name: method and flags
EMPTY = dict.fromkeys(FIELDS, "") | {"recipe": {}}


def study(name):
    return studies.load(ROOT / "experiments" / name)


def as_measured(study, published, mean=lambda row: float(row["value"])):
    """The rows that results.csv would hold if our seeds had given a paper's mean, with its spread."""
    rows = {}
    for row in published:
        if row["method"] not in FLAGS and " --" not in row["method"]:
            continue  # E's sGP
        method, _, flags = FLAGS.get(row["method"], row["method"]).partition(" ")
        for seed, step in enumerate((-1, 0, 1)):
            key = row["data"], row["method"], seed
            cell = rows.setdefault(key, EMPTY | dict(study=study, data=row["data"], method=method, flags=flags,
                                                                         seed=str(seed)))
            cell[METRICS[row["metric"]]] = str(mean(row) + step * float(row["spread"]))
    return list(rows.values())


def published(study):
    with open(ROOT / "experiments" / study / "published.csv", newline="") as file:
        return list(csv.DictReader(file))


def row(study, data, method, flags, seed=0, **values):
    return EMPTY | dict(study=study, data=data, method=method, flags=flags, seed=str(seed)) | values


def packed(folder, rows):
    """The rows as results.csv has them: with hashes for their recipes, which go to recipes.json."""
    known = {hash_of(row["recipe"]): row["recipe"] for row in rows if row["recipe"]}
    write_recipes(folder / "results.csv", known)
    return [row | {"recipe": hash_of(row["recipe"])} for row in rows]
