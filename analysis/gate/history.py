# SPDX-License-Identifier: BSD-3-Clause
"""Whether the system is as it was in earlier gates: the baseline's own times and the canary's, against theirs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from analysis.gate.verdict import Canary, PointFound

ENOUGH = 5  # earlier gates, below which nothing is said of the system
MARGIN = 0.05  # a system that differs by less is the same
ERROR = 0.001  # the chance that any value is said to have left its history which has not


def values_of(points: Sequence[PointFound], canary: Canary, baseline: str) -> dict[str, float]:
    """What is held against history: of one gate, by names that are the same in every gate of the same kind.
    `baseline`: what it really was, since another one has times of its own."""
    found = {f"{point.name} of the baseline ({baseline})": point.base for point in points}
    found |= {f"canary: computation on {where}": seconds for where, seconds in canary.computation_s.items()}
    return found | {f"canary: transfer between {where}": seconds for where, seconds in canary.transfer_s.items()}


def left(now: Mapping[str, float], earlier: Sequence[Mapping[str, float]]) -> list[str]:
    """Those values of now that are not where `earlier`, of one gate each, says that the next one is (Student's
    prediction interval), in words."""
    known = {name: [values[name] for values in earlier if name in values] for name in now}
    told = {name: np.log(values) for name, values in known.items() if len(values) >= ENOUGH}
    found = []
    for name, logs in told.items():
        freedom = len(logs) - 1
        width = stats.t.isf(ERROR / (2 * len(told)), freedom) * np.std(logs, ddof=1) * math.sqrt(1 + 1 / len(logs))
        moved = math.log(now[name]) - float(np.mean(logs))
        if abs(moved) > max(float(width), math.log1p(MARGIN)):
            found.append(f"{name}: {100 * math.expm1(moved):+.0f} % against {len(logs)} earlier gates")
    return found
