# SPDX-License-Identifier: BSD-3-Clause
"""M3: applications with progress on a core of its own, on a sibling, on the same one. Miwa et al., future plan."""

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
    name="placement",
    order=205,
    title="miniGhost with halos beside the computation: progress on a core of its own, on its sibling, on the same one",
    group="miwa",
    source=PLAN_SOURCE,
    workload=("minighost", "solve"),
    needs=PROGRESS_NEEDS,
    parameters=PROGRESS_AXIS
    | {
        "mode": Parameter("how the halos are exchanged", str, ("blocking", "nonblocking", "direct", "overlapped")),
        "reduction": Parameter("global sums after each step", str, ("none", "blocking", "late")),
        "neighbours": Parameter("whose points a block gets, 6 or 26; 0: as many as the stencil reads", int),
        "stencil": Parameter("points of the stencil, 7 or 27", int),
        "nx": Parameter("points of the grid along its first axis", int),
        "ny": Parameter("points along the second", int),
        "nz": Parameter("points along the third", int),
        "variables": Parameter("variables, in one message", int),
        "steps": Parameter("time steps a repetition", int),
    },
    scales={
        "test": scale(1, {"placement": ("shared",), "mode": ("overlapped",)}, variants=("bare", "adaptive"), samples=2),
        "quick": scale(
            3,
            {
                "placement": PROGRESS_PLACES,
                "mode": ("overlapped",),
                "nx": (96,),
                "ny": (96,),
                "nz": (96,),
                "variables": (10,),
                "steps": (5,),
            },
            variants=PLAN_QUICK,
            samples=3,
        ),
        "paper": paper(
            6,
            {
                "placement": PROGRESS_PLACES,
                "mode": ("direct", "overlapped"),
                "nx": (256,),
                "ny": (256,),
                "nz": (256,),
                "variables": (40,),
                "steps": (20,),
            },
            variants=PLAN_PAPER,
            samples=30,
            seconds=120,
        ),
    },
)


@rfm.simple_test
class Placement(WorkloadCheck):
    study = STUDY
