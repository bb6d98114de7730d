# SPDX-License-Identifier: BSD-3-Clause
"""--on-off: a launch pauses its engine in one of each two repetitions and says in which."""

from __future__ import annotations

import pytest

from analysis.records.read import Shapes, read
from workloads.tests.conftest import Launcher, assert_refused, measure

pytestmark = pytest.mark.mpi
POINT = "size_bytes=4194304,work_units=20000"
PAIRS = ("--on-off", "--max-samples=9", "--time-box-s=60", "--warmup=1")


def test_the_engine_is_paused_in_one_of_each_two_repetitions(mpich: Launcher) -> None:
    """What is decided: who was paused, and on all ranks alike. While it is paused nobody else moves the message."""
    result = measure(mpich.of("microbench", "thread"), 2, "overlap", POINT, options=PAIRS)
    first, second = (line["samples"]["armed"] for line in result.points)
    assert first == second and len(first) == 10, "pairs are whole"
    assert all(sorted(first[i : i + 2]) == [0, 1] for i in range(0, 10, 2))
    assert result.header["quantities"]["armed"] == {"unit": "1", "better": "neither", "leading": False}
    again = measure(mpich.of("microbench", "thread"), 2, "overlap", POINT, options=PAIRS)
    third = measure(mpich.of("microbench", "thread"), 2, "overlap", POINT, options=PAIRS)
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
