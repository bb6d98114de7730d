# SPDX-License-Identifier: BSD-3-Clause
"""Threads beside a computation: a waiting one, and user-level threads, bare and under the engine; what cannot be had
is said."""

from __future__ import annotations

import os
import statistics
from typing import Any

import pytest

from harness.base import machine

from .conftest import Launcher, Result, assert_valid

pytestmark = pytest.mark.mpi

QUICK = ("--time-box-s=0.3", "--min-samples=2", "--max-samples=2", "--warmup=1")
ATTEMPTS, QUIET_SHARE = 4, 0.4  # of a core that only the victim and the one that spins share
TWO_CORES = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="the partner needs a core of its own")


def measure(launcher: Launcher, *points: str) -> Result:
    return launcher.of("interference").run(
        2, "ping-pong", *(f"--point={point},window_ms=40" for point in points), *QUICK
    )


def median(line: dict[str, Any], quantity: str) -> float:
    return float(statistics.median(line["samples"][quantity]))


@pytest.mark.full
@pytest.mark.alone
@TWO_CORES
def test_a_thread_that_spins_takes_what_one_that_sleeps_leaves(mpich_first: Launcher) -> None:
    points = [f"detection={name},placement=same-core,grid=XS" for name in ("spin", "sleep", "futex")]
    for _ in range(ATTEMPTS):
        result = measure(mpich_first, *points)
        assert (result.status, result.errors) == (0, "")
        assert_valid(result)
        spin, sleep, futex = result.points[::2]
        for line in (spin, sleep, futex):
            assert line["role"] == "waiting"
            assert min(line["samples"]["mflops"]) > 0 < min(line["samples"]["alone_mflops"])
            assert min(line["samples"]["batch_median_s"]) > 0
        if median(spin, "cpu_share") > QUIET_SHARE:
            assert median(sleep, "cpu_share") < median(spin, "cpu_share")
            return
    pytest.skip("others had the core in all attempts: one that spins did not get its half of it")


@TWO_CORES
def test_without_a_victim_nobody_computes(mpich: Launcher) -> None:
    result = measure(mpich, *(f"detection={name},grid=none" for name in ("pause", "yield", "sleep")))
    assert (result.status, result.errors) == (0, "")
    assert all(median(line, "mflops") == 0 for line in result.points[::2])


@pytest.mark.skipif(machine.topology()["sockets"] != 1, reason="this machine has another socket")
def test_what_the_machine_does_not_offer_fails_its_point_with_a_sentence(mpich: Launcher) -> None:
    result = measure(mpich, "detection=spin,placement=other-socket", "detection=spin,grid=none")
    assert result.status == 1
    assert "offer no place 'other-socket'" in result.points[0]["reason"]


SHORT = ("--time-box-s=5", "--min-samples=2", "--max-samples=2", "--warmup=1")
SMALL = {"ults": 30, "size_bytes": 20000, "cores": 2}
POINTS: dict[str, list[dict[str, Any]]] = {
    "concurrent-latency": [
        {"threads": 4, "threading": threading, "round_trips": 10, "cores": 2} for threading in ("kernel", "ult")
    ],
    "overlap": [{"mat_size": 20, "threading": threading, **SMALL} for threading in ("kernel", "ult", "phases")],
    "waiting": [{"mat_size": 20, "parts": 2, "waiting": waiting, **SMALL} for waiting in ("remove", "reinsert")],
}
WAITS = {"bare": "test-and-yield", "offload": "suspending"}


def arguments(points: list[dict[str, Any]]) -> list[str]:
    texts = [",".join(f"{key}={value}" for key, value in point.items()) for point in points]
    return [word for text in texts for word in ("--point", text)]


@pytest.mark.parametrize("variant", WAITS)
@pytest.mark.parametrize("benchmark", ["concurrent-latency", "overlap"])
def test_record_obeys_the_schema_and_says_how_the_threads_waited(mpich: Launcher, benchmark: str, variant: str) -> None:
    result = mpich.of("ult", variant).run(2, benchmark, *arguments(POINTS[benchmark]), *SHORT)
    assert (result.status, result.errors) == (0, "")
    assert_valid(result)
    assert [(line["point"], line["rank"]) for line in result.points] == [
        (p, r) for p in POINTS[benchmark] for r in (0, 1)
    ]
    for line in result.points:
        waits = WAITS[variant] if line["point"]["threading"] == "ult" else "blocking"
        assert line["role"] == f"{('sender', 'receiver')[line['rank']]}, {waits}"


def test_waiting_sets_the_engines_method(mpich_first: Launcher) -> None:
    result = mpich_first.of("ult", "offload").run(2, "waiting", *arguments(POINTS["waiting"]), *SHORT)
    assert (result.status, result.errors) == (0, "")
    assert_valid(result)
    for line in result.points:
        assert all(1 <= value <= 2 for value in line["samples"]["imbalance"])
    for rank in result.end["ranks"]:
        assert rank["engine"]["offload"]["suspensions"] > 0


def suspensions(launcher: Launcher, round_trips: int) -> None:
    point = {"threads": 100, "threading": "ult", "round_trips": round_trips, "cores": 2}
    limits = ("--warmup=0", "--min-samples=1", "--max-samples=1")
    result = launcher.of("ult", "offload").run(2, "concurrent-latency", *arguments([point]), *limits)
    assert (result.status, result.errors) == (0, "")
    for rank in result.end["ranks"]:
        assert rank["engine"]["offload"]["suspensions"] >= 100 * round_trips // 2


def test_no_suspended_thread_is_lost(mpich: Launcher) -> None:
    suspensions(mpich, 500)


@pytest.mark.full
def test_no_suspended_thread_is_lost_in_a_million_suspensions(launcher: Launcher) -> None:
    suspensions(launcher, 20_000)
