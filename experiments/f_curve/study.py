"""F Figure 3: a curve with a gap."""

import itertools

import judge
import studies
from pages import Page
from paper_f import CURVE, FFG, FID, INDUCING, OURS, OWN_FLOW, PANELS, REPARAM, SPECTRAL, above, measured_of
from paper_s import shown
from protocol import SAME, SILENT, Line
from results import asked
from scores import limit
from tables import grid

TITLE = "Figure 3 of F: a curve with a gap"
WHAT = "F Figure 3: a curve with a gap"
PAPER = "F"
PROTOCOL = [
    Line("curve", "cos(4 x + .8) on [.5, .8] and [1.2, 1.6], noise variance .01 (5.1)", "the same", SAME),
    Line("rows", "not said", "100 of each cluster, 25 to validate, 500 to test", SILENT),
    Line("network", "3 layers of 100, batch norm, tanh (5.1)", "the same", SAME),
    Line("inducing weights", "64 x 64 and 32 x 32 (Figure 3)", "the same", SAME),
    Line("limit of the noise, prior sd", ".08 and .5; .05 and .3 (Figure 3)", "the same, the sd over sqrt(inputs) (Table 7)", SAME),
    Line("flow", "each matrix divided by its spectral norm (3.3, Definition 1); its form is not said",
         "so divided, autoregressive with scales by row", SILENT),
    Line("KL annealing", "\"during early training\" (E); its length is not said", "100 epochs without KL, then 50 to all of it", SILENT),
    Line("optimiser", "Adam (algorithm 1); no rate for the curve", "Adam, 1e-3, batches of 50", SAME),
    Line("epochs", "not said for the curve", "400", SILENT),
    Line("epoch kept", "not said", "the best by the NLL of the 50 validation rows, after the annealing", SILENT),
    Line("draws", "1 to train, 8 to predict, of ResNet-18 (Table 7)", "the same", SAME),
    Line("score", "\"outperforms\" (5.1); of which score is not said", "RMSE", SILENT),
]
LEVEL, NEAR = 0.95, 0.02  # the margin of default_tables


def cells():
    """Both panels, and the relatives of fid-gp, 3 seeds; fid-gp with F's flow, 10 seeds."""
    for seed, (panel, flags), (method, own) in itertools.product(range(3), PANELS.items(), INDUCING):
        yield asked(panel, "cosine", method, seed, own, flags, CURVE)
    for seed, (panel, flags) in itertools.product(range(10), PANELS.items()):
        yield asked(panel, "cosine", "fid-gp", seed, SPECTRAL, flags, CURVE)


def claims(panels):
    """F states that the left panel is better, which is judged with F's flow; the bands are what it shows. `panels` has a Measured for
    left and right."""
    found = []
    for panel, measured in panels.items():
        cases = {"the 95 % interval holds from .93 to .97 of the rows of the clusters":
                 judge.alike("fid-gp", measured.score(FID, "coverage"), limit(LEVEL), NEAR),
                 "the band of the whole sd is wider in the gap than in the clusters":
                 judge.above("fid-gp", measured.score(FID, "band_ratio"), 1.0),
                 "so is the epistemic sd alone": judge.above("fid-gp", measured.score(FID, "gap_ratio"), 1.0)}
        found += [judge.judged(OURS, f"f_curve, {panel} panel: {text}", [case]) for text, case in cases.items()]
    return found + [above("F 5.1", "f_curve: the left panel's RMSE is below the right one's", "left - right",
                          *[panels[panel].by_seed(FID + OWN_FLOW, "rmse") for panel in ("left", "right")], up=False)]


COLUMNS = [("RMSE", "rmse"), ("NLL", "nll"), ("coverage, 95 %", "coverage"), ("within 3 sds", "within_3_sd"),
           ("sd, clusters", "sd_clusters"), ("sd, gap", "sd_gap"),
           ("ratio", "gap_ratio"), ("whole sd, ratio", "band_ratio"), ("parameters", "parameters")]


def page(now):
    rows = studies.rows(studies.HERE / "f_curve")
    panels = {panel: measured_of(rows, panel) for panel in PANELS}
    lines = [[panel, name, *found] for panel, measured in panels.items() for name in (FFG, REPARAM, FID, FID + OWN_FLOW)
             if any(found := [shown(measured.by_seed(name, metric), metric) for _, metric in COLUMNS])]
    return Page(["Rows in [.5, .8] and [1.2, 1.6], noise variance .01; three hidden layers of 100 units with batch norm and tanh, "
                 "400 epochs. Left: 64 x 64 inducing weights, noise limit .08, prior scale .5; right: 32 x 32, .05, .3. (The scale "
                 "times 1 / sqrt(inputs) is the sd of a weight: our reading of F's prior_sd.) `fid-gp` has the tool's certified flow, `fid-gp, spectral norms` one whose matrices are "
                 "divided by their spectral norms (equation 8; F does not say more of its form), with which F's claim is judged. Coverage and within 3 sds (F's "
                 "band): of 1,000 held-out rows of both clusters; a Gaussian holds .95 and .997. The fits' noise sd is above the "
                 "true .1, so that three sds hold nearly every row whatever the bands are; the claim is on the 95 % interval. "
                 "Sds: medians of the epistemic sd; the last ratio is that of the whole "
                 "sd, the noise of the data included. Ours: mean ± standard error over seeds (their number in brackets). Bands "
                 "and RMSE are decided by one rule, Student's t over the seeds.",
                 grid(["panel", "method", *[title for title, _ in COLUMNS]], lines)], claims(panels))
