"""The judge of S's orderings, and where a source's data come from."""

import csv
import gzip
import json
import math
import random

import paper_s
import numpy
import pytest
import sources
import studies
from judge import FAILS, HOLDS, OPEN
from measured import row, study
from paper_s import Measured

ORDER = paper_s.Order("S", "low-rank's is above the others'", "ood.auroc.x", True, "low-rank", ("full-rank", "ensemble of dnn"))
STUDIES = ["s_table1", "s_table2", "s_table3", "s_table15", "s_table17", "s_toy"]


def rows_of(method, values, flags=""):
    return [row("main", "d", method, flags, seed, scores=json.dumps({"ood.auroc.x": value})) for seed, value in enumerate(values)]


def judged(low, full, ensemble, order=ORDER):
    rows = rows_of("low-rank", low) + rows_of("full-rank", full) + rows_of("ensemble", ensemble, "--of dnn --members 5")
    return paper_s.judged(order, Measured(rows))


def test_an_ordering_holds_against_every_rival_or_not_at_all():
    low = (0.80, 0.82, 0.81)
    worse, better, near = (0.70, 0.71, 0.715), (0.90, 0.915, 0.92), (0.79, 0.83, 0.81)
    assert judged(low, worse, worse).verdict == HOLDS
    assert judged(low, worse, better).verdict == FAILS and "(no)" in judged(low, worse, better).numbers
    assert judged(low, worse, near).verdict == OPEN and "(undecided)" in judged(low, worse, near).numbers
    assert judged(low, worse, ()).verdict == OPEN and judged((0.9,), (0.1,), (0.1,)).verdict == OPEN
    assert judged(low, better, better, ORDER._replace(up=False)).verdict == HOLDS


def test_rows_that_failed_or_are_not_asked_for_do_not_count(tmp_path, monkeypatch):
    rows = rows_of("low-rank", (0.5, 0.6)) + [row("main", "d", "low-rank", "", 2, error="no luck"),
                                              row("other", "d", "low-rank", "", 3, scores='{"ood.auroc.x": 1}')]
    assert Measured(rows).by_seed("low-rank", "ood.auroc.x") == {"0": 0.5, "1": 0.6}
    with open(tmp_path / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**each, "recipe": ""} for each in rows)
    monkeypatch.setattr(studies, "cells", lambda folder: rows[:1])
    assert Measured(studies.rows(tmp_path)).by_seed("low-rank", "ood.auroc.x") == {"0": 0.5}


def test_the_retention_gain_is_of_the_first_score_that_a_method_has():
    scores = {"selective.by.epistemic_sd.mae.0": 10.0, "selective.by.epistemic_sd.mae.4": 8.0, "selective.by.total_sd.mae.0": 10.0,
              "selective.by.total_sd.mae.4": 9.0}
    assert paper_s.numbers_of(row("main", "d", "low-rank", "", scores=json.dumps(scores)))["retention_gain"] == pytest.approx(0.2)
    assert "retention_gain" not in paper_s.numbers_of(row("main", "d", "dnn", ""))


@pytest.mark.parametrize("name", STUDIES)
def test_every_ordering_names_methods_that_the_study_measures_and_a_column_or_what_a_row_derives(name):
    found = {paper_s.name_of(cell) for cell in study(name).cells() if cell["study"] == "main"}
    assert study(name).ORDERS
    for order in study(name).ORDERS:
        assert {order.a, *order.others} <= found <= set(paper_s.METHODS), order
        assert order.metric in {metric for _, metric, _, _ in study(name).COLUMNS}, order


@pytest.mark.parametrize("name", STUDIES)
def test_no_cell_stands_twice_and_every_source_is_known(name):
    cells = [tuple(cell.values()) for cell in study(name).cells()]
    assert len(cells) == len(set(cells)) and {cell[1] for cell in cells} <= set(sources.SOURCES)


@pytest.mark.parametrize("name", STUDIES)
def test_no_two_cells_are_one_fit_of_a_mean(name):
    main = [(paper_s.name_of(cell), cell["seed"]) for cell in study(name).cells() if cell["study"] == "main"]
    assert len(main) == len(set(main))


@pytest.mark.parametrize("name", STUDIES)
def test_the_printed_numbers_bear_the_orderings_that_they_show(name):
    """S's own means order as its text says, where it prints them."""
    printed = paper_s.printed_numbers(name)
    ours = {metric: printed_name for _, metric, printed_name, _ in study(name).COLUMNS}
    for order in study(name).ORDERS:
        values = [printed.get((paper_s.PRINTED.get(method), ours.get(order.metric))) for method in (order.a, *order.others)]
        known = [value for value in values[1:] if value is not None]
        if values[0] is None or not known:
            continue
        assert all((values[0] - other) * (1 if order.up else -1) > 0 for other in known), (order.text, values)


