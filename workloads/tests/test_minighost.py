# SPDX-License-Identifier: BSD-3-Clause
"""miniGhost: each rank checks each point against the exact solution; that holds for all modes, cuts and variants here,
with what the probe of early arrivals and mistakes look like."""

from __future__ import annotations

import os
import re
import statistics

import pytest

from harness.tests.waiting import eventually

from .conftest import ONCE, OVERLAP, Launcher, Result, assert_failed, full, measure

pytestmark = pytest.mark.mpi

MODES = ("blocking", "nonblocking", "direct", "overlapped")
VARIANTS = ("bare", "adaptive", "idle")
EARLY = {"arrived_early", "changed_early"}


# What every change is tried with, and what only --full tries: ranks, variant.
SETTINGS = [
    (2, "bare"),
    *(full(ranks, variant) for ranks in (1, 2, 4) for variant in VARIANTS if (ranks, variant) != (2, "bare")),
]


def values(result: Result, quantity: str) -> list[float]:
    """The median of every point on every rank."""
    return [statistics.median(line["samples"][quantity]) for line in result.points]


def steps(stencil: int, mode: str, ny: int) -> str:
    """13 and 10 points do not divide by 2 or 4 evenly."""
    reduction = "blocking" if mode == "blocking" else "late"
    return f"nx=13,ny={ny},nz=10,variables=3,stencil={stencil},mode={mode},reduction={reduction},steps=7"


# An axis of one point is its own neighbour; with an interior, there is something to compute before halos have come.
STEPS = {
    steps(stencil, mode, ny): ny
    for stencil in (7, 27)
    for ny, modes in ((1, MODES[:-1]), (3, MODES[-1:]))
    for mode in modes
}


@pytest.mark.parametrize(("ranks", "variant"), SETTINGS)
def test_it_conserves_its_sum_and_agrees_with_one_rank(mpich_first: Launcher, ranks: int, variant: str) -> None:
    alone = measure(mpich_first.of("minighost"), 1, "solve", *STEPS)
    several = measure(mpich_first.of("minighost", variant), ranks, "solve", *STEPS)
    conserved = [3 * 13 * ny * 10 for ny in STEPS.values() for _ in range(ranks)]
    assert values(several, "sum") == pytest.approx(conserved, rel=1e-12)
    expected = [norm for norm in values(alone, "norm") for _ in range(ranks)]
    assert values(several, "norm") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("ranks", [3, *map(full, (5, 6, 8))])
def test_any_cut_of_three_axes(mpich: Launcher, ranks: int) -> None:
    points = [f"nx=7,ny=8,nz=16,variables=2,stencil={stencil},mode={mode}" for stencil in (7, 27) for mode in MODES]
    points += [f"nx=2,ny=3,nz=8,stencil={stencil},mode={mode}" for stencil in (7, 27) for mode in MODES[:-1]]
    measure(mpich.of("minighost"), ranks, "solve", *points)


# Ranks -> the messages to others of a step: to 26 neighbours directly, and by phases; 2 ranks are cut along one axis,
# 4 along two, and beyond an axis that is not cut a block meets itself.
MESSAGES = [(2, 18, 2), full(4, 24, 4), full(8, 26, 6)]


