# SPDX-License-Identifier: BSD-3-Clause
"""Each benchmark of microbench at a tiny scale: what it records, what it verifies, what it refuses."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from harness.tests.waiting import eventually

from .conftest import ONCE, Launcher, Result, assert_valid

pytestmark = pytest.mark.mpi

QUICK = ("--time-box-s=0.3", "--min-samples=2", "--max-samples=6", "--warmup=1")


def measure(launcher: Launcher, ranks: int, benchmark: str, *points: str, options: tuple[str, ...] = QUICK) -> Result:
    """A launch that must succeed."""
    result = launcher.run(ranks, benchmark, *(f"--point={point}" for point in points), *options)
    assert (result.status, result.errors) == (0, "")
    assert_valid(result)
    assert {line["status"] for line in result.points} == {"ok"}
    return result


def median(line: dict[str, Any], quantity: str) -> float:
    samples: list[float] = line["samples"][quantity]
    return statistics.median(samples)


def test_latency_is_a_distribution(mpich_first: Launcher) -> None:
    points = ("size_bytes=1,round_trips=50", "size_bytes=0,round_trips=7,calls=nonblocking")
    result = measure(mpich_first, 2, "latency", *points)
    assert [line["role"] for line in result.points] == ["sender", "receiver"] * 2
    for line in result.points:
        repetitions = len(line["samples"]["batch_median_s"])
        assert len(line["samples"]["latency_s"]) == repetitions * line["point"]["round_trips"]
        assert 0 < min(line["samples"]["latency_s"]) <= min(line["samples"]["batch_median_s"])


def test_many_round_trips_become_a_histogram_with_exact_extremes(mpich: Launcher) -> None:
    options = ("--min-samples=5", "--max-samples=5", "--time-box-s=30")
    line = measure(mpich, 2, "latency", "size_bytes=1,round_trips=5000", options=options).points[0]
    histogram = line["histograms"]["latency_s"]
    assert "latency_s" not in line["samples"]
    assert histogram["count"] == sum(histogram["counts"]) == 25_000
    medians = line["samples"]["batch_median_s"]
    assert histogram["min"] <= min(medians) <= histogram["quantiles"]["0.5"] <= max(medians) <= histogram["max"]


def test_manual_progression_tests_the_request(mpich: Launcher) -> None:
    points = [f"size_bytes=4194304,work_units=300,test_every={every}" for every in (0, 10, 1000)]
    never, often, once = measure(mpich, 2, "overlap", *points).points[1::2]
    assert max(never["samples"]["test_s"]) == 0
    assert min(often["samples"]["test_s"]) > 0
    assert min(once["samples"]["test_s"]) > 0
    for line in (often, once):
        for inside, tests in zip(line["samples"]["comp_in_s"], line["samples"]["test_s"], strict=True):
            assert tests < inside


COLLECTIVES = ("ireduce", "igather", "ibcast", "iscatter", "iallreduce", "ialltoall", "iallgather")
OVERLAP = {
    *("comm_s", "comp_s", "total_s", "comp_in_s", "post_s", "wait_s", "test_s", "ack_s", "cpu_s"),
    *("application_voluntary_switches", "application_involuntary_switches"),
    *("other_voluntary_switches", "other_involuntary_switches"),
}


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.full)])
def test_every_collective_brings_what_it_should(mpich_first: Launcher, ranks: int) -> None:
    """The workload compares every byte; sizes beyond and below the MPIs' limits, and none at all."""
    points = [
        *(f"collective={name},size_bytes=1000,work_units=2" for name in COLLECTIVES),
        *(f"collective={name},size_bytes=200000,work_units=50,test_every=5" for name in COLLECTIVES),
        "collective=ialltoall,size_bytes=13,work_units=0",
        "collective=iallreduce,size_bytes=0,work_units=1",
    ]
    result = measure(mpich_first, ranks, "collective-overlap", *points, options=("--max-samples=2", "--warmup=0"))
    assert [line["role"] for line in result.points] == ["root", *["other"] * (ranks - 1)] * len(points)
    for line in result.points:
        assert set(line["samples"]) == OVERLAP | {"own_comm_s"}
        for own, whole in zip(line["samples"]["own_comm_s"], line["samples"]["comm_s"], strict=True):
            assert 0 < own < whole, "a rank's own part ends before the barrier that waits for the others'"
        tested = line["point"].get("test_every", 0) > 0
        assert (max(line["samples"]["test_s"]) > 0) == tested


@pytest.mark.parametrize("before", [0, 3])
def test_collectives_follow_one_another(mpich: Launcher, before: int) -> None:
    """One repetition has the collective alone and beside the computation."""
    point = f"--point=collective=ibcast,size_bytes=1000,work_units=1,back_to_back={before}"
    result = mpich.run(2, "collective-overlap", point, *ONCE, preload="counted_broadcasts")
    assert {line["status"] for line in result.points} == {"ok"}
    assert result.errors.split() == [str(2 * (before + 1)), "broadcasts"]


def test_each_rank_computes_as_long_as_its_own_part_takes(mpich: Launcher) -> None:
    """Whatever the work was to begin with."""
    point = "collective=igather,size_bytes=200000,work_units=400000,computes_for="
    asked = ("work_units", "own_part")

    def as_long() -> bool:
        lines = measure(mpich, 2, "collective-overlap", *(point + computes_for for computes_for in asked)).points
        given, own = lines[:2], lines[2:]
        return max(median(line, "comp_s") for line in own) < min(median(line, "comp_s") for line in given) / 5 and all(
            median(line, "comp_s") > median(line, "own_comm_s") / 5 for line in own
        )

    assert eventually(as_long), "on a busy machine not each time"


