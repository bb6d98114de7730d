# SPDX-License-Identifier: BSD-3-Clause
"""What studies of several papers share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from reframe_checks.catalogue import Grid, Parameter, Scale

KIB, MIB = 1024, 1024 * 1024
SIZE = Parameter("message size", int)
ROUND_TRIPS = Parameter("round trips a repetition", int)
WORK = Parameter("what the computation is bound by", str, ("register", "memory"))
TEST_EVERY = Parameter("manual progression: MPI_Test after so many units of the computation, 0 never", int)
BACK_TO_BACK = Parameter("so many of the same collective right before the measured one, without a pause", int)
COMPUTES_FOR = Parameter(
    "the work, or as long as each rank's own part of the collective alone takes", str, ("work_units", "own_part")
)
COMPUTE = Parameter("the computation, or a sleep of 1 us a unit in its place", str, ("real", "sleep"))
NPB = {
    "kernel": Parameter("which of the benchmarks", str, ("is", "ep", "cg", "mg", "ft", "lu")),
    "class": Parameter("the problem's size; ep has no class D", str, ("S", "W", "A", "B", "C", "D")),
    "mode": Parameter("as published, or with communication beside computation", str, ("blocking", "overlapped")),
}
IDLE_NATIVE = "idle:waiting=native"  # a waiter that polls by itself: shows what managed waiting costs
DEFENSIBLE = 6  # launches from which on an interval is one (analysis.statistics.interval)


def measured(
    launches: int, *grids: Grid, samples: tuple[int, int], seconds: float, warmup: int = 1, **more: Any
) -> Scale:
    """A scale of these grids. `samples`: how many a point at least and at most; `seconds`: after which it stops
    sampling; `more`: further fields of Scale."""
    return Scale(launches, grids, *samples, warmup, seconds, **more)


def scale(
    launches: int,
    *grids: Grid,
    variants: tuple[str, ...],
    samples: int = 5,
    seconds: float = 0.5,
    more: Mapping[str, int] = MappingProxyType({}),
    point_s: float | None = None,
) -> Scale:
    """A scale whose points are batches of many messages, so that few repetitions are enough; on MPICH alone. A point is
    taken to need all of its `seconds`, unless `point_s` says how many; 0: by its messages."""
    return measured(
        launches,
        *grids,
        samples=(min(3, samples), samples),
        seconds=seconds,
        variants=variants,
        point_s=seconds if point_s is None else point_s,
        mpis=("mpich",),
        more=dict(more),  # ReFrame copies the studies of its checks, which the default above does not bear
    )


def paper(launches: int, *grids: Grid, variants: tuple[str, ...], samples: int, seconds: float) -> Scale:
    """The paper's own parameters, on every MPI."""
    most = (min(10, samples), samples)
    return measured(launches, *grids, samples=most, seconds=seconds, warmup=2, variants=variants, point_s=seconds)
