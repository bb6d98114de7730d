# SPDX-License-Identifier: BSD-3-Clause
"""Miwa, Nakashima, Naruse, "Interference-aware incoming message detection for MPI threaded progression": studies M1 and
M2. The partner is on the same node, where it can store into the waiting thread's memory, or on another one."""

from __future__ import annotations

from reframe_checks.features import Need
from reframe_checks.study import Grid, Parameter, Study
from reframe_checks.tables.common import DEFENSIBLE, paper, scale

EVERYWHERE = ("spin", "pause", "yield", "sleep")
IN_MEMORY = (*EVERYWHERE, "futex", "mwait-c0", "mwait-c1")
ON_SOCKETS = (*EVERYWHERE, "epoll")
PLACEMENTS = ("same-core", "smt-sibling", "same-l3", "other-socket")

_MWAIT = Need("mwait", {"detection": ("mwait-c0", "mwait-c1")})
_PLACES = (Need("smt", {"placement": ("smt-sibling",)}), Need("two-sockets", {"placement": ("other-socket",)}))


def _study(name: str, title: str, source: str, quantity: str, detections: tuple[str, ...], grids: tuple[str, ...],
           needs: tuple[Need, ...]) -> Study:  # fmt: skip
    """`grids`: the victim's at quick and paper scale."""
    within = detections == IN_MEMORY
    beside = grids[0] != "none"

    def points(grid: str, window_ms: int, found: tuple[str, ...] = detections) -> Grid:
        places: Grid = {"placement": PLACEMENTS} if beside else {}
        return {"detection": found, **places, "grid": (grid,), "window_ms": (window_ms,)}

    return Study(
        name=name,
        title=title,
        group="miwa",
        source=source,
        workload=("interference", "ping-pong"),
        tasks_per_node=2 if within else 1,
        nodes=1 if within else 2,
        own_threads=True,
        shared_memory=within,
        quantity=quantity,
        parameters={
            "detection": Parameter("what the waiting thread does between two looks", str, detections),
            "placement": Parameter("where it sits, seen from the victim", str, PLACEMENTS),
            "grid": Parameter("Himeno's size for the victim", str, ("none", "XS", "S", "M", "L", "XL")),
            "window_ms": Parameter("milliseconds of a repetition", int),
        },
        needs=needs,
        scales={
            "test": scale(
                1, {**points(grids[0], 20, ("spin", "sleep")), "placement": ("same-core",)}, variants=("bare",),
                samples=2,
            ),
            "quick": scale(DEFENSIBLE, points(grids[0], 60), variants=("bare",), samples=3, seconds=0.3),
            "paper": paper(6, points(grids[1], 1000), variants=("bare",), samples=30, seconds=120),
        },
    )  # fmt: skip


INTERFERENCE = _study(
    "interference",
    "Himeno's rate next to a thread that waits for messages of a partner on the same node",
    "Miwa et al., results b (study M1)",
    "mflops",
    IN_MEMORY,
    ("S", "M"),
    (Need("cores>=2"), *_PLACES, _MWAIT, Need("cores>=3", {"placement": ("same-l3", "other-socket")})),
)
INTERFERENCE_NETWORK = _study(
    "interference-network",
    "Himeno's rate next to a thread that waits for messages of a partner on another node",
    "Miwa et al., results b (study M1)",
    "mflops",
    ON_SOCKETS,
    ("S", "M"),
    (Need("remote"), *_PLACES, Need("cores>=2", {"placement": ("same-l3", "other-socket")})),
)
DETECTION_LATENCY = _study(
    "detection-latency",
    "Latency of each way to wait for a message of a partner on the same node",
    "Miwa et al., results a (study M2)",
    "latency_s",
    IN_MEMORY,
    ("none", "none"),
    (Need("cores>=2"), _MWAIT),
)
DETECTION_LATENCY_NETWORK = _study(
    "detection-latency-network",
    "Latency of each way to wait for a message of a partner on another node",
    "Miwa et al., results a (study M2)",
    "latency_s",
    ON_SOCKETS,
    ("none", "none"),
    (Need("remote"),),
)

STUDIES = (INTERFERENCE, INTERFERENCE_NETWORK, DETECTION_LATENCY, DETECTION_LATENCY_NETWORK)
