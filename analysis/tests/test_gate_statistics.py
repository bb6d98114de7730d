# SPDX-License-Identifier: BSD-3-Clause
"""The statistics of a gate: exact tests, errors that are spent once, few false alarms and power on recorded noise; and
of its history: a loss below the margin of each is found, a spike and plain noise are not."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.gate import aligned_ranks, changes, decision_rule, sequential
from analysis.gate.decision_rule import Rule, State
from analysis.gate.store import Entry
from analysis.statistics import ranks as signed_rank
from analysis.tests import simulated_gates as gates

SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 40), st.floats(-0.05, 0.05))
def test_the_test_is_wilcoxons(seed: int, count: int, bound: float) -> None:
    values = np.random.default_rng(seed).standard_t(2, count) * 0.03
    above = stats.wilcoxon(values - bound, alternative="greater", method="exact").pvalue
    below = stats.wilcoxon(values - bound, alternative="less", method="exact").pvalue
    assert float(signed_rank.p_above(values, bound)) == pytest.approx(above, abs=1e-12)
    assert float(signed_rank.p_below(values, bound)) == pytest.approx(below, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(6, 40), st.floats(0.001, 0.2))
def test_the_interval_is_what_the_test_leaves(seed: int, count: int, level: float) -> None:
    values = np.random.default_rng(seed).normal(0.01, 0.03, count)
    found = signed_rank.middle(values, level)
    if count < signed_rank.fewest(level):
        assert found.low == -math.inf and found.high == math.inf
        return
    assert found.low <= found.value <= found.high
    assert signed_rank.p_above(values, found.low - 1e-9) <= level < signed_rank.p_above(values, found.low + 1e-9)
    assert signed_rank.p_below(values, found.high + 1e-9) <= level < signed_rank.p_below(values, found.high - 1e-9)


def test_a_launch_that_took_twice_as_long_does_not_move_the_middle() -> None:
    values = np.random.default_rng(1).normal(0, 0.005, 20)
    spoilt = values.copy()
    spoilt[[3, 11]] = math.log(2)
    assert abs(signed_rank.middle(spoilt, 0.01).value) < 0.005
    assert signed_rank.p_above(spoilt, math.log1p(0.02)) > 0.5


@settings(max_examples=60, deadline=None)
@given(st.integers(8, 100), st.integers(1, 20), st.integers(1, 100))
def test_no_error_is_spent_twice(planned: int, points: int, ended: int) -> None:
    at = [look for look in sequential.looks(planned) if look <= ended]
    at = at if at and at[-1] == planned else [*at, min(ended, planned)]
    found = sequential.levels(at, planned, 0.005, points)
    assert min(found) >= 0
    assert points * sum(found) <= 0.005 * (1 + 1e-12)
    assert all(rounds >= signed_rank.fewest(level) for rounds, level in zip(at, found, strict=True) if level)


def test_looks_end_with_all_rounds_and_grow() -> None:
    assert sequential.looks(5) == [5]
    found = sequential.looks(60)
    assert found[0] == sequential.FIRST and found[-1] == 60 and found == sorted(set(found))


def sides(rng: np.random.Generator, shape: tuple[int, ...], spread: float = 0.01) -> gates.Array:
    return rng.normal(0, spread, (*shape[:-1], 3, shape[-1]))


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(5, 8))
def test_the_aligned_rank_test_is_its_permutations(seed: int, count: int) -> None:
    """Of every assignment of three sides to the values of each round, those with as high a sum of ranks."""
    logs = np.random.default_rng(seed).standard_t(3, (3, count)) * 0.03
    scores = aligned_ranks._scores(logs)
    sums = np.array([sum(scores[i, n] for n, i in enumerate(chosen)) for chosen in product(range(3), repeat=count)])
    exact = np.mean(sums >= scores[decision_rule.NEW].sum() - 1e-9)
    assert float(aligned_ranks.p_above(logs, 0.0)) == pytest.approx(exact, rel=0.35, abs=2 * 3.0**-count)


@pytest.mark.full
@pytest.mark.parametrize("rounds", [12, 50])
def test_far_tails_of_the_aligned_rank_test_hold_their_level(rounds: int) -> None:
    """Values with tails, of which one in fifty is twice as long: p-values are uniform, or above."""
    rng = np.random.default_rng(rounds)
    logs = sides(rng, (20_000, rounds)) + np.log(2) * (rng.random((20_000, 3, rounds)) < 0.02)
    found = aligned_ranks.p_above(logs, 0.0)
    for level in (0.1, 0.01, 0.001):
        assert np.mean(found <= level) < level + 4 * math.sqrt(level / len(found))
        assert np.mean(found <= level) > level / 2


def test_the_interval_of_the_ratio_is_what_the_test_leaves() -> None:
    logs = sides(np.random.default_rng(1), (40,))
    logs[decision_rule.NEW] += 0.05
    found = aligned_ranks.ratio(logs, 0.01)
    assert found.low < found.value < found.high and found.value == pytest.approx(0.05, abs=0.01)
    assert aligned_ranks.p_above(logs, found.low - 1e-6) <= 0.01 < aligned_ranks.p_above(logs, found.low + 1e-6)
    assert aligned_ranks.p_below(logs, found.high + 1e-6) <= 0.01 < aligned_ranks.p_below(logs, found.high - 1e-6)
    few = aligned_ranks.ratio(logs[:, :4], 0.01)
    assert (few.low, few.high) == (-math.inf, math.inf)
    assert aligned_ranks.fewest(3.0**-7) == 7


@pytest.mark.parametrize("seed", [16, 2])
def test_the_ratio_is_within_its_interval_also_where_launches_fall_into_two_kinds(seed: int) -> None:
    """Where a middle of differences to the mean of both copies may be what the test excludes, as with seed 16."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(0, 0.002, (3, 40)) + 0.06 * (rng.random((3, 40)) < 0.5)
    found = aligned_ranks.ratio(logs, 0.005)
    assert found.low < found.value < found.high
    for p_value in (aligned_ranks.p_above(logs, found.value), aligned_ranks.p_below(logs, found.value)):
        assert float(p_value) == pytest.approx(0.5, abs=0.05)


