"""What the studies of the Rich-BLL paper (R: docs/references.md) share: its protocol, its methods, its spread.

R's protocol (section 4.1, appendix C): parts of 72, 18 and 10 %, one split a seed, row by row; inputs standardised, targets
centred and not scaled; two layers of 50 ReLU units in mu-P, Adam at 1e-3, gradients of norm 1 at most; the epoch with the
least validation error, then the network is trained again on training and validation rows for that many epochs. `--preset
paper` of the post-hoc methods holds what is theirs of it. R validates every ten epochs, ours every epoch. R's spread is the standard
error of the mean over seeds, and so is that of our tables.
"""

import itertools
import math

from judge import alike, judged, lower
from paired import versus
from protocol import MORE, SAME, SILENT, Line
from results import asked
from scores import Score, with_standard_error
from tables import block, cell, grid

# By table: the largest number of epochs, batch and seeds here. R's text gives power 3,000 epochs and energy 2,000.
BUDGETS = {"boston": (3000, 32, 20), "concrete": (3000, 32, 20), "energy": (2000, 32, 20), "wine_red": (1000, 32, 20),
          "power_plant": (3000, 256, 3)}
TABLES = sorted(BUDGETS)
POSTHOC = [("rich-bll", "--preset paper"), ("rich-bll", "--preset paper --subsample 0.4"), ("bll", "--preset paper"), ("dnn", "")]
NETWORK = ("--network mlp --hidden 50 --blocks 2 --activation relu --learning-rate 1e-3 --weight-decay 0 --clip-norm 1 "
           "--schedule constant --patience 0 --scale standard")
# vbll has neither mu-P nor a hidden layer of its own for the last layer's features: a linear basis of 50 on the network.
VBLL_CELL = ("vbll", f"--basis linear --rank 50 {NETWORK}")
FULL, SOME, BLL, MAP, VBLL = "Rich-BLL", "Rich-BLL (S)", "NNGP (BLL)", "DNN", "VBLL, linear"
SHOWN = {"DNN": "MAP", VBLL: "VBLL", "GP": "RBF GP", "ensemble of 5 DNN": "the ensemble"}
NAMES = ["Rich-BLL", "Rich-BLL (S)", "NNGP (BLL)", "VBLL, linear", "DNN", "GP", "Dropout", "ensemble of 5 DNN", "SWAG",
         "BBB", "BBB, beta .1"]
AS_GOOD = 0.05  # nats; R says "as good as" without a number; its own NLLs differ by up to .03
SPLITS_TEXT = (
    "Ours are mean ± standard error over seeds (their number in brackets) on the test rows, NLL in the target's units; R: as "
    "printed, 20 seeds. Bold marks the lowest mean of a column, among ours and among R's; it is not R's bold. Parts of 72, 18 and "
    "10 %, a split of its own for each seed, row by row; inputs standardised, target "
    "centred (`--target-scale centred`); two layers of 50 ReLU units in mu-P, Adam at 1e-3, at most 3,000 epochs (energy 2,000, "
    "wine_red 1,000), batches of 32 (power_plant 256). R takes the epoch with the least validation RMSE of every tenth, ours of "
    "every one. ")
# R's regression (4.1, 4.2, C.1) beside ours: what the studies on one network share, then what they choose from.
REGRESSION = [
    Line("split and scales", "72, 18 and 10 %, one split a seed; inputs standardised, targets centred (C.1)", "the same", SAME),
    Line("network", "two layers of 50 with ReLU (C.1), in mu-P (4.1), whose constants are not said",
         "the same; mu-P's reference width is 50", SAME),
    Line("training", "squared error, Adam at 1e-3, gradients clipped at 1, batches of 32, Power 256 (C.1)",
         "the same, without weight decay", SAME),
    Line("epochs", "at most 3,000; Energy 2,000, Wine 1,000 (C.1)", "the same, without early stopping", SAME),
    Line("epoch taken", "least validation RMSE of every tenth epoch (C.1)", "least validation MSE of every epoch", MORE),
]
DATA = Line("data", "Boston, Concrete, Energy, Power, Wine (4.2)", "the same, all rows; Energy's heating load, the red wine", SAME)
AGAIN = "from scratch on training and validation rows, as many epochs (C.1)"
TRAINED_AGAIN = Line("second training", AGAIN, "the same", SAME)
TRAINED_ONCE = Line("second training", AGAIN, "none: every method learns from the 72 % alone")
NOISE = Line("noise variance", "the validation MSE, or the best of a grid by validation NLL (C.1)",
             "the validation MSE of the first training", SAME)
