"""A paired difference is decided by Student's t, in both directions alike."""

import math

import paired
import pytest
from scipy import stats


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 30])
def test_the_bound_is_that_of_students_t(freedom):
    assert paired.t_bound(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)
    assert paired.within(1.5, freedom) == pytest.approx(1 - 2 * stats.t.sf(1.5, freedom), rel=1e-12)


def test_a_difference_goes_over_the_common_pairs_alone():
    one, other = {"a": 1.0, "b": 5.0, "c": 9.0}, {"a": 2.0, "b": 6.5, "d": 7.0}
    found = paired.difference(one, other)
    assert (found.mean, found.n) == (-1.25, 2) and found.error == pytest.approx(0.25)
    assert paired.difference(one, {"e": 1.0}) is None
    swapped = paired.difference(other, one)
    assert (swapped.mean, swapped.error) == (1.25, found.error)


@pytest.mark.parametrize("scale, sign", [(3.0, 1), (-3.0, -1), (2.0, 0), (-2.0, 0)])
def test_it_is_decided_beyond_the_bound_in_both_directions(scale, sign):
    """Five pairs: the bound is 2.776 standard errors."""
    assert paired.Difference(scale * 0.1, 0.1, 5).sign == sign


def test_a_single_pair_and_equal_pairs():
    single = paired.difference({0: 1.0}, {0: 0.5})
    assert math.isnan(single.error) and single.sign == 0 and str(single) == "+0.5000 (1)"
    assert paired.Difference(0.0, 0.0, 3).sign == 0 and paired.Difference(0.5, 0.0, 3).sign == 1


@pytest.mark.parametrize("sd, distance", [(1.0, 2.0), (1.0, 0.5), (0.3, 0.1), (2.0, 5.0)])
def test_the_pairs_needed_are_the_fewest_that_decide(sd, distance):
    """With the spread of the measured pairs, and Student's t of scipy."""
    found = paired.Difference(0.1, sd / math.sqrt(3), 3).pairs_needed(distance)
    decides = [stats.t.ppf(0.975, n - 1) * sd / math.sqrt(n) < distance for n in (found - 1, found) if n > 1]
    assert decides[-1] and not any(decides[:-1])


def test_no_number_of_pairs_is_known_from_one_pair_or_for_no_effect():
    assert paired.Difference(1.0, math.nan, 1).pairs_needed(1.0) is None
    assert paired.Difference(0.0, 1.0, 5).pairs_needed(0.0) == math.inf
    assert paired.Difference(0.0, 1.0, 5).pairs_needed(0.01) == math.inf, "over 200"
