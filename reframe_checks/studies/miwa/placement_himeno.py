# SPDX-License-Identifier: BSD-3-Clause
"""M3: the same with Himeno, which leaves nothing to overlap."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import paper, scale
from reframe_checks.studies.miwa.common import (
    PLAN_PAPER,
    PLAN_QUICK,
    PLAN_SOURCE,
    PROGRESS_AXIS,
    PROGRESS_NEEDS,
    PROGRESS_PLACES,
)
from reframe_checks.study import Parameter, Study

STUDY = Study(
    name="placement-himeno",
    order=206,
    title="Himeno with MPI: what progress on the same core, on its sibling, on another one costs it",
    group="miwa",
    source=PLAN_SOURCE,
    workload=("himeno", "solve"),
    needs=PROGRESS_NEEDS,
    parameters=PROGRESS_AXIS
    | {
        "grid": Parameter("the published size", str, ("XS", "S", "M", "L", "XL")),
        "dimensions": Parameter("axes of the grid that may be cut for the ranks", int),
        "iterations": Parameter("iterations a repetition", int),
    },
    scales={
        "test": scale(1, {"placement": ("shared",), "grid": ("XS",)}, variants=("bare", "adaptive"), samples=2),
        "quick": scale(
            3,
            {"placement": PROGRESS_PLACES, "grid": ("M",), "iterations": (10,)},
            variants=PLAN_QUICK,
            samples=3,
            seconds=1.0,
        ),
        "paper": paper(
            6,
            {"placement": PROGRESS_PLACES, "grid": ("M", "L"), "iterations": (100,)},
            variants=PLAN_PAPER,
            samples=20,
            seconds=120,
        ),
    },
)


@rfm.simple_test
class PlacementHimeno(WorkloadCheck):
    study = STUDY
