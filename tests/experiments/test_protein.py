"""What the page on protein says of its rows, and the two ends of rank 1."""

import math
import pathlib
import statistics
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "experiments" / "record"), str(ROOT / "experiments" / "papers")]
import studies  # noqa: E402

FOLDER = ROOT / "experiments" / "protein"
PROTEIN = studies.load(FOLDER)


def mean(study, data, field, method="dbk", alpha=""):
    rows = [row for row in studies.rows(FOLDER) if (row["study"], row["data"], row["method"]) == (study, data, method)]
    return statistics.fmean(PROTEIN.column(PROTEIN.with_flag(rows, "--alpha", alpha) if alpha else rows, field))


def test_the_last_epoch_is_worse_than_the_one_of_the_best_validation_score():
    for field in "valid_nll_standardized", "nll_standardized":
        assert mean("last epoch", "protein", field) > mean("as the preset", "protein", field)


def test_the_start_of_the_noise_decides_the_mean():
    starts = [mean(f"noise from {noise}", "protein", "mae_standardized", alpha="0.01") for noise in PROTEIN.STARTS]
    assert starts == sorted(starts, reverse=True)
    assert mean("noise from 0.01", PROTEIN.CURVE, "rmse_standardized") > 0.95, "a constant mean"
    assert mean("noise from 1", PROTEIN.CURVE, "rmse_standardized") < 0.5, "the mean is learnt"


def test_no_start_gives_all_of_n():
    """N prints -2.967 on pol and .126 for rank 1."""
    for noise in PROTEIN.STARTS:
        pol, rank_1 = mean(f"noise from {noise}", "pol", "nll_standardized"), mean(f"noise from {noise}", PROTEIN.CURVE, "nll")
        assert not (pol < -2.5 and rank_1 < 0.3), noise


def test_the_ends_of_rank_1_are_the_integrals_of_the_two_models():
    """Against a finer grid, and the constant that minimises the second by a search of its own."""
    x = (np.arange(40000) + 0.5) / 20000 - 1  # midpoints: the logarithm has a pole where the noise is 0

    def step(at):
        return 1 / (1 + np.exp(-np.clip(200 * (x - at), -700, 700)))

    target = 0.3 * (1 - step(-0.6)) + 0.9 * (step(-0.6) - step(0)) - 0.6 * (step(0) - step(0.4))
    variance = (0.4 * np.sin(10 * x)) ** 2
    learnt, constant = PROTEIN.floors()
    assert learnt == pytest.approx(0.5 * math.log(2 * math.pi * math.e * variance.mean()), abs=1e-3)
    ends = [np.mean(0.5 * np.log(2 * np.pi * np.e * ((target - c) ** 2 + variance))) for c in np.linspace(-0.5997, 0.9003, 1501)]
    assert constant == pytest.approx(min(ends), abs=2e-3)
