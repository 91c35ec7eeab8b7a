"""Tables made of those of the data folder.

`kin40k@2000` is 2,000 rows to fit on and TEST others to test on, drawn at random by the cell's seed, so that every method of a
seed has the same ones.

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


def formed(rows, form):
    """The rows with the inputs in this form; the last column is the target."""
    columns = [FORMS[form]([float(cell) for cell in column]) for column in list(zip(*rows))[:-1]]
    return [[x for part in parts for x in part] + [row[-1]] for row, *parts in zip(rows, *columns)]


def read(path):
    """The header and the rows of a table."""
    with gzip.open(path, "rt", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def made(name, folder, header, rows):
    """The table of this name in the folder, which holds these rows. Another version of this program makes another file."""
    version = hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()[:8]
    path = folder / f"{name}.{version}.csv.gz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}")
        with gzip.open(new, "wt", newline="") as file:
            csv.writer(file).writerows([header, *rows()])
        os.replace(new, path)
    return path


def parts(data, cell, folder):
    """The tables of a cell that is cut to a size: the rows to fit on, and those to test on."""
    name, _, count = cell["data"].partition("@")
    header, rows = read(data / f"{name}.csv.gz")
    random.Random(f"{name} {cell['seed']}").shuffle(rows)  # the same test rows at every size
    own = f"{cell['data']}.{cell['seed']}"
    train, test = (lambda: rows[TEST:TEST + int(count)]), (lambda: rows[:TEST])
    return made(f"{own}.fit", folder, header, train), made(f"{own}.test", folder, header, test)


def path(data, cell, folder):
    """The table of a cell: that of the data folder, or one made of it in `folder`."""
    name, _, form = cell["data"].partition("~")
    if not form:
        return data / f"{name}.csv.gz"
    header, rows = read(data / f"{name}.csv.gz")

    def all_rows():
        return formed(rows, form)
    width = len(formed(rows[:9], form)[0])
    return made(cell["data"], folder, [*(f"x{i}" for i in range(width - 1)), header[-1]], all_rows)
