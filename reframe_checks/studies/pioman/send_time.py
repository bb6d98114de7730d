# SPDX-License-Identifier: BSD-3-Clause
"""P2: is the time of a send with computation their maximum or their sum? Denis, PDP 2015, figure 9."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import KIB, MIB
from reframe_checks.studies.pioman.common import ALL, DECIDING, FEW_WAKES, OVERLAP, WAKES
from reframe_checks.study import Parameter, Scale, Study

_SIZES_TO_8_MIB = (*(4**k for k in range(11)), 2 * MIB, 4 * MIB, 8 * MIB)

STUDY = Study(
    name="send-time",
    order=102,
    title="Time of a send with computation against message size: max(computation, communication) or their sum?",
    group="pioman",
    source="Denis, PDP 2015, figure 9 (study P2)",
    workload=("microbench", "overlap"),
    parameters=OVERLAP | {"comp_s": Parameter("computation time, seconds", float)},
    scales={
        "test": Scale(
            launches=2,
            grids=({"pattern": ("both",), "size_bytes": (1, 64 * KIB), "comp_s": (0.0, 0.0005)},),
            min_samples=3,
            max_samples=10,
            warmup=1,
            time_box_s=1,
            variants=("bare", "adaptive"),
            limit=FEW_WAKES,
        ),
        "quick": Scale(
            launches=1,
            more=DECIDING,
            mpis=("mpich",),
            grids=(
                {
                    "pattern": ("both",),
                    "size_bytes": (1, 1 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1 * MIB, 8 * MIB),
                    "comp_s": (0.0, 0.0001, 0.0002, 0.0005, 0.001),
                },
            ),
            min_samples=3,
            max_samples=30,
            warmup=1,
            time_box_s=0.2,
            variants=("bare", "mpi-async", "idle", "adaptive", "limit"),
            limit=FEW_WAKES | {"comp_s": (0.0005, 0.001)},
        ),
        "paper": Scale(
            launches=6,
            grids=(
                {
                    "pattern": ("both",),
                    "size_bytes": (*_SIZES_TO_8_MIB, 80 * MIB),
                    "comp_s": (0.0, 0.0001, 0.0002, 0.0005, 0.001),
                },
            ),
            min_samples=10,
            max_samples=1000,
            warmup=2,
            time_box_s=10,
            variants=ALL,
            limit=WAKES,
        ),
    },
)


@rfm.simple_test
class SendTime(WorkloadCheck):
    study = STUDY
