"""The judge of S's orderings, and where a source's data come from."""

import csv
import gzip
import json
import math
import random

import cells_s_papers
import claims_s
import pytest
import report_s
import sources
from claims import FAILS, HOLDS, OPEN
from measured import row
from run import ROOT

ORDER = claims_s.Order("s", "S", "low-rank's is above the others'", "ood.auroc.x", True, "low-rank", ("full-rank", "ensemble of dnn"))


def rows_of(method, values, flags=""):
    return [row("main", "d", method, flags, seed, scores=json.dumps({"ood.auroc.x": value})) for seed, value in enumerate(values)]


def judged(low, full, ensemble, order=ORDER):
    rows = rows_of("low-rank", low) + rows_of("full-rank", full) + rows_of("ensemble", ensemble, "--of dnn --members 5")
    return claims_s.judged(order, claims_s.Measured(rows, rows))


def test_an_ordering_holds_against_every_rival_or_not_at_all():
    low = (0.80, 0.82, 0.81)
    worse, better, near = (0.70, 0.71, 0.715), (0.90, 0.915, 0.92), (0.79, 0.83, 0.81)
    assert judged(low, worse, worse).verdict == HOLDS
    assert judged(low, worse, better).verdict == FAILS and "(no)" in judged(low, worse, better).numbers
    assert judged(low, worse, near).verdict == OPEN and "(undecided)" in judged(low, worse, near).numbers
    assert judged(low, worse, ()).verdict == OPEN and judged((0.9,), (0.1,), (0.1,)).verdict == OPEN
    assert judged(low, better, better, ORDER._replace(up=False)).verdict == HOLDS


def test_rows_that_failed_or_are_not_asked_for_do_not_count():
    rows = rows_of("low-rank", (0.5, 0.6)) + [row("main", "d", "low-rank", "", 2, error="no luck")]
    assert claims_s.Measured(rows, rows).by_seed("low-rank", "ood.auroc.x") == {"0": 0.5, "1": 0.6}
    assert claims_s.Measured(rows, rows[:1]).by_seed("low-rank", "ood.auroc.x") == {"0": 0.5}


def test_the_retention_gain_is_of_the_first_score_that_a_method_has():
    scores = {"selective.by.epistemic_sd.mae.0": 10.0, "selective.by.epistemic_sd.mae.4": 8.0, "selective.by.total_sd.mae.0": 10.0,
              "selective.by.total_sd.mae.4": 9.0}
    assert claims_s.numbers_of(row("main", "d", "low-rank", "", scores=json.dumps(scores)))["retention_gain"] == pytest.approx(0.2)
    assert "retention_gain" not in claims_s.numbers_of(row("main", "d", "dnn", ""))


def test_every_ordering_names_methods_and_a_study_with_cells_for_them():
    for order in claims_s.ORDERS:
        cells = list(getattr(cells_s_papers, order.study)())
        measured = {claims_s.name_of(cell) for cell in cells if cell["study"] == "main"}
        assert {order.a, *order.others} <= measured, order
        assert {order.a, *order.others} <= set(claims_s.METHODS)


@pytest.mark.parametrize("study", report_s.STUDIES)
def test_no_cell_stands_twice_and_every_source_is_known(study):
    cells = [tuple(cell.values()) for cell in getattr(cells_s_papers, study)()]
    assert len(cells) == len(set(cells)) and {cell[1] for cell in cells} <= set(sources.SOURCES)


@pytest.mark.parametrize("study", report_s.STUDIES)
def test_the_printed_numbers_bear_the_orderings_that_they_show(study):
    """S's own means order as its text says, where it prints them."""
    printed = report_s.printed_numbers(ROOT / "experiments" / study)
    ours = {metric: printed_name for _, metric, printed_name, _ in report_s.STUDIES[study][2]}
    for order in (each for each in claims_s.ORDERS if each.study == study):
        values = [printed.get((claims_s.PRINTED[name], ours.get(order.metric))) for name in (order.a, *order.others)]
        known = [value for value in values[1:] if value is not None]
        if values[0] is None or not known:
            continue
        assert all((values[0] - other) * (1 if order.up else -1) > 0 for other in known), (order.text, values)


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
    def predict(table):
        with open(table, newline="") as file:
            return [{"sd_epistemic": str(abs(float(line["x"])))} for line in csv.DictReader(file)]

    found = sources.toy_widths(predict, tmp_path)
    assert found["width_in"] == pytest.approx(0.25 * 3.2897072539) and found["width_ratio"] == pytest.approx(4.0)
    assert sources.toy_widths(lambda table: [{"sd_epistemic": "0"}] * 201, tmp_path) == {"width_in": 0.0, "width_out": 0.0}
