# SPDX-License-Identifier: BSD-3-Clause
"""Whether the system is as it was in earlier gates: the baseline's own times and the check run's, against theirs.

A gate that something else disturbed without having been seen to must neither be what is expected next, nor widen what
is. So of each six earlier values one is left out that is not where the others say it should be. They are looked for
from the inside out, as Rosner does (Technometrics 25, 1983): several together cannot hide each other. What is expected
of the next value is Student's prediction interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.gate.outcome import CheckRun, PointFound

Array = npt.NDArray[np.float64]
ENOUGH = 5  # earlier gates, below which nothing is said of the system
MARGIN = 0.05  # a system that differs by less is the same
ERROR = 0.001  # the chance that any value is said to have left its history which has not, if none was left out
DISTURBED = 0.005  # at which an earlier value is left out; so the chance is 0.6 % at most, and 0.1 % of five
CHECK_RUN = "check run: "  # how the name of a value of it begins, also in the store
EACH = 6  # of so many of them one may be left out


def values_of(points: Sequence[PointFound], check_run: CheckRun, baseline: str) -> dict[str, float]:
    """What is held against history: of one gate, by names that are the same in every gate of the same kind.
    `baseline`: what it really was, since another one has times of its own."""
    found = {f"{point.name} of the baseline ({baseline})": point.base for point in points}
    found |= {f"{CHECK_RUN}computation on {where}": seconds for where, seconds in check_run.computation_s.items()}
    return found | {f"{CHECK_RUN}transfer between {where}": seconds for where, seconds in check_run.transfer_s.items()}


def left(now: Mapping[str, float], earlier: Sequence[Mapping[str, float]]) -> list[str]:
    """Those values of now that are not where `earlier`, of one gate each, says that the next one is, in words."""
    known = {name: [values[name] for values in earlier if name in values] for name in now}
    told = {name: np.log(values) for name, values in known.items() if len(values) >= ENOUGH}
    found = []
    for name, logs in told.items():
        middle, width = _expected(_undisturbed(logs), ERROR / len(told))
        moved = math.log(now[name]) - middle
        if abs(moved) > width:
            found.append(f"{name}: {100 * math.expm1(moved):+.0f} % against {len(logs)} earlier gates")
    return found


def _undisturbed(logs: Array) -> Array:
    """Those that are where the others expect them: of all these first the ones that are nearest to their middle."""
    inner = logs[np.argsort(np.abs(logs - np.median(logs)), kind="stable")]
    for count in range(len(logs) - len(logs) // EACH, len(logs)):
        middle, width = _expected(inner[:count], DISTURBED)
        if abs(inner[count] - middle) > width:
            return inner[:count]
    return inner


def _expected(logs: Array, error: float) -> tuple[float, float]:
    """The middle of these, and how far from it the next one is at most, but for this chance."""
    count = len(logs)
    width = stats.t.isf(error / 2, count - 1) * np.std(logs, ddof=1) * math.sqrt(1 + 1 / count)
    return float(np.mean(logs)), max(float(width), math.log1p(MARGIN))
