# SPDX-License-Identifier: BSD-3-Clause
"""Intervals and effect sizes against SciPy, against hand-worked cases, and against the definition of a bootstrap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from analysis.statistics.bootstrap import difference_of_medians, of_medians, ratio_of_medians, resampled_medians
from analysis.statistics.effect import cliffs_delta, superiority
from analysis.statistics.median import median_interval, order_ranks


@pytest.mark.parametrize("count", [6, 7, 10, 25, 100, 1001])
def test_order_ranks_are_those_of_scipys_quantile_test(count: int) -> None:
    values = np.arange(count, dtype=float)
    theirs: Any = stats.quantile_test(values, q=0.5, p=0.5).confidence_interval(0.95)
    found = order_ranks(count)
    assert found is not None
    assert (values[found[0] - 1], values[count - found[0]]) == (theirs.low, theirs.high)
    assert found[1] >= 0.95


@pytest.mark.parametrize("count", [2, 5])
def test_too_few_for_95_percent(count: int) -> None:
    assert order_ranks(count) is None
    found = median_interval(range(count))
    assert (found.low, found.high, found.defensible) == (0, count - 1, False)
    assert f"{100 * (1 - 2.0 ** (1 - count)):.0f} %" in found.kind


def test_the_interpolated_interval_lies_between_the_order_statistics() -> None:
    values = np.arange(20, dtype=float)
    found = median_interval(values)
    k, _ = order_ranks(20) or (0, 0.0)
    assert k == 6, "binomial: 5 below with 2.07 %, 6 below with 5.77 %"
    assert values[k - 1] < found.low < values[k]
    assert values[20 - k - 1] < found.high < values[20 - k]
    assert found.low + found.high == pytest.approx(19), "symmetric samples, symmetric interval"


def test_none_and_one_sample() -> None:
    assert math.isnan(median_interval([]).value)
    assert "no interval" in median_interval([3.0]).kind


@pytest.mark.parametrize("count", [1, 2, 7, 30])
def test_drawn_medians_are_distributed_as_those_of_real_resampling(count: int) -> None:
    """The direct draw from the Beta distribution against the definition; equal but for smoothing between samples."""
    rng = np.random.default_rng(3)
    samples = rng.exponential(1, count)
    drawn = resampled_medians(samples, 20000, rng)
    real = np.median(samples[rng.integers(0, count, (20000, count))], axis=1)
    spread = samples.max() - samples.min() if count > 1 else 1.0
    assert abs(drawn.mean() - real.mean()) < 0.03 * spread
    assert drawn.std() == pytest.approx(real.std(), rel=0.25, abs=1e-12)
    assert samples.min() <= drawn.min()
    assert drawn.max() <= samples.max()


def launches(scale: float, count: int = 6, seed: int = 0) -> list[npt.NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return [scale * np.exp(rng.normal(0, 0.01) + rng.normal(0, 0.01, 30)) for _ in range(count)]


def test_ratio_and_difference_find_what_is_there() -> None:
    ratio = ratio_of_medians(launches(1.5, seed=1), launches(1.0, seed=2))
    assert ratio.low < 1.5 < ratio.high
    assert ratio.high - ratio.low < 0.1
    assert ratio.defensible
    difference = difference_of_medians(launches(1.5, seed=1), launches(1.0, seed=2))
    assert difference.low < 0.5 < difference.high


def test_the_difference_between_launches_widens_the_interval() -> None:
    """Launches that differ by 10 %, samples that differ by 0.1 %: more samples must not make it look sure."""
    rng = np.random.default_rng(1)
    wide = [np.exp(rng.normal(0, 0.1)) * np.exp(rng.normal(0, 0.001, 1000)) for _ in range(6)]
    pooled = np.concatenate(wide)
    assert of_medians(lambda a: a, {"a": wide}).half_width > 10 * median_interval(pooled[:1000]).half_width


@pytest.mark.parametrize(
    ("count", "words"), [(1, "within one launch"), (2, "spread of 2 launches"), (5, "spread of 5")]
)
def test_fewer_than_six_launches_are_called_what_they_are(count: int, words: str) -> None:
    found = ratio_of_medians(launches(2.0, count), launches(1.0, 9))
    assert words in found.kind
    assert not found.defensible


def test_one_sample_in_every_launch_is_enough_to_resample_launches() -> None:
    found = ratio_of_medians([[1.0], [1.1], [1.2]], [[1.0], [1.0], [1.0]])
    assert found.value == pytest.approx(1.1)
    assert 1.0 <= found.low < found.high <= 1.2


def test_a_ratio_to_no_time_has_no_value() -> None:
    """One rank spends nothing in communication."""
    found = ratio_of_medians([[0.0], [0.0]], [[0.0], [0.0]])
    assert np.isnan(found.value) and np.isnan(found.low) and not found.defensible


def test_empty_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="sample"):
        ratio_of_medians([[1.0], []], [[1.0]])
    with pytest.raises(ValueError, match="launch"):
        ratio_of_medians([], [[1.0]])


def test_a_ratio_to_zero_is_undefined_and_not_infinite() -> None:
    found = of_medians(lambda a, b: a / np.where(b > 0, b, np.nan), {"a": [[1.0]], "b": [[0.0]]})
    assert math.isnan(found.low)
    assert found.kind == "undefined"


def test_effect_sizes_by_hand() -> None:
    assert superiority([1, 2, 3], [4, 5, 6]) == 1.0
    assert superiority([1, 2], [1, 2]) == 0.5
    assert superiority([1, 4], [2, 3]) == 0.5
    assert cliffs_delta([1, 2, 5], [3, 4, 6]) == pytest.approx((7 - 2) / 9)
    assert math.isnan(superiority([], [1]))
