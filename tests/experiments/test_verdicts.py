"""The committed verdicts of "A's NLL is below B's on every table", once more from the rows by other lines than the judge's."""

import csv
import math
import re
import statistics

import pytest
import studies
from run import ROOT
from scores import label

T_BOUND = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 10: 2.262, 20: 2.093}  # Student's 97.5 % point by the number of pairs
N, R = ["pol", "elevators", "kin40k", "protein", "keggdirected", "keggundirected"], ["boston", "concrete", "energy", "power_plant", "wine_red"]
PAGES = [("table1", "defaults", "nll_standardized", N, 3), ("table1", "paper", "nll_standardized", N, 3), ("r_table2", "paper", "nll", R, 2),
         ("r_rivals", "held out", "nll", R, 2), ("r_noise", "grid", "nll", R, 1), ("r_noise", "learned", "nll", R, 2)]
NAMES = {"MAP": "DNN"}


def rows_of(folder, part, column):
    """The last number of each table, method and seed."""
    path, found = ROOT / "experiments" / folder, {}
    asked = {(cell["data"], cell["method"], cell["seed"], cell["flags"]) for cell in studies.cells(path) if cell["study"] == part}
    with open(path / "results.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["study"] == part and not row["error"] and (row["data"], row["method"], row["seed"], row["flags"]) in asked and row[column]:
                found.setdefault((row["data"], label(row["method"], row["flags"])), {})[row["seed"]] = float(row[column])
    return found


def verdict(found, a, b, tables):
    signs = []
    for table in tables:
        one, other = found.get((table, a), {}), found.get((table, b), {})
        gaps = [one[seed] - other[seed] for seed in one.keys() & other.keys()]
        mean = sum(gaps) / len(gaps) if gaps else 0
        decided = len(gaps) > 1 and abs(mean) > T_BOUND[len(gaps)] * statistics.stdev(gaps) / math.sqrt(len(gaps))
        signs.append(math.copysign(1, mean) if decided else 0)
    return "does not hold" if 1 in signs else "open" if 0 in signs else "holds"


@pytest.mark.parametrize("folder, part, column, tables, count", PAGES)
def test_the_verdicts_come_out_again(folder, part, column, tables, count):
    page = (ROOT / "experiments" / folder / "README.md").read_text()
    claims = re.findall(rf"\| (\S[^|]*?)'s NLL is below ([^|]*?)'s on every table \| [NR] [^|]*{part} \| \*\*(.*?)\*\*", page)
    assert len(claims) == count
    found = rows_of(folder, part, column)
    for a, b, said in claims:
        b = NAMES.get(b, b) if part != "learned" else b
        assert verdict(found, a, b, tables) == said, (part, a, b)
