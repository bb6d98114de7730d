# SPDX-License-Identifier: BSD-3-Clause
"""P9: does a ping-pong suffer from computing threads beyond the cores? Denis, PDP 2015, figure 12."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE, MIB, WORK, paper, scale
from reframe_checks.studies.pioman.common import SMALL
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="n-load",
    order=110,
    title="A 1 MB ping-pong beside N computing threads on each side, N beyond the cores",
    group="pioman",
    source="Denis, PDP 2015, figure 12 (study P9)",
    workload=("microbench", "n-load"),
    parameters=SMALL
    | {
        "computing_threads": Parameter("computing threads on each side", int),
        "work": WORK,
    },
    scales={
        "test": scale(
            1, {"computing_threads": (0, 2), "round_trips": (2,)}, variants=("bare", "idle"), samples=1, seconds=1
        ),
        "quick": scale(
            DEFENSIBLE,
            # bare and beside 4 threads a round trip takes half a second on one core
            {"computing_threads": (0, 1, 4), "size_bytes": (MIB,), "round_trips": (2,)},
            variants=("bare", "idle"),
            samples=2,
            seconds=0.8,
        ),
        "paper": paper(
            6,
            {
                "computing_threads": (0, 1, 2, 4, 8, 16, 32, 64),
                "size_bytes": (MIB,),
                "work": ("register", "memory"),
                "round_trips": (100,),
            },
            variants=("bare", "idle", "adaptive"),
            samples=30,
            seconds=120,
        ),
    },
)


@rfm.simple_test
class NLoad(WorkloadCheck):
    study = STUDY
