"""The cells of the studies of low-rank Bayesian networks (S: Toure and Stephens, Singular Bayesian neural networks)."""

import itertools

from results import KEY

SIX = ["concrete", "energy", "kin8nm", "power_plant", "wine_red", "elevators"]
FEW = "--steps 2000"  # a tenth of the default: with it, the study of the defaults takes an hour on one core
LONG = "--steps 20000"  # the default, on two small tables
RIVALS = [("dnn", ""), ("vbll", ""), ("dbk", ""), ("mc-dropout", ""), ("bbb", ""), ("ensemble", "--of dnn --members 5")]
# One change from the defaults at the time of the study, which the flags write out.
DEFAULTS = {"beta": "1", "weight-prior-sd": "0.3", "start-share": "0.1", "start-sd": "0.01", "rank": "16",
            "learning-rate": "0.003", "match-prior": "true", "prior": "normal", "factored": "smaller"}


def cell(study, data, method, seed, *flags):
    return dict(zip(KEY, (study, data, method, seed, " ".join(flag for flag in flags if flag))))


def flags_of(values):
    return " ".join(f"--{name} {value}" for name, value in values.items())


BETTER = {"beta": "0.01"}  # the weight of the KL that won; the other options vary around it
ONE_AT_A_TIME = [{"start-share": "0.03"}, {"start-sd": "0.001"}, {"start-share": "0.3"}, {"learning-rate": "0.01"}, {"rank": "32"},
                 {"weight-prior-sd": "0.1"}, {"weight-prior-sd": "1"}, {"prior": "mixture"}, {"match-prior": "false"}, {"rank": "8"},
                 {"learning-rate": "0.001"}, {"factored": "all"}, {"kl-ramp": "10"}, {"draws": "100"}, {"start-sd": "0.03"}]
# Both spreads start ten times smaller, since each helped alone. The others around this.
COLD = BETTER | {"start-share": "0.01", "start-sd": "0.001"}
COMBINED = [{}, {"beta": "0.1"}, {"start-share": "0.03", "start-sd": "0.003"}, {"beta": "0.1", "start-share": "0.03", "start-sd": "0.003"},
            {"beta": "0.3"}, {"beta": "1"}, {"learning-rate": "0.01"}, {"start-share": "0.03"}, {"rank": "32"}, {"beta": "0.03"}, {"weight-prior-sd": "0.1"}]
FOUR = ["concrete", "kin8nm", "energy", "elevators"]


def named(change):
    return ", ".join(f"{name} {value}" for name, value in change.items())


def betas(seed, split):
    for beta, data in itertools.product(("1", "0.1", "0.01", "0.3", "0.03", "0.003", "0.001"), SIX):
        yield cell(f"beta {beta}", data, "low-rank", seed, flags_of(DEFAULTS | {"beta": beta}), FEW, split)


def rivals(seed, split):
    for data, (method, own) in itertools.product(SIX, RIVALS):
        yield cell("rivals", data, method, seed, own, FEW, split)


def changed(seed, split, base, changes, tables):
    """Cells of each change to `base` on each table; the study's name lists what differs from the defaults."""
    for change, data in itertools.product(changes, tables):
        values = base | change
        yield cell(named(values), data, "low-rank", seed, flags_of(DEFAULTS | values), FEW, split)


def long(seed, split):
    """Do the verdicts of 2,000 steps last for the default's 20,000?"""
    for beta, data in itertools.product(("0.01", "0.1", "1"), ("concrete", "kin8nm")):
        yield cell(f"long, beta {beta}", data, "low-rank", seed, flags_of(DEFAULTS | COLD | {"beta": beta}), LONG, split)
    for data, (method, own) in itertools.product(("concrete", "kin8nm"), (RIVALS[0], RIVALS[-1])):
        yield cell("long, rivals", data, method, seed, own, LONG, split)


def low_rank_defaults():
    """The weight of the KL first; the rivals; the combination that won; the other options one at a time."""
    seeds = [(seed, f"--split-seed {seed + 1}") for seed in range(2)]
    yield from betas(*seeds[0])
    yield from rivals(*seeds[0])
    yield from changed(*seeds[0], BETTER, ONE_AT_A_TIME[:2], FOUR)
    yield from changed(*seeds[0], COLD, COMBINED[:6], FOUR[:2])
    yield from changed(*seeds[0], COLD, COMBINED[1:4], FOUR)
    yield from changed(*seeds[0], COLD, COMBINED, FOUR)
    yield from changed(*seeds[1], COLD, COMBINED[:4], FOUR)
    yield from rivals(*seeds[1])
    yield from changed(*seeds[0], BETTER, ONE_AT_A_TIME, SIX)
    yield from changed(*seeds[0], COLD, COMBINED, SIX)
    yield from long(*seeds[0])
    yield from betas(*seeds[1])
    yield from changed(*seeds[1], BETTER, ONE_AT_A_TIME, SIX)
    yield from changed(*seeds[1], COLD, COMBINED, SIX)


STUDIES = [low_rank_defaults]
