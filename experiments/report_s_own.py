"""The pages of our own studies of low-rank networks: paired differences over tables and seeds from one reference."""

import statistics

import pages
import paired
import results
from cells_s import SIX
from claims_s import MI, numbers_of
from report_s import state
from tables import grid

NLL, VALID = "nll_standardized", "valid_nll_standardized"


def variant_of(row):
    """A study's name says what differs; of a study with several methods, the method does."""
    return row["method"] if row["study"] in ("rivals", "defaults") else row["study"]


def by_variant(rows, metric):
    """(variant) to {(table, seed): number}; failed rows and rows without the number are left out."""
    found = {}
    for row in results.latest(rows):
        if not row["error"] and row[metric]:
            found.setdefault(variant_of(row), {})[row["data"], row["seed"]] = float(row[metric])
    return found


def means(values, tables):
    """The mean over seeds on each table, "" where none was measured."""
    found = []
    for table in tables:
        own = [value for (data, _), value in values.items() if data == table]
        found.append(f"{statistics.fmean(own):.3f}" if own else "")
    return found


def shown(found):
    return "" if found is None else f"{found}" + {1: " worse", -1: " better", 0: ""}[found.sign]


def comparison(rows, reference, variants, tables=SIX):
    """Each variant's NLL on each table, and its differences from the reference on validation and on test rows."""
    test, valid = by_variant(rows, NLL), by_variant(rows, VALID)
    lines = [[name, *means(test[name], tables), shown(paired.difference(valid.get(name, {}), valid.get(reference, {}))),
              shown(paired.difference(test[name], test.get(reference, {})))] for name in variants if name in test]
    return grid(["", *tables, "validation", "test"], lines)


RULE = ("The last two columns are the mean difference of the NLL from `{reference}` on the same table, split and seed, ± its standard error "
        "(number of pairs); it is called better or worse where it exceeds the 95 % bound by Student's t.")


DEFAULTS = """# The defaults of low-rank

```
experiments/run.py experiments/low_rank_defaults/cells.csv     # resumable cell by cell
experiments/report.py
```

Which start, which weight of the KL and which rank does `low-rank` need on a table? Each cell is a fit of 2,000 steps, a tenth of
the default. Six tables, a split for each seed, 80 % of the rows train. Each
cell writes out the options that vary, so a changed default does not make it stale. The choice rests on the validation NLL; the NLL is in
standardised units. A low NLL is better. Seconds were measured on a busy machine and say nothing.

## What follows

Two defaults of the time were wrong, and together: the weight of the KL (beta 1) and the sd that the weights start with (start_share 0.1,
start_sd 0.01). With both, the validation score gets worse as soon as the spreads grow, and the fit keeps an early epoch whose spreads
are still where they started. A smaller start lowers the validation NLL at every beta that was tried with both starts. With it, beta 0.1
and 0.01 do not differ by a decided amount, and the intervals of 0.1 cover more (0.943 against 0.917, four tables). So: beta 0.1, start_share 0.01, start_sd 0.001. With them low-rank has no decided difference from dnn,
vbll or dbk on four tables at one seed; the ensemble is ahead on all four (undecided). Of the other options, changed one at a
time around this choice, none is decidedly better by the validation or the test NLL, and a prior sd of 0.1 is decidedly worse by the validation NLL.
Rank 32 is ahead on the mean (undecided) with twice the factors. Whether the choice lasts for 20,000 steps is not measured."""


def low_rank_defaults():
    folder = pages.HERE / "low_rank_defaults"
    rows = results.read(folder / "results.csv")
    names = list(dict.fromkeys(variant_of(row) for row in rows))
    rivals = [name for name in names if any(row["study"] == "rivals" and variant_of(row) == name for row in rows)]
    betas = sorted((n for n in names if n.startswith("beta") and "," not in n), key=lambda n: -float(n.split()[1]))
    reference, winner = "beta 0.01", "beta 0.1, start-share 0.01, start-sd 0.001"
    around = [name for name in names if name.startswith(f"{winner}, ")]
    starts = [name for name in names if name not in (*around, *rivals, *betas)]
    parts = [DEFAULTS, state("low_rank_defaults", folder),
             "## Weight of the KL\n\n" + RULE.format(reference=reference) + "\n\n" + comparison(rows, reference, betas),
             "## The start\n\n" + comparison(rows, reference, [reference, *starts])]
    if around:
        parts.append(f"## The other options\n\nOne change from `{winner}` at a time, on two splits.\n\n" + comparison(rows, winner, [winner, *around]).replace(f"| {winner}, ", "| "))
    parts.append(f"## Rivals at equal steps\n\nDifferences from `{winner}`.\n\n" + comparison(rows, winner, [winner, *rivals]))
    (folder / "README.md").write_text("\n\n".join(part.rstrip() for part in parts) + "\n")


