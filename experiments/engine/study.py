"""The same networks trained by slimbayes' engine and by libtorch: six tables, five seeds, each seed with a split of its own. Both compute
the same steps and differ by the rounding of float32, which grows over a training as a difference of seeds does."""

import statistics

import scores
import studies
from judge import Case, alike, judged
from pages import Page
from results import asked
from scores import limit, with_standard_error
from tables import grid

TITLE = "Training by the engine and by libtorch"
WHAT = "the same fits by the engine and by libtorch: their NLL is level"
PAPER = "ours"
TABLES = ["yacht", "energy", "concrete", "wine_red", "kin8nm", "power_plant"]
METHODS = ["dbk", "dnn", "pp-dkl"]
ENGINES = ["auto", "libtorch"]
SEEDS = 5
MARGIN = 0.02  # nats a row


def cells():
    for seed in range(SEEDS):
        for table in TABLES:
            for method in METHODS:
                for engine in ENGINES:
                    yield asked("engine", table, method, seed, f"--split-seed {seed} --noise-folds 0 --engine {engine}")


def differences(rows):
    """By method, then by table, then by seed: NLL by the engine minus NLL by libtorch, on the standardised target."""
    found = {}
    for row in rows:
        pair = found.setdefault(row["method"], {}).setdefault(row["data"], {}).setdefault(int(row["seed"]), {})
        pair[row["flags"].rpartition(" ")[2]] = row
    return {method: {table: {seed: float(pair["auto"]["nll_standardized"]) - float(pair["libtorch"]["nll_standardized"])
                             for seed, pair in of_table.items() if len(pair) == len(ENGINES)}
                     for table, of_table in of_method.items()}
            for method, of_method in found.items()}


def claims(found):
    for method in METHODS:
        of_method = found.get(method, {})
        cases = []
        for table in TABLES:
            of_table = of_method.get(table, {})
            whole = len(of_table) == SEEDS
            cases.append(alike(table, with_standard_error(scores.of(of_table)), limit(0), MARGIN) if whole else Case(table, None, ""))
        yield judged("ours", f"{method}: the NLL is the same within {MARGIN}, on every table", cases)


def page(now):
    found = differences([row for row in studies.rows(studies.HERE / "engine") if not row["error"]])
    lines = []
    for method in METHODS:
        for table in TABLES:
            if of_table := found.get(method, {}).get(table):
                spread = statistics.stdev(of_table.values()) if len(of_table) > 1 else 0
                lines.append([method, table, str(len(of_table)), f"{statistics.fmean(of_table.values()):+.4f}", f"{spread:.4f}",
                              f"{min(of_table.values()):+.4f}", f"{max(of_table.values()):+.4f}"])
    head = ["method", "table", "seeds", "NLL, engine - libtorch", "sd over the seeds", "least", "most"]
    return Page([" ".join(__doc__.split()) + " NLL on the standardised target, test rows.", grid(head, lines)], list(claims(found)))
