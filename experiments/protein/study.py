"""Why N's numbers on protein, and its rank 1, do not come out: what was tried, one thing at a time.

Every fit has N's recipe but for what its part names: `--preset paper` on the table's rows split one by one, or the 1-D data of 100,000
rows. Split seed 1 unless the part varies it.
"""

import itertools
import statistics

from pages import Page
from paper_n import PRESET, RECIPE, SPLIT
from results import asked
from scores import Published, load
from tables import cell, grid

TITLE = "Why N's numbers on protein do not come out"
WHAT = "what was tried to reach N's numbers on protein and its rank 1"
PAPER = "N"
PROTOCOL = []  # an account of differences: no claim of N is judged
STARTS = {"0.01": "0.01", "0.1": "0.1", "1": "1"}
WEIGHTS = ["0", "0.01", "1"]  # alpha
SEEDS = range(3)
SCALED = "--scale-on all"


def start(noise):
    return f"--noise-form exp --noise-start {noise}"


def cells():
    for seed, split in itertools.product((0,), (1, 2, 3, 4, 5)):
        yield asked("split", "protein", "dnn", seed, PRESET, SCALED, f"--split-seed {split}")
    for seed in SEEDS:
        yield asked("last epoch", "protein", "dnn", seed, PRESET, SCALED, "--select-by last", SPLIT)
        yield asked("last epoch", "protein", "dbk", seed, PRESET, SCALED, "--select-by last", SPLIT)
        yield asked("grouped", "protein", "dbk", seed, "--preset paper --split grouped", SCALED, SPLIT)
        yield asked("as the preset", "protein", "dbk", seed, PRESET, SCALED, SPLIT)
    for seed, alpha, noise in itertools.product(SEEDS, WEIGHTS, STARTS):
        yield asked(f"noise from {noise}", "protein", "dbk", seed, f"--alpha {alpha}", start(noise), PRESET, SCALED, SPLIT)
    for seed, noise in itertools.product(SEEDS, STARTS):
        yield asked(f"noise from {noise}", "pol", "dbk", seed, start(noise), PRESET, SCALED, SPLIT)
    for seed, noise in itertools.product(SEEDS, STARTS):
        yield asked(f"noise from {noise}", "steps:100000", "dbk", seed, "--rank 1", start(noise), RECIPE)
