"""How much the posterior of a last layer can add to the noise, and what R's gap between Rich-BLL and BLL would need.

A row has the mean epistemic variance on the training rows, for bll, rich-bll (with the default ridge and with R's, 0) or ntk-gp
around one network in R's architecture on n rows of a table (`all`: nine tenths, at most 4,000), beside the bound s2 r / n. A ninth of
their number validates; prior sd 1 and the validation MSE as the noise, as in R.
"""

import itertools
import math
import random
import statistics

import sources
import studies
from one_network import ARCHITECTURE, POSTERIOR, OneNetwork
from pages import Page
from paper_r import StandardErrors
from results import KEY, asked, read
from runners import taken
from scores import Published, load
from source_fit import predictions
from tables import cell, grid

TITLE = "Why R's gap is not there"
WHAT = "why R's gap between Rich-BLL and BLL is not there"
PAPER = "R"
PROTOCOL = []  # a bound of our own and a check of it: no claim of R is judged
FIELDS = [*KEY, "n", "features", "noise_var", "mean_epistemic_var", "bound", "commit", "command", "recipe", "error"]
NETWORK = f"{ARCHITECTURE} --epochs 300 --batch 32"
FEATURES = 51  # the 50 units of the last layer and 1
INPUTS = {"boston": 13, "concrete": 8, "energy": 8, "power_plant": 4, "wine_red": 11}
TABLES, UNITS = list(INPUTS), 50  # in each of two layers
SIZES = [60, 120, 250, "all"]
# Method and ridge.
METHODS = {"bll": ("bll", ""), "rich-bll": ("rich-bll", ""), "rich-bll, ridge 0": ("rich-bll", "0"), "ntk-gp": ("ntk-gp", "")}
INTRO = """With the features Phi [n, r] of the last layer, noise variance s2 and a prior I + A^T A of any A, the epistemic variance of a row
lies below that of least squares, s2 phi^T (Phi^T Phi)^-1 phi. Its mean over the training rows is s2 trace(Phi (Phi^T Phi)^-1 Phi^T) / n
= s2 r / n. So no ridge, multiplier or prior adds more than r / n of the noise on average over the training rows. Below: that mean over
s2, around one network of R's architecture (r = 51, 300 epochs), by the number n of rows; mean over the tables, one seed.
`ntk-gp`, with the gradients of all p weights as features, has the bound min(p, n) / n, the last column: it is 1 unless n exceeds p.
"""
NEEDED = """## What R's gap would need

If the variance of every test row grew by one and the same share x of s2, the NLL would fall by (t x / (1 + x) - log(1 + x)) / 2, where
t is the mean squared test error over s2. For R's gap between NNGP (BLL) and Rich-BLL, with x = r / n, t would be that of the column
"needed t". This is an order of magnitude and no bound: rows far from the others have larger shares, and larger errors. The last
columns have the NLL as [measured here](../r_table2/README.md) and as R prints it. Ours are at or below R's Rich-BLL rows, and
below its BLL rows: R's larger NLLs of NNGP (BLL) do not come out.
"""


def cells():
    for table, size, (method, ridge) in itertools.product(TABLES, SIZES, METHODS.values()):
        yield asked("bound", f"{table}@{size}", method, 0, f"{NETWORK} --around dnn {POSTERIOR}", ridge and f"--ridge {ridge}")


def parts_of(path, size, seed):
    """Header, n training rows, and rows that validate: a ninth of their number, at least 20."""
    header, rows = sources.table(path)
    random.Random(seed).shuffle(rows)
    n = min(4000, len(rows) * 9 // 10) if size == "all" else int(size)
    return header, rows[:n], rows[n:n + max(20, n // 9)]


class Bound(OneNetwork):
    def _measure(self, cell, work):
        table, _, size = cell["data"].partition("@")
        header, *parts = parts_of(self.data / f"{table}.csv.gz", size, int(cell["seed"]))
        train, valid = (sources.write(work.folder / f"{name}.csv", header, rows) for name, rows in zip(("train", "valid"), parts))
        answers, n = predictions(self.tool, self.fitted(cell, work, train, "--valid", valid), train, work), len(parts[0])
        noise, epistemic = (statistics.fmean(float(row[f"sd_{part}"]) ** 2 for row in answers) for part in ("aleatoric", "epistemic"))
        return {"n": n, "features": FEATURES, "noise_var": f"{noise:.6g}", "mean_epistemic_var": f"{epistemic:.6g}",
                "bound": f"{noise * min(1, FEATURES / n):.6g}"}


def runner(tool, data):
    return Bound(tool, data)


def share(rows, method):
    """The mean epistemic variance over the noise variance; None without a row."""
    found = [float(row["mean_epistemic_var"]) / float(row["noise_var"]) for row in rows
             if (row["method"], taken(row["flags"], "--ridge")[1]) == method]
    return statistics.fmean(found) if found else None


def needed(gap, x):
    return (2 * gap + math.log1p(x)) * (1 + x) / x


def weights(table):
    """The number of weights and biases of the network on this table."""
    return (INPUTS[table] + 1) * UNITS + (UNITS + 1) * UNITS + UNITS + 1


def needed_table(now):
    published, sizes = Published("r_table2"), {}
    for row in read(studies.HERE / "r_table2" / "results.csv"):
        if row["study"] == "paper" and row["method"] == "rich-bll" and row["rows"]:
            sizes[row["data"]] = int(row["rows"])
    scores, lines = StandardErrors(load("r_table2", runner=now)) if sizes else None, []
    for table in TABLES:
        bll, rich = (published.get(table, name, "raw NLL") for name in ("NNGP (BLL)", "Rich-BLL"))
        if bll and rich and table in sizes:
            gap, x = bll.mean - rich.mean, FEATURES / sizes[table]
            ours = [scores.get("paper", table, name, "raw NLL") for name in ("Rich-BLL", "NNGP (BLL)")]
            beside = [cell(score, digits=digits, seeds=False) for mine, printed in zip(ours, (rich, bll))
                      for score, digits in ((mine, 3), (printed, 2))]
            lines.append([table, f"{sizes[table]:,}", f"{x:.3f}", f"{gap:.2f}", f"{needed(gap, x):.1f}", *beside])
    return grid(["table", "rows of the posterior", "r / n", "R's gap, nats", "needed t", "Rich-BLL, ours", "R", "BLL, ours", "R"],
                lines)


def page(now):
    rows, lines = [row for row in studies.rows(studies.HERE / "r_bound") if not row["error"]], []
    for n in sorted({int(row["n"]) for row in rows}):
        at = [row for row in rows if int(row["n"]) == n]
        lines.append([f"{n:,}", ", ".join(dict.fromkeys(row["data"].partition("@")[0] for row in at)), f"{min(1, FEATURES / n):.3f}",
                      *(f"{value:.4f}" if (value := share(at, method)) is not None else "" for method in METHODS.values()),
                      f"{statistics.fmean(min(weights(row['data'].partition('@')[0]), n) / n for row in at):.3f}"])
    shares = [float(row["mean_epistemic_var"]) / float(row["bound"]) for row in rows if row["method"] != "ntk-gp"]
    check = f"Of bll and rich-bll the largest share of the bound is {max(shares):.3f}: it is a theorem, so that this checks the code." if shares else ""
    return Page([INTRO, check, grid(["n", "tables", "r / n", *METHODS, "min(p, n) / n"], lines), NEEDED, needed_table(now)])
