# SPDX-License-Identifier: BSD-3-Clause
"""G5: what would a miniGhost give in which everything is nonblocking? Strohbeen, Sandia 2011, conclusion."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE, paper, scale
from reframe_checks.studies.gemini.common import SOURCE
from reframe_checks.study import Grid, Parameter, Study

MODES = ("blocking", "nonblocking", "direct", "overlapped")


def _ways(edge: int, variables: int, steps: int) -> tuple[Grid, Grid]:
    """The way as published, and the others, whose global sums do not block either. All of them bring a block the points
    across its edges and corners, whichever stencil reads them."""
    size: Grid = {
        "stencil": (7, 27),
        "neighbours": (26,),
        "nx": (edge,),
        "ny": (edge,),
        "nz": (edge,),
        "variables": (variables,),
        "steps": (steps,),
    }
    return (
        {"mode": MODES[:1], "reduction": ("blocking",), **size},
        {"mode": MODES[1:], "reduction": ("late",), **size},
    )


STUDY = Study(
    name="minighost-nonblocking",
    order=505,
    title="miniGhost with everything nonblocking: 26 neighbours at once, the interior first, late global sums",
    group="gemini",
    source=f"{SOURCE}, conclusion (study G5)",
    workload=("minighost", "solve"),
    parameters={
        "mode": Parameter("how the halos are exchanged", str, MODES),
        "reduction": Parameter("the global sums after each step", str, ("none", "blocking", "late")),
        "stencil": Parameter("points of the stencil, 7 or 27", int),
        "neighbours": Parameter("whose points a block gets, 6 or 26; 0: as many as the stencil reads", int),
        "nx": Parameter("points of the grid along its first axis", int),
        "ny": Parameter("points along the second", int),
        "nz": Parameter("points along the third", int),
        "variables": Parameter("variables, in one message", int),
        "steps": Parameter("time steps a repetition", int),
        "placement": Parameter("where progress runs", str, ("free", "shared", "smt-sibling", "dedicated")),
    },
    scales={
        "test": scale(1, *_ways(12, 2, 2), variants=("bare", "adaptive"), samples=1),
        "quick": scale(DEFENSIBLE, *_ways(64, 20, 2), variants=("bare", "adaptive"), samples=2, seconds=0.3),
        "paper": paper(
            6,
            *_ways(128, 40, 20),
            *_ways(256, 20, 20),
            variants=("bare", "mpi-async", "thread", "idle", "adaptive"),
            samples=20,
            seconds=300,
        ),
    },
)


@rfm.simple_test
class MinighostNonblocking(WorkloadCheck):
    study = STUDY
