"""The pages of the studies of low-rank Bayesian networks (S), ours beside the printed numbers."""

import csv
import math
import statistics

import pages
import results
from claims_s import METHODS, MI, PRINTED, SD, Measured, claims_of
from pages import verdicts
from tables import grid

# study: title, what is run, columns of (title, ours, as it is printed, printed / ours)
STUDIES = {
    "s_table1": ("Table 1 of S, with support2 in the place of MIMIC-III",
                 "MIMIC-III may not be passed on, so the levels cannot agree with S's; the orderings can. Foreign: the patients in coma, whose rows "
                 "and column are not seen in training. 64 epochs of S's 256; 32 for the deterministic networks, as in S. "
                 "S multiplies the KL by 7.9e-4, which is 32 / N with its 40,406 rows; the same factor is beta 5.4 on the 6,807 rows here.",
                 [("AUROC", "auroc", "auroc", 1), ("AUPR-Err", f"errors.aupr_err.{MI}", "aupr_err", 1), ("AUROC-OOD", f"ood.auroc.{MI}", "auroc_ood", 1),
                  ("AUPR-OOD", f"ood.aupr_ood.{MI}", "aupr_ood", 1), ("AUPR-In", f"ood.aupr_in.{MI}", "aupr_in", 1), ("NLL", "nll", "nll", 1),
                  ("parameters", "parameters", "params", 1)]),
    "s_table2": ("Table 2 of S: PM2.5 of Beijing, Guangzhou foreign",
                 "Windows of 24 hours, split by time with a gap. 6 epochs of at most 150. Of Guangzhou the year 2014 alone. S's PICP stands beside the "
                 "coverage of the epistemic sd, its ECE beside the area of that calibration curve.",
                 [("MAE", "mae", "mae", 1), ("ECE", "calibration_curve.area_epistemic", "ece", 1), ("PICP", "coverage_epistemic", "picp", 1),
                  ("coverage, total", "coverage", "", 1), ("AUROC-OOD", f"ood.auroc.{SD}", "auroc_ood", 1), ("AUPR-OOD", f"ood.aupr_ood.{SD}", "aupr_ood", 1),
                  ("retention gain", "retention_gain", "mae_improvement_percent_at_retention_80", 100), ("parameters", "parameters", "params", 1)]),
    "s_table3": ("Table 3 of S: SST-2, AG News foreign",
                 "Every eighth phrase and every sixteenth news text, 8 epochs of 20, 20 draws of 50, words in place of word pieces.",
                 [("accuracy", "accuracy", "accuracy", 1), ("NLL", "nll", "nll", 1), ("AUROC-OOD", f"ood.auroc.{MI}", "auroc_ood", 1),
                  ("MI ratio", f"ood.ratio.{MI}", "mi_ratio", 1), ("AUPR-In", f"ood.aupr_in.{MI}", "aupr_in", 1),
                  ("AUPR-Succ", f"errors.aupr_succ.{MI}", "aupr_succ", 1), ("parameters", "parameters", "params", 1)]),
    **{study: (title, f"5 epochs of 50, 20 draws of 50. Foreign: {foreign}. S prints the Brier score of one class in ten on MNIST; ours is summed over the classes.",
               [("accuracy", "accuracy", "accuracy_pct", 100), ("NLL", "nll", "nll", 1), ("Brier", "brier", "brier", 1), ("ECE", "ece", "ece", 1),
                ("ECE, equal width", "ece_width", "ece_ew_15", 1), ("AUROC-OOD", f"ood.auroc.{MI}", "", 1), ("parameters", "parameters", "params", 1)])
       for study, title, foreign in (("s_table15", "Tables 14 to 16 of S: MNIST", "Fashion-MNIST"),
                                     ("s_table17", "Tables 17 and 18 of S: Fashion-MNIST", "MNIST"))},
    "s_toy": ("Tables 19 and 20 of S: a curve with a gap",
              "In full: 800 epochs, the noise held at .02. The widths are of the 5-95 % range of a Gaussian with the epistemic sd, medians over a grid.",
              [("RMSE", "rmse", "rmse_mc200", 1), ("width in", "width_in", "epistemic_width_in_domain", 1),
               ("width out", "width_out", "epistemic_width_out_of_domain", 1), ("ratio", "width_ratio", "epistemic_width_ratio", 1),
               ("parameters", "parameters", "params", 1)]),
}


def shown(values, metric):
    """Mean ± standard error (number of seeds); "" without a value."""
    values = list(values.values())
    if not values:
        return ""
    if metric == "parameters":
        return f"{values[0]:,.0f}"
    error = f" ± {statistics.stdev(values) / math.sqrt(len(values)):.3f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.3f}{error} ({len(values)})"


