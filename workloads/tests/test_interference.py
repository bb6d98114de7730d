# SPDX-License-Identifier: BSD-3-Clause
"""A waiting thread next to a computing one: what is recorded, and what cannot be had is said."""

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
