"""Small data for classes, counts and events, and what the tool answers to them."""

import csv
import io
import math
import random

import numpy
from conftest import run

SMALL = ["--rank", 16, "--threads", 1]
QUICK = ["--steps", 400, *SMALL]
LEVELS = ["blue sky", "green", "red"]
SOME = [[i / 40, i / 20] for i in range(40)]  # events on [0, 1] x [0, 2]


def flowers(count, seed, levels):
    """A label that the first input decides, with errors."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        a, b = draw.uniform(-1, 1), draw.uniform(-1, 1)
        scores = [3 * math.sin(3 * a) * (1 - k) - math.log(-math.log(draw.random())) for k in range(len(levels))]
        rows.append([a, b, levels[scores.index(max(scores))]])
    return rows


def ok(folder, *words):
    done = run(folder, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def records(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: [row[name] for row in rows] for name in rows[0]}


def column(table, name):
    return numpy.array([float(x) for x in table[name]])


def labelled(kinds):
    return [[i, i * i % 7, kind] for i, kind in enumerate(kinds)]