def printed_numbers(folder):
    with open(folder / "published.csv", newline="") as file:
        return {(row["method"], row["metric"]): float(row["value"]) for row in csv.DictReader(file)}


def table_of(measured, published, columns, methods=tuple(METHODS), printed_as=PRINTED, paper="S"):
    """Our numbers of each method above those that the paper prints."""
    rows = []
    for name in methods:
        ours = [shown(measured.by_seed(name, metric), metric) for _, metric, _, _ in columns]
        theirs = [published.get((printed_as.get(name), printed)) for _, _, printed, _ in columns]
        if any(ours):
            rows.append([name, "ours", *ours])
        if any(value is not None for value in theirs):
            rows.append([name, paper, *["" if value is None else f"{value / by:,.0f}" if printed.startswith("params") else f"{value / by:.3g}"
                                        for value, (_, _, printed, by) in zip(theirs, columns)]])
    return grid(["method", "", *[title for title, *_ in columns]], rows)


def state(study, folder):
    """How many of the cells are measured, and what failed."""
    cells, rows = results.read(folder / "cells.csv"), results.latest(results.read(folder / "results.csv"))
    asked = {results.key(cell) for cell in cells}
    done = [row for row in rows if results.key(row) in asked and not row["error"]]
    commits = ", ".join(dict.fromkeys(row["commit"] for row in done)) or "none"
    failed = [f"- failed: {row['method']} {row['flags']}, seed {row['seed']}: {row['error']}"
              for row in rows if results.key(row) in asked and row["error"]]
    return "\n".join([f"{len(done)} of {len(cells)} cells measured, at commits {commits}; one thread a fit.", *failed])


def curve_of(rows, columns):
    """The rows of the study's parts `curve`: what the saving costs."""
    found = [row for row in results.latest(rows) if row["study"].startswith(("curve", "beta")) and row["seed"] == "0" and not row["error"]]
    if not found:
        return ""
    from claims_s import name_of, numbers_of
    metrics = [(title, metric) for title, metric, _, _ in columns if metric != "parameters"]
    lines = [[row["study"].removeprefix("curve").lstrip(", ") or row["data"], name_of(row),
              *[f"{numbers_of(row)[m]:.3f}" if m in numbers_of(row) else "" for _, m in metrics], row["seconds"]] for row in found]
    return "## Other budgets and weights of the KL\n\nOne seed.\n\n" + grid(["budget", "method", *[title for title, _ in metrics], "seconds"], lines)


def every_phrase(rows):
    """The rows of S Table 3's networks on all phrases, with the words that a fit reads in a second."""
    from claims_s import name_of, numbers_of
    batch, words = 64, 633724 / 67349  # of a phrase of sst2_train.csv.gz, on average
    metrics = [("accuracy", "accuracy"), ("NLL", "nll"), ("AUROC-OOD", f"ood.auroc.{MI}")]
    lines = []
    for row in results.latest(rows):
        if row["study"] != "all phrases" or row["error"]:
            continue
        numbers = numbers_of(row)
        lines.append([name_of(row), *[f"{numbers[m]:.3f}" if m in numbers else "" for _, m in metrics], row["steps"], row["seconds"],
                      f"{int(row['steps']) * batch * words / float(row['seconds']):,.0f}"])
    if not lines:
        return ""
    return ("## Every phrase\n\nAll 67,349 phrases (5 % of them validate), every news text, at most 8 epochs, one seed. Words a second: those of the "
            "training steps over all seconds of the fit, reading and validation included, one thread of a busy machine.\n\n"
            + grid(["method", *[title for title, _ in metrics], "steps", "seconds", "words/s"], lines))


def write():
    """Every page; the claims."""
    found = []
    for study, (title, text, columns) in STUDIES.items():
        folder = pages.HERE / study
        rows = results.read(folder / "results.csv")
        measured = Measured(rows, results.read(folder / "cells.csv"))
        own = claims_of(study, measured)
        parts = [f"# {title}", f"```\nexperiments/run.py experiments/{study}/cells.csv     # resumable cell by cell\nexperiments/report.py\n```",
                 state(study, folder), f"{text} Ours: mean ± standard error over seeds (their number in brackets); S as printed.",
                 table_of(measured, printed_numbers(folder), columns), curve_of(rows, columns), every_phrase(rows),
                 "## Claims\n\nDecided where the mean difference, seed by seed, exceeds its 95 % bound by Student's t.\n\n" + verdicts(own)]
        (folder / "README.md").write_text("\n\n".join(part.rstrip() for part in parts if part) + "\n")
        found += own
    return found
