"""N Figure 6: alpha and beta."""

import itertools
import statistics

from judge import OPEN, Claim, judged, lower
from pages import Page
from paper_n import KEPT, PRESET, RANKED, SCALED, SPLIT, STRENGTHS, own_recipe
from protocol import SAME, SILENT, Line
from results import asked
from scores import load, of
from tables import cell, grid

TITLE = "Sensitivity to alpha and beta (N Figure 6)"
WHAT = "N Figure 6: alpha and beta"
PAPER = "N"
PROTOCOL = [
    Line("tables", "pol and keggdirected, 12,000 and 39,061 training rows (Table 1)", "the same; keggdirected by N's recipe alone", SAME),
    Line("split", "8:1:1, row by row (B.2)", "8:1:1, identical inputs on one side", of="defaults"),
    SCALED._replace(of="defaults"), RANKED,
    Line("alpha and beta", "0, .01, .1, 1 each (B.2; Figure 6: in [0, 1])", "0, .01, .1, 1 each", SAME), KEPT,
    *own_recipe("1,024; 400 (B.2)", "256; at most 426 (20,000 steps), patience 40 validations of 2 epochs", of="defaults"),
    Line("recipe", "8:1:1 row by row, inputs to [-1, 1] by the whole table, 1,024 rows, 400 epochs, AdamW at 1e-3 (B, B.2)",
         "8:1:1 row by row, inputs to [-1, 1] by the whole table, 1,024 rows, 400 epochs, AdamW at 1e-3", SAME, "paper"),
    Line("noise variance", "starts at .01, at least 1e-6, rate 1e-3; its form is not said (B)",
         "starts at .01, at least 1e-6, rate 1e-3; form sd", SILENT, "paper"),
    Line("what is compared", "box plots (Figure 6)", "means over the other weight and seeds, and the range of such means", SILENT)]


DEFAULTS, RECIPE_OF_N = "sensitivity", "recipe of N"  # table1 has a part `paper`, and reads these rows too
NAMES = {DEFAULTS: "defaults", RECIPE_OF_N: "paper"}


def cells():
    """N Figure 6: alpha and beta of dPPGP, VBLL as the line (table1 has more of its seeds); on pol by our recipe, on both tables by N's."""
    own = f"{PRESET} --scale-on all {SPLIT}"
    for part, data, seeds, flags in (DEFAULTS, "pol", 3, SPLIT), (RECIPE_OF_N, "pol", 5, own), (RECIPE_OF_N, "keggdirected", 3, own):
        for seed in range(seeds):
            yield asked(part, data, "vbll", seed, flags)
            for alpha, beta in itertools.product(STRENGTHS, STRENGTHS):
                yield asked(part, data, "dbk", seed, f"--alpha {alpha} --beta {beta}", flags)


def claims(scores, part=DEFAULTS, table="pol", metric="NLL"):
    """N section 4.2, Figure 6. Averages over the other weight, seed by seed."""
    source = f"N 4.2, {NAMES[part]}"
    grid = {(a, b): scores.by_seed(part, table, f"dbk --alpha {a} --beta {b}", metric) for a in STRENGTHS for b in STRENGTHS}
    seeds = sorted(set.intersection(*map(set, grid.values())))
    texts = [f"a small but nonzero alpha (0.01) lowers {table}'s NLL", f"{table}'s NLL depends less on beta than on alpha"]
    if not seeds:
        return [Claim(source, text, OPEN, "") for text in texts]
    def averages(of_seed):
        """By alpha, then by beta."""
        return ([statistics.fmean(of_seed(a, b) for b in STRENGTHS) for a in STRENGTHS],
                [statistics.fmean(of_seed(a, b) for a in STRENGTHS) for b in STRENGTHS])

    each = [averages(lambda a, b, seed=seed: grid[a, b][seed]) for seed in seeds]
    by_alpha = [of({seed: alpha[i] for seed, (alpha, _) in zip(seeds, each)}) for i in range(len(STRENGTHS))]
    # The range of the means, since a range of single seeds is wide by chance; its error is the jackknife's over the seeds.
    def spread(i, some):
        means = averages(lambda a, b: statistics.fmean(grid[a, b][seed] for seed in some))[i]
        return max(means) - min(means)

    n, ranges = len(seeds), []
    for i in range(2):
        whole = spread(i, seeds)
        pseudo = {seed: n * whole - (n - 1) * spread(i, [s for s in seeds if s != seed]) if n > 1 else whole for seed in seeds}
        ranges.append(of(pseudo))
    small = STRENGTHS.index("0.01")  # named beforehand: the best of three on test rows would win by chance
    first = lower("0.01 and 0", by_alpha[small], by_alpha[0])
    row = ", ".join(f"{a}: {score.mean:.3f}" for a, score in zip(STRENGTHS, by_alpha))
    return [judged(source, texts[0], [first._replace(numbers=f"{first.numbers} ({row})")]),
            judged(source, texts[1], [of_ranges(lower("", ranges[1], ranges[0]), [spread(i, seeds) for i in (1, 0)])])]


def of_ranges(case, plain):
    """With the plain ranges beside the difference, which is the jackknife's."""
    difference = case.numbers.rpartition(", ")[2] if "single" not in case.numbers else case.numbers.rpartition(", a single")[0].rpartition(", ")[2]
    return case._replace(name="range over beta and alpha", numbers=f"{plain[0]:.3f} against {plain[1]:.3f}; by the jackknife over the seeds {difference}")


def worst_fit(scores, part, table):
    """The single fit with the highest NLL, which the ranges rest on."""
    found = [(value, a, b, seed) for a in STRENGTHS for b in STRENGTHS
             for seed, value in scores.by_seed(part, table, f"dbk --alpha {a} --beta {b}", "NLL").items()]
    if not found:
        return ""
    value, a, b, seed = max(found)
    return f"The highest NLL of a single fit is {value:.3f} (alpha {a}, beta {b}, seed {seed}); the range over beta rests on it."


PANELS = [(DEFAULTS, "pol", "pol, our recipe"), (RECIPE_OF_N, "pol", "pol, N's recipe"), (RECIPE_OF_N, "keggdirected", "keggdirected, N's recipe")]


def page(now):
    scores, parts, found = load("sensitivity", runner=now), [], []
    for part, table, title in PANELS:
        for metric in "NLL", "MAE", "CRPS":
            rows = [[f"alpha {a}", *[cell(scores.get(part, table, f"dbk --alpha {a} --beta {b}", metric)) for b in STRENGTHS]]
                    for a in STRENGTHS]
            line = scores.get(part, table, "VBLL", metric)
            parts.append(f"## {metric}, {title}\n\n" + grid(["", *[f"beta {b}" for b in STRENGTHS]], rows)
                         + (f"\nVBLL: {cell(line)}\n" if line else ""))
        parts.append(worst_fit(scores, part, table))
        found += claims(scores, part, table)
    return Page(["`dbk` on pol and keggdirected. The box plots are of pol by our recipe.", *parts, "![box plots](sensitivity.svg)"], found, scores)


def drawn(scores, path):
    import figures

    plt = figures.plt
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
    figures.save(figure, path)


def figures(now):
    scores = load("sensitivity", runner=now)
    return {"sensitivity.svg": lambda path: drawn(scores, path)} if scores.measured() else {}