POSTERIOR = Line("posterior", "of all training rows; prior I, A by least squares (eq. 9, 15)", "the same: prior sd 1, ridge 0", SAME)
SUBSET = Line("rows of (S)", "a random 40 %, for A and the posterior (4.2, C.1)", "the same", SAME)
SCORE = Line("variance in the NLL", "S alone in eq. 4; with a noise \"when a method requires\" it in C.1", "S and the noise", SILENT)
SAME_NETWORK = [("Rich-BLL", "NNGP (BLL)"), ("Rich-BLL (S)", "Rich-BLL"), ("Rich-BLL", "DNN")]


def split(seed):
    return f"--target-scale centred --split random --split-seed {seed} --valid-fraction 0.18"


def budget(data):
    epochs, batch, _ = BUDGETS[data]
    return f"--epochs {epochs} --batch {batch}"


def around(study, data, method, seed, own, refit=True):
    """A cell around the network that bll trains; with `refit` on training and validation rows."""
    again = "" if refit else "--refit false"
    own = own if refit or "--preset" not in own else f"{own} --refit false"
    return asked(study, data, method, seed, f"--preset paper {split(seed)} {budget(data)} {again} --around bll {own}")


def in_rounds():
    """(data, seed): a quarter of the seeds of every table, then half of them, then the rest."""
    for low, high in itertools.pairwise((0, 0.25, 0.5, 1)):
        for data, (_, _, seeds) in BUDGETS.items():
            yield from ((data, seed) for seed in range(math.ceil(low * seeds), math.ceil(high * seeds)))


class StandardErrors:
    """Scores whose spread is the standard error of the mean."""

    def __init__(self, scores):
        self.scores = scores

    def get(self, *at):
        score = self.scores.get(*at)
        return score and with_standard_error(score)

    def difference(self, study, table, a, b, metric="raw NLL"):
        """Of a - b, seed by seed: both saw the same split, and the post-hoc methods the same network. None without common seeds."""
        one, other = (self.scores.get(study, table, name, metric) for name in (a, b))
        found = one and other and versus(one, other)
        return found and Score(found.mean, found.error, found.n)


def pairs(scores, study, a, b, margin=0.0):
    return [lower(t, scores.get(study, t, a, "raw NLL"), scores.get(study, t, b, "raw NLL"), margin=margin) for t in TABLES]


def on_one_network(scores, study):
    """Claims of R 4.2; `study` is R's protocol or the one with equal rows."""
    source = f"R 4.2, {study}"
    yield judged(source, "Rich-BLL's NLL is below NNGP (BLL)'s on every table", pairs(scores, study, FULL, BLL))
    yield judged(source, f"Rich-BLL (S) is as good as Rich-BLL: the NLLs differ by less than {AS_GOOD} nats, on every table",
                 [alike(t, scores.get(study, t, SOME, "raw NLL"), scores.get(study, t, FULL, "raw NLL"), AS_GOOD) for t in TABLES])
    yield judged(source, "Rich-BLL's NLL is below MAP's on every table", pairs(scores, study, FULL, MAP))


def renamed(rows):
    return [[SHOWN.get(row[0], row[0]), *row[1:]] for row in rows]


def nll_table(scores, study, published):
    rows = block(NAMES, TABLES, lambda t, n: scores.get(study, t, n, "raw NLL"), "ours")
    rows += block(NAMES, TABLES, lambda t, n: published.get(t, n, "raw NLL"), "R", 2)
    return grid(["method", "", *TABLES], renamed(rows))


def differences(scores, study, pairs, title="Differences of the NLL"):
    """Of mean NLLs, seed by seed on the same split: what the spread over splits hides."""
    rows = [[f"{SHOWN.get(a, a)} - {SHOWN.get(b, b)}", *[cell(scores.difference(study, t, a, b)) for t in TABLES]] for a, b in pairs]
    rows = [row for row in rows if any(row[1:])]
    if not rows:
        return ""
    return (f"## {title}, seed by seed\n\nMean ± standard error of the difference on one split and, of the post-hoc methods, one "
            "network, by which the claims are judged; the table above has the spread of the splits too.\n\n" + grid(["", *TABLES], rows))
