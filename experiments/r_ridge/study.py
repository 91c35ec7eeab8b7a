"""How near bll and rich-bll come to ntk-gp, which they approximate, by the ridge of rich-bll.

On each table a network is trained on four of five rows; the cell's method and ntk-gp answer around it, with prior sd 1 and one
noise. A row compares their epistemic sds on the fifth of the rows that is left (`near`), and on these rows moved to three times their
distance from the training mean (`far`): mean and root mean square of log(sd / sd of ntk-gp), and the correlation of the logs. `curve`
is the one-dimensional data of r_figures, on x from -1.5 to 1.5 and from -3 to 3.
"""

import itertools
import math
import statistics

import sources
import studies
from one_network import CURVE, POSTERIOR, OneNetwork, curve_rows
from pages import Page
from results import KEY, asked
from runners import Work, taken
from source_fit import predictions
from tables import grid

TITLE = "The ridge of Rich-BLL"
WHAT = "how near Rich-BLL comes to NTK-GP, by its ridge"
PAPER = "R"
PROTOCOL = []  # it compares ridges, of which R names one for images alone: no claim of R is judged
PARTS, METRICS = ("near", "far"), ("mean_log", "rms_log", "correlation")
FIELDS = [*KEY, *(f"{part}_{metric}" for part in PARTS for metric in METRICS), "commit", "command", "recipe", "error"]
NETWORKS = {"mu-P, 2 x 50": CURVE, "default": ""}
TABLES = ["curve", "yacht", "energy", "concrete", "boston", "wine_red"]
RIDGES = ["0", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "1e-1", "1"]
METHODS = [("bll", ""), *[("rich-bll", f"--ridge {ridge}") for ridge in RIDGES]]


def cells():
    """study: the network."""
    for data, (label, flags), (method, own) in itertools.product(TABLES, NETWORKS.items(), METHODS):
        yield asked(label, data, method, 0, flags, f"--around dnn {POSTERIOR}", own)


def table_of(name, data):
    """Header, training rows, and the rows that are `near` and `far`."""
    if name == "curve":
        near, far = ([[half * (i / 30 - 1), 0.0] for i in range(61)] for half in (1.5, 3))
        return ["x", "y"], curve_rows(), near, far
    header, rows = sources.table(data / f"{name}.csv.gz")
    rows = [[float(value) for value in row] for row in rows]
    train, near = [row for i, row in enumerate(rows) if i % 5], rows[::5]
    mean = [statistics.fmean(column) for column in zip(*train)]
    return header, train, near, [[m + 3 * (v - m) for v, m in zip(row[:-1], mean)] + row[-1:] for row in near]


def compared(sds, oracle):
    ours, theirs = [math.log(sd) for sd in sds], [math.log(sd) for sd in oracle]
    ratios = [a - b for a, b in zip(ours, theirs)]
    return {"mean_log": round(statistics.fmean(ratios), 4), "rms_log": round(math.sqrt(statistics.fmean(r * r for r in ratios)), 4),
            "correlation": round(statistics.correlation(ours, theirs), 4)}


def oracle(cell):
    """The cell of ntk-gp around the same network."""
    return dict(cell, method="ntk-gp", flags=taken(cell["flags"], "--ridge")[0])


class Ridge(OneNetwork):
    def _recipe(self, cell):
        own = super()._recipe(cell)
        return own | {"oracle": super()._recipe(oracle(cell))["options"]} if "--around" in cell["flags"] and own else own

    def _measure(self, cell, work):
        header, *parts = table_of(cell["data"], self.data)
        train, *tests = (sources.write(work.folder / f"{part}.csv", header, rows) for part, rows in zip(("train", *PARTS), parts))
        found = self._sds(cell, work, train, tests)
        best = self._sds(oracle(cell), Work(work.folder), train, tests)
        return {f"{part}_{metric}": value for part, a, b in zip(PARTS, found, best) for metric, value in compared(a, b).items()}

    def _sds(self, cell, work, train, tests):
        """Epistemic sds for each of the tables `tests`."""
        model = self.fitted(cell, work, train)
        return [[float(row["sd_epistemic"]) for row in predictions(self.tool, model, test, work)] for test in tests]


def runner(tool, data):
    return Ridge(tool, data)


def page(now):
    rows = [row for row in studies.rows(studies.HERE / "r_ridge") if not row["error"]]
    at = {(row["data"], row["study"], row["method"], taken(row["flags"], "--ridge")[1]): row for row in rows}
    columns = list(dict.fromkeys((method, ridge) for _, _, method, ridge in at))
    cases = list(dict.fromkeys((data, network) for data, network, _, _ in at))
    parts = ["Rich-BLL replaces the gradients of the earlier layers by their regression on the last layer's features. Least "
             "squares (ridge 0; R names a ridge only for images) extrapolates from directions of the features that the rows "
             "hardly have. A cell compares the epistemic sd with that of NTK-GP around the same network, with the same prior and "
             "noise, on rows left out (`near`) and on these moved to three times their distance from the mean (`far`). One "
             "network a line; `curve`: the rows of [r_figures](../r_figures/README.md). The ridge is a share of a row's mean "
             "squared norm."]
    for metric, title in (("rms_log", "Root mean square of log(sd / sd of NTK-GP)"), ("mean_log", "Mean of log(sd / sd of NTK-GP)"),
                          ("correlation", "Correlation of the logs")):
        table = []
        for data, network in cases:
            found = [at.get((data, network, *column)) for column in columns]
            table += [[data, network, part, *[f"{float(row[f'{part}_{metric}']):.2f}" if row else "" for row in found]] for part in PARTS]
        header = ["data", "network", "rows", *[f"ridge {ridge}" if ridge else method for method, ridge in columns]]
        parts.append(f"## {title}\n\n" + grid(header, table))
    return Page(parts)
