"""A comparison of two methods on the same splits and seeds: the mean difference with its standard error, decided by Student's t.

One rule in both directions: a difference is decided where it exceeds the 95 % bound t(n - 1) times its standard error. Random splits
of one table share rows, so that the standard error of their mean is too small; `overlapping` widens the bound for them.
"""

import contextlib
import math
import statistics
from typing import NamedTuple


_share = 0.0  # of the test rows to the others, where the pairs are splits of one table


@contextlib.contextmanager
def overlapping(share):
    """Inside, the variance of a mean of n differences is (1 + n share) times what independent ones have: Nadeau and Bengio (2003), eq. 12."""
    global _share
    before, _share = _share, share
    try:
        yield
    finally:
        _share = before


class Difference(NamedTuple):
    mean: float
    error: float  # standard error; nan for a single pair
    n: int

    @property
    def bound(self):
        return t_bound(self.n - 1) * self.error * math.sqrt(1 + self.n * _share) if self.n > 1 else math.inf

    @property
    def sign(self):
        """1 or -1 where the difference is decided, else 0. Equal differences other than 0 are decided."""
        return 0 if self.mean == 0 or abs(self.mean) <= self.bound else int(math.copysign(1, self.mean))

    def less(self, margin):
        """Of one - (other + margin)."""
        return self._replace(mean=self.mean - margin)

    def within(self, margin):
        """Whether the 95 % interval lies inside -margin to margin (True) or outside it (False); None where it does neither."""
        if abs(self.mean) + self.bound <= margin:
            return True
        return False if abs(self.mean) - self.bound > margin else None

    def pairs_needed(self, distance, most=200):
        """How many pairs would decide a mean that lies `distance` from what it is compared with, if mean and spread stay as these pairs
        have them; math.inf beyond `most`. None for a single pair, which has no spread."""
        if self.n < 2:
            return None
        sd = self.error * math.sqrt(self.n)
        return next((n for n in range(2, most + 1) if Difference(0.0, sd / math.sqrt(n), n).bound < distance), math.inf)

    def __str__(self):
        return f"{self.mean:+.4f} ± {self.error:.4f} ({self.n})" if self.n > 1 else f"{self.mean:+.4f} (1)"


def versus(a, b):
    """Of two scores: a - b, seed by seed; one that is the same for every seed goes with each of the other's. None without common
    seeds."""
    one, other = a.by_seed, b.by_seed
    if a.fixed and not b.fixed:
        one = dict.fromkeys(other, a.mean)
    if b.fixed and not a.fixed:
        other = dict.fromkeys(one, b.mean)
    return difference(one, other)


def difference(one, other):
    """Of two dicts from a pair's name (a seed, or a table and a seed) to a number: one - other; None without common names."""
    found = [one[at] - other[at] for at in sorted(one.keys() & other.keys())]
    if not found:
        return None
    error = statistics.stdev(found) / math.sqrt(len(found)) if len(found) > 1 else math.nan
    return Difference(statistics.fmean(found), error, len(found))


def within(t, freedom):
    """P(|T| <= t) of Student's t with a whole number of degrees of freedom: Abramowitz and Stegun 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total, k = 0.0, 1 + odd
    while k < freedom:
        total += term
        term *= square * k / (k + 1)
        k += 2
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def t_bound(freedom, level=0.95):
    """The t that |T| exceeds with probability 1 - level."""
    low, high = 0.0, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, freedom) < level else (low, middle)
    return high
