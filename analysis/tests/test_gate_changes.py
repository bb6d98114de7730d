# SPDX-License-Identifier: BSD-3-Clause
"""A history of gates: a loss below the margin of each is found, a spike and plain noise are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from analysis.gate import changes
from analysis.gate.store import Entry


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
