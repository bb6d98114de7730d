# SPDX-License-Identifier: BSD-3-Clause
"""Each benchmark of microbench, of tasks and of roofline at a tiny scale: what it records, what it verifies."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import pytest

from analysis.records.read import Shapes, read
from harness.base import process
from harness.tests.waiting import eventually

from . import conftest
from .conftest import ONCE, OVERLAP, Launcher, assert_failed, assert_refused

pytestmark = pytest.mark.mpi

QUICK = ("--time-box-s=0.3", "--min-samples=2", "--max-samples=6", "--warmup=1")


measure = partial(conftest.measure, options=QUICK)


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
    options = ("--min-samples=5", "--max-samples=5", "--time-box-s=500")  # each may take as long as a turn of the CPU
    line = measure(mpich.within(600), 2, "latency", "size_bytes=1,round_trips=5000", options=options).points[0]
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


@pytest.mark.full
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


def test_every_queue_does_every_ltask(mpich: Launcher) -> None:
    """The workload counts the polls of each ltask; more threads than cores, so that holders of a lock lose theirs."""
    points = [
        f"queue={queue},submitters={submitters},locality={locality}"
        for queue in ("submission", "lock", "lock-free")
        for submitters, locality in ((1, "true"), (4, "false"))
    ]
    for line in measure(mpich.of("tasks"), 1, "contention", *points).points:
        assert 0 < median(line, "submit_s") < median(line, "task_s")


OPERATIONS = ("fma-single", "fma-double", "divide", "sqrt", "multiply-integer")


def rates(mpich: Launcher, quantity: str, benchmark: str, *points: str) -> list[float]:
    few = ("--min-samples=3", "--max-samples=3", "--warmup=1", "--time-box-s=20")
    result = measure(mpich.of("roofline"), 1, benchmark, *points, options=few)
    return [max(line["samples"][quantity]) for line in result.points]


def test_peak_rates_are_in_the_order_that_they_must_have(mpich: Launcher) -> None:
    """What else the machine does may slow down one of them alone, but not each time."""
    points = [f"operation={operation}" for operation in OPERATIONS]

    def in_order() -> bool:
        found = dict(zip(OPERATIONS, rates(mpich, "operations_per_s", "peak", *points), strict=True))
        assert 0 < max(found.values()) < 1e13, "optimised away"
        divisions = max(found["divide"], found["sqrt"])
        return divisions < found["fma-double"] and found["multiply-integer"] < found["fma-single"]

    assert eventually(in_order), "divisions are slower than multiplications"


def test_the_triad_is_faster_in_the_cache(mpich: Launcher) -> None:
    def in_order() -> bool:
        cached, memory = rates(mpich, "bytes_per_s", "triad", "megabytes=1", "megabytes=240")
        assert 0 < memory < 1e13, "optimised away"
        return cached > memory / 3

    assert eventually(in_order)


def test_the_triad_of_harm_is_beyond_every_cache_and_messages_are_pending_beside_it(mpich: Launcher) -> None:
    """By what the record says that it touches, and by the engine's own count of what was pending meanwhile."""
    cache = int(process.answer(["getconf", "LEVEL3_CACHE_SIZE"], 10).out.strip() or 0)
    once = ("--max-samples=2", "--min-samples=2", "--warmup=0")
    for point in ("megabytes=0,pending=2", "megabytes=1,pending=0"):
        result = measure(mpich.of("roofline", "adaptive"), 2, "triad", point, options=once)
        for line, rank in zip(result.points, result.end["ranks"], strict=True):
            beyond = line["point"]["megabytes"] == 0
            assert (min(line["samples"]["array_bytes"]) > max(239e6, 1.9 * cache)) is beyond
            assert (rank["engine"]["pending_while_computing_s"] > 0) is beyond


def test_a_pending_message_that_is_wrong_is_seen(mpich: Launcher) -> None:
    point = "--point=megabytes=1,pending=3"
    wrong = mpich.of("roofline").run(2, "triad", point, *ONCE, preload="wrong_partition")
    assert_failed(wrong, "a message that was pending is wrong")


# --on-off: a launch pauses its engine in one of each two repetitions and says in which.
POINT = "size_bytes=65536,work_units=200"
PAIRS = ("--on-off", "--max-samples=9", "--time-box-s=60", "--warmup=1")


def test_the_engine_is_paused_in_one_of_each_two_repetitions(mpich: Launcher) -> None:
    """What is decided: who was paused, and on all ranks alike. While it is paused nobody else moves the message."""
    result = measure(mpich.of("microbench", "adaptive"), 2, "overlap", POINT, options=PAIRS)
    first, second = (line["samples"]["armed"] for line in result.points)
    assert first == second and len(first) == 10, "pairs are whole"
    assert all(sorted(first[i : i + 2]) == [0, 1] for i in range(0, 10, 2))
    assert result.header["quantities"]["armed"] == {"unit": "1", "better": "neither", "leading": False}
    again = measure(mpich.of("microbench", "adaptive"), 2, "overlap", POINT, options=PAIRS)
    third = measure(mpich.of("microbench", "adaptive"), 2, "overlap", POINT, options=PAIRS)
    orders = {tuple(run.points[0]["samples"]["armed"]) for run in (result, again, third)}
    assert len(orders) > 1, "the order is drawn anew"
    lines = read(mpich.folder / "record.jsonl", Shapes()).points
    assert all(len(line.samples[name]) == 5 for line in lines for name in ("total_s", "paused_total_s", "armed"))


def test_without_an_engine_there_is_nothing_to_pause(mpich: Launcher) -> None:
    refused = mpich.run(2, "overlap", f"--point={POINT}", "--on-off")
    assert_refused(refused, "microbench", "no progress engine is loaded")


def test_what_is_measured_many_times_a_repetition_falls_into_the_same_pairs(mpich: Launcher) -> None:
    point = "size_bytes=1,round_trips=7"
    measure(mpich.of("microbench", "adaptive"), 2, "latency", point, options=PAIRS)
    for line in read(mpich.folder / "record.jsonl", Shapes()).points:
        assert len(line.samples["latency_s"]) == len(line.samples["paused_latency_s"]) == 5 * 7