def stated(name, numbers):
    """The claims of a study beside its orderings, by text, from numbers by method and seed."""
    flags = {paper_s.HE: "--start network"}
    rows = [row("main", "d", "full-rank" if method == paper_s.HE else method, flags.get(method, ""), seed, scores=json.dumps(each))
            for method, found in numbers.items() for seed, each in enumerate(found)]
    return {claim.text: claim.verdict for claim in study(name).claims(Measured(rows))}


def test_half_a_percent_of_accuracy_is_a_margin_on_the_paired_difference():
    def verdict(low):
        accuracies = {"full-rank": (0.89, 0.88), "low-rank": low}
        found = stated("s_table17", {name: [{"accuracy": each} for each in values] for name, values in accuracies.items()})
        return next(iter(found.values()))

    assert verdict((0.886, 0.8761)) == HOLDS and verdict((0.95, 0.939)) == HOLDS
    assert verdict((0.88, 0.8701)) == FAILS and verdict((0.886, 0.860)) == OPEN
    assert verdict((0.886,)) == OPEN and verdict(()) == OPEN


def test_comparable_on_the_curve_is_judged_against_both_starts_of_full_rank():
    def numbers(rmse, ratio):
        return [{"rmse": rmse + step, "width_ratio": ratio + step} for step in (0, 1e-4, -2e-4)]

    found = stated("s_toy", {"low-rank": numbers(0.50, 2.01), "full-rank": numbers(0.495, 1.90), paper_s.HE: numbers(0.40, 1.2)})
    assert len(found) == 4 and all("uniform start" in text or "network's start" in text for text in found)
    assert {verdict for text, verdict in found.items() if "uniform" in text} == {HOLDS}
    assert {verdict for text, verdict in found.items() if "network" in text} == {FAILS}
    higher = stated("s_toy", {"low-rank": numbers(0.20, 1.0), "full-rank": numbers(0.495, 1.90)})
    assert [verdict for text, verdict in higher.items() if "uniform" in text] == [HOLDS, FAILS]
    assert {verdict for text, verdict in higher.items() if "network" in text} == {OPEN}


def test_the_fits_that_learnt_nothing_are_named():
    rows = [row("main", "d", "low-rank", "", seed, scores=json.dumps({"errors.rate": rate, "auroc": rate}))
            for seed, rate in enumerate((0.25, 0.764, 0.27))]
    rows += [row("beta 32", "d", "rank-1", "", scores='{"errors.rate": 0.764}'), row("main", "d", "rank-1", "", 1, error="no luck")]
    text = study("s_table1").collapsed(rows)
    assert "error rates: low-rank, seed 1 (0.764). The means" in text and "| low-rank | ours | 0.260 ± 0.010 (2) |" in text
    assert "rank-1" not in text and study("s_table1").collapsed(rows[:1]) == ""


def test_equal_budgets_are_said_to_be_equal():
    def rows(*scores):
        return [row(f"curve, {n} epochs", "d", method, "", valid_score=str(score), steps=str(n))
                for n, score in zip((16, 256), scores) for method in ("low-rank", "full-rank", "dnn")]

    same = study("s_table1").same_at_every_budget
    assert "16 epochs and 256 epochs are equal" in same(rows(0.4, 0.4)) and same(rows(0.4, 0.3)) == same([]) == ""


def test_an_ablation_names_its_collapsed_fits_and_stands_without_them():
    found = {"low-rank": {"0": {"auroc": 0.8, "errors.rate": 0.25}, "1": {"auroc": 0.8, "errors.rate": 0.25}},
             "low-rank --rank 2": {"0": {"auroc": 0.7, "errors.rate": 0.26}, "1": {"auroc": 0.6, "errors.rate": 0.764}},
             "low-rank --beta 32": {"0": {"auroc": 0.5, "errors.rate": 0.764}}}
    text = study("s_ablations").without_collapsed(found)
    assert "low-rank --rank 2, seed 1; low-rank --beta 32, seed 0." in text.replace("`", "")
    assert "| low-rank --rank 2 |" in text and "-0.1000 (1)" in text and "| low-rank --beta 32 |" not in text
    assert study("s_ablations").without_collapsed({"low-rank": found["low-rank"]}) == ""


