# SPDX-License-Identifier: BSD-3-Clause
"""P5: does the timer's period show in a computation? Denis, PDP 2015, section IV-C."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE, paper, scale
from reframe_checks.studies.pioman.common import CLASS
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="timer-period-ep",
    order=106,
    title="Time of NPB EP against the timer's period",
    group="pioman",
    source="Denis, PDP 2015, section IV-C (study P5)",
    workload=("npb", "ep"),
    parameters={
        "class": CLASS,
        "timer_ms": Parameter("period of the timer thread, milliseconds", int, engine="timer_us", factor=1000),
    },
    scales={
        "test": scale(1, {"timer_ms": (1, 100), "class": ("S",)}, variants=("timer",), samples=2),
        "quick": scale(
            DEFENSIBLE, {"timer_ms": (1, 10, 100), "class": ("A",)}, variants=("timer",), samples=2, seconds=1.6
        ),
        "paper": paper(
            6,
            {"timer_ms": (1, 2, 5, 10, 20, 50, 100), "class": ("B",)},
            variants=("bare", "timer"),
            samples=20,
            seconds=120,
        ),
    },
)


@rfm.simple_test
class TimerPeriodEp(WorkloadCheck):
    study = STUDY
