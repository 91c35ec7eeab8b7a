"""What F states, judged on rows of its studies; the numbers that its pages derive."""

import json

import cells_f
import claims_f
import pytest
from claims import FAILS, HOLDS, OPEN
from measured import row


def test_every_ordering_names_methods_of_its_study():
    for order in claims_f.ORDERS:
        found = {claims_f.name_in(cell) for cell in getattr(cells_f, order.study)() if cell["study"] == "main"}
        assert {order.a, *order.others} <= found <= {*claims_f.METHODS, *claims_f.OTHERS}, order


def test_a_method_is_named_with_its_layers_and_scored_by_its_own_score():
    scores = json.dumps({"ood.auroc.residual": 0.9, "ood.auroc.mutual_information": 0.8, "ood.auroc.max_softmax": 0.7, "multiply_adds": 5e8})
    four = row("main", "d", "fid-gp", "--bayesian-layers layer4.1.conv2", scores=scores)
    assert claims_f.name_in(four) == "fid-gp, 4 layers"
    expected = {"fid-gp": (0.9, 8), "batch-ensemble": (0.8, 4), "dnn": (0.7, 1)}
    for method, (auroc, passes) in expected.items():
        recipe = json.dumps({"options": {"fid-gp": {"draws": 8}, "batch-ensemble": {"batch_members": 4}}.get(method, {})})
        found = claims_f.numbers_in(row("main", "d", method, "", scores=scores, recipe=recipe))
        assert (found[claims_f.OWN_OOD], found["gflops"]) == (auroc, pytest.approx(passes))


def test_the_projection_is_judged_against_the_norm_of_the_same_fit():
    def measured(residuals):
        rows = [row("main", "d", "fid-gp", "", seed, scores=json.dumps({"ood.auroc.residual": r, "ood.auroc.gradient_norm": 0.7, "ood.auroc.projected_norm": 0.7, "ood.auroc.energy": 0.7}))
                for seed, r in enumerate(residuals)]
        return claims_f.measured_of(rows, rows)
    verdicts = lambda residuals: [c.verdict for c in claims_f.of_scores("f_fashion", measured(residuals))]
    assert verdicts((0.8, 0.81, 0.8)) == [HOLDS] * 3 and verdicts((0.6, 0.61, 0.6)) == [FAILS] * 3 and verdicts((0.8, 0.6, 0.7)) == [OPEN] * 3


def test_bands_hold_at_every_seed_or_not():
    def panel(inside, ratios):
        rows = [row("left", "cosine", "fid-gp", "", seed, scores=json.dumps({"within_3_sd": i, "gap_ratio": r, "band_ratio": 1 + r / 100, "rmse": 1}))
                for seed, (i, r) in enumerate(zip(inside, ratios))]
        return claims_f.measured_of(rows, rows, "left")
    good, bad = panel((0.99, 0.96), (2, 3)), panel((0.99, 0.94), (2, 0.9))
    assert [c.verdict for c in claims_f.of_curve({"left": good, "right": bad})] == [HOLDS, HOLDS, HOLDS, FAILS, HOLDS, FAILS, OPEN]


def test_the_compression_is_that_of_the_counts():
    printed = {32: 1354637, 64: 2657773, 128: 5509805, 256: 12196909}
    fewer, smaller = claims_f.of_sizes(printed)
    assert fewer.verdict == HOLDS and smaller.verdict == FAILS and "128: 50.9 %" in fewer.numbers
    assert [claim.verdict for claim in claims_f.of_sizes({})] == [OPEN, OPEN]
