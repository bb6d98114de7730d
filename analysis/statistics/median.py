# SPDX-License-Identifier: BSD-3-Clause
"""The nonparametric interval of a median, from order statistics and the binomial distribution."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.statistics.interval import Interval


def order_ranks(count: int, confidence: float = 0.95) -> tuple[int, float] | None:
    """The largest k such that the k-th lowest and k-th highest of `count` values hold the median with at least
    `confidence`, and the confidence really reached; None where even lowest and highest do not (count < 6 at 95 %)."""
    k = int(stats.binom.ppf((1 - confidence) / 2, count, 0.5))
    while k > 0 and 1 - 2 * stats.binom.cdf(k - 1, count, 0.5) < confidence:
        k -= 1
    if k < 1:
        return None
    return k, float(1 - 2 * stats.binom.cdf(k - 1, count, 0.5))


def median_interval(values: npt.ArrayLike, confidence: float = 0.95) -> Interval:
    """The median of independent samples with its interval, interpolated between order statistics.

    Hettmansperger and Sheather (Statistics & Probability Letters 4, 1986): the ranks' exact confidences jump, so the
    limits are interpolated between the two neighbouring pairs of order statistics. Fewer than 6 values: lowest and
    highest, with the confidence that those have. Values: any unit, which the result keeps. No value: all NaN.
    """
    array = np.sort(np.asarray(values, dtype=float))
    n = len(array)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, "no samples", False)
    median = float(np.median(array))
    if n == 1:
        return Interval(median, median, median, "one sample: no interval", False)
    ranks = order_ranks(n, confidence)
    if ranks is None:
        reached = 1 - 2.0 ** (1 - n)
        kind = f"lowest and highest of {n} samples (holds the median with {100 * reached:.0f} %)"
        return Interval(median, float(array[0]), float(array[-1]), kind, False)
    k, reached = ranks
    inner = 1 - 2 * stats.binom.cdf(k, n, 0.5)
    if 2 * (k + 1) > n + 1:  # no pair further inside
        inner, weight = reached, 0.0
    else:
        share = (reached - confidence) / (reached - inner)
        weight = (n - k) * share / (k + (n - 2 * k) * share)
    low = (1 - weight) * array[k - 1] + weight * array[min(k, n - 1)]
    high = (1 - weight) * array[n - k] + weight * array[max(n - k - 1, 0)]
    return Interval(median, float(low), float(high), f"{100 * confidence:g} % interval of {n} samples", True)
