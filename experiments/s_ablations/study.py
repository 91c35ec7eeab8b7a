"""rank, start, law, weight of the KL and prior on S's clinical network."""

import itertools
import statistics

import paired
import studies
from judge import judged, ordered
from pages import Page
from paper_s import CLINICAL_PROTOCOL, KEPT, MI, at_the_prior, numbers_of
from protocol import SAME, SILENT, Line
from results import asked
from tables import grid

TITLE = "What each choice is worth"
WHAT = "rank, start, law, weight of the KL and prior on S's clinical network"
PAPER = "S"
PROTOCOL = [
    *CLINICAL_PROTOCOL,
    Line("weight of the KL", ".5 / batches = 7.9e-4 (G.3.2)", "7.9e-4, as beta 5.4 on 6,807 rows, where it is not varied", SAME),
    Line("ranks tried", "pairs of ranks of the two layers (Figure 10)", "one rank for every layer: 2, 5, 10, 15, 30, 60"),
    Line("damping", ".32 for ranks up to 5, .55 above (Table 6)", ".55 at every rank, where it is not varied"),
    Line("epochs", "of the ablation of ranks: fewer than 256, no number (H.2)", "64", SILENT),
    KEPT,
]

METRICS = {"AUROC-OOD": f"ood.auroc.{MI}", "AUROC": "auroc", "NLL": "nll", "ECE": "ece"}
PRESET, WEIGHT = "--preset paper-clinical --epochs 64", "--beta 5.4"


def cells():
    """On support2, 3 seeds: rank, start, law of the posterior, weight of the KL, prior, matching."""
    changes = ("", "--rank 2", "--rank 5", "--rank 10", "--rank 30", "--rank 60", "--damping 1", "--start-share 0.01",
               "--start-share 0.3", "--beta 0.1", "--beta 1", "--beta 32", "--prior normal", "--match-prior true", "--kl-ramp 20",
               "--random-biases false")
    others = [("low-rank-svd", ""), ("low-rank-laplace", ""), ("full-rank", ""), ("full-rank", "--start network")]
    for seed in range(3):
        for method, own in [*[("low-rank", own) for own in changes], *others]:
            yield asked("ablations", "support2", method, seed, PRESET, "" if "--beta" in own else WEIGHT, own)


def by_choice(rows):
    """By method and what it changes, then by seed, its numbers."""
    found = {}
    for row in rows:
        if not row["error"]:
            own = row["flags"].removeprefix(PRESET).replace(WEIGHT, "").strip()
            found.setdefault(f"{row['method']} {own}".strip(), {})[row["seed"]] = numbers_of(row)
    return found


def values_of(seeds, metric):
    return {seed: numbers[metric] for seed, numbers in seeds.items() if metric in numbers}


def table(found, base):
    lines = []
    for name, seeds in found.items():
        line = [name]
        for metric in METRICS.values():
            values, others = values_of(seeds, metric), values_of(base, metric)
            line += [f"{statistics.fmean(values.values()):.3f}" if values else "", f"{paired.difference(values, others) or ''}"]
        lines.append(line)
    return grid(["", *[word for title in METRICS for word in (title, "- low-rank")]], lines)


def without_collapsed(found):
    """The fits that answer one label for every row, though some rank the rows, and the lines of the table that they leave something of."""
    lost = {name: [seed for seed, numbers in seeds.items() if at_the_prior(numbers)] for name, seeds in found.items()}
    named = "; ".join(f"`{name}`, seed{'s' * (len(seeds) > 1)} {', '.join(seeds)}" for name, seeds in lost.items() if seeds)
    left = {name: {seed: numbers for seed, numbers in seeds.items() if seed not in lost[name]} for name, seeds in found.items()}
    left = {name: seeds for name, seeds in left.items() if seeds and lost[name]}
    return (f"## Without the fits that answer one label for every row\n\nFits that answer one label for every row: {named}. The means and "
            "differences above hold them. The lines without them, where other seeds are left:\n\n"
            + table(left, found.get("low-rank", {}))) if named else ""


def claims(found):
    """S: "Higher ranks generally improve OOD detection but degrade calibration, while lower ranks maintain better calibration at reduced
    OOD sensitivity" (H.2, Figure 10). Low-rank is of rank 15."""
    ranks = [("2", "low-rank --rank 2"), ("5", "low-rank --rank 5"), ("15", "low-rank"), ("60", "low-rank --rank 60")]
    for title, metric, up in (("improve the AUROC for foreign rows", f"ood.auroc.{MI}", True), ("have a higher NLL", "nll", True),
                              ("have a higher ECE", "ece", True)):
        cases = [ordered(f"rank {high} - rank {low}", values_of(found.get(more, {}), metric), values_of(found.get(fewer, {}), metric), up)
                 for (low, fewer), (high, more) in itertools.pairwise(ranks)]
        yield judged("S H.2, Figure 10", f"higher ranks {title}: 5 above 2, 15 above 5, 60 above 15", cases)


def page(now):
    """Each change by the AUROC for foreign patients and by the NLL."""
    found = by_choice(studies.rows(studies.HERE / "s_ablations"))
    return Page(["Source and network of [s_table1](../s_table1/README.md), one change at a time. Differences from `low-rank` with "
                 "its preset and beta 5.4, seed by seed, ± standard error (number of pairs).",
                 table(found, found.get("low-rank", {})),
                 without_collapsed(found)], list(claims(found)))
