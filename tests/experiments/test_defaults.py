"""The claims on auto are decided split by split, beyond Student's bound."""

import defaults
import pytest
import studies
from judge import FAILS, HOLDS, OPEN, Case
from measured import row
from paired import Difference
from scores import Scores

TABLES, SIZES = (studies.load(studies.find(name)) for name in ("default_tables", "default_sizes"))
SPREAD = [0.0, 1.0, 2.0, 4.0, 8.0]  # of the splits, common to all methods
BEST = f"auto's NLL is at most that of the best single candidate + {defaults.MARGIN}, on four tables of five"
CATBOOST = "auto's NLL is at most CatBoost's, on nine tables of ten"


def measured(study, data, leads):
    """Rows of auto, its candidates and CatBoost on a table; `leads`: the NLL of auto minus those of ridge and CatBoost, split by split."""
    methods = [*defaults.candidates(data), "catboost"]
    nll = {"auto": leads} | {method: [float(method not in ("ridge", "catboost"))] * len(leads) for method in methods}
    return [row(study, data, method, f"--split-seed {split}", split, nll=str(SPREAD[split] + value))
            for method, values in nll.items() for split, value in enumerate(values)]


def claim(study, rows, text):
    return next(claim for claim in study.claims(Scores(rows)) if claim.text == text)


def on_all(leads, others=(), other=()):
    return [each for table in defaults.ROWS for each in measured("default_tables", table, other if table in others else leads)]


@pytest.mark.parametrize("lead, margin, won", [(-0.3, 0.0, True), (0.3, 0.0, False), (-0.2, 0.0, None), (0.2, 0.0, None),
                                               (-0.3, -0.1, None), (0.2, 0.6, True), (0.0, 0.02, None)])
def test_a_case_is_decided_beyond_the_bound_in_both_directions(lead, margin, won):
    """Five splits: the bound is 2.776 standard errors."""
    assert defaults.case("t", Difference(lead, 0.1, 5), margin).won is won


def test_a_single_split_decides_nothing_and_none_has_no_numbers():
    single = defaults.case("t", Difference(-5.0, float("nan"), 1))
    assert single.won is None and single.numbers == "-5.0000 (1)"
    assert defaults.case("t", None) == Case("t", None, "")


CLEAR, SPLIT, WORSE = [-0.3, -0.31, -0.29, -0.3, -0.3], [-3.0, 2.0, -2.0, 2.5, -1.0], [0.3, 0.31, 0.29, 0.3, 0.3]


@pytest.mark.parametrize("other, verdict, count", [(CLEAR, HOLDS, "17 of 17"), (SPLIT, OPEN, "13 of 17"), (WORSE, FAILS, "13 of 17")])
def test_the_best_candidate(other, verdict, count):
    """Four tables of five are 14 of 17; four others are clear, undecided or lost."""
    found = claim(TABLES, on_all(CLEAR, list(defaults.ROWS)[:4], other), BEST)
    assert found.verdict == verdict and found.numbers.startswith(f"{count}. yacht: ridge {'+' if other is WORSE else '-'}0.3")


@pytest.mark.parametrize("other, verdict", [(CLEAR, HOLDS), (SPLIT, OPEN), (WORSE, FAILS)])
def test_a_rival(other, verdict):
    """Nine tables of ten are 16 of 17."""
    assert claim(TABLES, on_all(CLEAR, list(defaults.ROWS)[:2], other), CATBOOST).verdict == verdict
    assert claim(TABLES, on_all(CLEAR, list(defaults.ROWS)[:1], other), CATBOOST).verdict == HOLDS


def test_a_lead_of_the_means_alone_holds_nothing():
    found = claim(TABLES, on_all(SPLIT), CATBOOST)
    assert sum(SPLIT) < 0 and found.verdict == OPEN and found.numbers.startswith("0 of 17") and found.numbers.count("(undecided)") == 17


def test_a_lead_within_the_margin_is_of_the_best_candidate_alone():
    slightly = [0.01, 0.011, 0.009, 0.01, 0.01]
    assert claim(TABLES, on_all(slightly), BEST).verdict == HOLDS
    assert claim(TABLES, on_all(slightly), CATBOOST).verdict == FAILS


def test_one_seed_of_every_size_decides_nothing():
    sizes = {row["data"] for row in SIZES.cells()}

    def verdict(leads):
        (found,) = SIZES.claims(Scores([each for data in sizes for each in measured("default_sizes", data, leads)]))
        return found.verdict
    assert [verdict(leads) for leads in (CLEAR[:1], CLEAR, SPLIT, WORSE)] == [OPEN, HOLDS, OPEN, FAILS]


@pytest.mark.parametrize("rmse, coverage, verdicts", [(1.01, (0.949, 0.951), [HOLDS] * 4), (1.03, (0.889, 0.891), [FAILS] * 4), (1.01, (0.88, 1.0), [HOLDS, HOLDS, OPEN, OPEN])])
def test_the_other_claims_are_decided_by_the_same_rule(rmse, coverage, verdicts):
    """Of the coverage over the splits; its mean over the tables is the same on each here."""
    rows = [row("default_tables", table, method, f"--split-seed {split}", split, coverage=str(covered), rmse_standardized=str(value + 0.001 * split))
            for table in defaults.ROWS for method, value in (("auto", rmse), ("realmlp", 1.0)) for split, covered in enumerate(coverage)]
    assert [each.verdict for each in TABLES.claims(Scores(rows)) if "NLL" not in each.text] == verdicts
