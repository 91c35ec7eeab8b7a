"""R Table 2: what stands on one network, and a Gaussian process."""

from judge import judged
from pages import Page
from paper_r import (AS_GOOD, DATA, FULL, NOISE, POSTERIOR, POSTHOC, REGRESSION, SAME_NETWORK, SCORE, SPLITS_TEXT, SUBSET, TRAINED_AGAIN,
                     StandardErrors, around, differences, in_rounds, nll_table, on_one_network, pairs)
from protocol import SILENT, Line
from results import asked
from scores import Published, load

TITLE = "Table 2 of the Rich-BLL paper (R)"
WHAT = "R Table 2 in its protocol: Rich-BLL, BLL, MAP and a Gaussian process"
PAPER = "R"
PROTOCOL = [
    DATA, *REGRESSION, TRAINED_AGAIN, NOISE, POSTERIOR, SUBSET, SCORE,
    Line("RBF GP", "an RBF kernel (4.2), targets centred (C.1); how it is fitted is not said",
         "a lengthscale an input, by the evidence; targets standardised, which the amplitude undoes", SILENT),
]


def cells():
    """R Table 2: what stands on one network, which is trained again on all rows that are not for the test. The Gaussian
    process, without a network, takes the same rows."""
    for data, seed in in_rounds():
        for method, own in POSTHOC:
            yield around("paper", data, method, seed, own)
        if data != "power_plant":
            yield asked("paper", data, "gp-exact", seed, f"--split random --split-seed {seed} --valid-fraction 0")


def claims(scores):
    yield from on_one_network(scores, "paper")
    yield judged("R Table 2, paper", f"Rich-BLL matches or outperforms the RBF GP: its NLL is less than {AS_GOOD} nats above, on every table",
                 pairs(scores, "paper", FULL, "GP", AS_GOOD))


REFIT = (
    "`paper`: the network is then trained again on training and validation rows for that many epochs, and carries the rows "
    "Rich-BLL, Rich-BLL (S: 40 % of the rows), NNGP (BLL) and MAP, whose noise is the validation MSE. RBF GP: the same rows, "
    "hyperparameters by the evidence. The other rows of R's table are on [equal rows](../r_rivals/README.md).")


def page(now):
    scores = load("r_table2", runner=now)
    errors = StandardErrors(scores)
    return Page([SPLITS_TEXT + REFIT, "## NLL\n\n" + nll_table(errors, "paper", Published("r_table2")),
                 differences(errors, "paper", [*SAME_NETWORK, ("Rich-BLL", "GP")])], list(claims(errors)), scores)