def variant(part, seed, data, test, valid):
    return row(part, data, "low-rank", "", seed, nll_standardized=str(test), valid_nll_standardized=str(valid))


def test_a_variant_is_better_or_worse_with_the_table_as_the_unit():
    rows = [variant("beta 1", seed, data, 1 + seed, 2) for seed in range(2) for data in paper_s.SIX[:2]]
    rows += [variant("beta 2", seed, data, 2.5 + seed + 0.01 * (data == "energy"), 2 + (-1) ** seed)
             for seed in range(2) for data in paper_s.SIX[:2]]
    head, _, reference, other = paper_s.comparison(rows, "beta 1", ["beta 1", "beta 2", "beta 3"]).splitlines()
    assert head.startswith("|  | concrete | energy |") and head.endswith("| validation | test |")
    assert reference == "| beta 1 | 1.500 | 1.500 |  |  |  |  | +0.0000 ± 0.0000 (2) | +0.0000 ± 0.0000 (2) |"
    assert other == "| beta 2 | 3.000 | 3.010 |  |  |  |  | +0.0000 ± 0.0000 (2) | +1.5050 ± 0.0050 (2) worse |"


def test_the_splits_of_one_table_are_no_evidence_of_their_own():
    """Five splits of two tables, on which a variant gains alike: as pairs decided, as tables not."""
    gain = {"concrete": 0.1, "energy": 0.3}
    rows = [variant(part, seed, data, 1 - gain[data] * (part == "beta 2") + 0.001 * seed, 1) for seed in range(5) for data in gain
            for part in ("beta 1", "beta 2")]
    assert paper_s.comparison(rows, "beta 1", ["beta 2"]).splitlines()[-1].endswith("| -0.2000 ± 0.1000 (2) |")


def test_the_means_of_a_table_are_of_splits_that_all_rows_share():
    rows = [variant("beta 1", seed, "energy", 1 + seed, 2) for seed in range(2)] + [variant("beta 2", 0, "energy", 3, 2), variant("beta 2", 0, "kin8nm", 7, 2)]
    lines = paper_s.comparison(rows, "beta 1", ["beta 1", "beta 2"]).splitlines()[2:]
    assert lines[0].startswith("| beta 1 |  | 1.000 |  |") and lines[1].startswith("| beta 2 |  | 3.000 | 7.000 |")


def test_the_group_in_coma_and_its_column_leave_the_training(tmp_path):
    with gzip.open(tmp_path / "support2.csv.gz", "wt") as file:
        file.write("age,dz_coma,label\n50,0,1\n60,1,1\n70,0,0\n")
    files = sources.support2(tmp_path, tmp_path)
    assert files.train.read_text() == "age,label\n50,1\n70,0\n" and files.foreign.read_text() == "age,label\n60,1\n"


def test_the_toy_curve_is_equation_35_with_one_noise(tmp_path):
    assert sources.toy_curve(0.25, 0.0) == pytest.approx(0.25 + 0.3)
    assert sources.toy_curve(0.0, 0.125) == pytest.approx(0.3 * math.sin(math.pi / 4) + 0.3 + 0.125)
    rows = sources.toy_rows(200, -0.1, 0.6, 1)
    draw = random.Random(1)
    assert rows[0][0] == -0.1 + 0.7 * draw.random() and all(-0.1 <= x <= 0.6 for x, _ in rows)
    files = sources.toy(tmp_path, tmp_path)
    with open(files.test, newline="") as file:
        assert len(list(csv.DictReader(file))) == 2048


def test_the_widths_are_medians_of_the_5_to_95_range(tmp_path):
    """Draw k of the function is k |x|: at x the draws lie evenly from |x| to 100 |x|, and nine tenths of that range are 89.1 |x|."""
    def predict(table, draw):
        with open(table, newline="") as file:
            return [{"mean": str(draw * abs(float(line["x"])))} for line in csv.DictReader(file)]

    found = sources.toy_widths(predict, tmp_path)
    assert found["width_in"] == pytest.approx(0.25 * 89.1) and found["width_ratio"] == pytest.approx(4.0)
    assert sources.toy_widths(lambda table, draw: [{"mean": "0"}] * 402, tmp_path) == {"width_in": 0.0, "width_out": 0.0}


def test_the_quantile_is_that_of_numpy():
    values = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6]
    for share in 0, 0.05, 0.5, 0.95, 1:
        assert sources.quantile(values, share) == pytest.approx(float(numpy.quantile(values, share)))
