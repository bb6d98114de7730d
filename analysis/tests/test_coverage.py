# SPDX-License-Identifier: BSD-3-Clause
"""Do the intervals cover the truth as often as they say? Simulated launches whose truth is known.

The short test finds gross errors (an interval that ignores launches covers a third); `full` measures the coverage to
half a point and holds it within two points of 95 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from analysis.statistics.bootstrap import of_medians
from analysis.statistics.interval import Interval
from analysis.statistics.median import median_interval

Launches = list[npt.NDArray[np.float64]]
RATIO = 1.5

# How launches differ (log scale, median 0) and the statement whose truth is known.
EFFECTS: dict[str, Callable[[np.random.Generator, int], npt.NDArray[np.float64]]] = {
    "normal": lambda rng, n: rng.normal(0, 1, n),
    "skewed": lambda rng, n: rng.exponential(1, n) - np.log(2),
    "heavy tails": lambda rng, n: rng.standard_t(3, n),
}
STATEMENTS: dict[str, tuple[Callable[[Launches, Launches, int], Interval], float]] = {
    "ratio": (lambda a, b, seed: of_medians(lambda a, b: a / b, {"a": a, "b": b}, 0.95, 1000, seed), RATIO),
    "difference": (lambda a, b, seed: of_medians(lambda a, b: a - b, {"a": a, "b": b}, 0.95, 1000, seed), RATIO - 1),
    "one group": (lambda a, _, seed: of_medians(lambda a: a, {"a": a}, 0.95, 1000, seed), RATIO),
}
# spread between launches, within launches, samples a launch: long launches, typical ones, noise within dominates
SPREADS = [(0.02, 0.005, 100), (0.02, 0.02, 20), (0.005, 0.03, 15)]


def simulated(
    rng: np.random.Generator, scale: float, launches: int, spread: tuple[float, float, int], effect: str
) -> Launches:
    between, within, samples = spread
    shifts = between * EFFECTS[effect](rng, launches)
    return [scale * np.exp(shift + within * rng.standard_normal(samples)) for shift in shifts]


def coverage(statement: str, launches: int, spread: tuple[float, float, int], effect: str, runs: int) -> float:
    """The share of `runs` whose interval holds the truth."""
    rng = np.random.default_rng(launches)
    function, truth = STATEMENTS[statement]
    hits = 0
    for run in range(runs):
        above, below = (simulated(rng, scale, launches, spread, effect) for scale in (RATIO, 1.0))
        found = function(above, below, run)
        hits += found.low <= truth <= found.high
    return hits / runs


@pytest.mark.parametrize("statement", STATEMENTS)
def test_six_launches_cover(statement: str) -> None:
    assert 0.91 <= coverage(statement, 6, SPREADS[1], "normal", 250) <= 0.99


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("statement", ["ratio", "difference"])
@pytest.mark.parametrize("launches", [6, 8, 12, 20])
@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("spread", SPREADS, ids=["long launches", "typical", "noise within dominates"])
def test_coverage_is_within_two_points(
    statement: str, launches: int, spread: tuple[float, float, int], effect: str
) -> None:
    found = coverage(statement, launches, spread, effect, 2000)
    # Two points, and two standard errors of 2000 runs: 71 of the 72 cases lie within 2.5 points, one at 97.6 %.
    assert abs(found - 0.95) <= 0.02 + 2 * 0.005, f"{100 * found:.1f} %"


@pytest.mark.parametrize("count", [6, 7, 9, 30, 101])
def test_the_medians_own_interval_covers(count: int) -> None:
    rng = np.random.default_rng(count)
    found = [median_interval(values) for values in rng.exponential(1, (1000, count))]
    assert abs(np.mean([i.low <= np.log(2) <= i.high for i in found]) - 0.95) <= 0.02


def test_ignoring_launches_would_not_cover() -> None:
    """What the bootstrap is for: the interval of the pooled samples misses most of the time."""
    rng = np.random.default_rng(1)
    pooled = [np.concatenate(simulated(rng, 1.0, 6, (0.02, 0.005, 100), "normal")) for _ in range(200)]
    found = [median_interval(values) for values in pooled]
    assert np.mean([i.low <= 1.0 <= i.high for i in found]) < 0.6