def test_three_sides_show_more_than_two() -> None:
    """The same effect, rounds and level: found more often than by the differences to the baseline alone."""
    logs = sides(np.random.default_rng(5), (500, 20), 0.02)
    logs[:, decision_rule.NEW] += 0.015
    alone = signed_rank.p_above(logs[:, decision_rule.NEW] - logs[:, decision_rule.BASE], 0.0) <= 0.001
    both = aligned_ranks.p_above(logs, 0.0) <= 0.001
    assert both.mean() > 1.2 * alone.mean() > 0.1


def test_states_of_many_gates_at_once_are_those_of_each_alone() -> None:
    logs = sides(np.random.default_rng(3), (30, 2, 40))
    logs[:, :, decision_rule.NEW] += np.linspace(-0.1, 0.1, 30)[:, None, None]
    at = sequential.looks(40)
    states, rounds = decision_rule.run(logs, Rule(), at, 40)
    alone = [decision_rule.run(one, Rule(), at, 40) for one in logs]
    assert states.tolist() == [int(state) for state, _ in alone]
    assert rounds.tolist() == [int(count) for _, count in alone]
    assert {int(State.COMMIT), int(State.SAME)} <= set(states.tolist())


def test_a_control_that_moved_forbids_a_verdict() -> None:
    logs = sides(np.random.default_rng(4), (1, 40), 0.005)
    logs[:, decision_rule.NEW] += 0.1
    level = decision_rule.levels(Rule(), [40], 40, 1)[0]
    assert decision_rule.state(logs, Rule(), level) == State.COMMIT
    logs[:, decision_rule.CONTROL] += 0.1
    assert decision_rule.state(logs, Rule(), level) == State.MOVED


@pytest.fixture(scope="module")
def pools() -> list[gates.Array]:
    return gates.noise([gates.FOLDER / "overlap" / "overlap-mtu-9000"], 3)


def test_recorded_noise_has_points_that_differ_by_per_cents(pools: list[gates.Array]) -> None:
    assert len(pools) >= 5
    assert 0.002 < np.median([np.std(pool) for pool in pools]) < 0.1


@pytest.mark.full
def test_a_thousand_gates_of_the_same_program_raise_no_alarm(pools: list[gates.Array]) -> None:
    found = gates.simulate(pools, 0.0, 1000)
    assert found.bound < gates.BOUND
    assert found.moved < 0.03 * found.gates


def test_a_candidate_at_the_margin_is_no_alarm_and_one_far_beyond_it_is_found(pools: list[gates.Array]) -> None:
    assert gates.simulate(pools, 0.02, 300).commit <= 6
    assert gates.simulate(pools, 0.1, 300).commit > 200


# A history of gates: a loss below the margin of each is found, a spike and plain noise are not.
def history(ratios: list[float], point: str = "1 MB") -> list[Entry]:
    return [
        Entry(f"gate-{n:02d}", f"2026-11-{n + 1:02d}", "vcluster", "main", f"commit:{n}", "same", {point: ratio}, {})
        for n, ratio in enumerate(ratios)
    ]


def noisy(count: int, seed: int = 1) -> npt.NDArray[np.float64]:
    return np.asarray(np.exp(np.random.default_rng(seed).normal(0, 0.004, count)))


