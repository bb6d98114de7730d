# SPDX-License-Identifier: BSD-3-Clause
"""P5: does the timer's period show in the latency? Denis, PDP 2015, section IV-C."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE, paper, scale
from reframe_checks.studies.pioman.common import LATENCY, ONE_BYTE, TEN_MILLION, TEN_MINUTES
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="timer-period",
    order=105,
    title="Latency of a byte against the timer's period",
    group="pioman",
    source="Denis, PDP 2015, section IV-C (study P5)",
    workload=("microbench", "latency"),
    parameters=LATENCY
    | {"timer_ms": Parameter("period of the timer thread, milliseconds", int, engine="timer_us", factor=1000)},
    scales={
        "test": scale(1, {"timer_ms": (1, 100), **ONE_BYTE}, variants=("timer",), samples=2),
        "quick": scale(DEFENSIBLE, {"timer_ms": (1, 10, 100), **ONE_BYTE}, variants=("timer",)),
        "paper": paper(
            6,
            {"timer_ms": (1, 2, 5, 10, 20, 50, 100), "size_bytes": (1,), "round_trips": (1000,)},
            variants=("bare", "timer"),
            samples=TEN_MILLION,
            seconds=TEN_MINUTES,
        ),
    },
)


@rfm.simple_test
class TimerPeriod(WorkloadCheck):
    study = STUDY
