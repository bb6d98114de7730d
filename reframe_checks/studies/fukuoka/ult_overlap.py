# SPDX-License-Identifier: BSD-3-Clause
"""F2: blocking calls of many threads beside their computation. Fukuoka et al., HPCC 2019."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE, KIB, MIB, SIZE, paper, scale
from reframe_checks.studies.fukuoka.common import BOTH, CORES, MAT_SIZE, ULTS
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="ult-overlap",
    order=402,
    title="Many threads that exchange, compute and exchange by blocking calls",
    group="fukuoka",
    source="Fukuoka et al., HPCC 2019, 'Overlap Benchmark' (study F2)",
    workload=("ult", "overlap"),
    parameters={
        "mat_size": MAT_SIZE,
        "threading": Parameter("kind of thread", str, ("kernel", "ult", "phases")),
        "ults": ULTS,
        "size_bytes": SIZE,
        "cores": CORES,
    },
    scales={
        "test": scale(
            1,
            {"threading": ("ult",), "mat_size": (10, 100), "ults": (20,), "size_bytes": (16 * KIB,)},
            variants=BOTH,
            samples=2,
        ),
        "quick": scale(
            2,
            {
                "threading": ("kernel", "ult", "phases"),
                "mat_size": (100, 500, 2000),
                "ults": (100,),
                "size_bytes": (64 * KIB,),
            },
            variants=BOTH,
            samples=3,
            seconds=1.0,
            more={"offload": DEFENSIBLE},
        ),
        "paper": paper(
            6,
            {
                "threading": ("kernel", "ult", "phases"),
                "mat_size": (100, 1000, 10_000, 30_000),
                "ults": (500,),
                "size_bytes": (MIB,),
            },
            variants=BOTH,
            samples=10,
            seconds=120,
        ),
    },
)


@rfm.simple_test
class UltOverlap(WorkloadCheck):
    study = STUDY