def test_a_loss_below_the_margin_is_found_and_dated() -> None:
    ratios = noisy(24)
    ratios[14:] *= 1.015
    (found,) = changes.changes(history(list(ratios)))
    assert found.entry.session in {"gate-13", "gate-14", "gate-15"}
    assert found.ratio == pytest.approx(1.015, abs=0.006)


def test_noise_and_one_spike_are_no_change() -> None:
    ratios = noisy(24, 2)
    assert not changes.changes(history(list(ratios)))
    ratios[12] = 1.5
    assert not changes.changes(history(list(ratios)))


@pytest.mark.full
def test_gates_against_another_baseline_are_no_series_with_these() -> None:
    """A step from one baseline to the other is none of the candidate's, also where the first version kept the words."""
    ratios = noisy(24)
    ratios[12:] *= 1.1
    entries = history(list(ratios))
    (found,) = changes.changes(entries)
    assert found.entry.session == "gate-12"
    of_other_words = [replace(one, base="v2") for one in entries[12:]]
    compared = [replace(one, comparison="commit,timer against main") for one in entries[12:]]
    for later in (of_other_words, compared):
        split = [*entries[:12], *later]
        assert len(changes.series(split)) == 2 and not changes.changes(split)


def test_ratios_are_one_series_on_whatever_nodes_of_a_system() -> None:
    """Each allocation has others; how many it has is something else."""
    ratios = noisy(24)
    ratios[14:] *= 1.05
    entries = [
        replace(one, where=f"cluster (n{number}, n{number + 1}), mpich")
        for number, one in enumerate(history(list(ratios)))
    ]
    (found,) = changes.changes(entries)
    assert found.entry.session == "gate-14" and "cluster (2 nodes), mpich" in str(found.key)
    four = [replace(one, where="cluster (a, b, c, d), mpich") for one in entries]
    assert set(changes.series(entries)).isdisjoint(changes.series(four))


def test_short_histories_say_nothing() -> None:
    assert not changes.changes(history([1.0, 1.0, 1.5, 1.5, 1.5]))
    assert not changes.changes([])


def of_many(seed: int, factor: float, count: int = 60) -> list[Entry]:
    """So many series of 16 gates; from the ninth on the first one is slower by this factor."""
    ratios = np.exp(np.random.default_rng(seed).normal(0, 0.004, (16, count)))
    ratios[8:, 0] *= factor
    return [
        replace(one, ratios={f"{size} MB": float(ratio) for size, ratio in enumerate(row)})
        for one, row in zip(history([1.0] * 16), ratios, strict=True)
    ]


def test_a_change_is_found_among_many_series() -> None:
    (found,) = changes.changes(of_many(1, 1.05))
    assert (found.key.point, found.entry.session) == ("0 MB", "gate-08")


def test_many_series_in_which_nothing_changed_say_nothing() -> None:
    assert [seed for seed in range(8) if changes.changes(of_many(seed, 1.0))] == []


def test_changes_of_one_series_leave_the_p_values_of_the_others() -> None:
    """Each further split of a series that changed often is none that the others are corrected for."""
    alone = of_many(1, 1.05)
    steps = np.repeat([1.0, 1.1, 1.2, 1.3], 16) * noisy(64)
    changing = history([float(ratio) for ratio in steps], "steps")
    found = changes.changes([*alone, *changing])
    assert len([one for one in found if one.key.point == "steps"]) == 3
    (mine,) = [one for one in found if one.key.point == "0 MB"]
    (before,) = changes.changes(alone)
    assert mine.adjusted == pytest.approx(before.adjusted, rel=0.1)


def ranked(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(stats.rankdata(values), dtype=np.float64)


@pytest.mark.parametrize("tied", [False, True])
def test_the_gain_is_that_of_the_split_that_ruptures_finds(tied: bool) -> None:
    values = noisy(20)
    ranks = ranked(values.round(2) if tied else values)
    place = changes._search().fit(ranks).predict(n_bkps=1)[0]
    parts = (ranks[:place], ranks[place:])
    gain = 20 * float(np.var(ranks)) - sum(len(part) * float(np.var(part)) for part in parts)
    assert changes._gain(ranks[None])[0] == pytest.approx(gain)


def test_a_share_that_is_known_early_is_the_share_of_all() -> None:
    ranks = ranked(noisy(16, 5))
    drawn = np.random.default_rng(7).permuted(np.tile(ranks, (20000, 1)), axis=1)
    share = float((changes._gain(drawn) >= changes._gain(ranks[None])[0]).mean())
    assert changes._p(ranks, 20000) == pytest.approx(share, rel=0.5)
