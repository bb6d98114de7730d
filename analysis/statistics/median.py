# SPDX-License-Identifier: BSD-3-Clause
"""The nonparametric interval of a median, from order statistics and the binomial distribution."""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.statistics.interval import Interval

Array = npt.NDArray[np.float64]
STEPS = 64  # places tabulated between two order statistics


def order_ranks(count: int, confidence: float = 0.95) -> tuple[int, float] | None:
    """The largest k such that the k-th lowest and k-th highest of `count` values hold the median with at least
    `confidence`, and the confidence really reached; None where even lowest and highest do not (count < 6 at 95 %)."""
    k = int(stats.binom.ppf((1 - confidence) / 2, count, 0.5))
    while k > 0 and 1 - 2 * stats.binom.cdf(k - 1, count, 0.5) < confidence:
        k -= 1
    if k < 1:
        return None
    return k, float(1 - 2 * stats.binom.cdf(k - 1, count, 0.5))


@functools.cache
def _table(count: int) -> tuple[Array, Array]:
    """(probabilities, places): the median lies below the place, 0 to count - 1, in sorted values with that probability.

    At an order statistic it is exact, binomial; between two neighbours it is interpolated as Hettmansperger and
    Sheather do (Statistics & Probability Letters 4, 1986), which holds well for any distribution.
    """
    below = stats.binom.cdf(np.arange(count), count, 0.5)
    share = np.linspace(0, 1, STEPS)
    probabilities, places = [], []
    for k in range(1, count // 2 + 1):
        weight = (count - k) * share / (k + (count - 2 * k) * share)
        probabilities.append(below[k - 1] + share * (below[k] - below[k - 1]))
        places.append(k - 1 + weight)
    lower, where = np.concatenate([*probabilities, [0.5]]), np.concatenate([*places, [(count - 1) / 2]])
    lower, where = lower[lower <= 0.5], where[lower <= 0.5]
    return np.concatenate([lower, 1 - lower[::-1]]), np.concatenate([where, count - 1 - where[::-1]])


def quantiles_of_median(ordered: npt.ArrayLike, probabilities: npt.ArrayLike) -> Array:
    """The confidence distribution of the median behind sorted independent values: where it lies below with these
    probabilities. Beyond the lowest and the highest value nothing is said: they are the outermost answers."""
    values = np.asarray(ordered, dtype=float)
    places = np.interp(np.asarray(probabilities, dtype=float), *_table(len(values)))
    return np.asarray(np.interp(places, np.arange(len(values)), values), dtype=np.float64)


def median_interval(values: npt.ArrayLike, confidence: float = 0.95) -> Interval:
    """The median of independent samples with its interval, interpolated between order statistics.

    Fewer than 6 values: lowest and highest, with the confidence that those have. Values: any unit, which the result
    keeps. No value: all NaN.
    """
    array = np.sort(np.asarray(values, dtype=float))
    n = len(array)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, "no samples", False)
    median = float(np.median(array))
    if n == 1:
        return Interval(median, median, median, "one sample: no interval", False)
    if order_ranks(n, confidence) is None:
        reached = 1 - 2.0 ** (1 - n)
        kind = f"lowest and highest of {n} samples (holds the median with {100 * reached:.0f} %)"
        return Interval(median, float(array[0]), float(array[-1]), kind, False)
    low, high = quantiles_of_median(array, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(median, float(low), float(high), f"{100 * confidence:g} % interval of {n} samples", True)
