# SPDX-License-Identifier: BSD-3-Clause
"""When noise is larger than what is to be seen."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.statistics.bootstrap import Draws

DISTURBED = 0.02  # share of the measured time that somebody else's steal may take before a point is called disturbed
WIDE = 0.05  # relative half-width of the median of total beyond which a point without comparison is called noisy


def disturbance(points: pd.DataFrame, measured_s: float) -> float | None:
    """The share of a point's measured time, over all its launches and ranks, that the hypervisor took away; None where
    not recorded.

    `points` are the rows of one variant at one point (launches and ranks), `measured_s` the time their samples took.
    """
    steal = points["steal_s"].dropna().astype(float)
    if not len(steal) or measured_s <= 0:
        return None
    return float(steal.sum() / measured_s)


def measured_s(samples: Mapping[str, npt.NDArray[np.float64]]) -> float:
    """The time in seconds that the samples of one rank at one point took; 0 where they do not say."""
    timed = ("elapsed_s",) if "elapsed_s" in samples else ("total_s", "comm_s", "comp_s")
    return float(sum(samples[name].sum() for name in timed if name in samples))


def exceeds_effect(total: Draws, reference: Draws | None) -> bool:
    """Whether the uncertainty of total is larger than its difference to the reference's total.

    Without a reference (the reference itself): whether the median of total is known to no better than WIDE.
    """
    if reference is None:
        return _half_width(total.resampled) > WIDE * total.value
    return _half_width(total.resampled - reference.resampled) > abs(total.value - reference.value)


def _half_width(draws: npt.NDArray[np.float64]) -> float:
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(high - low) / 2
