"""The judge of R's claims."""

import math

import claims_r
import pytest
import report_r_own
from claims import FAILS, HOLDS, OPEN
from measured import as_measured, published, row
from scores import Scores


def of_r(study, by=0.0):
    """As if three seeds had given R's means, with R's spread as their standard error."""
    rows = [{**row, "spread": str(math.sqrt(3) * float(row["spread"]))} for row in published(study)]
    return as_measured("paper", rows, mean=lambda row: float(row["value"]) + by * (row["method"] == "Rich-BLL"))


def test_the_rich_paper_keeps_its_claims():
    r = {study: claims_r.StandardErrors(Scores(of_r(study))) for study in ("r_table2", "r_table4", "r_table6")}
    found = [claim for study, scores in r.items() for claim in getattr(claims_r, study)(scores)]
    # Below MAP: three pairs do not decide two of the tables.
    assert [claim.verdict for claim in found if not claim.source.endswith("held out")] == [HOLDS, HOLDS, OPEN, HOLDS, HOLDS, HOLDS], found
    assert {claim.verdict for claim in found if claim.source.endswith("held out")} == {OPEN}


def test_a_planted_loss_makes_the_rich_papers_claims_fall():
    first, likeness, third = claims_r.r_table2(claims_r.StandardErrors(Scores(of_r("r_table2", by=0.5))))
    assert first.verdict == FAILS and likeness.verdict == FAILS and third.verdict == FAILS


def test_a_difference_is_taken_seed_by_seed():
    rows = [row("paper", "boston", m, "", seed, nll=str(nll)) for m, nlls in (("rich-bll", (1, 5, 9)), ("bll", (2, 6.5))) for seed, nll in enumerate(nlls)]
    scores = claims_r.StandardErrors(Scores(rows))
    found = scores.difference("paper", "boston", "Rich-BLL", "NNGP (BLL)")
    assert (found.mean, found.seeds) == (-1.25, 2) and found.sd == pytest.approx(0.25)
    assert scores.difference("paper", "boston", "Rich-BLL", "DNN") is None
    assert scores.get("paper", "boston", "Rich-BLL", "raw NLL").sd == pytest.approx(4 / math.sqrt(3))


def test_the_slope_of_a_power_is_its_exponent():
    assert report_r_own.slope([(n, 3 * n**2.5) for n in (10, 20, 50)]) == pytest.approx(2.5)
