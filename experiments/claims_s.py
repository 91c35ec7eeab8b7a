"""The orderings that S states (S: Toure and Stephens, Singular Bayesian neural networks), judged on our rows.

An ordering is decided by paired differences (paired.py). One that names several rivals holds if it holds against each, and
falls with the first that contradicts it.
"""

import json
from typing import NamedTuple

import paired
import results
from claims import FAILS, HOLDS, OPEN, Claim

LOW, SVD, LAPLACE, FULL, HE, RANK1 = "low-rank", "low-rank-svd", "low-rank-laplace", "full-rank", "full-rank, network start", "rank-1"
DNN, ENSEMBLE, LOW_ENSEMBLE = "dnn", "ensemble of dnn", "ensemble of low-rank"
METHODS = [DNN, ENSEMBLE, FULL, HE, LOW, SVD, LAPLACE, RANK1, LOW_ENSEMBLE]
PRINTED = {DNN: "deterministic", ENSEMBLE: "deep_ensemble", FULL: "full_rank_bbb", LOW: "low_rank_gaussian", SVD: "low_rank_svd",
           LAPLACE: "low_rank_laplace", RANK1: "rank1_multiplicative"}
MI, SD = "mutual_information", "epistemic_sd"


class Order(NamedTuple):
    study: str
    source: str
    text: str
    metric: str
    up: bool  # whether more is better, so that `a` is said to have more
    a: str
    others: tuple


ORDERS = [
    *[Order("s_table1", "S 4.2", f"low-rank's {title} is above full-rank's and the ensemble's", metric, True, LOW, (FULL, ENSEMBLE))
      for title, metric in (("AUROC for foreign rows", f"ood.auroc.{MI}"), ("AUPR-OOD", f"ood.aupr_ood.{MI}"), ("AUPR-In", f"ood.aupr_in.{MI}"),
                            ("AUPR-Err", f"errors.aupr_err.{MI}"))],
    Order("s_table1", "S 4.2", "the ensemble's NLL is below low-rank's", "nll", False, ENSEMBLE, (LOW,)),
    Order("s_table1", "S 4.2", "the ensemble's AUROC for the label is above low-rank's", "auroc", True, ENSEMBLE, (LOW,)),
    Order("s_table1", "S 4.5", "low-rank-svd's AUROC for the label is above low-rank's", "auroc", True, SVD, (LOW,)),
    Order("s_table2", "S 4.3", "the ensemble has the lowest MAE", "mae", False, ENSEMBLE, (LOW, FULL, SVD, RANK1)),
    Order("s_table2", "S 4.3", "low-rank's epistemic coverage is the highest", "coverage_epistemic", True, LOW, (FULL, SVD, RANK1, ENSEMBLE)),
    Order("s_table2", "S 4.3", "low-rank's AUROC for foreign windows is above full-rank's", f"ood.auroc.{SD}", True, LOW, (FULL,)),
    Order("s_table2", "S 4.3", "the ensemble's AUROC for foreign windows is above low-rank's", f"ood.auroc.{SD}", True, ENSEMBLE, (LOW,)),
    Order("s_table2", "S 4.3", "low-rank's MAE falls most when a fifth of the windows is left out", "retention_gain", True, LOW,
          (FULL, SVD, RANK1, ENSEMBLE)),
    Order("s_table3", "S 4.4", "the ensemble has the highest accuracy", "accuracy", True, ENSEMBLE, (LOW, FULL, SVD, RANK1)),
    Order("s_table3", "S 4.4", "the ensemble has the lowest NLL", "nll", False, ENSEMBLE, (LOW, FULL, SVD, RANK1)),
    Order("s_table3", "S 4.4", "low-rank's accuracy is above full-rank's", "accuracy", True, LOW, (FULL,)),
    Order("s_table3", "S 4.4", "low-rank's AUROC for news is above full-rank's", f"ood.auroc.{MI}", True, LOW, (FULL,)),
    Order("s_table3", "S 4.4", "low-rank has the highest AUPR-In", f"ood.aupr_in.{MI}", True, LOW, (FULL, SVD, RANK1, ENSEMBLE)),
    Order("s_table3", "S 4.4", "low-rank's MI ratio is above full-rank's", f"ood.ratio.{MI}", True, LOW, (FULL,)),
    Order("s_table15", "S I.1", "full-rank's ECE is below low-rank's", "ece", False, FULL, (LOW, LAPLACE)),
    Order("s_table15", "S I.1", "low-rank-laplace has the lowest NLL", "nll", False, LAPLACE, (LOW, FULL, RANK1)),
    Order("s_table15", "S I.1", "rank-1 has the highest accuracy", "accuracy", True, RANK1, (LOW, LAPLACE, FULL)),
    Order("s_table17", "S I.2", "low-rank has the lowest ECE", "ece", False, LOW, (LAPLACE, FULL, RANK1)),
    Order("s_table17", "S I.2", "low-rank has the lowest NLL", "nll", False, LOW, (LAPLACE, FULL, RANK1)),
    Order("s_table17", "S I.2", "full-rank's accuracy is above low-rank's", "accuracy", True, FULL, (LOW, LAPLACE)),
    Order("s_toy", "S I.3", "full-rank's RMSE is below low-rank's", "rmse", False, FULL, (LOW,)),
    Order("s_toy", "S I.3", "low-rank's epistemic range beyond the data is wider than full-rank's", "width_out", True, LOW, (FULL,)),
    Order("s_toy", "S I.3", "it widens more, as a ratio", "width_ratio", True, LOW, (FULL,)),
]
RETAINED = 4  # of the shares 100, 95, 90, 85, 80: the place of 80 %


