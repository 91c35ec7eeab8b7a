"""The cells of the studies of low-rank Bayesian networks (S: Toure and Stephens, Singular Bayesian neural networks)."""

import itertools

from results import KEY

SIX = ["concrete", "energy", "kin8nm", "power_plant", "wine_red", "elevators"]
FEW = "--steps 2000"  # a tenth of the default: with it, the study of the defaults takes an hour on one core
RIVALS = [("dnn", ""), ("vbll", ""), ("dbk", ""), ("mc-dropout", ""), ("bbb", ""), ("ensemble", "--of dnn --members 5")]
# One change from the defaults at the time of the study, which the flags write out.
DEFAULTS = {"beta": "1", "weight-prior-sd": "0.3", "start-share": "0.1", "start-sd": "0.01", "rank": "16",
            "learning-rate": "0.003", "match-prior": "true", "prior": "normal", "factored": "smaller"}


def cell(study, data, method, seed, *flags):
    return dict(zip(KEY, (study, data, method, seed, " ".join(flag for flag in flags if flag))))


def flags_of(values):
    return " ".join(f"--{name} {value}" for name, value in values.items())


BETTER = {"beta": "0.01"}  # the weight of the KL that won; the starts vary around it
# Both spreads start ten times smaller, since each helped alone.
COLD = BETTER | {"start-share": "0.01", "start-sd": "0.001"}
CHOSEN = COLD | {"beta": "0.1"}  # today's defaults
COMBINED = [{}, {"beta": "0.1"}, {"start-share": "0.03", "start-sd": "0.003"}, {"beta": "0.1", "start-share": "0.03", "start-sd": "0.003"}]
AROUND = [{"rank": "8"}, {"rank": "32"}, {"prior": "mixture"}, {"match-prior": "false"}, {"learning-rate": "0.01"}, {"learning-rate": "0.001"},
          {"factored": "all"}, {"kl-ramp": "10"}, {"weight-prior-sd": "0.1"}, {"weight-prior-sd": "1"}]
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


def low_rank_defaults():
    """The weight of the KL and the rivals; the starts; the other options one at a time around the choice, on four tables and two splits."""
    seeds = [(seed, f"--split-seed {seed + 1}") for seed in range(2)]
    yield from betas(*seeds[0])
    yield from rivals(*seeds[0])
    yield from changed(*seeds[0], BETTER, [{"start-share": "0.03"}, {"start-share": "0.3"}], SIX)
    yield from changed(*seeds[0], BETTER, [{"start-sd": "0.001"}], [table for table in SIX if table != "wine_red"])
    yield from changed(*seeds[0], COLD, COMBINED, FOUR)
    yield from changed(*seeds[0], COLD, [{"beta": "0.3"}, {"beta": "1"}], FOUR[:2])
    for seed in seeds:
        yield from changed(*seed, CHOSEN, [{}, *AROUND], FOUR)


STUDIES = [low_rank_defaults]
