"""rank, start, law, weight of the KL and prior on S's clinical network."""

import statistics

import paired
import studies
from pages import Page
from paper_s import MI, numbers_of
from results import asked
from tables import grid

TITLE = "What each choice is worth"
WHAT = "rank, start, law, weight of the KL and prior on S's clinical network"
PAPER = "S"

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


def page(now):
    """Each change by the AUROC for foreign patients and by the NLL."""
    found = by_choice(studies.rows(studies.HERE / "s_ablations"))
    lines = []
    for name, seeds in found.items():
        line = [name]
        for metric in (f"ood.auroc.{MI}", "auroc", "nll", "ece"):
            values, base = values_of(seeds, metric), values_of(found.get("low-rank", {}), metric)
            line += [f"{statistics.fmean(values.values()):.3f}" if values else "", f"{paired.difference(values, base) or ''}"]
        lines.append(line)
    header = ["", *[word for title in ("AUROC-OOD", "AUROC", "NLL", "ECE") for word in (title, "- low-rank")]]
    return Page(["Source and network of [s_table1](../s_table1/README.md), one change at a time. Differences from `low-rank` with "
                 "its preset and beta 5.4, seed by seed, ± standard error (number of pairs).", grid(header, lines)])
