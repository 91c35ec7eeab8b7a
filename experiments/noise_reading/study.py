"""what N's text on the noise may mean, on N's own baselines."""

import itertools

from pages import Page
from paper_n import BOUND, PRESET, SPLIT
from results import asked
from scores import Published, load
from tables import cell, grid

TITLE = "What N's text on the noise may mean"
WHAT = "what N's text on the noise may mean, on N's own baselines"
PAPER = "N"


# N appendix B on the noise variance: it starts at 1e-2, is no smaller than 1e-6, and has the one rate of 1e-3.
READINGS = {"exp": "--noise-form exp --noise-start 0.01 --noise-rate 1e-3", "exp, start 0.1": "--noise-form exp --noise-start 0.1 --noise-rate 1e-3",
            "exp, rate 0.01": "--noise-form exp --noise-start 0.01 --noise-rate 1e-2",
            **{form: f"--noise-form {form} --noise-start 0.01 --noise-rate 1e-3" for form in ("softplus", "variance", "sd")}}


def cells():
    """What N's text on the noise may mean, on N's own two baselines, which tune nothing."""
    for data, (reading, flags), method in itertools.product(("elevators", "pol", "protein"), READINGS.items(), ("vbll", "sv-dkl")):
        yield asked(reading, data, method, 0, flags, PRESET, SPLIT)


def reading_distances(scores, published):
    """By reading: |ours - N| in NLL on each cell of the study that was measured, in the order of the cells."""
    cells = [(t, n) for t in ("elevators", "pol", "protein") for n in BOUND]
    found = {}
    for reading in READINGS:
        pairs = [(scores.get(reading, t, n, "NLL"), published.get(t, n, "NLL")) for t, n in cells]
        found[reading] = {at: abs(ours.mean - theirs.mean) for at, (ours, theirs) in zip(cells, pairs) if ours and theirs}
    return cells, found


def page(now):
    scores, published = load("noise_reading", runner=now), Published("table1")
    cells, found = reading_distances(scores, published)
    rows = [[reading, *[cell(scores.get(reading, t, n, "NLL"), seeds=False) for t, n in cells],
             f"{sum(far.values()) / len(far):.3f} ({len(far)})" if far else ""] for reading, far in found.items()]
    rows.append(["N", *[cell(published.get(t, n, "NLL"), seeds=False) for t, n in cells], ""])
    mae = [[reading, *[cell(scores.get(reading, t, n, "MAE"), digits=4, seeds=False) for t, n in cells]] for reading in READINGS]
    mae.append(["N", *[cell(published.get(t, n, "MAE"), digits=4, seeds=False) for t, n in cells]])
    whole = {reading: sum(far.values()) / len(far) for reading, far in found.items() if len(far) == len(cells)}
    first, *others = [f"{reading}** ({whole[reading]:.3f})" for reading in sorted(whole, key=whole.get)] or [""]
    chosen = (f"Nearest to N over all six: **{first}{', then **' if others else ''}{', **'.join(others)}; one seed a cell. `--preset paper` takes `sd`, "
              "which changes nothing that N says. On protein the readings that are measured stay behind N: there the noise is not what differs.\n") if first else ""
    if "sd" in whole:
        chosen = chosen.rstrip("\n") + " `sd` does not reach N either: abs(ours - N) is " + ", ".join(
            f"{found['sd'][at]:.3f} ({', '.join(at)})" for at in cells) + ".\n"
    header = ["reading", *[f"{t}, {n}" for t, n in cells]]
    return Page(["N appendix B: the noise variance \"is initialized to 1e-2 and constrained to be no smaller than 1e-6\", all at a rate of 1e-3; how "
          "it is constrained is not said. VBLL and SV-DKL, which N does not tune, by `--preset paper --split random --split-seed 1`, seed 0. "
          "`exp`: the logarithm of the excess over the floor is trained, from 1e-2 at 1e-3; then with another start or rate, which N does not say; "
          "`softplus`: its inverse softplus; `variance` and `sd`: the variance or its root itself, held at the floor. "
          "Seen from 1e-2 the first errors are so large that AdamW's second moment stills a logarithm for thousands of steps. At no "
          "reading do N's own baselines come out on all six cells; the table says how far each stays.",
          "## NLL\n\n" + grid([*header, "mean of abs(ours - N) (cells)"], rows), chosen, "## MAE\n\n" + grid(header, mae)], scores=scores)
