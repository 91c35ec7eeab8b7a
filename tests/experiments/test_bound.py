"""The page of the last layer's bound: its formula, and means over what is measured."""

import math

import pytest
import report_bound


def test_the_needed_error_opens_the_gap():
    gap, x = 0.17, 0.112
    t = report_bound.needed(gap, x)
    nll = lambda share: 0.5 * (math.log(1 + share) + t / (1 + share))  # noqa: E731
    assert nll(0) - nll(x) == pytest.approx(gap)


def test_the_share_is_a_mean_over_the_rows_of_a_method():
    rows = [{"method": m, "ridge": r, "mean_epistemic_var": e, "noise_var": "2"} for m, r, e in (("bll", "", "1"), ("bll", "", "3"), ("rich-bll", "0", "8"))]
    assert report_bound.share(rows, ("bll", "")) == 1 and report_bound.share(rows, ("rich-bll", "0")) == 4
    assert report_bound.share(rows, ("rich-bll", "")) is None
