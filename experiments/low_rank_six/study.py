"""low-rank beside the other methods, untuned."""

import itertools

import paired
import studies
from pages import Page
from paper_s import NLL, RIVALS, RULE, SIX, better_or_worse, by_variant, comparison, means
from results import asked
from tables import grid

TITLE = "Low-rank networks beside the other methods, untuned"
WHAT = "low-rank beside the other methods, untuned"
PAPER = "ours"

LOW = [("low-rank", ""), ("low-rank-svd", ""), ("low-rank-laplace", "")]
CRPS, REFERENCE = "crps_standardized", "low-rank"


def cells():
    """The defaults of every method with draws, and of those without, on six tables: no flag but the split. Fits of one step
    tell the numbers of parameters."""
    methods = [*LOW, ("full-rank", ""), ("rank-1", ""), *RIVALS]
    for data, (method, own) in itertools.product(SIX, methods):
        yield asked("parameters", data, method, 0, own, "--steps 1 --split-seed 1")
    for seed in range(5):
        for data, (method, own) in itertools.product(SIX, methods):
            yield asked("defaults", data, method, seed, own, f"--split-seed {seed + 1}")


def on_each_table(rows, metric):
    """By method, then table, its difference from the reference over the splits; None without common splits."""
    found = by_variant(rows, metric)
    reference = found.pop(REFERENCE, {})

    def on(table, values):
        return paired.difference({at: value for at, value in values.items() if at[0] == table}, reference)

    return {name: {table: on(table, values) for table in SIX} for name, values in found.items()}


def table_by_table(rows, metric):
    found = on_each_table(rows, metric)
    return grid(["", *SIX], [[name, *map(better_or_worse, by_table.values())] for name, by_table in found.items()])


def decided(rows, metric, sign):
    """Where a method's difference from the reference is decided and has this sign: method, tables, by how much."""
    parts = []
    for name, by_table in on_each_table(rows, metric).items():
        tables = [f"{table} ({abs(one.mean):.3f})" for table, one in by_table.items() if one and one.sign == sign]
        parts += [f"{name} on {', '.join(tables)}"] if tables else []
    return "; ".join(parts) or "none"


def parameters(rows):
    sizes = {}
    for row in rows:
        if row["study"] == "parameters" and row["parameters"]:
            sizes.setdefault(row["method"], {})[row["data"]] = f"{int(row['parameters']):,}"
    return grid(["", *SIX], [[name, *[own.get(table, "") for table in SIX]] for name, own in sizes.items()])


def page(now):
    every = studies.rows(studies.HERE / "low_rank_six")
    rows = [row for row in every if row["study"] == "defaults"]
    parts = ["Six tables, five splits (seeds 1 to 5), every method by its defaults. Splits 1 and 2 are those on which the "
             "defaults of `low-rank` were chosen, with shorter fits ([low_rank_defaults](../low_rank_defaults/README.md)).",
             *[f"By {name} low-rank is worse than: {decided(rows, metric, -1)}. It is better than: {decided(rows, metric, 1)}. "
               "Everything else is undecided."
               for name, metric in (("NLL", NLL), ("CRPS", CRPS)) if rows],
             "## NLL\n\n" + RULE.format(reference=REFERENCE) + "\n\n" + comparison(rows, REFERENCE, list(by_variant(rows, NLL)))]
    for title, metric in (("CRPS", CRPS), ("Coverage at 95 %", "coverage"), ("Seconds", "seconds")):
        by_method = by_variant(rows, metric)
        parts.append(f"## {title}\n\n" + grid(["", *SIX], [[name, *means(values, SIX)] for name, values in by_method.items()]))
        if metric == CRPS:
            parts += [f"## {name}, table by table\n\nMean difference from `{REFERENCE}` over the splits ± standard error (number of "
                      f"pairs), negative where the method is better than low-rank.\n\n{table_by_table(rows, one)}"
                      for name, one in (("NLL", NLL), ("CRPS", CRPS))]
    return Page([*parts, "## Parameters\n\n" + parameters(every)])
