# SPDX-License-Identifier: BSD-3-Clause
"""Miwa, Nakashima, Naruse, "Interference-aware incoming message detection for MPI threaded progression": studies M1
to M3."""

from __future__ import annotations

from reframe_checks.catalogue import Grid, Need, Parameter, Study, checks
from reframe_checks.studies.shared import DEFENSIBLE, paper, scale

EVERYWHERE = ("spin", "pause", "yield", "sleep")
IN_MEMORY = (*EVERYWHERE, "futex", "mwait-c0", "mwait-c1")
ON_SOCKETS = (*EVERYWHERE, "epoll")
PLACEMENTS = ("same-core", "smt-sibling", "same-l3", "other-socket")

MWAIT = Need("mwait", {"detection": ("mwait-c0", "mwait-c1")})
PLACES = (Need("smt", {"placement": ("smt-sibling",)}), Need("two-sockets", {"placement": ("other-socket",)}))


def ping_pong(
    *,
    name: str,
    order: int,
    title: str,
    source: str,
    detections: tuple[str, ...],
    grids: tuple[str, str],
    needs: tuple[Need, ...],
) -> Study:
    """`grids`: the victim's at quick and paper scale."""
    within = detections == IN_MEMORY
    beside = grids[0] != "none"

    def points(grid: str, window_ms: int, found: tuple[str, ...] = detections) -> Grid:
        places: Grid = {"placement": PLACEMENTS} if beside else {}
        return {"detection": found, **places, "grid": (grid,), "window_ms": (window_ms,)}

    return Study(
        name=name,
        order=order,
        title=title,
        group="miwa",
        source=source,
        workload=("interference", "ping-pong"),
        tasks_per_node=2 if within else 1,
        nodes=1 if within else 2,
        own_threads=True,
        shared_memory=within,
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


PROGRESS_PLACES = ("shared", "smt-sibling", "dedicated")
PROGRESS_AXIS = {"placement": Parameter("where the threads run that progress communication", str, PROGRESS_PLACES)}
PROGRESS_NEEDS = (Need("smt", {"placement": ("smt-sibling",)}), Need("cores>=2", {"placement": ("dedicated",)}))
PLAN_SOURCE = "Miwa et al., section 4, future plan (study M3)"
PLAN_QUICK = ("bare", "thread", "adaptive")
PLAN_PAPER = ("bare", "mpi-async", "thread", "idle", "adaptive")


# M1: what does a waiting thread cost a computation next to it? Miwa et al., results b.
INTERFERENCE = ping_pong(
    name="interference",
    order=201,
    title="Himeno's rate next to a thread that waits for messages of a partner on the same node",
    source="Miwa et al., results b (study M1)",
    detections=IN_MEMORY,
    grids=("S", "M"),
    needs=(Need("cores>=2"), *PLACES, MWAIT, Need("cores>=3", {"placement": ("same-l3", "other-socket")})),
)


# M1 with a partner on another node. Miwa et al., results b.
INTERFERENCE_NETWORK = ping_pong(
    name="interference-network",
    order=202,
    title="Himeno's rate next to a thread that waits for messages of a partner on another node",
    source="Miwa et al., results b (study M1)",
    detections=ON_SOCKETS,
    grids=("S", "M"),
    needs=(Need("remote"), *PLACES, Need("cores>=2", {"placement": ("same-l3", "other-socket")})),
)


# M2: what does each way of waiting add to the latency? Miwa et al., results a.
DETECTION_LATENCY = ping_pong(
    name="detection-latency",
    order=203,
    title="Latency of each way to wait for a message of a partner on the same node",
    source="Miwa et al., results a (study M2)",
    detections=IN_MEMORY,
    grids=("none", "none"),
    needs=(Need("cores>=2"), MWAIT),
)


# M2 with a partner on another node. Miwa et al., results a.
DETECTION_LATENCY_NETWORK = ping_pong(
    name="detection-latency-network",
    order=204,
    title="Latency of each way to wait for a message of a partner on another node",
    source="Miwa et al., results a (study M2)",
    detections=ON_SOCKETS,
    grids=("none", "none"),
    needs=(Need("remote"),),
)


# M3: applications with progress on a core of its own, on a sibling, on the same one. Miwa et al., future plan.
PLACEMENT = Study(
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


# M3: the same with Himeno, which leaves nothing to overlap.
PLACEMENT_HIMENO = Study(
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

STUDIES = (
    INTERFERENCE,
    INTERFERENCE_NETWORK,
    DETECTION_LATENCY,
    DETECTION_LATENCY_NETWORK,
    PLACEMENT,
    PLACEMENT_HIMENO,
)
__getattr__ = checks(__name__, STUDIES)
