"""A study's page: its title and commands, what is measured and what is not, its parts, its claims with their verdicts."""

import collections
from typing import NamedTuple

import protocol
import results
import studies
from tables import grid


class Page(NamedTuple):
    parts: list  # of the text; "" is left out
    claims: list = ()
    scores: object = None  # scores.Scores, which tell the rows that they leave out


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
    return lines


def progress(folder, scores=None):
    """How many cells are measured, and those that failed or say too little, a line each."""
    cells, rows = studies.cells(folder), studies.rows(folder)
    done = [row for row in rows if not row["error"]]
    commits = ", ".join(dict.fromkeys(row["commit"] for row in done if row["commit"])) or "none"
    old = sum(len(scores.rows(*at)) for at in scores.old) if scores else 0
    stale = f", {old} of them with options of before (†)" if old else ""
    lines = [f"{len(done)} of {len(cells)} cells measured{stale}, at commits {commits}; one thread a fit."]
    lines += [f"- failed: {row['data']}, {row['method']}{row['flags'] and ' ' + row['flags']}, seed {row['seed']}: {row['error']}"
              for row in rows if row["error"]]
    unrecorded = sum(not row["recipe"] for row in done)
    lines += [f"- {unrecorded} rows do not say their options."] if unrecorded else []
    return "\n".join(lines + (old_and_mixed(scores) if scores else []))


def made(folder, now):
    """The text of the study's page, and its claims. Raises ValueError for rows that are not to be compared (results.refuse_mixed)."""
    study = studies.load(folder)
    free = getattr(study, "MAY_DIFFER", {})
    results.refuse_mixed([row for row in studies.rows(folder) if not row["error"]], free)
    parts, claims, scores = study.page(now)
    lines = getattr(study, "PROTOCOL", ())
    protocol.check(folder.name, lines, studies.rows(folder))
    claims = [protocol.ruled(claim, lines) for claim in claims]
    head = [f"# {study.TITLE}", f"```\nexperiments/run.py {folder.name}     # resumable cell by cell\nexperiments/report.py {folder.name}\n```",
            "\n".join([progress(folder, scores), *(f"- `{name}` differs by method: {why}." for name, why in free.items())])]
    judged = ["## Claims\n\n" + verdicts(claims)] if claims else []
    return "\n\n".join(part.strip("\n") for part in [*head, *parts, protocol.table(lines), *judged] if part) + "\n", list(claims)


def write(folder, now):
    """Writes the page into the study's folder; its claims."""
    text, claims = made(folder, now)
    (folder / "README.md").write_text(text)
    return claims


def splits_vary(folder):
    """Whether the part that the study begins with compares methods over several splits of a table."""
    found, cells = collections.defaultdict(set), studies.cells(folder)
    for cell in cells:
        if cell["study"] == cells[0]["study"]:
            found[cell["data"]].add(cell["flags"].partition("--split-seed ")[2].partition(" ")[0])
    return any(len(seeds) > 1 for seeds in found.values())
