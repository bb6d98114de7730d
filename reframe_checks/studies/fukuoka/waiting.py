# SPDX-License-Identifier: BSD-3-Clause
"""F3: two ways to wait in a user-level thread. Fukuoka et al., HPCC 2019, appendix."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE, KIB, MIB, SIZE, paper, scale
from reframe_checks.studies.fukuoka.common import CORES, MAT_SIZE, ULTS
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="waiting",
    order=403,
    title="Two ways to wait in a user-level thread",
    group="fukuoka",
    source="Fukuoka et al., HPCC 2019, appendix (study F3)",
    workload=("ult", "waiting"),
    parameters={
        "waiting": Parameter("out of the ready queue, or back into it", str, ("remove", "reinsert")),
        "mat_size": MAT_SIZE,
        "ults": ULTS,
        "threading": Parameter("kind of thread", str, ("ult",)),
        "parts": Parameter("computations of a task, each behind an exchange", int),
        "size_bytes": SIZE,
        "cores": CORES,
    },
    scales={
        "test": scale(
            1,
            {"waiting": ("remove", "reinsert"), "mat_size": (50,), "ults": (20,), "size_bytes": (16 * KIB,),
             "cores": (2,)},
            variants=("offload",),
            samples=2,
        ),
        "quick": scale(
            2,
            {"waiting": ("remove", "reinsert"), "mat_size": (200,), "ults": (100,), "size_bytes": (16 * KIB,),
             "cores": (2,)},
            variants=("offload",),
            samples=3,
            seconds=1.0,
            more={"offload": DEFENSIBLE},
        ),
        "paper": paper(
            6,
            {"waiting": ("remove", "reinsert"), "mat_size": (1000,), "ults": (500,), "size_bytes": (MIB,)},
            variants=("offload",),
            samples=10,
            seconds=120,
        ),
    },
)  # fmt: skip


@rfm.simple_test
class Waiting(WorkloadCheck):
    study = STUDY
