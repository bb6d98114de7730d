# SPDX-License-Identifier: BSD-3-Clause
"""Beside P7: what does overlap give the NAS Parallel Benchmarks, where the program leaves room for it?"""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE, paper, scale
from reframe_checks.studies.pioman.common import NPB
from reframe_checks.study import Grid, Study

KERNELS = ("is", "cg", "mg", "ft")
MODES = ("blocking", "overlapped")
VARIANTS = ("bare", "adaptive")


def _class(name: str, *kernels: str) -> Grid:
    return {"kernel": kernels, "class": (name,), "mode": MODES}


STUDY = Study(
    name="npb-overlap",
    order=114,
    title="NAS Parallel Benchmarks with communication beside the computation, against the published order",
    group="pioman",
    source="our own, beside Denis, PDP 2015, figure 6",
    workload=("npb", "suite"),
    parameters=NPB,
    scales={
        "test": scale(1, _class("S", "is", "mg"), variants=VARIANTS, samples=1),
        "quick": scale(
            DEFENSIBLE,
            _class("S", "cg"),
            _class("W", "is", "mg", "ft"),
            variants=VARIANTS,
            samples=1,
            seconds=0.3,
        ),
        "paper": paper(
            6,
            _class("A", *KERNELS),
            _class("B", *KERNELS),
            _class("C", *KERNELS),
            variants=("bare", "mpi-async", "thread", "idle", "adaptive"),
            samples=10,
            seconds=120,
        ),
    },
)


@rfm.simple_test
class NpbOverlap(WorkloadCheck):
    study = STUDY
