# SPDX-License-Identifier: BSD-3-Clause
"""What does the engine add to the way of a byte between two ranks of one node?"""

from __future__ import annotations

from reframe_checks.catalogue import Grid, Need, Parameter, Scale, Study, checks
from reframe_checks.studies.shared import DEFENSIBLE, ROUND_TRIPS, SIZE

_POINT: Grid = {"size_bytes": (1,), "round_trips": (1000,)}
# A busy thread beside two busy ranks measures the scheduler: `thread` is not among them.
VARIANTS = ("bare-multiple", "off", "explicit", "timer", "idle", "adaptive")

ONE_BYTE_PING_PONG = Study(
    name="one-byte-ping-pong",
    order=3000,
    of_a_paper=False,
    title="What the engine adds to half a round trip of one byte between two ranks of one node",
    group="costs",
    source="No paper's",
    workload=("microbench", "latency"),
    tasks_per_node=2,
    nodes=1,
    shared_memory=True,
    parameters={
        "size_bytes": SIZE,
        "round_trips": ROUND_TRIPS,
        "calls": Parameter("calls that wait or calls that start and wait", str, ("blocking", "nonblocking")),
    },
    needs=(Need("cores>=2"),),
    scales={
        "test": Scale(1, (_POINT,), 2, 2, 1, 0.2, variants=("bare-multiple", "off"), point_s=0.3, mpis=("mpich",)),
        "quick": Scale(DEFENSIBLE, (_POINT,), 15, 15, 2, 5.0, variants=VARIANTS, point_s=0.4),
    },
)

STUDIES = (ONE_BYTE_PING_PONG,)
__getattr__ = checks(__name__, STUDIES)
