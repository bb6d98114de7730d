# SPDX-License-Identifier: BSD-3-Clause
"""How large a difference is, beside whether it is real."""

from __future__ import annotations

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


def cliffs_delta(left: npt.ArrayLike, right: npt.ArrayLike) -> float:
    """2 superiority - 1: 1 where all of `left` lies below all of `right`, -1 the other way round."""
    return 2 * superiority(left, right) - 1
