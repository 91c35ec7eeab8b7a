"""A table as a business has it: 500 rows, a positive and skewed cost, categories, missing cells."""

import math
import random

COLUMNS = ["distance", "weight", "region", "express", "age", "cost"]
REGIONS = {"north": 1.0, "south": 1.2, "east": 0.9, "west": 1.1, "islands": 2.0}
SHARES = [0.3, 0.25, 0.2, 0.2, 0.05]


def skewed_rows(count, seed):
    """Rows whose cost is at least 0.5, with a log-normal noise of sd 0.35; about 6 % of the cells are missing."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        distance, weight, age = draw.gammavariate(2, 30), draw.lognormvariate(1, 0.8), draw.randrange(20)
        region, express = draw.choices(list(REGIONS), SHARES)[0], draw.random() < 0.25
        mean = (1.5 + 0.06 * distance**0.9 + 0.5 * weight**0.8 + 0.08 * age) * REGIONS[region] * (1.5 if express else 1)
        cost = mean * math.exp(0.35 * draw.gauss(0, 1)) + 0.5
        cells = [round(distance, 1), round(weight, 2), region, "yes" if express else "no", age]
        rows.append(["" if i != 3 and draw.random() < 0.06 else cell for i, cell in enumerate(cells)] + [round(cost, 2)])
    return rows
