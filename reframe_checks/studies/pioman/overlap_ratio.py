# SPDX-License-Identifier: BSD-3-Clause
"""P1: does a message move while its owners compute? Denis, PDP 2015, figures 7 and 8."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import KIB, MIB
from reframe_checks.studies.pioman.common import ALL, DECIDING, FEW_WAKES, OVERLAP, WAKES
from reframe_checks.study import Parameter, Scale, Study

STUDY = Study(
    name="overlap-ratio",
    order=101,
    title="Total time over computation time: does a message move while its owners compute?",
    group="pioman",
    source="Denis, PDP 2015, figures 7 and 8 (study P1)",
    workload=("microbench", "overlap"),
    parameters=OVERLAP | {"comp_over_comm": Parameter("computation time over the bare communication time", float)},
    scales={
        "test": Scale(
            launches=2,
            grids=({"pattern": ("both",), "size_bytes": (4 * MIB,), "comp_over_comm": (1.0,)},),
            min_samples=3,
            max_samples=3,
            warmup=1,
            time_box_s=5,
            variants=("bare", "adaptive"),
            limit=FEW_WAKES,
        ),
        "quick": Scale(
            launches=1,
            more=DECIDING,
            mpis=("mpich", "openmpi"),  # claims of this study name Open MPI
            grids=(
                {"pattern": ("both",), "size_bytes": (64 * KIB, 4 * MIB), "comp_over_comm": (0.5, 1.0, 2.0)},
                {"pattern": ("sender", "receiver"), "size_bytes": (4 * MIB,), "comp_over_comm": (1.0,)},
                {"pattern": ("both",), "size_bytes": (32 * MIB,), "comp_over_comm": (1.0,)},
            ),
            min_samples=3,
            max_samples=20,
            warmup=1,
            time_box_s=0.45,
            variants=ALL,
            limit=FEW_WAKES | {"comp_over_comm": (1.0, 2.0)},
        ),
        "paper": Scale(
            launches=6,
            grids=(
                {
                    "pattern": ("both", "sender", "receiver"),
                    "size_bytes": (64 * KIB, 4 * MIB, 32 * MIB),
                    "comp_over_comm": (0.125, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0),
                },
            ),
            min_samples=10,
            max_samples=100,
            warmup=2,
            time_box_s=20,
            variants=ALL,
            limit=WAKES,
        ),
    },
)


@rfm.simple_test
class OverlapRatio(WorkloadCheck):
    study = STUDY
