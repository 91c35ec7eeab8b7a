"""A study's page: its title and commands, what is measured and what is not, its parts, its claims with their verdicts."""

import collections
import pathlib

import results
from tables import grid

HERE = pathlib.Path(__file__).resolve().parent


def verdicts(found):
    return grid(["claim", "of", "verdict", "numbers"], [[c.text, c.source, f"**{c.verdict}**", c.numbers] for c in found])


def changes(found):
    """In words, what a row's recipe says differently."""
    return ", ".join(f"{name.removeprefix('options.')} {old}, not {new}" for name, (old, new) in found.items())


def old_and_mixed(scores):
    """The rows that are left out of their mean, and the means that an older reading of the options gave; a line each."""
    lines = [f"- left out of its mean, whose newer rows have other options: {row['study']}, {row['data']}, {row['method']}"
             f"{row['flags'] and ' ' + row['flags']}, seed {row['seed']}, commit {row['commit']}: {changes(found)}." for row, found in scores.left_out]
    groups = collections.defaultdict(list)
    for (study, _, name), found in scores.old.items():
        groups[study, changes(found)].append(name)
    lines += [f"- †: `{study}`, {', '.join(dict.fromkeys(names))}: measured with options that the tool no longer takes: {how}. To be run anew."
              for (study, how), names in groups.items()]
    if scores.unrecorded:
        lines.append(f"- {scores.unrecorded} rows do not say their options.")
    return lines


def missing(folder, scores):
    """How many cells are still to run, and those that failed, in a sentence each."""
    cells = results.read(folder / "cells.csv")
    done = {results.key(row) for row in results.read(folder / "results.csv") if not row["error"]}
    left = sum(results.key(row) not in done for row in cells)
    commits = ", ".join(scores.commits()) or "none"
    lines = [f"{len(cells) - left} of {len(cells)} cells measured, at commits {commits}; one thread a fit."]
    lines += [f"- failed: {row['data']}, {row['method']}{row['flags'] and ' ' + row['flags']}, seed {row['seed']}: {row['error']}" for row in scores.failed]
    return "\n".join(lines + old_and_mixed(scores)) + "\n"


def page(folder, title, scores, parts):
    text = f"# {title}\n\n```\nexperiments/run.py experiments/{folder}/cells.csv     # resumable cell by cell\nexperiments/report.py\n```\n\n"
    text += missing(HERE / folder, scores) + "\n" + "\n".join(part.rstrip() + "\n" for part in parts if part)
    (HERE / folder / "README.md").write_text(text)