def test_wrong_block_of_a_collective_fails_the_point(mpich: Launcher) -> None:
    point = "--point=collective=iallgather,size_bytes=3000,work_units=1"
    result = mpich.run(2, "collective-overlap", point, *QUICK, preload="wrong_collective")
    assert result.status == 1
    assert "iallgather, block of rank 1: the message of 3000 bytes is wrong at byte 2992" in result.points[0]["reason"]


@pytest.mark.full
def test_load_is_felt_and_gone_again(mpich: Launcher) -> None:
    points = ("computing_threads=0,size_bytes=4096", "computing_threads=4,size_bytes=4096,work=memory")
    alone, loaded = measure(mpich, 2, "n-load", *points).points[::2]
    assert max(alone["samples"]["compute_units_per_s"]) == 0
    assert min(loaded["samples"]["compute_units_per_s"]) > 0
    for line in (alone, loaded):
        repetitions = len(line["samples"]["batch_median_s"])
        assert len(line["samples"]["latency_s"]) == len(line["samples"]["unloaded_latency_s"]) == 10 * repetitions


def test_threads_talk_at_the_same_time(mpich_first: Launcher) -> None:
    """The benchmark asks for MPI_THREAD_MULTIPLE by itself."""
    result = measure(mpich_first, 2, "many-to-many", "pairs=3,round_trips=20", "pairs=1,round_trips=5")
    assert result.header["thread_level"] == {"asked": "multiple", "provided": "multiple"}
    for line in result.points:
        trips = line["point"]["pairs"] * line["point"]["round_trips"]
        assert len(line["samples"]["latency_s"]) == trips * len(line["samples"]["elapsed_s"])


def test_one_sender_serves_many_receivers(mpich_first: Launcher) -> None:
    lines = measure(mpich_first, 2, "one-to-many", "receivers=3,round_trips=10", "receivers=1,round_trips=10").points
    for sender, receiver in zip(lines[::2], lines[1::2], strict=True):
        trips = {3: 12, 1: 10}[sender["point"]["receivers"]]  # rounded up, so that all receivers have the same number
        assert len(sender["samples"]["latency_s"]) == trips * len(sender["samples"]["elapsed_s"])
        assert set(receiver["samples"]) == {"elapsed_s", "cpu_s"}


def test_switches_are_those_of_the_computation(mpich: Launcher) -> None:
    points = ("pending=true,work_units=2000,size_bytes=100000", "pending=false,work_units=2000,size_bytes=100000")
    for line in measure(mpich, 2, "context-switches", *points).points:
        assert min(line["samples"]["comp_in_s"]) > 0
        assert all(0 <= share <= 1.1 for share in line["samples"]["cpu_share"])  # no thread but the computing one
        assert max(line["samples"]["switches_per_s"]) == 0


def test_overhead_is_found_beside_enough_work(mpich: Launcher) -> None:
    points = [f"pattern={pattern},size_bytes=300000" for pattern in ("sender", "receiver")]
    lines = measure(mpich, 2, "host-overhead", *points).points
    for line in lines:
        computes = line["role"] == line["point"]["pattern"]
        assert ("overhead_s" in line["samples"]) == computes
        assert (min(line["samples"]["work_units"]) >= 10) == computes
        assert (min(line["samples"]["comp_s"]) > 0) == computes


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_pair_meets_once(mpich: Launcher, ranks: int) -> None:
    """Both ends of each pair agree; of an odd number one rests in every round."""
    rounds = ranks - 1 + ranks % 2
    points = [f"round={n},size_bytes=64,work_units=10,round_trips=3" for n in range(rounds)]
    met: list[tuple[int, int]] = []
    for line in measure(mpich, ranks, "node-pairs", *points).points:
        assert min(line["samples"]["comp_s"]) > 0
        assert ("transfer_s" in line["samples"]) == (line["role"] == "one of a pair")
        if "partner" in line["samples"]:
            met.append((line["rank"], int(line["samples"]["partner"][0])))
    assert sorted(met) == [(a, b) for a in range(ranks) for b in range(ranks) if a != b]


REFUSED = {
    "no such round": (
        2,
        "node-pairs",
        "round=1,size_bytes=8,work_units=1",
        "round = 1: 2 ranks have the rounds 0 to 0",
    ),
    "one rank": (1, "collective-overlap", "collective=ibcast,size_bytes=8,work_units=1", "needs 2 ranks at least"),
    "no multiple": (2, "collective-overlap", "collective=ireduce,size_bytes=9,work_units=1", "not a multiple of 8"),
    "collective": (2, "collective-overlap", "collective=iscan,size_bytes=8,work_units=1", "one of ireduce, igather"),
    "threads": (2, "many-to-many", "pairs=0", "pairs = 0: an integer from 1"),
    "negative": (2, "n-load", "computing_threads=-1", "computing_threads = -1: an integer from 0"),
    "no flag": (2, "context-switches", "pending=1,work_units=5", "pending = 1: true or false"),
    "odd": (3, "latency", "size_bytes=1", "pairs of ranks are needed"),
    "no trips": (2, "latency", "round_trips=0", "round_trips = 0: an integer from 1"),
    "no size": (2, "host-overhead", "pattern=sender", "size_bytes is missing"),
    "no receivers": (2, "one-to-many", "size_bytes=1", "receivers is missing"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_mistakes_are_one_sentence(mpich: Launcher, mistake: str) -> None:
    ranks, benchmark, point, sentence = REFUSED[mistake]
    result = mpich.run(ranks, benchmark, f"--point={point}")
    assert result.status == 2
    assert sentence in result.errors
    assert len(result.errors.splitlines()) == 1, result.errors
    assert result.lines == []
