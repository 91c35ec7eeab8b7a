"""E Table 1, with its ablations."""

import itertools

from judge import Case, best, judged, lower, not_measured
from pages import Page
from protocol import MORE, SAME, SILENT, Line
from results import asked
from scores import Published, load, of
from tables import DIGITS, block, grid

TITLE = "Table 1 of the earlier paper (E)"
WHAT = "E Table 1, with its ablations"
PAPER = "E"
ALL_ROWS = ("GP and DKL", "sGP too; every step on all rows, DKL of 2 features (4, Table 1)",
            "no sGP; GP on standardised inputs, steps on 2,000 rows; DKL's on 1,000, 128 features")
PROTOCOL = [
    Line("tables", "pol, protein and song (Table 1)", "pol and protein with E's rows; song: no data, as the claims say", SAME),
    Line("split", "70/10/20, row by row (4.2)", "70/10/20, identical inputs on one side"),
    Line("scale", "inputs to [-1, 1], target standardised (4.2)", "inputs to [-1, 1], target standardised", SAME),
    Line("network", "2-layer ResNet, 128 tanh units a layer (4)", "ResNet, 2 blocks of width 128, tanh", SAME),
    Line("basis", "128 outputs of the network, -r: 1 (4)", "128 outputs of the network, -r: 1", SAME),
    Line("scale of the basis", "not said", "each output divided by the root of the rank", SILENT),
    Line("SVI: batch and epochs", "256; at most 2,000, patience 200 (4, 4.2)",
         "256; at most 159 (protein) and 476 (pol), patience 40 and 120"),
    Line("exact: steps", "at most 10,000, patience 2,000 (4.2)", "at most 2,000, patience 520"),
    Line("optimiser", "Adam at 1e-3, weight decay 1e-4 (4)", "AdamW, one cycle up to 3e-3 (exact: 1e-2), weight decay 1e-2"),
    Line("noise variance", "starts at .01, at least 1e-6 (4)", "starts at .1, at least 1e-4, rate up to 1e-2"),
    Line("validation", "every 100 steps or 10 epochs, the best is kept (4.2)",
         "every 13 steps, or 1 (protein) or 3 (pol) epochs, the best is kept", MORE),
    Line(*ALL_ROWS, of="E 4.2 (1)"), Line(*ALL_ROWS, of="E 4.2 (2)"),
    Line("time of DKL", "2 features; at most 512 conjugate gradients; whole fits (4, Table 1)",
         "128 features; Cholesky; a pass of short fits, and two steps", of="E 4.2 (6)")]
MAY_DIFFER = {"scale": "the exact GP standardises, the networks take -1 to 1: each its default"}


def cells():
    """E Table 1 on pol and protein (its third table, song, is at hand as an excerpt only: no data), and its ablations.

    Split 70/10/20 and networks of 128 tanh units as in E; the recipe is our own, not E's 2,000 epochs (but for two cells `paper`), and its DKL has two
    features, ours 128. The dense methods end at pol's size, and take their hyperparameters from 2,000 (GP) and from blocks of
    about 1,000 (DKL) of its 10,500 rows.
    """
    net = "--hidden 128 --activation tanh"
    split, r, full, c = "--test-fraction 0.2", "--rank 1", "--alpha 1 --correction true", "--alpha 0 --correction false"
    methods = [(method, f"--basis linear {own}") for method in ("sv-dbk", "dbk-exact") for own in (full, c, f"{r} {full}", f"{r} {c}")]
    for seed, data in itertools.product(range(3), ("pol", "protein")):
        for method, own in [*methods, ("dbk-exact", "--basis rbf"), ("sv-dkl", "")]:
            if method != "dbk-exact" or data == "pol" or seed == 0:  # on protein 2,000 steps take half an hour
                yield asked("e", data, method, seed, own, f"{net} {split}")
        yield asked("e", data, "sv-rbf", seed, "", split)
        if seed == 0 and data == "pol":  # gp-exact has no seed
            yield asked("e", data, "gp-exact", seed, "--max-rows 12000", split)
        if data == "pol":
            yield asked("e", data, "dkl-exact", seed, f"{net} --max-rows 12000", split)
    # Ours is far from E's protein: E's own recipe and a split row by row, which the others do not have.
    # The preset of sv-dkl is N's: E's values are given.
    e_recipe = f"{net} --batch 256 --epochs 2000 --patience 200 --weight-decay 1e-4"
    for method, own in (("sv-dbk", f"--basis linear {full}"), ("sv-dkl", e_recipe)):
        yield asked("paper", "protein", method, 0, own, f"--preset paper --split random {split}")
    # The time of a step at equal work: dkl-exact's follows 1,000 rows' evidence unless told otherwise.
    yield asked("step", "pol", "dbk-exact", 0, f"--basis linear {full}", f"{net} {split} --steps 20")
    yield asked("step", "pol", "dkl-exact", 0, f"{net} --max-rows 12000 --evidence-rows 12000 --steps 2", split)


