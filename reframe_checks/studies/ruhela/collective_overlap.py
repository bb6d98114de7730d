# SPDX-License-Identifier: BSD-3-Clause
"""R1: do nonblocking collectives progress while their ranks compute? Ruhela et al., EuroMPI 2018."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import BACK_TO_BACK, COMPUTES_FOR, KIB, MIB, SIZE, TEST_EVERY, WORK
from reframe_checks.study import Grid, Parameter, Scale, Study

# `pattern` names the paper's three kinds; the workload itself needs only the collective
KINDS = {
    "all-to-one": ("ireduce", "igather"),
    "one-to-all": ("ibcast", "iscatter"),
    "all-to-all": ("iallreduce", "ialltoall", "iallgather"),
}
_COLLECTIVES = tuple(name for names in KINDS.values() for name in names)


def _grids(rest: Grid) -> tuple[Grid, ...]:
    return tuple({"pattern": (kind,), "collective": names, **rest} for kind, names in KINDS.items())


STUDY = Study(
    name="collective-overlap",
    order=301,
    title="Total time of a nonblocking collective and a computation",
    group="ruhela",
    source="Ruhela et al., EuroMPI 2018 (study R1)",
    workload=("microbench", "collective-overlap"),
    calibrate_points=True,
    parameters={
        "pattern": Parameter("kind of collective", str, tuple(KINDS)),
        "collective": Parameter("collective", str, _COLLECTIVES),
        "size_bytes": SIZE,
        "comp_over_comm": Parameter("computation time over the bare communication time", float),
        "work": WORK,
        "test_every": TEST_EVERY,
        "back_to_back": BACK_TO_BACK,
        "computes_for": COMPUTES_FOR,
    },
    scales={
        "test": Scale(
            launches=1,
            grids=({"pattern": ("one-to-all",), "collective": ("ibcast",), "size_bytes": (MIB,),
                    "comp_over_comm": (1.0,)},),
            min_samples=2,
            max_samples=2,
            warmup=1,
            time_box_s=2,
            variants=("bare", "adaptive"),
        ),
        "quick": Scale(
            launches=2,
            grids=_grids({"size_bytes": (4 * MIB,), "comp_over_comm": (1.0,)}),
            min_samples=2,
            max_samples=5,
            warmup=1,
            time_box_s=0.5,
            variants=("bare", "mpi-async", "adaptive"),
            point_s=0.5,
            mpis=("mpich", "openmpi"),  # its claims compare MPIs
        ),
        "paper": Scale(
            launches=6,
            grids=_grids(
                {
                    "size_bytes": (64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB),
                    "comp_over_comm": (0.5, 1.0, 2.0),
                    "test_every": (0, 100),
                }
            ),
            min_samples=10,
            max_samples=50,
            warmup=2,
            time_box_s=10,
            variants=("bare", "mpi-async", "thread", "idle", "adaptive"),
        ),
    },
)  # fmt: skip


@rfm.simple_test
class CollectiveOverlap(WorkloadCheck):
    study = STUDY