def table_by_table(rows, metric, reference="low-rank"):
    """Each method's difference from the reference on each table alone, over its splits."""
    found = by_variant(rows, metric)
    lines = []
    for name, values in found.items():
        if name == reference:
            continue
        own = [{key: value for key, value in values.items() if key[0] == table} for table in SIX]
        lines.append([name, *[shown(paired.difference(one, found.get(reference, {}))) for one in own]])
    return grid(["", *SIX], lines)


def decided(rows, metric, sign, reference="low-rank"):
    """Where a method's difference from the reference is decided and has this sign: method, tables, by how much."""
    found, parts = by_variant(rows, metric), []
    for name, values in found.items():
        if name == reference:
            continue
        tables = []
        for table in SIX:
            one = paired.difference({key: value for key, value in values.items() if key[0] == table}, found[reference])
            if one is not None and one.sign == sign:
                tables.append(f"{table} ({abs(one.mean):.3f})")
        if tables:
            parts.append(f"{name} on {', '.join(tables)}")
    return "; ".join(parts) or "none"


def low_rank_six():
    folder = pages.HERE / "low_rank_six"
    every = results.read(folder / "results.csv")
    rows = [row for row in every if row["study"] == "defaults"]
    sizes = {}
    for row in results.latest(every):
        if row["study"] == "parameters" and row["parameters"]:
            sizes.setdefault(row["method"], {})[row["data"]] = f"{int(row['parameters']):,}"
    parts = ["# Low-rank networks beside the other methods, untuned", "```\nexperiments/run.py experiments/low_rank_six/cells.csv\nexperiments/report.py\n```",
             state("low_rank_six", folder), "Six tables, five splits, every method by its defaults.",
             *[f"By {name} low-rank is worse than: {decided(rows, one, -1)}. It is better than: {decided(rows, one, 1)}. Everything else is undecided."
               for name, one in (("NLL", NLL), ("CRPS", "crps_standardized"))],
             "## NLL\n\n" + RULE.format(reference="low-rank") + "\n\n" + comparison(rows, "low-rank", list(by_variant(rows, NLL)))]
    for title, metric in (("CRPS", "crps_standardized"), ("Coverage at 95 %", "coverage"), ("Seconds", "seconds")):
        found = by_variant(rows, metric)
        parts.append(f"## {title}\n\n" + grid(["", *SIX], [[name, *means(values, SIX)] for name, values in found.items()]))
        if metric == "crps_standardized":
            parts += [f"## {name}, table by table\n\nMean difference from `low-rank` over the splits ± standard error (number of pairs), negative where "
                      f"the method is better than low-rank.\n\n{table_by_table(rows, one)}" for name, one in (("NLL", NLL), ("CRPS", metric))]
    parts.append("## Parameters\n\n" + grid(["", *SIX], [[name, *[own.get(table, "") for table in SIX]] for name, own in sizes.items()]))
    (folder / "README.md").write_text("\n\n".join(part.rstrip() for part in parts) + "\n")


def s_ablations():
    """Each change to S's clinical network, by the AUROC for foreign patients and by the NLL."""
    folder = pages.HERE / "s_ablations"
    rows = [row for row in results.latest(results.read(folder / "results.csv")) if not row["error"]]
    found = {}
    for row in rows:
        own = row["flags"].removeprefix("--preset paper-clinical --epochs 64").replace("--beta 5.4", "").strip()
        found.setdefault(f"{row['method']} {own}".strip(), {})[row["seed"]] = numbers_of(row)
    lines = []
    for name, seeds in found.items():
        line = [name]
        for metric in (f"ood.auroc.{MI}", "auroc", "nll", "ece"):
            values = {seed: numbers[metric] for seed, numbers in seeds.items() if metric in numbers}
            base = {seed: numbers[metric] for seed, numbers in found.get("low-rank", {}).items() if metric in numbers}
            line += [f"{statistics.fmean(values.values()):.3f}" if values else "", f"{paired.difference(values, base) or ''}"]
        lines.append(line)
    header = ["", *[word for title in ("AUROC-OOD", "AUROC", "NLL", "ECE") for word in (title, "- low-rank")]]
    parts = ["# What each choice is worth", "```\nexperiments/run.py experiments/s_ablations/cells.csv\nexperiments/report.py\n```", state("s_ablations", folder),
             "Source and network of [s_table1](../s_table1/README.md), one change at a time. Differences from `low-rank` with its preset and beta 5.4, seed by "
             "seed, ± standard error (number of pairs).", grid(header, lines)]
    (folder / "README.md").write_text("\n\n".join(part.rstrip() for part in parts) + "\n")


def write():
    low_rank_defaults()
    low_rank_six()
    s_ablations()
