"""What F states, judged on rows of its studies; the numbers that its pages derive."""

import json

import paper_f
import pytest
from judge import FAILS, HOLDS, OPEN, UNTESTED
from measured import row, study


@pytest.mark.parametrize("name", ["f_fashion", "f_table3", "f_table4"])
def test_every_ordering_names_methods_of_its_study(name):
    found = {paper_f.name_in(cell) for cell in study(name).cells() if cell["study"] == "main"}
    assert study(name).ORDERS
    for order in study(name).ORDERS:
        assert {order.a, *order.others} <= found <= {*paper_f.METHODS, *paper_f.OTHERS}, order
        assert order.metric in {metric for _, metric, _, _ in study(name).COLUMNS}, order


def test_a_method_is_named_with_its_layers_and_scored_by_its_own_score():
    scores = json.dumps({"ood.auroc.residual": 0.9, "ood.auroc.mutual_information": 0.8, "ood.auroc.max_softmax": 0.7,
                         "multiply_adds": 5e8})
    four = row("main", "d", "fid-gp", "--bayesian-layers layer4.1.conv2", scores=scores)
    assert paper_f.name_in(four) == "fid-gp, 4 layers"
    expected = {"fid-gp": (0.9, 8), "batch-ensemble": (0.8, 4), "dnn": (0.7, 1)}
    for method, (auroc, passes) in expected.items():
        recipe = {"options": {"fid-gp": {"draws": 8}, "batch-ensemble": {"batch_members": 4}}.get(method, {})}
        found = paper_f.numbers_in(row("main", "d", method, "", scores=scores, recipe=recipe))
        assert (found[paper_f.OWN_OOD], found["gflops"]) == (auroc, pytest.approx(passes))


def test_the_projection_is_judged_against_the_norm_of_the_same_fit():
    others = {f"ood.auroc.{score}": 0.7 for score in ("gradient_norm", "projected_norm", "energy")}

    def verdicts(residuals):
        rows = [row("main", "d", "fid-gp", "", seed, scores=json.dumps({"ood.auroc.residual": residual, **others}))
                for seed, residual in enumerate(residuals)]
        return [claim.verdict for claim in paper_f.of_projection("f_fashion", paper_f.measured_of(rows))]

    assert verdicts((0.8, 0.81, 0.8)) == [HOLDS] * 3 and verdicts((0.6, 0.61, 0.6)) == [FAILS] * 3
    assert verdicts((0.8, 0.6, 0.7)) == [OPEN] * 3


def test_bands_are_decided_by_the_judges_rule():
    def panel(inside, ratios, rmse=(1, 1)):
        found = [{"coverage": i, "gap_ratio": r, "band_ratio": 1 + r / 100, "rmse": e} for i, r, e in zip(inside, ratios, rmse)]
        rows = [row("left", "cosine", "fid-gp", flags, seed, scores=json.dumps(each)) for flags in ("", paper_f.SPECTRAL)
                for seed, each in enumerate(found)]
        return paper_f.measured_of(rows, "left")

    claims = study("f_curve").claims
    good, bad = panel((0.95, 0.951), (2, 2.01)), panel((0.90, 0.901), (0.5, 2.0))
    assert [c.verdict for c in claims({"left": good, "right": bad})] == [HOLDS, HOLDS, HOLDS, FAILS, OPEN, OPEN, OPEN]
    wide = panel((0.999, 1.0), (2, 2.01))
    assert [c.verdict for c in claims({"left": wide, "right": wide})][:1] == [FAILS]
    lower = panel((0.95, 0.951), (2, 2.01), (0.5, 0.5))
    assert claims({"left": lower, "right": good})[-1].verdict == HOLDS
    assert claims({"left": good, "right": lower})[-1].verdict == FAILS
    assert {c.verdict for c in claims({"left": panel((), ()), "right": panel((), ())})} == {OPEN}
    single = panel((0.95,), (2,), (1,))
    assert {c.verdict for c in claims({"left": single, "right": single})} == {OPEN}
    assert [c.source for c in claims({"left": good, "right": good})] == [paper_f.OURS] * 6 + ["F 5.1"]


def test_the_compression_is_that_of_the_counts():
    printed, claims = {32: 1354637, 64: 2657773, 128: 5509805, 256: 12196909}, study("f_table6").claims
    fewer, smaller = claims(printed)
    assert fewer.verdict == HOLDS and smaller.verdict == OPEN and "128: 50.9 %" in fewer.numbers
    assert "than one with a mean and an sd a weight: 32: 94.0 %, 64: 88.2 %, 128: 75.4 %" in smaller.numbers
    assert [(claim.verdict, claim.numbers) for claim in claims({})] == [(OPEN, "")] * 2
    said = paper_f.printed_numbers("f_table6")
    off = [size for size, count in printed.items() if f"{count / 1e6:.2f}" != f"{said[f'fid-gp-conv-{size}x{size}', 'params_m']:.2f}"]
    assert off == [256] and "12,196,909 numbers, F prints 12.10 M" in study("f_table6").largest(printed, said)
    assert study("f_table6").largest({}, said) == ""


@pytest.mark.parametrize("name", ["f_table3", "f_table4"])
def test_claims_without_data_stand_as_not_measured(name):
    assert {claim.verdict for claim in study(name).NO_DATA} == {UNTESTED} and all(claim.source[0] == "F" for claim in study(name).NO_DATA)


def test_orderings_that_f_states_otherwise_are_ours():
    """F's Table 3 is of CIFAR-100; its Table 4 is of CamVid, as ours is."""
    assert {order.source for order in study("f_table3").ORDERS} == {paper_f.OURS}
    assert {order.source for order in study("f_table4").ORDERS} == {"F Table 4"}