@pytest.mark.parametrize(("ranks", "to_26", "to_6"), MESSAGES)
def test_messages_are_counted(mpich: Launcher, ranks: int, to_26: int, to_6: int) -> None:
    size = "nx=12,ny=12,nz=12,variables=1,steps=5"
    points = {f"{size},stencil={stencil},mode={mode},neighbours=26": 5 * (to_6 if mode in MODES[:2] else to_26)
              for stencil in (7, 27) for mode in MODES}  # fmt: skip
    points |= {f"{size},stencil=7,mode={mode}": 5 * to_6 for mode in MODES}
    points |= {f"{size},stencil=27,mode={mode}": 5 * (to_6 if mode in MODES[:2] else to_26) for mode in MODES}
    result = measure(mpich.of("minighost"), ranks, "solve", *points)
    assert values(result, "messages") == [number for number in points.values() for _ in range(ranks)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stencil", [full(7), 27])
def test_one_wrong_value_of_a_halo_fails_the_point(mpich: Launcher, stencil: int, mode: str) -> None:
    point = f"--point=nx=9,ny=9,nz=9,variables=1,neighbours=26,stencil={stencil},mode={mode}"
    result = mpich.of("minighost").run(2, "solve", point, *ONCE, preload="wrong_kernel")
    assert_failed(result, "after 10 steps the field is")


@pytest.mark.parametrize("reduction", ["blocking", "late"])
def test_a_wrong_global_sum_fails_the_point(mpich: Launcher, reduction: str) -> None:
    """Late sums belong to their steps, too: it is the third that is wrong."""
    point = f"--point=nx=9,ny=9,nz=9,variables=3,reduction={reduction}"
    result = mpich.of("minighost").run(2, "solve", point, *ONCE, preload="wrong_sum")
    assert result.status == 1
    assert re.search(r"variable 1: the sum over the grid was (730|729\.9|730\.0)\d* after step 3", result.errors)


@pytest.mark.parametrize(("ranks", "variant"), SETTINGS)
def test_halos_arrive_whole_in_every_order(mpich_first: Launcher, ranks: int, variant: str) -> None:
    if ranks == 1:
        pytest.skip("an exchange takes two")
    points = [
        f"size_bytes={size},work_units={units},posting={posting}"
        for posting in ("receives-first", "sends-first", "receives-last")
        for size, units in ((0, 0), (13, 5), (300_000, 200))
    ]
    points.append("size_bytes=2000000,work_units=3000,edge=32,test_every=50")
    result = measure(mpich_first.of("minighost", variant), ranks, "exchange", *points)
    for line in result.points:
        late = line["point"].get("posting") == "receives-last"
        assert set(line["samples"]) == (OVERLAP if late else OVERLAP | EARLY)
        tested = line["point"].get("test_every", 0) > 0
        assert (max(line["samples"]["test_s"]) > 0) == tested
        for name in EARLY - (EARLY if late else set()):
            assert 0 <= line["samples"][name][0] <= 1
    nothing = [
        line for line in result.points if line["point"]["size_bytes"] == 0 and "arrived_early" in line["samples"]
    ]
    assert {line["samples"]["arrived_early"][0] for line in nothing} == {1.0}


def test_a_halo_that_is_tested_for_is_seen_before_the_wait(mpich: Launcher) -> None:
    """Manual progression brings it: the probe is not blind. Without computation nothing can have come yet."""
    points = ("size_bytes=4000000,work_units=30000,test_every=20", "size_bytes=4000000,work_units=0")

    def arrived_early() -> list[list[float]]:
        lines = measure(mpich.of("minighost"), 2, "exchange", *points).points[::2]
        return [line["samples"]["arrived_early"] for line in lines]

    assert eventually(lambda: arrived_early() == [[1.0], [0.0]]), "on a busy machine not each time"


@pytest.mark.full
def test_messages_of_80_mb(launcher: Launcher) -> None:
    measure(launcher.of("minighost"), 2, "exchange", "size_bytes=80000000,work_units=1000")


def test_a_lost_halo_fails_the_point(mpich: Launcher) -> None:
    words = "the message of 5000 bytes is wrong at byte"
    arguments = ("exchange", "--point=size_bytes=5000,work_units=1")
    result = mpich.of("minighost").run(2, *arguments, *ONCE, preload="wrong_application")
    assert_failed(result, words)


def test_placement_binds_and_lets_go(mpich: Launcher) -> None:
    """Two ranks on all CPUs: with fewer than four of them, none is left for another core or a sibling."""
    points = [f"nx=9,ny=9,nz=9,steps=1,placement={placement}" for placement in ("free", "shared", "dedicated", "free")]
    options = (*(f"--point={point}" for point in points), *ONCE)
    result = mpich.of("minighost", "thread").run(2, "solve", *options)
    free, shared, dedicated, again = result.points[::2]
    assert {line["status"] for line in (free, shared, again)} == {"ok"}
    if len(os.sched_getaffinity(0)) == 1:
        assert dedicated["status"] == "failed"
        assert "placement dedicated is not possible" in dedicated["reason"]
    assert all(len(rank["cpus_observed"]) >= 1 for rank in result.end["ranks"])