def name_of(row):
    """The method as METHODS has it."""
    words = row["flags"].split()
    if row["method"] == "ensemble":
        return f"ensemble of {words[words.index('--of') + 1]}"
    return HE if row["method"] == FULL and "--start network" in row["flags"] else row["method"]


def numbers_of(row):
    """Every reported number of a row by its path, with the parameters, the seconds and what the paper derives from them."""
    found = json.loads(row["scores"]) if row["scores"] else {}
    found |= {metric: float(row[metric]) for metric in ("parameters", "seconds") if row.get(metric)}
    for score in (SD, "total_sd"):
        kept, whole = (found.get(f"selective.by.{score}.mae.{at}") for at in (RETAINED, 0))
        if kept is not None and whole:
            found["retention_gain"] = 1 - kept / whole
            break
    return found


class Measured:
    """The newest row of each cell of a study's part that worked and is still asked for, by method and seed."""

    def __init__(self, rows, asked, part="main", name=name_of, numbers=numbers_of):
        asked = {results.key(row) for row in asked}
        kept = [row for row in results.latest(rows) if results.key(row) in asked and not row["error"] and row["study"] == part]
        self._numbers = {}
        for row in kept:
            self._numbers.setdefault(name(row), {})[row["seed"]] = numbers(row)

    def by_seed(self, name, metric):
        return {seed: found[metric] for seed, found in self._numbers.get(name, {}).items() if metric in found}


def judged(order, measured):
    """The claim with the difference from each rival; "(no)" marks one that contradicts the ordering."""
    signs, numbers = [], []
    for other in order.others:
        found = paired.difference(measured.by_seed(order.a, order.metric), measured.by_seed(other, order.metric))
        if found is None:
            signs.append(0)
            continue
        as_stated = found if order.up else found._replace(mean=-found.mean)
        signs.append(as_stated.sign)
        numbers.append(f"{order.a} - {other}: {found}" + {1: "", -1: " (no)", 0: " (undecided)"}[as_stated.sign])
    verdict = FAILS if -1 in signs else HOLDS if all(sign == 1 for sign in signs) else OPEN
    return Claim(order.source, order.text, verdict, "; ".join(numbers))


def claims_of(study, measured):
    return [judged(order, measured) for order in ORDERS if order.study == study]
