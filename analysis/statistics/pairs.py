# SPDX-License-Identifier: BSD-3-Clause
"""An effect that is measured within launches, and effects put together: by launches, or by rows of a table.

A launch's own speed (its pages, its place) is the same in all of its pairs and cancels in their differences. What does
not cancel, an effect that differs from launch to launch, widens the interval: the launch is the cluster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.statistics.interval import ENOUGH_LAUNCHES, NO_VALUE, TAIL, Interval
from analysis.statistics.ranks import middle

Array = npt.NDArray[np.float64]
MOST = 30  # differences of a launch: of more, neighbours are put together, whose noise is alike anyway
FEWEST = 2  # pairs of a launch: of one alone nothing is known of the noise within


def random_effects(values: npt.ArrayLike, errors: npt.ArrayLike, kind: str) -> Interval:
    """Estimates with their standard errors -> the mean of what is behind them, which may differ (random effects).

    Weights after DerSimonian and Laird (Controlled Clinical Trials 7, 1986), the interval by Student's law after
    Hartung and Knapp, never narrower than the errors alone have it (Roever, Knapp and Friede, BMC Medical Research
    Methodology 15, 2015).
    """
    y, squares = np.asarray(values, dtype=float), np.asarray(errors, dtype=float) ** 2
    freedom = len(y) - 1
    if freedom < 1:
        return NO_VALUE
    squares = np.maximum(squares, 1e-18)  # all samples alike, to the clock's last digit
    fixed = 1 / squares
    excess = float(np.sum(fixed * (y - np.average(y, weights=fixed)) ** 2)) - freedom
    between = max(0.0, excess / float(np.sum(fixed) - np.sum(fixed**2) / np.sum(fixed)))
    weights = 1 / (squares + between)
    centre = float(np.average(y, weights=weights))
    spread = max(1.0, float(np.sum(weights * (y - centre) ** 2)) / freedom)
    half = float(stats.t.isf(TAIL, freedom) * np.sqrt(spread / np.sum(weights)))
    return Interval(centre, centre - half, centre + half, kind, True, freedom)


def of_pairs(launches: Sequence[npt.ArrayLike]) -> Interval:
    """Launches, each with the differences of its pairs (which of two came first was drawn) -> their middle.

    Each launch has its Hodges-Lehmann estimate; its error is that of the signed-rank interval of all differences from
    their launches' own middles. A launch of fewer than FEWEST pairs is left out; fewer than 6 launches are no interval.
    """
    kept = [_blocks(np.asarray(pairs, dtype=float)) for pairs in launches if np.size(pairs) >= FEWEST]
    if len(kept) < 2:
        return NO_VALUE
    middles = np.array([middle(pairs, TAIL).value for pairs in kept])
    within = np.concatenate([pairs - centre for pairs, centre in zip(kept, middles, strict=True)])
    count = len(within)
    found = middle(within, TAIL)
    noise = (found.high - found.low) / 2 / float(stats.norm.isf(TAIL)) * np.sqrt(count / (count - len(kept)))
    if not np.isfinite(noise):
        return NO_VALUE
    pairs = sum(np.size(pairs) for pairs in launches)
    enough = len(kept) >= ENOUGH_LAUNCHES
    errors = [noise * np.sqrt(count / len(one)) for one in kept]
    interval = random_effects(middles, errors, _kind(pairs, len(kept), enough))
    return interval if enough else Interval(interval.value, interval.low, interval.high, interval.kind, False)


def ratio_of_pairs(launches: Sequence[npt.ArrayLike]) -> Interval:
    """The same of the logarithms of ratios -> their middle as a ratio."""
    return exponential(of_pairs(launches))


def exponential(logs: Interval) -> Interval:
    return replace(logs, value=math.exp(logs.value), low=math.exp(logs.low), high=math.exp(logs.high))


def _kind(pairs: int, launches: int, enough: bool) -> str:
    few = "" if enough else f" (fewer than {ENOUGH_LAUNCHES}: not a 95 % interval)"
    return f"{'95 % interval' if enough else 'interval'} over {pairs} pairs in {launches} launches{few}"


def _blocks(pairs: Array) -> Array:
    """At most MOST medians of neighbours."""
    return pairs if len(pairs) <= MOST else np.array([np.median(part) for part in np.array_split(pairs, MOST)])
