# SPDX-License-Identifier: BSD-3-Clause
"""Miwa et al., the plan of their last section (study M3): progress on a core of its own, on a hardware thread of the
computation's core, on the same one; with whole applications."""

from __future__ import annotations

from reframe_checks.features import Need
from reframe_checks.study import Parameter, Study
from reframe_checks.tables.common import paper, scale

PLACEMENTS = ("shared", "smt-sibling", "dedicated")
_AXIS = {"placement": Parameter("where the threads run that progress communication", str, PLACEMENTS)}
_NEEDS = (Need("smt", {"placement": ("smt-sibling",)}), Need("cores>=2", {"placement": ("dedicated",)}))
_SOURCE = "Miwa et al., section 4, future plan (study M3)"
_QUICK = ("bare", "thread", "adaptive")
_PAPER = ("bare", "mpi-async", "thread", "idle", "adaptive")

MINIGHOST = Study(
    name="placement",
    title="miniGhost with halos beside the computation: progress on a core of its own, on its sibling, on the same one",
    group="miwa",
    source=_SOURCE,
    workload=("minighost", "solve"),
    quantity="elapsed_s",
    needs=_NEEDS,
    parameters=_AXIS
    | {
        "mode": Parameter("when the halos are exchanged", str, ("blocking", "nonblocking", "overlapped")),
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
                "placement": PLACEMENTS,
                "mode": ("overlapped",),
                "nx": (96,),
                "ny": (96,),
                "nz": (96,),
                "variables": (10,),
                "steps": (5,),
            },
            variants=_QUICK,
            samples=3,
        ),
        "paper": paper(
            6,
            {
                "placement": PLACEMENTS,
                "mode": ("nonblocking", "overlapped"),
                "nx": (256,),
                "ny": (256,),
                "nz": (256,),
                "variables": (40,),
                "steps": (20,),
            },
            variants=_PAPER,
            samples=30,
            seconds=120,
        ),
    },
)

HIMENO = Study(
    name="placement-himeno",
    title="Himeno with MPI: what progress on the same core, on its sibling, on another one costs it",
    group="miwa",
    source=_SOURCE,
    workload=("himeno", "solve"),
    quantity="elapsed_s",
    needs=_NEEDS,
    parameters=_AXIS
    | {
        "grid": Parameter("the published size", str, ("XS", "S", "M", "L", "XL")),
        "dimensions": Parameter("axes of the grid that may be cut for the ranks", int),
        "iterations": Parameter("iterations a repetition", int),
    },
    scales={
        "test": scale(1, {"placement": ("shared",), "grid": ("XS",)}, variants=("bare", "adaptive"), samples=2),
        "quick": scale(
            3, {"placement": PLACEMENTS, "grid": ("M",), "iterations": (10,)}, variants=_QUICK, samples=3, seconds=1.0
        ),
        "paper": paper(
            6,
            {"placement": PLACEMENTS, "grid": ("M", "L"), "iterations": (100,)},
            variants=_PAPER,
            samples=20,
            seconds=120,
        ),
    },
)

STUDIES = (MINIGHOST, HIMENO)