PART, TABLES = "e", ["pol", "protein"]
EXACT = ["DBK", "DBK-c", "DBK-r", "DBK-cr"]
SPARSE = ["SV-DBK", "SV-DBK-c", "SV-DBK-r", "SV-DBK-cr"]
# GP and DKL are dense: on protein they do not fit, as in the paper.
GP_VARIANTS = {"pol": ["GP", "DKL", "sDKL", "SV-RBF", "SV-DKL"], "protein": ["sDKL", "SV-RBF", "SV-DKL"]}
COMPETITIVE = 0.1  # nats
MATCH = {"NLL": 0.05, "MAE": 0.005, "RMSE": 0.005}  # of the standardised target: how far above still matches


def pairs(scores, names):
    """Cases: the first of each pair has the lower NLL, on both tables."""
    return [lower(f"{t}, {a} and {b}", scores.get(PART, t, a, "NLL"), scores.get(PART, t, b, "NLL"))
            for t in TABLES for a, b in names]


def one_basis_function(scores, table):
    rival = best(scores, PART, table, GP_VARIANTS[table], "NLL")
    ours = best(scores, PART, table, ["DBK-r", "SV-DBK-r"], "NLL")
    if not rival or not ours:
        return Case(table, None, "")
    return lower(table, ours[1], rival[1], ours[0], rival[0], COMPETITIVE)


def epoch_seconds(scores, table, name, batch):
    """A fit's seconds for each pass over the training rows: the budgets are ours, not the papers'."""
    rows = scores.rows(PART, table, name)
    return of({row["seed"]: float(row["seconds"]) / max(1, float(row["steps"]) * (batch or float(row["rows"])) / float(row["rows"])) for row in rows}) \
        if rows and all(row["steps"] and row["rows"] for row in rows) else None


def times(scores, table):
    a, b = epoch_seconds(scores, table, "DBK", None), epoch_seconds(scores, table, "SV-DKL", 256)
    if not a or not b:
        return Case(table, None, "")
    return lower(table, a, b.times(10), "DBK, s,", "10 passes of SV-DKL")


def step_seconds(scores, name):
    """Of the cells `step`: both methods on all rows."""
    rows = scores.rows("step", "pol", name)
    return of({row["seed"]: float(row["seconds"]) / float(row["steps"]) for row in rows}) if rows else None


def match_or_beat(scores, metric, margin):
    """Cases: the best DBK variant is below the best GP or DKL variant plus the margin."""
    for t in TABLES:
        ours, rival = best(scores, PART, t, [*EXACT, *SPARSE], metric), best(scores, PART, t, GP_VARIANTS[t], metric)
        yield lower(t, ours[1], rival[1], ours[0], rival[0], margin) if ours and rival else Case(t, None, "")
    yield Case("song", None, "")


