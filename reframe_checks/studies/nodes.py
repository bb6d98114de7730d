# SPDX-License-Identifier: BSD-3-Clause
"""Computation alone on every node, and messages alone between every two of them, all pairs of a round side by side."""

from __future__ import annotations

from reframe_checks.catalogue import Grid, Need, Parameter, Scale, Study, checks
from reframe_checks.studies.shared import MIB, ROUND_TRIPS, SIZE, WORK

# What waits for the network's latency beside the core alone; what waits for its rate beside core and memory. A process
# that shares a CPU has turns of some 4 ms: who computes for less may be through before it loses one.
_UNITS = 30_000
_SHORT: Grid = {"size_bytes": (8,), "work": ("register",), "work_units": (_UNITS,), "round_trips": (50,)}
_LONG: Grid = {"size_bytes": (MIB,), "work": ("memory",), "work_units": (_UNITS,), "round_trips": (1,)}
_FIRST: Grid = {"round": (0,)}


def _scale(launches: int, *grids: Grid) -> Scale:
    return Scale(launches, grids, 3, 3, 1, 1.0, variants=("bare",), point_s=0.2, mpis=("mpich",))


NODE_PAIRS = Study(
    name="node-pairs",
    order=5000,
    of_a_paper=False,
    title="Which node, or link between two nodes, is slower than the others?",
    group="nodes",
    source="No paper's",
    workload=("microbench", "node-pairs"),
    parameters={
        "round": Parameter("of the tournament in which every pair of nodes meets once", int),
        "size_bytes": SIZE,
        "work": WORK,
        "work_units": Parameter("the computation, in units of the fixed work", int),
        "round_trips": ROUND_TRIPS,
    },
    needs=(Need("remote"),),
    scales={"test": _scale(1, _SHORT | _FIRST), "quick": _scale(12, _SHORT | _FIRST, _LONG | _FIRST)},
)

STUDIES = (NODE_PAIRS,)
__getattr__ = checks(__name__, STUDIES)
