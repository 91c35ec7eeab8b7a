"""The judge's rules for the Rich-BLL paper (R), sections 4.2 and 4.4 on its Tables 2, 4, 5 and 6.

R's spread is the standard error of the mean over seeds, and so is ours here; the rule is that of claims.py: a difference of
less than the larger spread decides nothing. A claim of likeness is the other way round: it holds where the difference is not
larger than the larger spread.
"""

import math

import claims
from claims import Case, judged, lower, shown
from scores import Score, of

TABLES = ["boston", "concrete", "energy", "power_plant", "wine_red"]
RATIOS = {f"{r} %": f"rich-bll --subsample 0.{r // 10}" for r in (30, 50, 60, 70, 80, 90)}
FULL, SOME, BLL, MAP, VBLL = "Rich-BLL", "Rich-BLL (S)", "NNGP (BLL)", "DNN", "VBLL, linear"
COMPARABLE = 0.1  # nats; R says "comparably" without a number
FLAT = 0.05  # nats; R's own numbers differ by 0.04


class StandardErrors:
    """Scores whose spread is the standard error of the mean."""

    def __init__(self, scores):
        self.scores = scores

    def get(self, *at):
        score = self.scores.get(*at)
        return score and with_standard_error(score)

    def difference(self, study, table, a, b, metric="raw NLL"):
        """Of a - b, seed by seed: both saw the same split, and the post-hoc methods the same network. None without common seeds."""
        one, other = (self.scores.by_seed(study, table, name, metric) for name in (a, b))
        found = [one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())]
        return with_standard_error(of(found)) if found else None


def with_standard_error(score):
    return score._replace(sd=score.sd / math.sqrt(max(1, score.seeds)))


def alike(name, a, b):
    """Case: the two differ by the larger spread at most; undecided by a single seed."""
    if a is None or b is None:
        return Case(name, None, "")
    numbers = f"{shown(a)} against {shown(b)}"
    if math.isnan(a.sd) or math.isnan(b.sd):
        return Case(name, None, numbers + claims.SINGLE)
    return Case(name, abs(a.mean - b.mean) <= max(a.sd, b.sd) + 1e-9, numbers)


def pairs(scores, study, a, b, margin=0.0):
    return [lower(t, scores.get(study, t, a, "raw NLL"), scores.get(study, t, b, "raw NLL"), margin=margin) for t in TABLES]


def r_table2(scores, study="paper"):
    """The scores are StandardErrors; `study` is R's protocol or the one with equal rows."""
    source = f"R 4.2, {study}"
    yield judged(source, "Rich-BLL's NLL is below NNGP (BLL)'s on every table", pairs(scores, study, FULL, BLL))
    yield judged(source, "Rich-BLL (S) is as good as Rich-BLL: the NLLs differ by their standard error at most, on every table",
                 [alike(t, scores.get(study, t, SOME, "raw NLL"), scores.get(study, t, FULL, "raw NLL")) for t in TABLES])
    yield judged(source, "Rich-BLL's NLL is below MAP's on every table", pairs(scores, study, FULL, MAP))


def r_rivals(scores):
    yield from r_table2(scores, "held out")
    yield judged("R 4.2, held out", f"Rich-BLL (S) performs comparably to VBLL: its NLL is less than {COMPARABLE} nats above, on every table",
                 pairs(scores, "held out", SOME, VBLL, COMPARABLE))


def r_noise(scores):
    yield judged("R 4.2, grid", "Rich-BLL's NLL is below NNGP (BLL)'s on every table", pairs(scores, "grid", FULL, BLL))
    yield judged("R 4.2, learned", "Rich-BLL's NLL is below NNGP (BLL)'s on every table", pairs(scores, "learned", FULL, BLL))
    yield judged("R 4.2, learned", "Rich-BLL's NLL is below MAP's on every table", pairs(scores, "learned", FULL, "MAP"))
    for name in FULL, BLL:
        yield judged("ours", f"{name}'s NLL is lower with the noise of the grid than with the validation MSE, on every table",
                     [lower(t, scores.get("grid", t, name, "raw NLL"), scores.get("held out", t, name, "raw NLL")) for t in TABLES])


def r_table4(scores):
    for study in "paper", "held out":
        found = {name: scores.get(study, "wine_red", name, "AUROC") for name in (FULL, SOME, BLL)}
        yield judged(f"R 4.2, {study}", "Rich-BLL's AUROC for white wine is above NNGP (BLL)'s",
                     [lower("AUROC", found[BLL], found[FULL], BLL, FULL)])
        yield judged(f"R 4.2, {study}", "Rich-BLL (S)'s AUROC is Rich-BLL's: they differ by their standard error at most",
                     [alike("AUROC", found[SOME], found[FULL])])


def r_table6(scores):
    """Flat: the share with the highest mean is less than FLAT above the one with the lowest, seed by seed on one network."""
    cases = []
    for t in TABLES:
        found = [(ratio, scores.get("paper", t, name, "raw NLL")) for ratio, name in RATIOS.items()]
        if any(score is None for _, score in found):
            cases.append(Case(t, None, ""))
            continue
        (best, _), (worst, _) = (pick(found, key=lambda each: each[1].mean) for pick in (min, max))
        more = scores.difference("paper", t, RATIOS[worst], RATIOS[best])
        cases.append(lower(t, more, Score(FLAT, 0.0, more.seeds), f"{worst} over {best}", "the limit of"))
    yield judged("R appendix C", f"the NLL is flat over the subsample's share, 30 to 90 %: less than {FLAT} nats between the best and the worst, "
                 "on every table", cases)


def r_table5(scores):
    """`scores`: (name, metric) to a Score with the standard error. A lower NLL or ECE is better, a higher AUROC."""
    for metric, title in (("nll", "NLL"), ("ece", "ECE")):
        for other in BLL, "LL Laplace":
            yield judged("R 4.4, in small", f"Rich-BLL (S)'s {title} is below {other}'s on CIFAR-10",
                         [lower(title, scores.get((SOME, metric)), scores.get((other, metric)), SOME, other)])
    for other in BLL, "LL Laplace", "Dropout":
        yield judged("R 4.4, in small", f"Rich-BLL (S)'s AUROC for CIFAR-100 is above {other}'s",
                     [lower("AUROC", scores.get((other, "AUROC")), scores.get((SOME, "AUROC")), other, SOME)])
