"""Tables made of those of the data folder.

`kin40k@2000` has 2,000 rows to fit on and TEST rows more. The rows are drawn at random by the cell's seed, so that every method of
a seed has the same ones. `--test-fraction` among the cell's flags takes TEST of them to test on; which ones, the tool's split
decides.

`pol~robust` has its inputs in another form, computed column by column from the inputs of all rows: see FORMS.
"""

import csv
import gzip
import hashlib
import math
import os
import pathlib
import random
import statistics

TEST = 4000


def test_flag(rows):
    """The flag that takes TEST of the rows to test on."""
    return f"--test-fraction {TEST / (TEST + rows):.6f}"


def robust(column):
    """Median 0 and a distance of 1 between the quartiles (where these are equal, half the range is the unit), clipped smoothly to
    +-3: z / sqrt(1 + (z / 3)^2). RealMLP's preprocessing (Holzmueller et al. 2024)."""
    low, middle, high = statistics.quantiles(column, n=4)
    width = high - low or 0.5 * (max(column) - min(column)) or 1
    return [[z / math.sqrt(1 + (z / 3) ** 2)] for z in ((x - middle) / width for x in column)]


def periodic(column):
    """The robust form and the cosines and sines of three frequencies of it: the period is 10, 5 and 2.5 distances between the
    quartiles. Fixed frequencies in the place of the trained ones of Gorishniy et al. 2022."""
    return [[z, *(f(2 * math.pi * c * z) for c in (0.1, 0.2, 0.4) for f in (math.cos, math.sin))] for (z,) in robust(column)]


FORMS = {"robust": robust, "periodic": periodic}


def drawn(rows, cell, count):
    return random.Random(f"{cell['data']} {cell['seed']}").sample(rows, count + TEST)


def formed(rows, form):
    """The rows with the inputs in this form; the last column is the target."""
    columns = [FORMS[form]([float(cell) for cell in column]) for column in list(zip(*rows))[:-1]]
    return [[x for part in parts for x in part] + [row[-1]] for row, *parts in zip(rows, *columns)]


def path(data, cell, folder):
    """The table of a cell: that of the data folder, or one made of it in `folder`."""
    name, _, count = cell["data"].partition("@")
    name, _, form = name.partition("~")
    if not count and not form:
        return data / f"{name}.csv.gz"
    version = hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()[:8]  # another program makes another file
    made = folder / f"{cell['data']}{'.' + str(cell['seed']) if count else ''}.{version}.csv.gz"
    if not made.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with gzip.open(data / f"{name}.csv.gz", "rt", newline="") as file:
            header, *rows = csv.reader(file)
        rows = drawn(rows, cell, int(count)) if count else formed(rows, form)
        new = made.with_suffix(f".{os.getpid()}")
        with gzip.open(new, "wt", newline="") as file:
            csv.writer(file).writerows([header if count else [*(f"x{i}" for i in range(len(rows[0]) - 1)), header[-1]], *rows])
        os.replace(new, made)
    return made
