"""The committed verdicts once more, by other lines than the judge's: from the rows, those of "A's NLL is below B's on every table" and
of every ordering of S and F; from the printed differences, all."""

import csv
import json
import math
import re
import statistics

import pytest
import studies
from run import ROOT
from scipy import stats
from scores import label

T_BOUND = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 10: 2.262, 20: 2.093}  # Student's 97.5 % point by the number of pairs
N, R = ["pol", "elevators", "kin40k", "protein", "keggdirected", "keggundirected"], ["boston", "concrete", "energy", "power_plant", "wine_red"]
PAGES = [("table1", "defaults", "nll_standardized", N, 3), ("table1", "paper", "nll_standardized", N, 3), ("r_table2", "paper", "nll", R, 2),
         ("r_rivals", "held out", "nll", R, 2), ("r_noise", "grid", "nll", R, 1)]
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


def of_these_fits(said, numbers):
    """The verdict of the rows and their numbers, also where the protocol forbids it (record/protocol.py)."""
    found = re.search(r"These fits: (holds|does not hold|open)\.(?: (.*))?$", numbers) if said == "not tested" else None
    return (found[1], found[2] or "") if found else (said, numbers)


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
    claims = re.findall(rf"\| (\S[^|]*?)'s NLL is below ([^|]*?)'s on every table(?: \(six of N's ten here\))? \| [NR] [^|]*?{part}[^|]*? \| \*\*(.*?)\*\* \| (.*?) \|\n", page)
    assert len(claims) == count
    found = rows_of(folder, part, column)
    for a, b, said, numbers in claims:
        b, said = NAMES.get(b, b), of_these_fits(said, numbers)[0]
        assert verdict(found, a, b, tables) == said, (part, a, b)


ORDERED = [folder for folder in studies.folders() if hasattr(studies.load(folder), "ORDERS")]
OWN = {"ffg-u": "residual", "fid-gp": "residual", "batch-ensemble": "mutual_information"}  # F's methods by their own score


def number_of(row, metric):
    """As the orderings name it; None where the row lacks it."""
    scores = json.loads(row["scores"])
    if metric == "retention_gain":  # the MAE without the least certain fifth
        score = next(name for name in ("epistemic_sd", "total_sd") if f"selective.by.{name}.mae.4" in scores)
        return 1 - scores[f"selective.by.{score}.mae.4"] / scores[f"selective.by.{score}.mae.0"]
    return scores.get(metric.replace("auroc.own", f"auroc.{OWN.get(row['method'], '')}"))


def is_method(row, name):
    flags = row["flags"]
    if "ensemble of" in name:
        return row["method"] == "ensemble" and f"--of {name.split()[-1]} " in flags + " "
    started = "--start network" in flags
    return f"{row['method']}{', network start' * started}" == name and "--bayesian-layers" not in flags


@pytest.mark.parametrize("folder", ORDERED, ids=lambda folder: folder.name)
def test_the_orderings_come_out_again(folder):
    page, rows, asked = (folder / "README.md").read_text(), {}, {tuple(cell.values()) for cell in studies.cells(folder)}
    with open(folder / "results.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["study"] == "main" and not row["error"] and (row["study"], row["data"], row["method"], row["seed"], row["flags"]) in asked:
                rows[row["method"], row["flags"], row["seed"]] = row
    for order in studies.load(folder).ORDERS:
        signs = []
        for other in order.others:
            one, far = ({row["seed"]: number_of(row, order.metric) for row in rows.values() if is_method(row, name)} for name in (order.a, other))
            gaps = [(one[seed] - far[seed]) * (1 if order.up else -1) for seed in one.keys() & far.keys() if None not in (one[seed], far[seed])]
            clear = len(gaps) > 1 and abs(statistics.fmean(gaps)) > T_BOUND[len(gaps)] * statistics.stdev(gaps) / math.sqrt(len(gaps))
            signs.append(math.copysign(1, statistics.fmean(gaps)) if clear else 0)
        expected = "does not hold" if -1 in signs else "holds" if set(signs) == {1} else "open"
        said = re.findall(rf"{re.escape(order.text)} \| [^|]*\| \*\*(.*?)\*\* \| (.*?) \|\n", page)
        assert expected in [of_these_fits(*one)[0] for one in said], (order.text, signs)


def needed_of(text, count):
    """In how many of the cases the claim has to hold."""
    for pattern, share in (r"four tables of five|four of five", 0.8), (r"nine tables of ten", 0.9), (r"two tables of three", 2 / 3):
        if re.search(pattern, text):
            return math.ceil(share * count)
    found = re.search(r"at least (\d+) of the 10|\((\d+) of the 6 here|often \((\d+) of 8", text)
    return int(next(each for each in found.groups() if each)) if found else count


MARGINS = "less than|at most|about as good|clearly|within|as good as|comparabl|outperforms|ten times|from .93 to .97|from .92 to .98|close to|they differ|is above 0.9"


@pytest.mark.parametrize("folder", studies.folders(), ids=lambda folder: folder.name)
def test_every_verdict_follows_from_its_printed_numbers(folder):
    """The mark of a case from its difference, where no margin is added to it; the verdict from the marks."""
    section = (folder / "README.md").read_text().partition("## Claims\n")[2]
    for text, said, numbers in re.findall(r"^\| (.*?) \| [^|]*? \| \*\*(.*?)\*\* \| (.*?) \|$", section, re.M):
        said, numbers = of_these_fits(said, numbers)
        if said == "not measured" or not numbers or not (head := re.match(r"(\d+) of (\d+)(?: measured, (\d+) in all)?\. ", numbers)):
            continue
        cases = re.split(r"; (?=[^;]*?: )", numbers[head.end():])
        won = sum(not re.search(r"\((no|undecided)\)$", case) for case in cases)
        lost, total = sum(case.endswith("(no)") for case in cases), int(head[3] or head[2])
        assert (won, len(cases)) == (int(head[1]), int(head[2])), (text, numbers)
        needed = needed_of(text, total)
        assert said == ("holds" if won >= needed else "does not hold" if lost > total - needed else "open"), (text, numbers)
        for case in cases if not re.search(MARGINS, text) else ():
            found = re.search(r"([+-]\d+\.\d+) ± (\d+\.\d+) \((\d+)\)(?!.*two times)", case)
            if found and int(found[3]) > 1:
                mean, bound = float(found[1]), stats.t.ppf(0.975, int(found[3]) - 1) * float(found[2])
                if abs(abs(mean) - bound) > 1e-3 * (1 + bound):  # else four printed decimals do not tell
                    assert case.endswith("(undecided)") == (abs(mean) < bound), (text, case)
