"""What the studies of the deep basis kernels' paper (N) share: its tables, its methods, what it varies."""

import collections

import results
from protocol import MORE, SAME, SILENT, Line
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
RECIPE = "--preset paper --batch 200 --epochs 2000 --patience 100"  # of the 1-D data (B.1); one rate, 1e-3 (B)
STRENGTHS = ["0", "0.01", "0.1", "1"]  # of alpha and beta: what --tune tries
SIZES = [500, 1000, 2000, 5000, 10000, 20000, 50000, 100000]
EXACT_LIMIT = 20000  # of exact DBK here: 2,000 steps over 100,000 rows take 40 minutes
MARGINAL = "--alpha 0 --correction false"  # N's exact DBK: the marginal likelihood itself
ONE_D = "The noise's sd is .4 |sin 10x|: N prints 2 |sin 10x|, but its own NLLs fit .4."

# Lines of the protocols, each with its place in N. No bar in them: they stand in a table.
CURVE = Line("the data's noise", "sd 2 abs(sin 10x) (4.1), whose least expected NLL is 1.37; N prints -.225 (Figure 9)",
             "sd .4 abs(sin 10x), which N's NLLs fit", SAME)
HELD_OUT = Line("validation and test rows", "1,000 and 1,000 (B.1)", "2,000 and 20,000", MORE)
RANKED = Line("network and rank", "ResNet, 2 blocks of width 64, layer norm, SiLU; 128 (B, B.1, B.2)",
              "ResNet, 2 blocks of width 64, layer norm, SiLU; 128", SAME)
TARGET = Line("target in training", "not said", "standardised; the NLL is in its own units", SILENT)
WEIGHTS = Line("weights in the loss", "alpha = beta = .01 (B.1)", "alpha = beta = .01", SAME)
KEPT = Line("which parameters are kept", "those of the epoch with the best validation NLL (B)", "those of the best validation NLL", SAME)
SCALED = Line("scale", "inputs to [-1, 1] by the whole table, target standardised (B.2)",
              "inputs to [-1, 1] by the training rows, target standardised")


def own_recipe(budget, ours, start=".01", of=""):
    """Lines of fits by the tool's own recipe. `budget` and `ours`: the batch and the epochs of N and of these fits."""
    return [Line("batch and epochs", budget, ours, of=of),
            Line("learning rate", "1e-3, AdamW (B)", "one cycle up to 3e-3, AdamW", of=of),
            Line("rows in the loss", "all alike (3.2)", "dPPGP, PPGP: weighted by their variance in the first 70 % of the steps", of=of),
            Line("noise variance", "starts at .01, at least 1e-6, rate 1e-3 (B)", f"starts at {start}, at least 1e-4, rate up to 1e-2",
                 of=of)]


def of_another_program(rows):
    """By method, the commits of its rows of table1's `defaults` on pol where its rows on the other tables have none of these."""
    found = collections.defaultdict(lambda: (set(), set()))
    for row in results.latest(rows):
        if row["study"] == "defaults":
            found[label(row["method"], row["flags"])][row["data"] == "pol"].add(row["commit"])
    return {name: pol for name, (others, pol) in found.items() if pol and others and not pol & others}


def commits_of(found):
    return ", ".join(sorted(set().union(*found.values())))
