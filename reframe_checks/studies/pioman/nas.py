# SPDX-License-Identifier: BSD-3-Clause
"""P7: what does the engine cost programs that do not overlap? Denis, PDP 2015, figure 6."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE, paper, scale
from reframe_checks.studies.pioman.common import NPB
from reframe_checks.study import Grid, Study

KERNELS = ("is", "ep", "cg", "mg", "ft", "lu")
VARIANTS = ("bare", "idle", "adaptive")


def _class(name: str, *kernels: str) -> Grid:
    """As published."""
    return {"kernel": kernels, "class": (name,), "mode": ("blocking",)}


STUDY = Study(
    name="nas",
    order=113,
    title="NAS Parallel Benchmarks as they are published, with the engine and without",
    group="pioman",
    source="Denis, PDP 2015, figure 6 (study P7)",
    workload=("npb", "suite"),
    parameters=NPB,
    scales={
        "test": scale(1, _class("S", "is", "mg"), variants=("bare", "adaptive"), samples=1),
        "quick": scale(
            DEFENSIBLE,
            _class("S", "ep", "cg", "lu"),
            _class("W", "is", "mg", "ft"),
            variants=VARIANTS,
            samples=2,
            seconds=0.3,
        ),
        "paper": paper(
            6,
            _class("A", *KERNELS),
            _class("B", *KERNELS),
            _class("C", *KERNELS),
            variants=("bare", "mpi-async", "off", "explicit", "timer", "idle", "adaptive"),
            samples=10,
            seconds=120,
        ),
    },
)


@rfm.simple_test
class Nas(WorkloadCheck):
    study = STUDY
