# SPDX-License-Identifier: BSD-3-Clause
"""G1: conjugate gradients with and without overlap, time and packets of each MPI call. Strohbeen, Sandia 2011."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.features import Need
from reframe_checks.studies.common import DEFENSIBLE
from reframe_checks.studies.gemini.common import SOURCE
from reframe_checks.study import Grid, Parameter, Scale, Study

MODES = ("blocking", "overlapped", "pipelined")
WITH_BARRIER = ("blocking", "overlapped")  # the modes whose reductions block


def _grids(edge: int) -> tuple[Grid, ...]:
    """A cube, thrice: as it is; with who comes late waited for before the reductions; with the packets counted, which
    takes time of its own."""
    cube: Grid = {"nx": (edge,), "ny": (edge,), "nz": (edge,)}
    return (
        {**cube, "mode": MODES, "barrier": (False,), "packets": (False,)},
        {**cube, "mode": WITH_BARRIER, "barrier": (True,), "packets": (False,)},
        {**cube, "mode": MODES, "barrier": (False,), "packets": (True,)},
    )


STUDY = Study(
    name="minife-packets",
    order=500,
    title="miniFE's conjugate gradients with and without overlap: time and packets of each MPI call",
    group="gemini",
    source=f"{SOURCE}, slides 'miniFE is Negatively Impacted by Trying to Overlap' (study G1)",
    workload=("minife", "solve"),
    needs=(Need("remote", {"packets": (True,)}),),  # within a node an MPI has no connections
    parameters={
        "nx": Parameter("elements along x", int),
        "ny": Parameter("elements along y", int),
        "nz": Parameter("elements along z", int),
        "iterations": Parameter("iterations at most", int),
        "mode": Parameter("how halo and sums travel", str, MODES),
        "barrier": Parameter("wait for who comes late before each reduction, not in it", bool),
        "packets": Parameter("count the packets of each call", bool),
    },
    scales={
        "test": Scale(
            launches=1,
            grids=_grids(8),
            min_samples=2,
            max_samples=2,
            warmup=1,
            time_box_s=2,
            variants=("bare", "adaptive"),
        ),
        "quick": Scale(
            launches=DEFENSIBLE,
            grids=_grids(32),
            min_samples=2,
            max_samples=4,
            warmup=1,
            time_box_s=0.4,
            variants=("bare", "adaptive"),
            point_s=0.4,
            mpis=("mpich",),
        ),
        "paper": Scale(
            launches=DEFENSIBLE,
            grids=(*_grids(64), *_grids(128), *_grids(200)),
            min_samples=10,
            max_samples=30,
            warmup=2,
            time_box_s=120,
            variants=("bare", "mpi-async", "thread", "idle", "adaptive"),
            point_s=120,
        ),
    },
)


@rfm.simple_test
class MinifePackets(WorkloadCheck):
    study = STUDY
