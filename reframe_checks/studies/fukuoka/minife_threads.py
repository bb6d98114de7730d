# SPDX-License-Identifier: BSD-3-Clause
"""F4: miniFE with a blocking thread for each neighbour. Fukuoka et al., HPCC 2019."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE
from reframe_checks.studies.fukuoka.common import CORES
from reframe_checks.study import Grid, Parameter, Scale, Study

THREADING = ("kernel", "ult")


def _cube(edge: int) -> Grid:
    return {"nx": (edge,), "ny": (edge,), "nz": (edge,), "threading": THREADING}


STUDY = Study(
    name="minife-threads",
    order=404,
    title="miniFE, a thread for each neighbour that makes blocking calls",
    group="fukuoka",
    source="Fukuoka et al., HPCC 2019, 'Application Benchmark' (study F4)",
    workload=("minife_threads", "solve"),
    parameters={
        "nx": Parameter("elements along x", int),
        "ny": Parameter("elements along y", int),
        "nz": Parameter("elements along z", int),
        "iterations": Parameter("iterations at most", int),
        "threading": Parameter("kind of thread", str, THREADING),
        "cores": CORES,
    },
    scales={
        "test": Scale(
            launches=1,
            grids=(_cube(8),),
            min_samples=2,
            max_samples=2,
            warmup=1,
            time_box_s=2,
            variants=("bare-multiple", "offload"),
        ),
        "quick": Scale(
            launches=DEFENSIBLE,
            grids=(_cube(24),),
            min_samples=2,
            max_samples=4,
            warmup=1,
            time_box_s=0.5,
            variants=("bare", "bare-multiple", "mpi-async", "offload"),
            point_s=0.5,
            mpis=("mpich", "openmpi"),  # a claim compares MPIs
        ),
        "paper": Scale(
            launches=DEFENSIBLE,
            grids=(_cube(64), _cube(128), _cube(200)),
            min_samples=10,
            max_samples=30,
            warmup=2,
            time_box_s=120,
            variants=("bare", "bare-multiple", "mpi-async", "offload"),
            point_s=120,
        ),
    },
)


@rfm.simple_test
class MinifeThreads(WorkloadCheck):
    study = STUDY
