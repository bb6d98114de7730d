# SPDX-License-Identifier: BSD-3-Clause
"""miniGhost: each rank checks each point against the exact solution; that holds for all modes, cuts and variants here,
with what the probe of early arrivals and mistakes look like."""

from __future__ import annotations

import os
import statistics

import pytest

from .conftest import Launcher, Result, assert_valid

pytestmark = pytest.mark.mpi

ONCE = ("--min-samples=1", "--max-samples=1", "--warmup=0", "--time-box-s=60")
MODES = ("blocking", "nonblocking", "overlapped")
VARIANTS = ("bare", "adaptive", "idle")
OVERLAP = {
    *("comm_s", "comp_s", "total_s", "comp_in_s", "post_s", "wait_s", "test_s", "ack_s", "cpu_s"),
    *("application_voluntary_switches", "application_involuntary_switches"),
    *("other_voluntary_switches", "other_involuntary_switches"),
}
EARLY = {"arrived_early", "changed_early"}


def full(*values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.full)


# What every change is tried with, and what only --full tries: ranks, variant.
SETTINGS = [
    (2, "bare"),
    *(full(ranks, variant) for ranks in (1, 2, 4) for variant in VARIANTS if (ranks, variant) != (2, "bare")),
]


def measure(launcher: Launcher, ranks: int, benchmark: str, *points: str) -> Result:
    """A launch that must succeed; the workload verifies its own result."""
    result = launcher.run(ranks, benchmark, *(f"--point={point}" for point in points), *ONCE)
    assert (result.status, result.errors) == (0, "")
    assert_valid(result)
    assert {line["status"] for line in result.points} == {"ok"}
    return result


def values(result: Result, quantity: str) -> list[float]:
    """The median of every point on every rank."""
    return [statistics.median(line["samples"][quantity]) for line in result.points]


def steps(stencil: int, mode: str) -> str:
    """13 and 10 points do not divide by 2 or 4 evenly, and an axis of one point is its own neighbour."""
    return f"nx=13,ny=1,nz=10,variables=3,stencil={stencil},mode={mode},steps=7"


@pytest.mark.parametrize(("ranks", "variant"), SETTINGS)
def test_it_conserves_its_sum_and_agrees_with_one_rank(launcher: Launcher, ranks: int, variant: str) -> None:
    points = [steps(stencil, mode) for stencil in (7, 27) for mode in MODES]
    alone = measure(launcher.of("minighost"), 1, "solve", *points)
    several = measure(launcher.of("minighost", variant), ranks, "solve", *points)
    assert values(several, "sum") == pytest.approx([3 * 13 * 1 * 10] * len(points) * ranks, rel=1e-12)
    expected = [norm for norm in values(alone, "norm") for _ in range(ranks)]
    assert values(several, "norm") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("ranks", [3, *map(full, (5, 6, 8))])
def test_any_cut_of_three_axes(mpich: Launcher, ranks: int) -> None:
    points = [f"nx=5,ny=6,nz=7,variables=2,stencil={stencil},mode={mode}" for stencil in (7, 27) for mode in MODES]
    measure(mpich.of("minighost"), ranks, "solve", *points)


@pytest.mark.parametrize(("ranks", "variant"), SETTINGS)
def test_halos_arrive_whole_in_every_order(launcher: Launcher, ranks: int, variant: str) -> None:
    if ranks == 1:
        pytest.skip("an exchange takes two")
    points = [
        f"size_bytes={size},work_units={units},posting={posting}"
        for posting in ("receives-first", "sends-first", "receives-last")
        for size, units in ((0, 0), (13, 5), (300_000, 200))
    ]
    points.append("size_bytes=2000000,work_units=3000,edge=32,test_every=50")
    result = measure(launcher.of("minighost", variant), ranks, "exchange", *points)
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
    tested, at_once = measure(mpich.of("minighost"), 2, "exchange", *points).points[::2]
    assert tested["samples"]["arrived_early"] == [1.0]
    assert at_once["samples"]["arrived_early"] == [0.0]


@pytest.mark.full
def test_messages_of_80_mb(launcher: Launcher) -> None:
    measure(launcher.of("minighost"), 2, "exchange", "size_bytes=80000000,work_units=1000")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("solve", "--point=nx=9,ny=9,nz=9,mode=overlapped,variables=2"), "after 10 steps the field is"),
        (("exchange", "--point=size_bytes=5000,work_units=1"), "the message of 5000 bytes is wrong at byte"),
    ],
)
def test_a_lost_halo_fails_the_point(mpich: Launcher, arguments: tuple[str, ...], words: str) -> None:
    result = mpich.of("minighost").run(2, *arguments, *ONCE, preload="wrong_application")
    assert result.status == 1
    assert_valid(result)
    assert [line["status"] for line in result.points] == ["failed"]
    assert words in result.points[0]["reason"]
    assert words in result.errors


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


REFUSED = {
    "no such stencil": (2, ("solve", "--point=stencil=9"), "stencil = 9: 7 or 27 is needed"),
    "negative variables": (2, ("solve", "--point=variables=-2"), "variables = -2: an integer from 1 to 40"),
    "no points": (2, ("solve", "--point=nx=0"), "nx = 0: an integer from 1"),
    "no such mode": (2, ("solve", "--point=mode=magic"), "one of blocking, nonblocking, overlapped"),
    "more ranks than planes": (
        3,
        ("solve", "--point=nx=2,ny=2,nz=2"),
        "3 ranks cannot share 2 x 2 x 2 points in 3 dimensions, each with a plane of its own: start 2 ranks",
    ),
    "alone": (
        1,
        ("exchange", "--point=size_bytes=8,work_units=1"),
        "an exchange needs 2 ranks at least, and there is 1",
    ),
    "negative size": (2, ("exchange", "--point=size_bytes=-8,work_units=1"), "size_bytes = -8: an integer from 0"),
    "negative work": (2, ("exchange", "--point=size_bytes=8,work_units=-1"), "work_units = -1: an integer from 0"),
    "no such posting": (2, ("exchange", "--point=size_bytes=8,work_units=1,posting=never"), "one of receives-first"),
    "absent file": (2, ("exchange", "--points=/absent.json"), "/absent.json: cannot be read: No such file"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_mistakes_are_one_sentence_and_status_2(mpich: Launcher, mistake: str) -> None:
    ranks, arguments, sentence = REFUSED[mistake]
    result = mpich.of("minighost").run(ranks, *arguments)
    assert result.status == 2
    assert sentence in result.errors
    assert len(result.errors.splitlines()) == 1, result.errors
    assert result.lines == []
