# SPDX-License-Identifier: BSD-3-Clause
"""F1: latency of threads that communicate at once. Fukuoka et al., HPCC 2019."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import ROUND_TRIPS, SIZE, paper, scale
from reframe_checks.studies.fukuoka.common import BOTH, CORES
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="concurrent-latency",
    order=401,
    title="Latency of threads that communicate at once",
    group="fukuoka",
    source="Fukuoka et al., HPCC 2019, 'Concurrent Latency' (study F1)",
    workload=("ult", "concurrent-latency"),
    parameters={
        "threads": Parameter("threads on each side", int),
        "threading": Parameter("kind of thread", str, ("kernel", "ult")),
        "size_bytes": SIZE,
        "round_trips": ROUND_TRIPS,
        "cores": CORES,
    },
    scales={
        "test": scale(
            1, {"threading": ("kernel", "ult"), "threads": (1, 4), "round_trips": (20,)}, variants=BOTH, samples=2
        ),
        "quick": scale(
            2, {"threading": ("kernel", "ult"), "threads": (1, 2, 4, 8), "round_trips": (200,)}, variants=BOTH
        ),
        "paper": paper(
            6,
            {"threading": ("kernel", "ult"), "threads": (1, 2, 4, 8, 16, 32), "round_trips": (1000,)},
            variants=BOTH,
            samples=100,
            seconds=60,
        ),
    },
)


@rfm.simple_test
class ConcurrentLatency(WorkloadCheck):
    study = STUDY
