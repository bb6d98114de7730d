# SPDX-License-Identifier: BSD-3-Clause
"""P8: latency of N threads that talk to N others. Denis, PDP 2015, figure 11."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import IDLE_NATIVE, paper, scale
from reframe_checks.studies.pioman.common import SMALL, THREADED
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="many-to-many",
    order=109,
    title="Latency of N threads that each talk to one of N others",
    group="pioman",
    source="Denis, PDP 2015, figure 11 (study P8)",
    workload=("microbench", "many-to-many"),
    parameters=SMALL | {"pairs": Parameter("threads on each side", int)},
    scales={
        "test": scale(1, {"pairs": (1, 2), "round_trips": (20,)}, variants=("bare-multiple", "idle"), samples=2),
        "quick": scale(2, {"pairs": (1, 2, 4, 8), "round_trips": (50,)}, variants=(*THREADED, IDLE_NATIVE)),
        "paper": paper(
            6,
            {"pairs": (1, 2, 4, 8, 16, 32), "round_trips": (1000,)},
            variants=THREADED,
            samples=100,
            seconds=60,
        ),
    },
)


@rfm.simple_test
class ManyToMany(WorkloadCheck):
    study = STUDY
