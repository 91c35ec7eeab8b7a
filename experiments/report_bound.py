"""The page of r_bound: how much variance the last layer's posterior can add, and what R's gap would need."""

import math
import statistics

import pages
import results
from report_r_own import rows_of, write_page
from scores import Published
from tables import grid

METHODS = {"bll": ("bll", ""), "rich-bll": ("rich-bll", ""), "rich-bll, ridge 0": ("rich-bll", "0"), "ntk-gp": ("ntk-gp", "")}
TABLES = ["boston", "concrete", "energy", "power_plant", "wine_red"]
INTRO = """With the features Phi [n, r] of the last layer, noise variance s2 and a prior I + A^T A of any A, the epistemic variance of a row lies below that
of least squares, s2 phi^T (Phi^T Phi)^-1 phi. Its mean over the training rows is s2 trace(Phi (Phi^T Phi)^-1 Phi^T) / n = s2 r / n. So no
ridge, multiplier or prior adds more than r / n of the noise on average over the training rows. Below: that mean over s2, around one network of R's architecture
(r = 51, 300 epochs), by the number n of rows; mean over the tables, one seed. `ntk-gp` has no such bound, because its features grow with the rows.
"""
NEEDED = """## What R's gap would need

If the variance of every test row grew by one and the same share x of s2, the NLL would fall by (t x / (1 + x) - log(1 + x)) / 2, where t is the
mean squared test error over s2. For R's gap between NNGP (BLL) and Rich-BLL, with x = r / n, t would be that of the last column. This is an order
of magnitude and no bound: rows far from the others have larger shares, and larger errors. Ours is [measured](../r_table2/README.md): R's Rich-BLL
rows are reached there, its NNGP rows are not.
"""


def share(rows, method):
    """The mean epistemic variance over the noise variance; None without a row."""
    found = [float(row["mean_epistemic_var"]) / float(row["noise_var"]) for row in rows if (row["method"], row["ridge"]) == method]
    return statistics.fmean(found) if found else None


def needed(gap, x):
    return (2 * gap + math.log1p(x)) * (1 + x) / x


def needed_table():
    published, sizes = Published(pages.HERE / "r_table2" / "published.csv"), {}
    for row in results.read(pages.HERE / "r_table2" / "results.csv"):
        if row["study"] == "paper" and row["method"] == "rich-bll" and row["rows"]:
            sizes[row["data"]] = int(row["rows"])
    lines = []
    for table in TABLES:
        bll, rich = (published.get(table, name, "raw NLL") for name in ("NNGP (BLL)", "Rich-BLL"))
        if bll and rich and table in sizes:
            gap, x = bll.mean - rich.mean, 51 / sizes[table]
            lines.append([table, f"{sizes[table]:,}", f"{x:.3f}", f"{gap:.2f}", f"{needed(gap, x):.1f}"])
    return grid(["table", "rows of the posterior", "r / n", "R's gap, nats", "needed t"], lines)


def write():
    rows = rows_of("r_bound")
    if not rows:
        return
    sizes = sorted({int(row["n"]) for row in rows})
    lines = []
    for n in sizes:
        at = [row for row in rows if int(row["n"]) == n]
        lines.append([f"{n:,}", ", ".join(dict.fromkeys(row["data"] for row in at)), f"{min(1, 51 / n):.3f}",
                      *(f"{value:.4f}" if (value := share(at, method)) is not None else "" for method in METHODS.values())])
    most = max(float(row["mean_epistemic_var"]) / float(row["bound"]) for row in rows if row["method"] != "ntk-gp")
    commits = ", ".join(dict.fromkeys(row["commit"] for row in rows))
    done = len({(row["data"], row["n"], row["seed"]) for row in rows})
    write_page("r_bound", "Why R's gap is not there", "measure.py",
               [f"{INTRO}\n{done} of {len(TABLES) * 4} networks, at commits {commits}. Of bll and rich-bll the largest share of the bound is {most:.3f}: it is a theorem, "
                "so that this checks the code.", grid(["n", "tables", "r / n", *METHODS], lines), NEEDED, needed_table()])
