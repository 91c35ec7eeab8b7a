"""The studies' figures, as SVG of text and lines (no dates or random ids inside: the same numbers, the same file)."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from claims import SIZES, STRENGTHS  # noqa: E402

STYLE = {"svg.hashsalt": "slimbayes", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
         "axes.grid": True, "grid.alpha": 0.3}


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def line(axes, xs, scores, name, **style):
    found = [(x, score) for x, score in zip(xs, scores) if score]
    if found:
        spread = [0 if score.sd != score.sd else score.sd for _, score in found]
        axes.errorbar([x for x, _ in found], [score.mean for _, score in found], spread, marker="o", ms=3, capsize=2, label=name, **style)


def rank(scores, path):
    ranks = [1, 2, 4, 8, 16, 32, 64]
    figure, axes = plt.subplots(figsize=(5, 3))
    for study in "defaults", "paper":
        line(axes, ranks, [scores.get(study, "steps:20000", f"dbk --rank {r}", "raw NLL") for r in ranks], study)
    oracle = scores.get("defaults", "steps:20000", "dbk --rank 8", "oracle NLL")
    if oracle:
        axes.axhline(oracle.mean, color="black", ls="--", lw=1, label="oracle")
    axes.set(xscale="log", xticks=ranks, xticklabels=ranks, xlabel="rank r", ylabel="test NLL")
    axes.minorticks_off()
    axes.legend(frameon=False)
    save(figure, path)


def sensitivity(scores, path):
    figure, rows = plt.subplots(2, 3, figsize=(9, 5))
    for (weight, other), panels in zip((("alpha", "beta"), ("beta", "alpha")), rows):
        for axes, metric in zip(panels, ("NLL", "CRPS", "MAE")):
            boxes = [[value for o in STRENGTHS for value in scores.values(
                "sensitivity", "pol", "dbk --alpha {alpha} --beta {beta}".format(**{weight: w, other: o}), metric)] for w in STRENGTHS]
            axes.boxplot(boxes, tick_labels=STRENGTHS, widths=0.5)
            vbll = scores.get("sensitivity", "pol", "VBLL", metric)
            if vbll:
                axes.axhline(vbll.mean, color="C3", ls="--", lw=1)
            axes.set(xlabel=f"{weight} (every {other}, every seed)", ylabel=f"test {metric}")
    figure.suptitle("dbk on pol; dashed: VBLL")
    save(figure, path)


def scaling(scores, path):
    figure, (mae, nll, time) = plt.subplots(1, 3, figsize=(10, 3))
    for colour, (name, text) in enumerate([("DBK-SiLU", "DBK, dPPGP"), ("DBK exact", "DBK, exact"), ("GP", "GP, exact"), ("DKL", "DKL, exact")]):
        for axes, metric in (mae, "MAE"), (nll, "raw NLL"):
            line(axes, SIZES, [scores.get("scaling", f"steps:{n}", name, metric) for n in SIZES], text, color=f"C{colour}")
        seconds, steps = ([scores.get("scaling", f"steps:{n}", name, m) for n in SIZES] for m in ("time_s", "steps"))
        found = [(n, 1000 * t.mean / s.mean) for n, t, s in zip(SIZES, seconds, steps) if t and s and s.mean > 0]
        if found:
            time.plot(*zip(*found), marker="o", ms=3, color=f"C{colour}", label=text)
    for axes, text in (mae, "test MAE (standardised)"), (nll, "test NLL"), (time, "ms a step"):
        axes.set(xscale="log", xlabel="training rows", ylabel=text)
    time.set_yscale("log")
    if mae.get_legend_handles_labels()[0]:
        mae.legend(frameon=False)
    save(figure, path)


def draw(folder, studies):
    with plt.rc_context(STYLE):
        for each in rank, sensitivity, scaling:
            if studies[each.__name__].measured():
                each(studies[each.__name__], folder / each.__name__ / f"{each.__name__}.svg")
