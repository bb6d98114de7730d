# SPDX-License-Identifier: BSD-3-Clause
"""The luckiest of many points proves nothing, and the unluckiest of many refutes nothing, more often than by chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.chapter import Claim
from analysis.claims.decide import Decision, decide
from analysis.evidence import Value
from analysis.measures import Median
from analysis.statistics.bootstrap import ratio_of_medians
from analysis.statistics.interval import Interval, simultaneous
from analysis.tests.simulated_launches import (
    EFFECTS,
    NOMINAL,
    RATIO,
    SPREADS,
    STATEMENTS,
    TOLERANCE,
    launches,
    true_median,
)

LEVEL = 0.05
POINTS, FAMILIES = 30, 100
EVERY = Claim("s", "n", "<=", 1.0, 0.0, "c", "p", Median("x_s", "bare"), since="2026-01-01 00:00")
UP_TO = replace(EVERY, up_to=True)


@pytest.fixture(scope="module")
def families() -> list[list[Value]]:
    """Sessions of 30 points at which nothing differs: six launches of each side, 2 % apart, that seem to be of one kind
    (those that seem to be of two decide nothing)."""
    rng = np.random.default_rng(7)

    def value(point: int) -> Value:
        while True:
            above, below = ([np.exp(rng.normal(0, 0.02, 1)) for _ in range(6)] for _ in range(2))
            found = ratio_of_medians(above, below, seed=point)
            if found.defensible:
                return Value("s", "m", "x", str(point), found)

    return [[value(point) for point in range(POINTS)] for _ in range(FAMILIES)]


def share(families: list[list[Value]], claim: Claim, decision: Decision) -> float:
    return float(np.mean([decide(values, claim)[0] is decision for values in families]))


def test_up_to_is_not_reproduced_by_luck(families: list[list[Value]]) -> None:
    """True ratio 1 everywhere, held against 1: one point of 30 seems to lie below it in every second session."""
    bound = LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / FAMILIES)
    assert share(families, UP_TO, Decision.REPRODUCED) <= bound
    lucky = np.mean([any(value.interval.high < 1 for value in values) for values in families])
    assert lucky > 2 * bound, "the simulation would show it"


def test_a_true_claim_on_every_point_is_not_refuted_by_chance(families: list[list[Value]]) -> None:
    bound = LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / FAMILIES)
    assert share(families, EVERY, Decision.NOT_REPRODUCED) <= bound


def test_what_all_points_must_show_is_not_made_harder(families: list[list[Value]]) -> None:
    """All 30 intervals, each by itself, lie below 1.3; and above 0.7."""
    assert share(families, replace(EVERY, threshold=1.3), Decision.REPRODUCED) == 1
    assert share(families, replace(UP_TO, threshold=0.7), Decision.NOT_REPRODUCED) == 1


def test_the_deciding_interval_says_how_many_points_it_holds_for(families: list[list[Value]]) -> None:
    decision, _, value = decide(families[0], replace(UP_TO, threshold=1.3))
    assert decision is Decision.REPRODUCED
    assert value.interval.points == POINTS
    assert value.interval.kind.endswith("simultaneous over 30 points")
    assert decide(families[0], replace(EVERY, threshold=1.3))[2].interval.points == 1


def test_simultaneous_widens_by_students_quantiles() -> None:
    alone = Interval(1.0, 0.9, 1.2, "95 % interval", True, freedom=5.0)
    found = simultaneous(alone, 3)
    wider = stats.t.ppf(1 - 0.025 / 3, 5) / stats.t.ppf(0.975, 5)
    assert (found.low, found.high) == pytest.approx((1 - 0.1 * wider, 1 + 0.2 * wider))
    assert simultaneous(alone, 1) == alone
    spread = replace(alone, defensible=False)
    assert simultaneous(spread, 30) == spread


@pytest.mark.parametrize(("statement", "effect"), [("ratio", "normal"), ("median", "uniform")])
def test_they_hold_at_the_same_time(statement: str, effect: str) -> None:
    """Of K independent points one lies outside of its interval no more often than is promised, from how often single
    ones do: within TOLERANCE and two standard errors of the simulation."""
    runs = 1000
    for points, chance in misses(statement, 6, effect, runs).items():
        single = (1 - NOMINAL) / points
        error = points * np.sqrt(single * (1 - single) / runs)
        assert chance <= 1 - NOMINAL + TOLERANCE + 2 * error, points


def misses(statement: str, count: int, effect: str, runs: int) -> dict[int, float]:
    """K -> the chance that one of K points is missed; `count` launches of each group."""
    rng = np.random.default_rng([0, count])
    function, truth = STATEMENTS[statement]
    median = true_median(EFFECTS[effect], SPREADS[0])
    wanted = truth(RATIO * median, median)
    missed = dict.fromkeys((1, 3, 10, 30), 0)
    for run in range(runs):
        above, below = (launches(rng, scale, count, EFFECTS[effect], SPREADS[0]) for scale in (RATIO, 1.0))
        alone = function(above, below, run)
        for points in missed:
            found = simultaneous(alone, points)
            # launches that seem to be of two kinds decide nothing, and stay as they are
            missed[points] += found.defensible and not found.low <= wanted <= found.high
    return {points: 1 - (1 - count / runs) ** points for points, count in missed.items()}
