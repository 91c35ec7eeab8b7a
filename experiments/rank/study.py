"""N's 1-D data: the rank."""

import itertools

from judge import Case, judged, lower
from pages import Page
from paper_n import CURVE, HELD_OUT, KEPT, ONE_D, RECIPE, TARGET, WEIGHTS, own_recipe
from protocol import SAME, SILENT, Line
from results import asked
from scores import Published, limit, load
from tables import cell, grid

TITLE = "Rank (N Figures 5 and 9)"
WHAT = "N's 1-D data: the rank"
PAPER = "N"
PROTOCOL = [
    CURVE, Line("training rows", "100,000 (B.1); fewer are said of Figures 1 and 4 alone", "20,000", of="defaults"),
    Line("training rows", "100,000 (B.1); fewer are said of Figures 1 and 4 alone", "100,000", SAME, "paper"), HELD_OUT, TARGET,
    Line("network", "ResNet, 2 blocks of width 64, layer norm, SiLU (B, B.1)", "ResNet, 2 blocks of width 64, layer norm, SiLU", SAME),
    WEIGHTS, KEPT,
    Line("recipe", "batch 200, at most 2,000 epochs, patience 100, AdamW at 1e-3, weight decay 1e-2 (B, B.1)",
         "batch 200, at most 2,000 epochs, patience 100, AdamW at 1e-3, weight decay 1e-2", SAME, "paper"),
    Line("noise variance", "starts at .01, at least 1e-6, rate 1e-3; its form is not said (B)",
         "starts at .01, at least 1e-6, rate 1e-3; form sd", SILENT, "paper"),
    *own_recipe("200; at most 2,000, patience 100 (B.1)", "256; at most 253 (20,000 steps), patience 40", of="defaults")]

DATA = {"defaults": "steps:20000", "paper": "steps:100000"}
RESEMBLES = 0.9  # of the target's sd: below it an RMSE says that a mean was learnt


def cells():
    """N Figures 5 and 9: `defaults` on 20,000 rows of the 1-D data, and N's recipe on N's 100,000. (--preset paper alone is N's recipe
    for tables.)"""
    for seed in range(3):
        for rank in 1, 8, 64, 2, 4, 16, 32:
            yield asked("defaults", DATA["defaults"], "dbk", seed, f"--rank {rank}")
    for seed, rank in itertools.product(range(5), (1, 2, 8, 64)):
        yield asked("paper", DATA["paper"], "dbk", seed, f"--rank {rank}", RECIPE)


def claims(scores, study):
    """N section 4.1, Figures 5 and 9. "Clearly" is 0.05 nats, "about as good" 0.02 nats."""
    source, data = f"N 4.1, {study}", DATA[study]
    one, two, eight, many = (scores.get(study, data, f"dbk --rank {r}", "raw NLL") for r in (1, 2, 8, 64))
    case, rmse = lower("r = 8 and 1", eight, one, margin=-0.05), scores.get(study, data, "dbk --rank 1", "RMSE")
    if case.numbers and rmse:
        case = case._replace(numbers=f"{case.numbers}; rank 1's RMSE is {rmse.mean:.3f} of the target's sd{' (its mean learnt nothing)' * (rmse.mean > 0.9)}")
    yield judged(source, "rank 1 is clearly worse than rank 8 in NLL", [case])
    yield judged(source, "rank 2 has a higher NLL than rank 8 (in N by .023)", [lower("r = 8 and 2", eight, two)])
    yield judged(source, "rank 64 is about as good as rank 8 in NLL: at most .02 nats above", [lower("r = 64 and 8", many, eight, margin=0.02)])
    case = lower("r = 1", rmse, limit(RESEMBLES)) if rmse else Case("r = 1", None, "")
    yield judged(f"N 4.1, Figure 9, {study}", "rank 1's feature resembles the target's mean: rank 1's RMSE is below "
                 f"{RESEMBLES} of the target's sd{of_rank_8(scores, study)}", [case])


def of_rank_8(scores, study):
    """Its RMSE, beside which rank 1's is read; "" where it was not measured."""
    rmse = scores.get(study, DATA[study], "dbk --rank 8", "RMSE")
    return f" (rank 8's is {rmse.mean:.3f})" if rmse else ""


def nothing_learnt(scores, published):
    """Rank 1's mean, which its verdict does not show."""
    name, said = "dbk --rank 1", []
    for study in "defaults", "paper":
        nll, rmse = (scores.get(study, DATA[study], name, m) for m in ("raw NLL", "RMSE"))
        if nll:
            said.append(f"`{study}` {cell(nll, seeds=False)} (RMSE {rmse.mean:.3f} of the target's sd)")
    theirs = published.get("steps:20000", name, "NLL")
    return (f"Rank 1 does not reproduce N: {' and '.join(said)}, where N prints {theirs.mean:.3f}. An RMSE of "
            "the target's own sd is a mean that learnt nothing: our rank 1 is worse than rank 8 by more than N's. N says "
            "that its feature resembles the target's mean: the claims on Figure 9 are about that.") if said and theirs else ""


def page(now):
    scores, published = load("rank", runner=now), Published("rank")
    found = [claim for study in ("defaults", "paper") for claim in claims(scores, study)]
    rows = []
    for r in 1, 2, 4, 8, 16, 32, 64:
        name = f"dbk --rank {r}"
        cells = [scores.get(study, data, name, "raw NLL") for study, data in DATA.items()]
        rows.append([str(r), *[cell(s) for s in cells], cell(published.get("steps:20000", name, "NLL"))])
    oracle = scores.get("defaults", "steps:20000", "dbk --rank 8", "oracle NLL")
    note = (f"On the same 20,000 test rows the distribution that made the data has an NLL of {oracle.mean:.3f}. "
            if oracle else "") + (
                "Its expectation is -.241. N's are the best of 10 seeds on N's own 1,000 test rows. N's training set has 100,000 "
                "rows, and N does not say that Figures 5 and 9 used fewer.")
    return Page(["`dbk` on the 1-D data, test NLL in the target's units: `defaults` on 20,000 rows, `paper` by N's recipe on 100,000. " + ONE_D, grid(["rank", "defaults", "paper", "N"], rows), note,
          nothing_learnt(scores, published),
          "![test NLL by rank](rank.svg)"], found, scores)


def drawn(scores, path):
    import figures

    plt = figures.plt
    ranks = [1, 2, 4, 8, 16, 32, 64]
    figure, axes = plt.subplots(figsize=(5, 3))
    for study in "defaults", "paper":
        figures.line(axes, ranks, [scores.get(study, DATA[study], f"dbk --rank {r}", "raw NLL") for r in ranks], study)
    oracle = scores.get("defaults", "steps:20000", "dbk --rank 8", "oracle NLL")
    if oracle:
        axes.axhline(oracle.mean, color="black", ls="--", lw=1, label="oracle")
    axes.set(xscale="log", xticks=ranks, xticklabels=ranks, xlabel="rank r", ylabel="test NLL")
    axes.minorticks_off()
    axes.legend(frameon=False)
    figures.save(figure, path)


def figures(now):
    scores = load("rank", runner=now)
    return {"rank.svg": lambda path: drawn(scores, path)} if scores.measured() else {}
