"""What the studies of the deep basis kernels' paper (N) share: its tables, its methods, what it varies."""

import collections

import results
from scores import label

TABLES = ["pol", "elevators", "kin40k", "protein", "keggdirected", "keggundirected"]  # of N Table 1 that the data folder has
FIVE_SEEDS = {"pol", "elevators"}
TEN = ["keggundirected", "keggdirected", "protein", "kin40k", "elevators", "pol", "naval", "power_plant", "kin8nm", "wine_white"]  # the largest by rows
METHODS = ["DNN", "VBLL", "SV-DKL", "PP-DKL", "DBK-SiLU", "DBK-RBF"]
PREDICTIVE, BOUND = ["PP-DKL", "DBK-SiLU", "DBK-RBF"], ["VBLL", "SV-DKL"]
CATBOOST = ["CatBoost", "CatBoost, long"]
SILU, RBF = ("dbk", ""), ("dbk", "--basis rbf")
CATBOOSTS = [("catboost", ""), ("catboost", "--iterations 20000 --patience 200")]
SPLIT = "--split-seed 1"  # not the split on which the defaults were found (recipe)
PRESET = "--preset paper --split random"  # N: one split row by row, validation = test = ceil(n/10), inputs to [-1, 1]
STRENGTHS = ["0", "0.01", "0.1", "1"]  # of alpha and beta: what --tune tries
SIZES = [500, 1000, 2000, 5000, 10000, 20000, 50000, 100000]
EXACT_LIMIT = 20000  # of exact DBK here: 2,000 steps over 100,000 rows take 40 minutes
MARGINAL = "--alpha 0 --correction false"  # N's exact DBK: the marginal likelihood itself
ONE_D = "The noise's sd is .4 |sin 10x|: N prints 2 |sin 10x|, but its own NLLs fit .4."


def of_another_program(rows):
    """By method, the commits of its rows of table1's `defaults` on pol where its rows on the other tables have none of these."""
    found = collections.defaultdict(lambda: (set(), set()))
    for row in results.latest(rows):
        if row["study"] == "defaults":
            found[label(row["method"], row["flags"])][row["data"] == "pol"].add(row["commit"])
    return {name: pol for name, (others, pol) in found.items() if pol and others and not pol & others}


def commits_of(found):
    return ", ".join(sorted(set().union(*found.values())))
