"""A study's protocol beside the paper's, line by line, and what it permits to be said.

A claim of a paper gets a verdict only where its protocol was followed. A line differs where our fits have, say, fewer epochs, fewer rows, a
smaller network or no search. The verdict is then "not tested", with the line, unless rows at full length have shown that the line changes
nothing. It is one rule in both directions: fits that were cut short neither refute a claim nor prove it. What these fits show stays
beside it.
"""

from typing import NamedTuple

from judge import CUT, UNTESTED
from tables import grid

SAME, MORE, SILENT = "the same", "no less", "not said by the paper"
DIFFERS = "differs"


class Shown(NamedTuple):
    """Rows that show a line to be without effect: the part of the study's results that has them, and what they show."""
    part: str
    text: str


class Line(NamedTuple):
    """One line of the protocol. `paper` says where it stands; `ours` is what the cells do."""
    what: str
    paper: str
    ours: str
    effect: object = DIFFERS  # SAME, MORE, SILENT, DIFFERS or a Shown
    of: str = ""  # what the sources of the claims that it is about have in common; "": every claim of the paper


def check(name, lines, rows):
    """Raises ValueError for a line whose rows are not there, whose effect is none of this file, or with a bar, which would end a cell of
    the page's table."""
    parts = {row["study"] for row in rows if not row["error"]}
    for line in lines:
        if "|" in line.what + line.paper + line.ours:
            raise ValueError(f"[PROTOCOL] expected words without a bar; received {line.what!r} with one in {name}/study.py")
        if isinstance(line.effect, Shown) and line.effect.part not in parts:
            raise ValueError(f"[PROTOCOL] expected rows of the part {line.effect.part!r} for {line.what!r}; received none in {name}/results.csv")
        if line.effect not in (SAME, MORE, SILENT, DIFFERS) and not isinstance(line.effect, Shown):
            raise ValueError(f"[PROTOCOL] expected an effect of protocol.py for {line.what!r}; received {line.effect!r} in {name}/study.py")


def differing(source, lines):
    """The lines that forbid a verdict on a claim of this source."""
    return [line for line in lines if line.effect == DIFFERS and line.of in source]


def ruled(claim, lines):
    """The claim, "not tested" where a line of its protocol differs. Our own claims are about our own protocol."""
    found = differing(claim.source, lines)
    if not found or claim.verdict == UNTESTED or claim.source.split()[0].rstrip(",") == "ours":
        return claim
    missing = "; ".join(f"{line.what}: {line.ours} (the paper: {line.paper})" for line in found)
    return claim._replace(verdict=CUT, needed="", numbers=f"{missing}. These fits: {claim.verdict}. {claim.numbers}".rstrip())


def table(lines):
    """The part of the page that states the protocol; "" without one."""
    def effect(line):
        return f"none: {line.effect.text} (`{line.effect.part}`)" if isinstance(line.effect, Shown) else line.effect

    rows = [[line.what + (f" ({line.of})" if line.of else ""), line.paper, line.ours, effect(line)] for line in lines]
    return "## Protocol\n\n" + grid(["", "the paper", "ours", "effect"], rows) if rows else ""
