"""N's 1-D data: the error and the time of a step as the rows grow."""

from judge import Case, best, judged, lower, not_measured
from pages import Page
from paper_n import CURVE, EXACT_LIMIT, MARGINAL, ONE_D, RANKED, SIZES, TARGET, WEIGHTS
from protocol import MORE, Line
from results import asked
from scores import load
from tables import cell, grid

TITLE = "Scaling (N Figure 4)"
WHAT = "N's 1-D data: the error and the time of a step as the rows grow"
PAPER = "N"
PROTOCOL = [
    CURVE, Line("validation rows", "1,000 at every n (B.1)", "a tenth of n, at least 200"),
    Line("test rows", "1,000 (B.1)", "20,000", MORE), TARGET, RANKED, WEIGHTS,
    Line("dPPGP: batch and epochs", "200; at most 2,000, patience 100 (B.1)", "50 to 256; 20,000 steps, patience 40 validations"),
    Line("exact DBK: steps", "2,000 (B.1)", "936 to 1,651: at most 2,000, patience 40 validations of 13 steps"),
    Line("learning rate", "1e-3, AdamW (B)", "one cycle up to 3e-3 (dPPGP) and 1e-2 (exact), AdamW"),
    Line("rows in dPPGP's loss", "all alike (3.2)", "weighted by their variance in the first 70 % of the steps"),
    Line("noise variance", "starts at .01, at least 1e-6, rate 1e-3 (B)",
         "starts at .01 (dPPGP) or .1 (exact), at least 1e-4, rate up to 1e-2"),
    Line("dense methods: rows", "up to 20,000 (Figure 4)", "GP up to 5,000, DKL up to 2,000", of="GP and DKL"),
    Line("dense methods: steps", "2,000 of AdamW at 1e-3 (B, B.1)", "GP: L-BFGS until it converges; DKL: 845 to 1,495, as exact DBK",
         of="GP and DKL"),
    Line("dense methods: algebra", "512 conjugate gradients, Lanczos rank 128 (B.1)", "exact, by Cholesky", MORE, "GP and DKL")]
MAY_DIFFER = {"scale": "the exact GP standardises, the networks take -1 to 1: each its default"}


def cells():
    """N Figure 4: the error and the time of a step on n rows; exact Gaussian processes up to their limit."""
    for seed in range(3):
        for n in SIZES:
            yield asked("scaling", f"steps:{n}", "dbk", seed)
            if n <= EXACT_LIMIT:
                yield asked("scaling", f"steps:{n}", "dbk-exact", seed, MARGINAL)
            if seed == 0 and n <= 5000:  # gp-exact has no seed; 6,000 rows are its limit
                yield asked("scaling", f"steps:{n}", "gp-exact", seed, "--evidence-rows 5000")
            if n <= (2000 if seed == 0 else 1000):  # a step follows the evidence of all rows: 2,000 steps of n^3
                yield asked("scaling", f"steps:{n}", "dkl-exact", seed, "--evidence-rows 2000")


def below_the_dense(scores, name, metric):
    """Cases: this DBK is below the best of the dense methods that were run at that n."""
    for n in (size for size in SIZES if size <= 5000):
        dense, at = (["GP", "DKL"], f"n = {n}") if n <= 2000 else (["GP"], f"n = {n}, GP alone")
        ours, rival = scores.get("scaling", f"steps:{n}", name, metric), best(scores, "scaling", f"steps:{n}", dense, metric)
        yield lower(at, ours, rival[1], "", rival[0]) if rival else Case(at, None, "")


