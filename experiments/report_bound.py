"""The page of r_bound: how much variance the last layer's posterior can add, and what R's gap would need."""

import math
import statistics

import pages
import results
from claims import Case, judged
from pages import verdicts
from report_r_own import rows_of, write_page
from scores import Published
from tables import grid

METHODS = {"bll": ("bll", ""), "rich-bll": ("rich-bll", ""), "rich-bll, ridge 0": ("rich-bll", "0"), "ntk-gp": ("ntk-gp", "")}
TABLES = ["boston", "concrete", "energy", "power_plant", "wine_red"]
INTRO = """With the features Phi [n, r] of the last layer, noise variance s2 and a prior I + A^T A of any A, the epistemic variance of a row lies below that
of least squares, s2 phi^T (Phi^T Phi)^-1 phi. Its mean over the training rows is s2 trace(Phi (Phi^T Phi)^-1 Phi^T) / n = s2 r / n. So no
ridge, multiplier or prior adds more than r / n of the noise on average. Below: that mean over s2, around one network of R's architecture
(r = 51, 300 epochs), by the number n of rows; mean over tables and seeds. `ntk-gp` has no such bound, because its features grow with the rows.
"""
NEEDED = """## What R's gap would need

With the noise s2 and the same means, a variance larger by the share x lowers the NLL by (t x / (1 + x) - log(1 + x)) / 2, where t is the mean
squared test error over s2: R's gap between NNGP (BLL) and Rich-BLL, with x at its bound r / n, needs the t of the last column. Where the noise is
the validation error, t is near 1, and more variance raises the NLL. R's Rich-BLL rows are [reached](../r_table2/README.md), its NNGP rows are
not: they need another noise, not another posterior.
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
    """The page; its claims."""
    rows = rows_of("r_bound")
    if not rows:
        return []
    sizes = sorted({int(row["n"]) for row in rows})
    lines = []
    for n in sizes:
        at = [row for row in rows if int(row["n"]) == n]
        lines.append([f"{n:,}", ", ".join(dict.fromkeys(row["data"] for row in at)), f"{min(1, 51 / n):.3f}",
                      *(f"{value:.4f}" if (value := share(at, method)) is not None else "" for method in METHODS.values())])
    cases = []
    for method in "bll", "rich-bll":
        most = max(float(row["mean_epistemic_var"]) / float(row["bound"]) for row in rows if row["method"] == method)
        cases.append(Case(method, most <= 1 + 1e-3, f"at most {most:.4f} of the bound"))
    found = [judged("ours", "the mean epistemic variance on the training rows is at most r / n of the noise, on every table and number of rows", cases)]
    commits = ", ".join(dict.fromkeys(row["commit"] for row in rows))
    write_page("r_bound", "Why R's gap is not there", "measure.py",
               [f"{INTRO}\n{len({(r['data'], r['n'], r['seed']) for r in rows})} networks, at commits {commits}.",
                grid(["n", "tables", "r / n", *METHODS], lines), NEEDED, needed_table(), "## Claims\n\n" + verdicts(found)])
    return found
