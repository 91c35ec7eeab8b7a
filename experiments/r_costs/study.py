"""R Table 1: time and memory of four posteriors around one trained network, as the training rows n grow.

The network is trained on 1,000 rows; a fit computes its posterior from n rows, less a tenth for validation, and its model answers
2,000 new rows. Every fit and every answer is a process of its own with one thread: the processor seconds that it took, of user and
system, which other programs of the machine hardly change, and its peak memory, from the operating system. All methods and sizes take
turns in each round, so that a busier minute meets all of them.
"""

import csv
import math
import statistics

import sources
import studies
from judge import Case, alike, judged, lower
from one_network import OneNetwork
from pages import Page
from protocol import SILENT, Line
from results import KEY, asked
from runners import Work, around
from scores import limit, of, with_standard_error
from tables import grid

TITLE = "Costs (R Table 1)"
WHAT = "R Table 1 as seconds and bytes"
PAPER = "R"
PROTOCOL = [
    Line("what is counted", "inference given the last layer's features and A (Table 1)",
         "a whole process: start, reading, passes through the network, A, posterior"),
    Line("sizes", "any N, r and k", "500 to 128,000 rows, NTK-GP to 8,000; r = 51; (S) from k = 500", SILENT),
    Line("network", "", "two layers of 50, ReLU, mu-P, trained on 1,000 rows of a generated table", SILENT),
]
FIELDS = [*KEY, "fit_s", "fit_mb", "predict_s", "predict_mb", "model_bytes", "commit", "command", "recipe", "error"]
NETWORK = "--network mlp --hidden 50 --activation relu --parametrisation mup --steps 3000 --around dnn"
METHODS = {"NTK-GP": ("ntk-gp", f"{NETWORK} --max-rows 100000 --preset paper"),
           "NNGP (BLL)": ("bll", f"{NETWORK} --preset paper --refit false"),
           "Rich-BLL": ("rich-bll", f"{NETWORK} --preset paper --refit false"),
           "Rich-BLL (S)": ("rich-bll", f"{NETWORK} --subsample 500 --preset paper --refit false")}
NAMES = {method: name for name, method in METHODS.items()}
# R's, of time and memory.
EXPONENTS = {"NTK-GP": ("3", "2"), "NNGP (BLL)": ("1", "0"), "Rich-BLL": ("1", "0"), "Rich-BLL (S)": ("0", "0")}
SIZES = [500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000]
LARGEST = {"NTK-GP": 8000}  # of a dense kernel here
SAME_SLOPE = 0.5  # R states an order
ROUNDS, TRAINED, ANSWERED = 2, 1000, 2000


def cells():
    """seed: the round."""
    for i in range(ROUNDS):
        for n in SIZES:
            for name, (method, flags) in METHODS.items():
                if n <= LARGEST.get(name, n):
                    yield asked("costs", f"steps:{n}", method, i, flags)


def rows_of(cell):
    return int(cell["data"].partition(":")[2])


class Costs(OneNetwork):
    def _measure(self, cell, work):
        base, own = around(cell)
        trained, table, new = (self._generated_table(n, seed, work) for n, seed in ((TRAINED, 8), (rows_of(cell), 0), (ANSWERED, 9)))
        model = work.folder / "m"
        work.measured(self._around(own, table, self.network(dict(base, data="steps", seed="0"), work, trained), model))
        answer = Work(work.folder)
        answer.measured([self.tool, "predict", model, new, "--out", work.folder / "answer.csv", "--threads", "1"])
        return {"fit_s": round(work.processor_s, 4), "fit_mb": round(work.peak_kb / 1024, 1),
                "predict_s": round(answer.processor_s, 4), "predict_mb": round(answer.peak_kb / 1024, 1), "model_bytes": model.stat().st_size}

    def _generated_table(self, n, seed, work):
        """A table of two inputs: the steps of x, and a second input that is noise to them."""
        raw = work.folder / "raw.csv"
        work.quiet([self.tool, "generate", "steps", "--rows", n, "--seed", seed, "--out", raw])
        with open(raw, newline="") as file:
            rows = [[row["x"], (i * 0.6180339887) % 1, row["y"]] for i, row in enumerate(csv.DictReader(file))]
        return sources.write(work.folder / f"{seed}_{n}.csv", ["x", "z", "y"], rows)


def runner(tool, data):
    return Costs(tool, data)


