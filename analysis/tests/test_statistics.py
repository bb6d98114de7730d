# SPDX-License-Identifier: BSD-3-Clause
"""Intervals: what they are called, how often they hold, alone and at the same time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from analysis.claims.decision import Decision, decide
from analysis.evidence import Value
from analysis.measures import Median
from analysis.statistics.interval import (
    Interval,
    difference_of_medians,
    median_interval,
    of_medians,
    order_ranks,
    ratio_of_medians,
    resampled_medians,
    simultaneous,
    two_kinds,
)
from analysis.statistics.ranks import superiority
from analysis.subject import Claim
from analysis.tests.simulated_launches import (
    AT_ONCE,
    EFFECTS,
    NOMINAL,
    RATIO,
    SPREADS,
    STATEMENTS,
    TOLERANCE,
    bounds,
    coverage,
    coverages,
    launches,
    one_by_one,
    outside,
    simulated,
    true_median,
)


@pytest.mark.parametrize("count", [6, 7, 10, 25, 100, 1001])
def test_order_ranks_are_those_of_scipys_quantile_test(count: int) -> None:
    values = np.arange(count, dtype=float)
    theirs: Any = stats.quantile_test(values, q=0.5, p=0.5).confidence_interval(0.95)
    found = order_ranks(count)
    assert found is not None
    assert (values[found[0] - 1], values[count - found[0]]) == (theirs.low, theirs.high)
    assert found[1] >= 0.95


@pytest.mark.parametrize("count", [2, 5])
def test_too_few_for_95_percent(count: int) -> None:
    assert order_ranks(count) is None
    found = median_interval(range(count))
    assert (found.low, found.high, found.defensible) == (0, count - 1, False)
    assert f"{100 * (1 - 2.0 ** (1 - count)):.0f} %" in found.kind


def test_the_interpolated_interval_lies_between_the_order_statistics() -> None:
    values = np.arange(20, dtype=float)
    found = median_interval(values)
    k, _ = order_ranks(20) or (0, 0.0)
    assert k == 6, "binomial: 5 below with 2.07 %, 6 below with 5.77 %"
    assert values[k - 1] < found.low < values[k]
    assert values[20 - k - 1] < found.high < values[20 - k]
    assert found.low + found.high == pytest.approx(19), "symmetric samples, symmetric interval"


def test_none_and_one_sample() -> None:
    assert math.isnan(median_interval([]).value)
    assert "no interval" in median_interval([3.0]).kind


@pytest.mark.parametrize("count", [1, 2, 7, 30])
def test_drawn_medians_are_distributed_as_those_of_real_resampling(count: int) -> None:
    """The direct draw from the Beta distribution against the definition; equal but for smoothing between samples."""
    rng = np.random.default_rng(3)
    samples = rng.exponential(1, count)
    drawn = resampled_medians(samples, 20000, rng)
    real = np.median(samples[rng.integers(0, count, (20000, count))], axis=1)
    spread = samples.max() - samples.min() if count > 1 else 1.0
    assert abs(drawn.mean() - real.mean()) < 0.03 * spread
    assert drawn.std() == pytest.approx(real.std(), rel=0.25, abs=1e-12)
    assert samples.min() <= drawn.min()
    assert drawn.max() <= samples.max()


def near_launches(scale: float, count: int = 6, seed: int = 0) -> list[npt.NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return [scale * np.exp(rng.normal(0, 0.01) + rng.normal(0, 0.01, 30)) for _ in range(count)]


def test_ratio_and_difference_find_what_is_there() -> None:
    ratio = ratio_of_medians(near_launches(1.5, seed=1), near_launches(1.0, seed=2))
    assert ratio.low < 1.5 < ratio.high
    assert ratio.high - ratio.low < 0.1
    assert ratio.defensible
    difference = difference_of_medians(near_launches(1.5, seed=1), near_launches(1.0, seed=2))
    assert difference.low < 0.5 < difference.high


def test_the_difference_between_launches_widens_the_interval() -> None:
    """Launches that differ by 10 %, samples that differ by 0.1 %: more samples must not make it look sure."""
    rng = np.random.default_rng(1)
    wide = [np.exp(rng.normal(0, 0.1)) * np.exp(rng.normal(0, 0.001, 1000)) for _ in range(6)]
    pooled = np.concatenate(wide)
    assert of_medians(lambda a: a, {"a": wide}).half_width > 10 * median_interval(pooled[:1000]).half_width


@pytest.mark.parametrize(
    ("count", "words"), [(1, "within one launch"), (2, "spread of 2 launches"), (5, "spread of 5")]
)
def test_fewer_than_six_launches_are_called_what_they_are(count: int, words: str) -> None:
    found = ratio_of_medians(near_launches(2.0, count), near_launches(1.0, 9))
    assert words in found.kind
    assert not found.defensible


def test_one_sample_in_every_launch_is_enough_to_resample_launches() -> None:
    found = ratio_of_medians([[1.0], [1.1], [1.2]], [[1.0], [1.0], [1.0]])
    assert found.value == pytest.approx(1.1)
    assert 1.0 <= found.low < found.high <= 1.2


def test_a_ratio_to_no_time_has_no_value() -> None:
    """One rank spends nothing in communication."""
    found = ratio_of_medians([[0.0], [0.0]], [[0.0], [0.0]])
    assert np.isnan(found.value) and np.isnan(found.low) and not found.defensible


def test_empty_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="sample"):
        ratio_of_medians([[1.0], []], [[1.0]])
    with pytest.raises(ValueError, match="launch"):
        ratio_of_medians([], [[1.0]])


def test_a_ratio_to_zero_is_undefined_and_not_infinite() -> None:
    found = of_medians(lambda a, b: a / np.where(b > 0, b, np.nan), {"a": [[1.0]], "b": [[0.0]]})
    assert math.isnan(found.low)
    assert found.kind == "undefined"


def test_effect_sizes_by_hand() -> None:
    assert superiority([1, 2, 3], [4, 5, 6]) == 1.0
    assert superiority([1, 2], [1, 2]) == 0.5
    assert superiority([1, 4], [2, 3]) == 0.5
    assert superiority([1, 2, 5], [3, 4, 6]) == pytest.approx(7 / 9)
    assert math.isnan(superiority([], [1]))


LEVEL = 0.05
POINTS, FAMILIES = 30, 50
EVERY = Claim("s", "n", "<=", 1.0, "c", "p", Median("x_s", "bare"), since="2026-01-01 00:00")
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


@pytest.mark.full
def test_up_to_is_not_reproduced_by_luck(families: list[list[Value]]) -> None:
    """True ratio 1 everywhere, held against 1: one point of 30 seems to lie below it in every second session."""
    bound = LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / FAMILIES)
    assert share(families, UP_TO, Decision.REPRODUCED) <= bound
    lucky = np.mean([any(value.interval.high < 1 for value in values) for values in families])
    assert lucky > 2 * bound, "the simulation would show it"


@pytest.mark.full
def test_a_true_claim_on_every_point_is_not_refuted_by_chance(families: list[list[Value]]) -> None:
    bound = LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / FAMILIES)
    assert share(families, EVERY, Decision.NOT_REPRODUCED) <= bound


@pytest.mark.full
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


@pytest.mark.full
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


REASONABLE = ["normal", "Gumbel", "normal + exponential", "t, 2"]
ONE = ("ratio", "normal + exponential")
OTHERS = [*(("ratio", effect) for effect in REASONABLE if effect != ONE[1]), ("difference", "normal + exponential")]


@pytest.mark.parametrize(
    ("statement", "effect"), [ONE, *(pytest.param(*other, marks=pytest.mark.full) for other in OTHERS)]
)
def test_six_launches_cover_within_two_points(statement: str, effect: str) -> None:
    assert abs(coverage(statement, (6, 6), EFFECTS[effect], SPREADS[1], 2000) - NOMINAL) <= TOLERANCE


@pytest.mark.full
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


@pytest.mark.parametrize("count", [6, *(pytest.param(count, marks=pytest.mark.full) for count in (7, 9, 30, 101))])
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

    assert all(seen("two kinds, 1 in 2", count) > 0.7 for count in (6, 12, 20)), "at six one kind may come once"
    assert all(seen(name, count) < 0.025 for name in REASONABLE for count in (6, 12, 20))
