#!/usr/bin/env python3
"""Writes the studies' tables, figures and judged claims from their results.csv: each study's README.md, this folder's, and
the numbers of the front page.

  experiments/report.py [STUDY ...] [--no-figures]

Nothing here is typed in: run it again whenever cells were added. With names, the pages of these studies alone, and the overview. The tool
(build/slimbayes, SLIMBAYES_TOOL, --tool) says which rows were measured with options that it no longer takes. Figures need
experiments/requirements.txt.
"""

import argparse
import collections
import importlib.util
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "record"), str(HERE / "papers")]
import front  # noqa: E402
import judge  # noqa: E402
import pages  # noqa: E402
import paired  # noqa: E402
import studies  # noqa: E402
from runners import Runner  # noqa: E402
from studies import PAPERS  # noqa: E402
from tables import grid  # noqa: E402


def short(numbers):
    """The count of a claim about several cases, all of a single one."""
    count, _, rest = numbers.partition(". ")
    return rest if count in ("1 of 1", "0 of 1") else count


OURS = "ours"


def of_papers(found):
    """The claims of `found`, (folder, claim), that a paper makes."""
    return [claim for _, claim in found if claim.source.split()[0].rstrip(",") != OURS]


def tally(found):
    return ", ".join(f"{sum(claim.verdict == verdict for claim in found)} {verdict}" for verdict in (judge.HOLDS, judge.FAILS, judge.OPEN, judge.CUT, judge.UNTESTED))


def table_of_studies(folders):
    rows = [[f"[{folder.name}]({folder.name}/README.md)", study.PAPER, study.WHAT]
            for folder in folders for study in [studies.load(folder)]]
    return grid(["study", "of", "what"], sorted(rows, key=lambda row: list(PAPERS).index(row[1])))


def tables_of_claims(found):
    """`found`: (folder, claim)."""
    by_paper = collections.defaultdict(list)
    for folder, claim in found:
        paper = claim.source.split()[0].rstrip(",")
        if paper not in PAPERS:
            raise ValueError(f"[source] expected a claim's source to begin with one of {', '.join(PAPERS)}; received {claim.source!r} in {folder.name}")
        by_paper[paper].append((folder, claim))
    parts = []
    for paper, name in PAPERS.items():
        rows = [[claim.text, claim.source, f"**{claim.verdict}**", short(claim.numbers), claim.needed, f"[{folder.name}]({folder.name}/README.md)"]
                for folder, claim in by_paper[paper]]
        if rows:
            parts.append(f"### {paper}: {name}\n\n{tally([claim for _, claim in by_paper[paper]])}\n\n"
                         + grid(["claim", "of", "verdict", "effect", "seeds needed", "study"], rows))
    return "\n".join(parts)


SHARE = 1 / 9  # of the test rows to the others, in most studies here


def of_overlap(folders, now, found):
    """The verdicts that change where the bound is widened for splits that share rows."""
    with paired.overlapping(SHARE):
        again = [claim for folder in folders if pages.splits_vary(folder) for claim in pages.made(folder, now)[1]]
    before = [(folder, claim) for folder, claim in found if pages.splits_vary(folder)]
    rows = [[claim.text, claim.source, claim.verdict, wider.verdict, f"[{folder.name}]({folder.name}/README.md)"]
            for (folder, claim), wider in zip(before, again, strict=True) if claim.verdict != wider.verdict]
    return grid(["claim", "of", "verdict", "with the wider bound", "study"], rows) if rows else "None.\n"


def that_stay(found):
    """The number of open claims that no cell which is asked for can change: of studies whose cells are all measured, or have one
    seed each."""
    def ended(folder):
        cells = studies.cells(folder)
        done = [row for row in studies.rows(folder) if not row["error"]]
        return len(done) >= len(cells) or len({cell["seed"] for cell in cells}) == 1

    return sum(ended(folder) for folder, claim in found if claim.verdict == judge.OPEN)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", metavar="STUDY")
    parser.add_argument("--no-figures", action="store_true", help="leave the figures as they are; without it matplotlib is needed")
    parser.add_argument("--tool", default=os.environ.get("SLIMBAYES_TOOL", str(HERE.parent / "build" / "slimbayes")))
    options = parser.parse_args()
    if not pathlib.Path(options.tool).exists():
        raise SystemExit(f"no tool at {options.tool}: build it (make build) or name it with --tool")
    if not options.no_figures and not importlib.util.find_spec("matplotlib"):
        raise SystemExit("figures need matplotlib: pip install -r experiments/requirements.txt, or --no-figures")
    now, folders = Runner(options.tool, studies.HERE), studies.folders()
    chosen = [studies.find(word) for word in options.studies] or folders
    found = []
    for folder in folders:
        text, claims = pages.made(folder, now)
        found += [(folder, claim) for claim in claims]
        if folder in chosen:
            (folder / "README.md").write_text(text)
    overview = (HERE / "record" / "overview.md").read_text()
    (studies.HERE / "README.md").write_text(overview.format(
        studies=table_of_studies(folders), stays=that_stay([(folder, claim) for folder, claim in found if claim in of_papers(found)]),
        tally=tally(of_papers(found)), claims=tables_of_claims(found), overlap=of_overlap(folders, now, found)))
    front.write(now)
    if not options.no_figures:
        import figures
        figures.draw(chosen, now)


if __name__ == "__main__":
    main()
