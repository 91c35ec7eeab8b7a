"""The judge: each claim of the papers is a rule on scores, and its verdict comes with the numbers.

A claim about all tables falls with the first table that contradicts it, and holds only when every table was measured;
a claim about some of them is decided once the missing ones cannot change it. Two methods are compared seed by seed, on the same split
(paired.py): the mean difference is decided beyond Student's 95 % bound, by one rule in both directions, and not by a single seed.
Thresholds are compared by the same rule. That two are alike holds where the 95 % interval of their difference lies inside a stated
margin, and falls where it lies outside: more noise decides less.
"""

import math
from typing import NamedTuple

from paired import difference, versus
from scores import limit, of, with_standard_error

HOLDS, FAILS, OPEN, UNTESTED = "holds", "does not hold", "open", "not measured"
CUT = "not tested"  # the cells do not follow the paper's protocol (protocol.py)
SINGLE, MIXED = ", a single seed", ", measured with options of two times"
WON = {1: True, 0: None, -1: False}  # by the sign of a difference that is to be above 0
OLD = " †"  # measured by options that are no longer the tool's


class Claim(NamedTuple):
    source: str
    text: str
    verdict: str
    numbers: str
    needed: str = ""  # of an open claim: the seeds that would decide it, if effects and spreads stay


class Case(NamedTuple):
    """One table's part of a claim: True, False, or None where it is not decided, without numbers where none were taken."""
    name: str
    won: bool | None
    numbers: str
    needed: float | None = None  # the seeds that would decide it, if effect and spread stay; None: not known, or decided


def at_least(cases, needed):
    """The verdict of "in at least `needed` of these cases"."""
    won, missing = sum(case.won is True for case in cases), sum(case.won is None for case in cases)
    if won >= needed:
        return HOLDS
    return FAILS if won + missing < needed else OPEN


def not_measured(source, text, why):
    """A claim that no row here is about."""
    return Claim(source, text, UNTESTED, why)


def judged(source, text, cases, needed=None):
    """The claim with every case's numbers; the lost ones are marked."""
    needed = len(cases) if needed is None else needed
    verdict, measured = at_least(cases, needed), [case for case in cases if case.numbers]
    count = (f"{sum(case.won is True for case in measured)} of {len(measured)}"
             + ("" if measured == cases else f" measured, {len(cases)} in all"))
    mark = {True: "", False: " (no)", None: " (undecided)"}
    listed = "; ".join(f"{case.name}: {case.numbers}{mark[case.won]}" for case in measured)
    return Claim(source, text, verdict, f"{count}. {listed}" if measured else "", seeds_needed(measured, needed) if verdict == OPEN else "")


def seeds_needed(cases, needed):
    """The seeds with which the claim would have the cases that it still needs: of the undecided ones, the cheapest that are enough. "" where
    a case that it needs was not measured, or has no spread."""
    missing = needed - sum(case.won is True for case in cases)
    undecided = [case.needed for case in cases if case.won is None]
    known = sorted(found for found in undecided if found is not None)
    if missing > len(known):
        return ""
    return "over 200" if known[missing - 1] == math.inf else str(known[missing - 1])


def shown(score):
    """Without a spread where one fit is all there is."""
    return f"{score.mean:.3f}" + f" ± {score.sd:.3f}" * has_spread(score) + OLD * score.old


def has_spread(score):
    return score.sd > 0 or score.seeds > 1 or (score.sd == 0 and score.seeds == 0)  # a printed one


def compared(name, a, b, won, of_a="", of_b="", note="", apart=lambda found: abs(found.mean)):
    """Case: what `won` says of the difference a - b, which lies `apart` from what decides it, None for a single seed, and where the tool still takes the options of one of
    the two alone; with both means and the difference."""
    if a is None or b is None or (found := versus(a, b)) is None:
        return Case(name, None, "")
    a, b = common(a, b)
    unlike = MIXED if a.old != b.old and a.by_seed and b.by_seed else SINGLE if found.n == 1 else ""
    numbers = " against ".join(f"{of} {shown(score)}".strip() for of, score in ((of_a, a), (of_b, b)))
    decided = None if unlike else won(found)
    more = found.pairs_needed(apart(found)) if decided is None and not unlike else None
    return Case(name, decided, f"{numbers}, {found}{note}{unlike}", more)


def common(a, b):
    """Both scores over the seeds that they share, which is what their difference is of."""
    if a.fixed or b.fixed or a.by_seed.keys() == b.by_seed.keys():
        return a, b
    found = []
    for score, other in (a, b), (b, a):
        shared = of({at: value for at, value in score.by_seed.items() if at in other.by_seed})._replace(old=score.old)
        found.append(with_standard_error(shared) if score.of_mean else shared)
    return found


def ordered(name, one, other, up=True):
    """Case: of two dicts from a seed to a number, one is above the other (`up`) or below it; with the difference alone."""
    found = difference(one, other)
    return Case(name, WON[found.sign if up else -found.sign], f"{found}", found.pairs_needed(abs(found.mean))) if found else Case(name, None, "")


def higher(name, a, b, of_a="", of_b=""):
    """Case: a is above b."""
    return compared(name, a, b, lambda found: WON[found.sign], of_a, of_b)


def lower(name, a, b, of_a="", of_b="", margin=0.0):
    """Case: a is below b plus the margin."""
    return compared(name, a, b, lambda found: WON[-found.less(margin).sign], of_a, of_b, apart=lambda found: abs(found.mean - margin))


def above(name, score, threshold):
    """Case: the score is above a stated number."""
    return higher(name, score, limit(threshold)) if score else Case(name, None, "")


def alike(name, a, b, margin):
    """Case: the two differ by less than the margin, in either direction."""
    return compared(name, a, b, lambda found: found.within(margin), apart=lambda found: abs(abs(found.mean) - margin))


def best(scores, study, data, names, metric, pick=min):
    """(name, score) with the lowest (or highest) mean; None unless all are measured."""
    found = [(name, scores.get(study, data, name, metric)) for name in names]
    if any(score is None for _, score in found):
        return None
    return pick(found, key=lambda each: each[1].mean)


def below(source, text, scores, study, a, b, tables, metric="NLL"):
    return judged(source, text, [lower(t, scores.get(study, t, a, metric), scores.get(study, t, b, metric)) for t in tables])


def any_of(wins):
    return True if True in wins else None if None in wins else False
