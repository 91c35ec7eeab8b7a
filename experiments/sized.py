"""A table of the data folder cut to a size: `kin40k@2000` has 2,000 rows to fit on and TEST rows more.

The rows are drawn at random by the cell's seed, so that every method of a seed has the same ones. `--test-fraction` among the
cell's flags takes TEST of them to test on; which ones, the tool's split decides.
"""

import csv
import gzip
import os
import random

TEST = 4000


def test_flag(rows):
    """The flag that takes TEST of the rows to test on."""
    return f"--test-fraction {TEST / (TEST + rows):.6f}"


def path(data, cell, folder):
    """The table of a cell: that of the data folder, or one made of it in `folder`."""
    name, _, rows = cell["data"].partition("@")
    whole = data / f"{name}.csv.gz"
    if not rows:
        return whole
    made = folder / f"{cell['data']}.{cell['seed']}.csv.gz"
    if not made.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with gzip.open(whole, "rt", newline="") as file:
            header, *lines = csv.reader(file)
        some = random.Random(f"{cell['data']} {cell['seed']}").sample(lines, int(rows) + TEST)
        new = made.with_suffix(f".{os.getpid()}")
        with gzip.open(new, "wt", newline="") as file:
            csv.writer(file).writerows([header, *some])
        os.replace(new, made)
    return made