def claims(scores):
    for metric, margin in MATCH.items():
        unit = " nats" if metric == "NLL" else ""
        yield judged("E 4.2 (1)", f"the best DBK variant's {metric} matches or beats the best GP or DKL variant's: at most {margin}{unit} above, on pol, "
                     "protein and song (no data)", list(match_or_beat(scores, metric, margin)))
    yield judged("E 4.2 (2)", "one basis function with the correction is within 0.1 nats of the best GP or DKL variant on pol and protein (song: no data)",
                 [one_basis_function(scores, t) for t in TABLES])
    yield judged("E 4.2 (3)", "SV-DBK's NLL is below exact DBK's on protein (song: no data)",
                 [lower("protein", scores.get(PART, "protein", "SV-DBK", "NLL"), scores.get(PART, "protein", "DBK", "NLL"))])
    corrected = [("DBK", "DBK-c"), ("DBK-r", "DBK-cr"), ("SV-DBK", "SV-DBK-c"), ("SV-DBK-r", "SV-DBK-cr")]
    yield judged("E 4.2 (4)", "without the correction the NLL is often (5 of 8 pairs; song: no data) worse", pairs(scores, corrected), needed=5)
    ranks = [("DBK", "DBK-r"), ("DBK-c", "DBK-cr"), ("SV-DBK", "SV-DBK-r"), ("SV-DBK-c", "SV-DBK-cr")]
    yield judged("E 4.2 (5)", "the larger rank's NLL often (5 of 8 pairs) beats rank 1's; by the means that E prints it "
                 "beats rank 1's in 3 of these 8 pairs and in 6 of E's 12, so that E's own numbers fail this",
                 pairs(scores, ranks), needed=5)
    yield judged("E 4.2 (6)", "a pass over the rows takes exact DBK less than ten times SV-DKL's time on pol and protein (song: no data)", [times(scores, t) for t in TABLES])
    yield judged("E 4.2 (6)", "a step of dense DKL takes longer than one of exact DBK on pol",
                 [lower("seconds", step_seconds(scores, "DBK"), step_seconds(scores, "DKL"), "DBK", "DKL")])


E_METHODS = ["GP", "DKL", "sDKL", "DBK", "DBK-c", "DBK-r", "DBK-cr", "SV-RBF", "SV-DKL", "SV-DBK", "SV-DBK-c", "SV-DBK-r", "SV-DBK-cr"]

NO_DATA = [not_measured("E 4.1", "exact DBK is more accurate than the exact GP and DKL on E's curve, at each n, and reaches n = 100,000",
                        "not run on E's curve, which `generate ripple` makes; N's form of the claim is in scaling"),
           not_measured("E 4.3", "SV-DBK has the lowest MAE, RMSE and NLL on mobile internet quality", "the speed tests of Ookla are not at hand")]


def page(now):
    scores, published, parts = load("e_table1", runner=now), Published("e_table1"), []
    for metric in "NLL", "MAE", "RMSE", "time_s":
        digits = DIGITS.get(metric, 3)
        rows = block(E_METHODS, TABLES, lambda t, n, m=metric: scores.get("e", t, n, m), "ours", digits, metric != "time_s")
        rows += block(E_METHODS, TABLES, lambda t, n, m=metric: scores.get("paper", t, n, m), "ours, `paper`", digits, False)
        rows += block(E_METHODS, TABLES, lambda t, n, m=metric: published.get(t, n, m), "E", digits, metric != "time_s")
        title = ("Seconds of a fit (E: a V100, 2,000 epochs by SVI and at most 10,000 iterations of the exact ones; ours: one core)\n\n"
                 "Ours were measured on several machines under several loads.") if metric == "time_s" else metric
        parts.append(f"## {title}\n\n" + grid(["method", "", *TABLES], rows))
    return Page(["Split 70/10/20, our recipe, nothing tuned; `paper`: E's own recipe, split row by row, which does not bring E's protein about either; E: as printed. "
          "Our split is grouped (identical inputs on one side) and has seed 0, the one of [recipe](../recipe/README.md), whose split on pol the defaults were "
          "chosen on; E's splits are random, row by row. Song is at hand as an excerpt only: no data. sDKL: `dbk-exact "
          "--basis rbf`. E's sGP, the same bound without a network, is no method here: not measured. GP takes its hyperparameters "
          "from 2,000 of the 10,500 rows; DKL's network ends in two features in E, in 128 here, and its steps follow blocks of about 1,000 (the posteriors take all; conditioning on them "
          "is not in the seconds); the cells `step` time a step of DKL and DBK on all rows.",
          *parts], [*claims(scores), *NO_DATA], scores)