def slope(points):
    """Of log y on log x, by least squares."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mean = statistics.fmean(xs)
    return sum((x - mean) * (y - statistics.fmean(ys)) for x, y in zip(xs, ys)) / sum((x - mean) ** 2 for x in xs)


def slopes(at, sizes):
    table = []
    for method, (time, memory) in EXPONENTS.items():
        own = [n for n in sizes if (method, n, "fit_s") in at]
        found = []
        for what in "fit_s", "fit_mb":
            points = [(n, at[method, n, what] - at[method, own[0], what]) for n in own[-3:]]
            found.append(f"{slope(points):.2f}" if len(points) == 3 and all(y > 0 for _, y in points) else "none measurable")
        table.append([method, found[0], time, found[1], memory])
    return table


def bytes_a_row(at, method):
    """By which the model file grows from the smallest to the largest n; "" without two sizes."""
    found = {n: size for (name, n, what), size in at.items() if name == method and what == "model_bytes"}
    low, high = min(found, default=0), max(found, default=0)
    return f"{(found[high] - found[low]) / (high - low):.1f}" if high > low else ""


def by_round(rows, name, what):
    """By n, then by round, what the cells of one method took."""
    found = {}
    for row in rows:
        if NAMES[row["method"], row["flags"]] == name:
            found.setdefault(rows_of(row), {})[int(row["seed"])] = float(row[what])
    return found


def slope_by_round(rows, name):
    """The slope of the fit's seconds above those at the smallest n, over the three largest n; None where a round has no such cost."""
    costs = by_round(rows, name, "fit_s")
    sizes = sorted(costs)
    found = {}
    for i in set.intersection(*map(set, costs.values())) if len(sizes) > 3 else ():
        points = [(n, costs[n][i] - costs[sizes[0]][i]) for n in sizes[-3:]]
        if all(y > 0 for _, y in points):
            found[i] = slope(points)
    return with_standard_error(of(found)) if found else None


def claims(rows):
    cases = [alike(name, slope_by_round(rows, name), limit(float(time)), SAME_SLOPE) for name, (time, _) in EXPONENTS.items()]
    yield judged("R Table 1", "the seconds of a fit grow with the rows as stated (exponents 3, 1, 1 and, of (S), 0): within "
                 f"{SAME_SLOPE}", cases)
    cases = []
    for what, text in ("fit_s", "a fit"), ("predict_s", "2,000 answers"):
        ours, rival = ({i: value for i, value in by_round(rows, name, what).get(SIZES[-1], {}).items()} for name in ("Rich-BLL", "NNGP (BLL)"))
        if ours and rival:
            ours, rival = (with_standard_error(of(values)) for values in (ours, rival))
        cases.append(lower(text, ours, rival.times(1.2), "", "1.2 times") if ours and rival else Case(text, None, ""))
    yield judged("R 1", f"Rich-BLL costs what BLL costs: at most a fifth more seconds, of {SIZES[-1]:,} rows", cases)


def page(now):
    rows, at = [row for row in studies.rows(studies.HERE / "r_costs") if not row["error"]], {}
    for row in rows:
        for what in "fit_s", "fit_mb", "predict_s", "model_bytes":
            at.setdefault((NAMES[row["method"], row["flags"]], rows_of(row), what), []).append(float(row[what]))
    at = {key: statistics.median(values) for key, values in at.items()}
    sizes = sorted({n for _, n, _ in at})
    parts = ["One trained network (two layers of 50, mu-P, two inputs: r = 51 features, 2,751 weights); each cell is a process "
             f"of its own with one thread, processor seconds, medians of {len({row['seed'] for row in rows})} rounds. Seconds and "
             "peak memory hold the start of the program and the reading of the table, which is why the slopes are those of what "
             "exceeds the smallest n; (S): 500 rows. The claims have means ± standard errors over the rounds."]
    for what, title, digits in (("fit_s", "Seconds of a fit", 2), ("fit_mb", "Peak memory of a fit, MB", 0),
                                ("predict_s", "Seconds for 2,000 answers", 2), ("model_bytes", "Bytes of the model file", 0)):
        table = [[f"{n:,}", *[f"{at[m, n, what]:,.{digits}f}" if (m, n, what) in at else "" for m in EXPONENTS]] for n in sizes]
        parts.append(f"## {title}\n\n" + grid(["n", *EXPONENTS], table))
    parts.append("## Slopes\n\n" + grid(["method", "time, ours", "R", "memory, ours", "R"], slopes(at, sizes)) + "\nOf log (cost "
                 "above that at the smallest n) on log n over the three largest n. R counts the posterior alone: ours reads n "
                 "rows and passes them through the network, also for (S), and holds the table of n rows, which is the growth of "
                 "the memory of BLL and Rich-BLL. The model file of BLL grows by " + bytes_a_row(at, "NNGP (BLL)") + " bytes a "
                 "row: 8 of its split and 8 of the hash by which `forget` knows a row, which the validation rows, a tenth, do "
                 "not have. NTK-GP's grows by " + bytes_a_row(at, "NTK-GP") + " bytes: it has the rows themselves instead of "
                 "the hashes.")
    return Page(parts, list(claims(rows)))
