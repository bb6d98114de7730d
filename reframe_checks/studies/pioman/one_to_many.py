# SPDX-License-Identifier: BSD-3-Clause
"""P8: does the latency grow with the threads that wait? Denis, PDP 2015, figure 10."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import paper, scale
from reframe_checks.studies.pioman.common import SMALL, THREADED
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="one-to-many",
    order=108,
    title="Latency of one sending thread and N receiving ones",
    group="pioman",
    source="Denis, PDP 2015, figure 10 (study P8)",
    workload=("microbench", "one-to-many"),
    parameters=SMALL | {"receivers": Parameter("receiving threads", int)},
    scales={
        "test": scale(1, {"receivers": (1, 2), "round_trips": (20,)}, variants=("bare-multiple", "idle"), samples=2),
        "quick": scale(2, {"receivers": (1, 2, 4, 8), "round_trips": (100,)}, variants=THREADED),
        "paper": paper(
            6,
            {"receivers": (1, 2, 4, 8, 16, 32), "round_trips": (1000,)},
            variants=THREADED,
            samples=100,
            seconds=60,
        ),
    },
)


@rfm.simple_test
class OneToMany(WorkloadCheck):
    study = STUDY