def claims(scores):
    """N section 4.1, Figure 4; here the exact GP ends at 5,000 rows and exact DKL at 2,000."""
    for metric, text in ("raw NLL", "NLL"), ("MAE", "MAE"):
        for name, how in ("DBK-SiLU", "DBK by dPPGP"), ("DBK exact", "exact DBK"):
            yield judged("N 4.1, beside GP and DKL", f"{how} has a lower {text} than the exact GP and DKL at every n (500 to 5,000, where our dense ones end; N's end at 20,000)",
                         list(below_the_dense(scores, name, metric)))
    cases = []
    for n in (size for size in SIZES if size <= EXACT_LIMIT):
        pair = [scores.get("scaling", f"steps:{n}", name, "raw NLL") for name in ("DBK-SiLU", "DBK exact")]
        cases.append(lower(f"n = {n}", *pair, "", "DBK exact") if all(pair) else Case(f"n = {n}", None, ""))
    yield judged("N 4.1", f"dPPGP improves on exact DBK's NLL at every n (500 to {EXACT_LIMIT:,}, where exact DBK ends; N's runs to 100,000)", cases)


LATENCY = not_measured("N 4.1", "exact DBK scales to n = 100,000 with dramatically lower latency than the exact GP and DKL",
                       f"ours ends at {EXACT_LIMIT:,} rows and the dense ones at 5,000 and 2,000; the column of the step is of several machines and loads "
                       "and has the validation in it")


def step_ms(scores, data, name):
    """Milliseconds of one step, validation included; of the exact Gaussian process: seconds of the whole fit."""
    seconds, steps = scores.get("scaling", data, name, "time_s"), scores.get("scaling", data, name, "steps")
    if not seconds:
        return ""
    return f"{1000 * seconds.mean / steps.mean:.1f} ms" if steps and steps.mean > 0 else f"{seconds.mean:.0f} s a fit"


def page(now):
    scores, rows = load("scaling", runner=now), []
    for n in SIZES:
        for name in "DBK-SiLU", "DBK exact", "GP", "DKL":
            got = [scores.get("scaling", f"steps:{n}", name, m) for m in ("MAE", "raw NLL", "memory")]
            if got[0]:
                rows.append([str(n), name, cell(got[0]), cell(got[1]), step_ms(scores, f"steps:{n}", name), cell(got[2], digits=0, seeds=False)])
    return Page(["The 1-D data. " + ONE_D + " DBK-SiLU: dPPGP on mini-batches; DBK exact: the marginal likelihood, all rows a step; GP and DKL: dense, GP up to its limit of rows, DKL as far as 2,000 steps of n³ allow. N's dense methods end at 20,000 rows, its exact DBK at 100,000.",
          grid(["n", "method", "MAE", "NLL", "a step", "peak memory, MB"], rows), "![scaling](scaling.svg)"], [*claims(scores), LATENCY], scores)


def drawn(scores, path):
    import figures

    plt = figures.plt
    figure, (mae, nll, time) = plt.subplots(1, 3, figsize=(10, 3))
    for colour, (name, text) in enumerate([("DBK-SiLU", "DBK, dPPGP"), ("DBK exact", "DBK, exact"), ("GP", "GP, exact"), ("DKL", "DKL, exact")]):
        for axes, metric in (mae, "MAE"), (nll, "raw NLL"):
            figures.line(axes, SIZES, [scores.get("scaling", f"steps:{n}", name, metric) for n in SIZES], text, color=f"C{colour}")
        seconds, steps = ([scores.get("scaling", f"steps:{n}", name, m) for n in SIZES] for m in ("time_s", "steps"))
        found = [(n, 1000 * t.mean / s.mean) for n, t, s in zip(SIZES, seconds, steps) if t and s and s.mean > 0]
        if found:
            time.plot(*zip(*found), marker="o", ms=3, color=f"C{colour}", label=text)
    for axes, text in (mae, "test MAE (standardised)"), (nll, "test NLL"), (time, "ms a step"):
        axes.set(xscale="log", xlabel="training rows", ylabel=text)
    time.set_yscale("log")
    if mae.get_legend_handles_labels()[0]:
        mae.legend(frameon=False)
    figures.save(figure, path)


def figures(now):
    scores = load("scaling", runner=now)
    return {"scaling.svg": lambda path: drawn(scores, path)} if scores.measured() else {}
