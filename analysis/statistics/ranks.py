# SPDX-License-Identifier: BSD-3-Clause
"""Tests by ranks. How large a difference is, beside whether it is real; and Wilcoxon's signed-rank test with its
interval, exact and over many series at once.

The differences are those of two sides in one round. Their order within a round is drawn, so without an effect they are
symmetric about zero whatever their distribution is, and the test holds its level: launches that took twice as long,
which a mean would follow, count by their rank alone. scipy has the test for up to 50 values, and no interval.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats


def superiority(left: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """The probability that a value of `left` is below one of `right` (ties count half); 0.5 is no difference.

    Vargha and Delaney's A (2000), from the Mann-Whitney U. NaN where one side is empty.
    """
    a, b = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    if not len(a) or not len(b):
        return float("nan")
    return float(stats.mannwhitneyu(b, a, method="asymptotic").statistic / (len(a) * len(b)))


Array = npt.NDArray[np.float64]


@functools.cache
def _survival(count: int) -> Array:
    """P(sum of the positive ranks >= w) for w = 0, 1, ... of `count` differences that are symmetric about zero."""
    chances = np.ones(1)
    for rank in range(1, count + 1):
        longer = np.zeros(len(chances) + rank)
        longer[: len(chances)] += chances / 2
        longer[rank:] += chances / 2
        chances = longer
    return np.minimum(1.0, np.cumsum(chances[::-1])[::-1])


def p_above(differences: npt.ArrayLike, bound: float) -> Array:
    """How likely differences as high as these are if their middle is at `bound` or below; along the last axis."""
    shifted = np.asarray(differences, dtype=float) - bound
    ranks = stats.rankdata(np.abs(shifted), axis=-1)
    sums = np.sum(np.where(shifted > 0, ranks, 0.0), axis=-1)
    return np.asarray(_survival(shifted.shape[-1])[np.floor(sums).astype(int)], dtype=np.float64)


def p_below(differences: npt.ArrayLike, bound: float) -> Array:
    """The same of differences as low as these, if their middle is at `bound` or above."""
    return p_above(-np.asarray(differences, dtype=float), -bound)


def fewest(level: float) -> int:
    """The fewest differences that can show anything at this level."""
    return math.ceil(-math.log2(level)) if 0 < level < 1 else 1


class Middle(NamedTuple):
    """The middle of a series (Hodges and Lehmann) with the interval that the test leaves."""

    value: float
    low: float
    high: float


def middle(differences: npt.ArrayLike, level: float) -> Middle:
    """The interval is too low with probability `level` at most, and too high with the same; infinite where so few
    differences cannot show anything at that level."""
    values = np.asarray(differences, dtype=float)
    if not len(values):
        return Middle(math.nan, -math.inf, math.inf)
    rows, columns = np.triu_indices(len(values))
    walsh = np.sort((values[rows] + values[columns]) / 2)
    survival = _survival(len(values))
    outside = int(np.sum(survival[::-1] <= level))  # of the means of pairs, how many may lie beyond the bound
    centre = float(np.median(walsh))
    if not outside:
        return Middle(centre, -math.inf, math.inf)
    return Middle(centre, float(walsh[outside - 1]), float(walsh[-outside]))
