# SPDX-License-Identifier: BSD-3-Clause
"""What Miwa's studies share. The partner is on the same node, where it can store into the waiting thread's memory, or
on another one."""

from __future__ import annotations

from reframe_checks.features import Need
from reframe_checks.studies.common import DEFENSIBLE, paper, scale
from reframe_checks.study import Grid, Parameter, Study

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
