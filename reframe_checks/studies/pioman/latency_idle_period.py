# SPDX-License-Identifier: BSD-3-Clause
"""P3: does the period of the idle threads show in the latency? Denis, PDP 2015, figures 2 and 3."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import IDLE_NATIVE, paper, scale
from reframe_checks.studies.pioman.common import LATENCY, ONE_BYTE, TEN_MILLION, TEN_MINUTES
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="latency-idle-period",
    order=103,
    title="Latency of a byte against the period at which idle threads poll",
    group="pioman",
    source="Denis, PDP 2015, figures 2 and 3 (study P3)",
    workload=("microbench", "latency"),
    parameters=LATENCY | {"period_us": Parameter("period of the idle threads, microseconds", int, engine="idle_us")},
    scales={
        "test": scale(1, {"period_us": (1, 10000), **ONE_BYTE}, variants=("idle",), samples=2),
        "quick": scale(2, {"period_us": (0, 1, 5, 20, 100, 10000), **ONE_BYTE}, variants=("bare", "idle", IDLE_NATIVE)),
        "paper": paper(
            6,
            {
                "period_us": (0, 1, 2, 5, 10, 20, 50, 100, 1000, 10000),
                "size_bytes": (1,),
                "round_trips": (1000,),
            },
            variants=("bare", "idle"),
            samples=TEN_MILLION,
            seconds=TEN_MINUTES,
        ),
    },
)


@rfm.simple_test
class LatencyIdlePeriod(WorkloadCheck):
    study = STUDY
