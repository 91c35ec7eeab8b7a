"""The judge's rules for the Rich-BLL paper (R), sections 4.2 and 4.4 on its Tables 2, 4, 5 and 6.

R's spread is the standard error of the mean over seeds, and so is that of our tables; the rule is that of claims.py.
"""

import math

from claims import Case, alike, higher, judged, lower
from paired import versus
from scores import Score

TABLES = ["boston", "concrete", "energy", "power_plant", "wine_red"]
RATIOS = {f"{r} %": f"rich-bll --subsample 0.{r // 10}" for r in (30, 50, 60, 70, 80, 90)}
FULL, SOME, BLL, MAP, VBLL = "Rich-BLL", "Rich-BLL (S)", "NNGP (BLL)", "DNN", "VBLL, linear"
SINGLE_MODELS = [VBLL, "Dropout", "SWAG", "BBB"]
SHOWN = {"DNN": "MAP", VBLL: "VBLL", "GP": "RBF GP", "ensemble of 5 DNN": "the ensemble"}
COMPARABLE = 0.1  # nats; R says "comparably" without a number
FLAT = 0.05  # nats; R's own numbers differ by 0.04
AS_GOOD, SAME_AUROC = 0.05, 0.01  # R says "as good as" without a number; its own NLLs differ by up to .03


class StandardErrors:
    """Scores whose spread is the standard error of the mean."""

    def __init__(self, scores):
        self.scores = scores

    def get(self, *at):
        score = self.scores.get(*at)
        return score and with_standard_error(score)

    def difference(self, study, table, a, b, metric="raw NLL"):
        """Of a - b, seed by seed: both saw the same split, and the post-hoc methods the same network. None without common seeds."""
        one, other = (self.scores.get(study, table, name, metric) for name in (a, b))
        found = one and other and versus(one, other)
        return found and Score(found.mean, found.error, found.n)


def with_standard_error(score):
    return score._replace(sd=score.sd / math.sqrt(max(1, score.seeds)))


def pairs(scores, study, a, b, margin=0.0):
    return [lower(t, scores.get(study, t, a, "raw NLL"), scores.get(study, t, b, "raw NLL"), margin=margin) for t in TABLES]


def r_table2(scores, study="paper"):
    """The scores are StandardErrors; `study` is R's protocol or the one with equal rows."""
    source = f"R 4.2, {study}"
    yield judged(source, "Rich-BLL's NLL is below NNGP (BLL)'s on every table", pairs(scores, study, FULL, BLL))
    yield judged(source, f"Rich-BLL (S) is as good as Rich-BLL: the NLLs differ by less than {AS_GOOD} nats, on every table",
                 [alike(t, scores.get(study, t, SOME, "raw NLL"), scores.get(study, t, FULL, "raw NLL"), AS_GOOD) for t in TABLES])
    yield judged(source, "Rich-BLL's NLL is below MAP's on every table", pairs(scores, study, FULL, MAP))


def r_rivals(scores):
    yield from r_table2(scores, "held out")
    for other in SINGLE_MODELS:
        yield judged("R 4.2, held out", f"Rich-BLL (S) performs comparably to {SHOWN.get(other, other)}: its NLL is less than {COMPARABLE} nats above, on every table",
                     pairs(scores, "held out", SOME, other, COMPARABLE))
    for other in [*SINGLE_MODELS, "ensemble of 5 DNN"]:
        yield judged("R Table 2, held out", f"Rich-BLL matches or outperforms {SHOWN.get(other, other)}: its NLL is less than {AS_GOOD} nats above, on every table",
                     pairs(scores, "held out", FULL, other, AS_GOOD))


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
                     [higher("AUROC", found[FULL], found[BLL], FULL, BLL)])
        yield judged(f"R 4.2, {study}", f"Rich-BLL (S)'s AUROC is Rich-BLL's: they differ by less than {SAME_AUROC}",
                     [alike("AUROC", found[SOME], found[FULL], SAME_AUROC)])


def r_table6(scores):
    """Flat: the share with the highest mean is less than FLAT above the one with the lowest, seed by seed on one network."""
    cases = []
    for t in TABLES:
        found = [(ratio, scores.get("paper", t, name, "raw NLL")) for ratio, name in RATIOS.items()]
        if any(score is None for _, score in found):
            cases.append(Case(t, None, ""))
            continue
        (best, _), (worst, _) = (pick(found, key=lambda each: each[1].mean) for pick in (min, max))
        high, low = (scores.get("paper", t, RATIOS[ratio], "raw NLL") for ratio in (worst, best))
        cases.append(lower(t, high, low, worst, best, FLAT))
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
                     [higher("AUROC", scores.get((SOME, "AUROC")), scores.get((other, "AUROC")), SOME, other)])
