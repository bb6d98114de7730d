# SPDX-License-Identifier: BSD-3-Clause
"""P6: what do polling in calls and in threads add to the latency? Denis, PDP 2015, figure 5."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import IDLE_NATIVE, KIB, MIB, paper, scale
from reframe_checks.studies.pioman.common import LATENCY
from reframe_checks.study import Study

STUDY = Study(
    name="latency-flavours",
    order=107,
    title="Latency against message size: the engine inert, polling in calls, polling in threads",
    group="pioman",
    source="Denis, PDP 2015, figure 5 (study P6)",
    workload=("microbench", "latency"),
    parameters=LATENCY,
    scales={
        "test": scale(1, {"size_bytes": (1,), "round_trips": (100,)}, variants=("off", "idle"), samples=2),
        "quick": scale(
            2,
            {"size_bytes": (1, 1 * KIB, 64 * KIB), "round_trips": (200,)},
            variants=("bare", "off", "explicit", "idle", IDLE_NATIVE, "adaptive"),
            point_s=0.0,
        ),
        "paper": paper(
            6,
            {"size_bytes": (*(4**k for k in range(11)), 8 * MIB), "round_trips": (1000,)},
            variants=("bare", "off", "explicit", "idle", "adaptive"),
            samples=1000,
            seconds=60,
        ),
    },
)


@rfm.simple_test
class LatencyFlavours(WorkloadCheck):
    study = STUDY
