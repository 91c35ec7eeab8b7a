"""N's 1-D data: the spectrum of the learned kernel, and how evenly its prior variance lies over the inputs."""

import itertools
import math

import judge
import studies
from judge import judged, ordered
from pages import Page
from paper_n import CURVE, HELD_OUT, KEPT, MARGINAL, RANKED, RECIPE, STRENGTHS, TARGET
from paper_s import Measured, shown
from protocol import SAME, SILENT, Line
from results import FIELDS as ALL_FIELDS
from results import asked
from runners import Runner
from tables import grid

TITLE = "The spectrum of the learned kernel (N Figure 1, Corollary 1)"
WHAT = "N's 1-D data: the spectrum of the kernel that exact DBK and dPPGP learn, the spread of its diagonal by alpha"
PAPER = "N"
PROTOCOL = [
    CURVE, Line("training rows", "20,000 (Figure 1)", "20,000", SAME), HELD_OUT, TARGET, RANKED, KEPT,
    Line("exact DBK", "2,000 steps of AdamW at 1e-3, the marginal likelihood (B, B.1)", "the same", SAME),
    Line("dPPGP", "batch 200, at most 2,000 epochs, patience 100, AdamW at 1e-3 (B, B.1)", "the same", SAME),
    Line("noise variance", "starts at .01, at least 1e-6, rate 1e-3; its form is not said (B)", "the same; form sd", SILENT),
    Line("what a collapse is", "a picture of the kernel; the optimum of Corollary 1 has rank 1", "one eigenvalue with above .9 of the trace", SILENT)]
FIELDS = [*ALL_FIELDS, "top_share", "effective_rank", "diagonal_spread"]
DATA, GRID, COLLAPSED = "steps:20000", 2001, 0.9
EXACT, ALPHA = "dbk-exact", "dbk, alpha {}"


def cells():
    for seed in range(3):
        yield asked("exact", DATA, "dbk-exact", seed, f"--preset paper {MARGINAL}")
        for alpha in STRENGTHS:
            yield asked("dPPGP", DATA, "dbk", seed, RECIPE, f"--alpha {alpha}")


def silu(x):
    import numpy as np
    return x / (1 + np.exp(-x))


def normed(x, weight, bias):
    center = x - x.mean(1, keepdims=True)
    return center / (center.var(1, keepdims=True) + 1e-5) ** 0.5 * weight + bias


def features(model, xs):
    """The basis functions phi(x) of a deep basis kernel's file, N appendix B: a residual network and a layer of SiLUs. [n, rank] float64"""
    import json

    from safetensors import safe_open
    with safe_open(model, framework="numpy") as file:
        w = {name: file.get_tensor(name).astype("float64") for name in file.keys() if name.startswith(("network.", "basis."))}
        column, = json.loads(file.metadata()["encoder"])["columns"]
    x = ((xs - column["shift"]) / column["scale"])[:, None]

    def linear(name, x):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    x = linear("network.0", x)
    for block in "network.1", "network.2":
        inside = normed(x, w[f"{block}.0.weight"], w[f"{block}.0.bias"])
        x = x + linear(f"{block}.3", silu(linear(f"{block}.1", inside)))
    x = silu(normed(x, w["network.3.weight"], w["network.3.bias"]))
    return w["basis.scale"] * silu(linear("basis", x))


def of_spectrum(phi):
    """Of the kernel phi phi^T on evenly spaced inputs. Without the part that is the same for all inputs, as the model has a constant mean
    of its own: the largest eigenvalue's share of the trace, and the number of equal eigenvalues that would have the same entropy (Roy and
    Vetterli 2007). With it: the coefficient of variation of the diagonal |phi(x)|^2."""
    import numpy as np
    center = phi - phi.mean(0)
    if not center.any():
        raise ValueError("[spectrum] expected features that depend on the input; received the same for all inputs")
    values = np.clip(np.linalg.eigvalsh(center.T @ center), 0, None)
    share, diagonal = values / values.sum(), (phi ** 2).sum(1)
    entropy = -sum(p * math.log(p) for p in share if p > 0)
    return {"top_share": f"{share.max():.6g}", "effective_rank": f"{math.exp(entropy):.6g}", "diagonal_spread": f"{diagonal.std() / diagonal.mean():.6g}"}


