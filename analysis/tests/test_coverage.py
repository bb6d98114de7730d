# SPDX-License-Identifier: BSD-3-Clause
"""Do the intervals cover the truth as often as they say? Simulated launches whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.bootstrap import two_kinds
from analysis.statistics.median import median_interval
from analysis.tests.simulated_launches import (
    AT_ONCE,
    EFFECTS,
    NOMINAL,
    SPREADS,
    TOLERANCE,
    bounds,
    coverage,
    coverages,
    launches,
    one_by_one,
    outside,
    simulated,
)

REASONABLE = ["normal", "Gumbel", "normal + exponential", "t, 2"]
ONE = ("ratio", "normal + exponential")
OTHERS = [*(("ratio", effect) for effect in REASONABLE if effect != ONE[1]), ("difference", "normal + exponential")]


@pytest.mark.parametrize(
    ("statement", "effect"),
    [ONE, *(pytest.param(*other, marks=pytest.mark.full) for other in OTHERS)],
)
def test_six_launches_cover_within_two_points(statement: str, effect: str) -> None:
    assert abs(coverage(statement, (6, 6), EFFECTS[effect], SPREADS[1], 2000) - NOMINAL) <= TOLERANCE


def test_a_metric_of_three_times_covers() -> None:
    """250 runs: within two points and two standard errors."""
    assert not outside(coverage("efficiency", (6, 6), EFFECTS["normal"], SPREADS[1], 250), 250)


@pytest.mark.full
@pytest.mark.parametrize("counts", [(7, 7), (8, 8), (12, 12), (20, 20), (6, 20)])
@pytest.mark.parametrize("effect", [name for name, effect in EFFECTS.items() if not effect.two_kinds])
def test_coverage_is_within_two_points(counts: tuple[int, int], effect: str) -> None:
    for spread in SPREADS:
        for statement, found in coverages(["ratio", "difference"], counts, EFFECTS[effect], spread, 1000).items():
            assert not outside(found, 1000), f"{statement}, {spread}: {100 * found:.1f} %"


@pytest.mark.parametrize("counts", [(6, 6), (6, 20), (9, 7)])
@pytest.mark.parametrize("statement", AT_ONCE)
def test_many_runs_at_once_give_the_intervals_that_each_gives(statement: str, counts: tuple[int, int]) -> None:
    for effect, spread in zip(("normal", "Laplace", "two kinds, 1 in 2", "t, 2"), SPREADS, strict=True):
        samples = simulated(counts, EFFECTS[effect], spread, 20)
        np.testing.assert_allclose(bounds(statement, *samples), one_by_one(statement, *samples), rtol=1e-12)


@pytest.mark.parametrize("count", [6, 7, 9, 30, 101])
def test_the_medians_own_interval_covers(count: int) -> None:
    rng = np.random.default_rng(count)
    found = [median_interval(values) for values in rng.exponential(1, (1000, count))]
    assert abs(np.mean([i.low <= np.log(2) <= i.high for i in found]) - NOMINAL) <= TOLERANCE


def test_ignoring_launches_would_not_cover() -> None:
    """What resampling launches is for: the interval of the pooled samples misses most of the time."""
    rng = np.random.default_rng(1)
    pooled = [np.concatenate(launches(rng, 1.0, 6, EFFECTS["normal"], SPREADS[0])) for _ in range(200)]
    found = [median_interval(values) for values in pooled]
    truth = np.exp(SPREADS[0].within * np.log(2))
    assert np.mean([i.low <= truth <= i.high for i in found]) < 0.6


def test_launches_of_two_kinds_are_seen_and_one_kind_is_seldom_called_two() -> None:
    rng = np.random.default_rng(1)

    def seen(name: str, count: int) -> float:
        return float(np.mean([two_kinds(EFFECTS[name].draw(rng, count)) for _ in range(2000)]))

    assert all(seen("two kinds, 1 in 2", count) > 0.75 for count in (6, 12, 20)), "at six one kind may come once"
    assert all(seen(name, count) < 0.06 for name in REASONABLE for count in (6, 12, 20))