class Spectrum(Runner):
    def _generated(self, cell, work):
        import numpy as np
        found = super()._generated(cell, work)
        return found | of_spectrum(features(work.folder / "m.safetensors", np.linspace(-1, 1, GRID)))


def runner(tool, data):
    return Spectrum(tool, data)


def name_of(row):
    return EXACT if row["method"] == "dbk-exact" else ALPHA.format(row["flags"].split("--alpha ")[1].split()[0])


def numbers_of(row):
    return {field: float(row[field]) for field in ("nll", "top_share", "effective_rank", "diagonal_spread") if row[field]}


def claims(measured):
    """N: exact DBK "collapses towards the rank-1 sample covariance up to a constant mean", dPPGP "yields more uniform prior variance"
    (section 1); the trace regularizer "encourages a more uniform allocation of prior variance" and is "an additional mechanism to prevent rank
    collapse" (3.2)."""
    exact, own = (measured.score(name, "top_share") for name in (EXACT, ALPHA.format("0.01")))
    yield judged("N 1, Figure 1", f"exact DBK collapses, by our measure: one eigenvalue of its kernel has more than {COLLAPSED} of the trace",
                 [judge.above("exact DBK", exact, COLLAPSED)])
    yield judged("N 1, Figure 1", "dPPGP does not collapse: no eigenvalue of its kernel has as large a share as exact DBK's largest",
                 [ordered("dPPGP - exact", measured.by_seed(ALPHA.format("0.01"), "top_share"), measured.by_seed(EXACT, "top_share"), up=False)])
    yield judged("N 1, Figure 1", "dPPGP yields more uniform prior variance than exact DBK",
                 [ordered("coefficient of variation, dPPGP - exact", measured.by_seed(ALPHA.format("0.01"), "diagonal_spread"),
                          measured.by_seed(EXACT, "diagonal_spread"), up=False)])
    for one, other in itertools.pairwise(STRENGTHS):
        yield judged("N 3.2", f"the trace regularizer makes the prior variance more uniform: alpha {other} more than {one}",
                     [ordered(f"coefficient of variation, {other} - {one}", measured.by_seed(ALPHA.format(other), "diagonal_spread"),
                              measured.by_seed(ALPHA.format(one), "diagonal_spread"), up=False)])
    yield judged("N 3.2", "the trace regularizer prevents rank collapse: the effective rank is higher with alpha 0.01 than with 0",
                 [ordered("effective rank, 0.01 - 0", measured.by_seed(ALPHA.format("0.01"), "effective_rank"),
                          measured.by_seed(ALPHA.format("0"), "effective_rank"))])


COLUMNS = [("test NLL", "nll"), ("largest eigenvalue, share of the trace", "top_share"), ("effective rank", "effective_rank"),
           ("coefficient of variation of the diagonal", "diagonal_spread")]


def page(now):
    rows = studies.rows(studies.HERE / "spectrum")
    measured = Measured([row | {"study": "main"} for row in rows], "main", name_of, numbers_of)
    names = [EXACT, *(ALPHA.format(alpha) for alpha in STRENGTHS)]
    lines = [[name, *found] for name in names if any(found := [shown(measured.by_seed(name, field), field) for _, field in COLUMNS])]
    return Page(["The kernel phi(x) phi(x')^T of a fit, on 2,001 inputs from -1 to 1, as the optimum of N's Corollary 1 has it: 128 basis functions. "
                 "Eigenvalues: of the centred kernel, as the model has a constant mean of its own. Effective rank: the number of equal eigenvalues with the same entropy. The diagonal is the prior variance |phi(x)|^2. Mean ± standard error (seeds).",
                 grid(["fit", *[title for title, _ in COLUMNS]], lines)], list(claims(measured)))
