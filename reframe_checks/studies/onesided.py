# SPDX-License-Identifier: BSD-3-Clause
"""What else has to progress, of no paper: operations on windows, neighbourhood collectives, partitioned messages; and
what moves within a node."""

from __future__ import annotations

from dataclasses import replace

from reframe_checks.catalogue import Grid, Need, Parameter, Scale, Study, Value, checks
from reframe_checks.studies.gemini import EXCHANGES, PARAMETERS, WORKLOAD
from reframe_checks.studies.pioman import OVERLAP_RATIO
from reframe_checks.studies.ruhela import COLLECTIVE_OVERLAP
from reframe_checks.studies.shared import COMPUTE, DEFENSIBLE, KIB, MIB, SIZE, WORK

WORD = 8
VARIANTS = ("bare", "mpi-async", "adaptive", "offload", "limit")
DECIDING = dict.fromkeys(("bare", "adaptive", "limit"), DEFENSIBLE)
OF_A_WORD = ("get", "put", "accumulate", "fetch-and-op", "compare-and-swap", "rget", "rput")
OVERLAPPING = ("bare", "mpi-async", "adaptive", "offload")
HALOS = (64 * KIB, 256 * KIB, MIB, 4 * MIB)
IN_MPI: Grid = {"target": ("in-mpi",)}


def _rma(operations: tuple[str, ...], size: int, count: int, longer: float, **more: tuple[Value, ...]) -> Grid:
    """`count` operations a repetition, beside a computation so much longer than they take on a target inside MPI."""
    point: Grid = {
        "operation": operations,
        "synchronisation": ("flush",),
        "size_bytes": (size,),
        "operations": (count,),
        "comp_over_comm": (longer,),
        "compute": ("real",),
    }
    return point | more


RMA_PROGRESS = Study(
    name="rma-progress",
    order=4500,
    of_a_paper=False,
    title="How long does an operation on a window wait for a target that computes?",
    group="onesided",
    source="No paper's",
    workload=("microbench", "rma-progress"),
    calibrate_points=True,
    parameters={
        "operation": Parameter("what the origin does to the target's window", str, OF_A_WORD),
        "synchronisation": Parameter("of each operation, or an epoch", str, ("flush", "lock", "pscw", "fence")),
        "size_bytes": SIZE,
        "operations": Parameter("operations a repetition", int),
        "window": Parameter("whose memory it is", str, ("allocated", "created")),
        "target": Parameter("what it does meanwhile; variant limit: in-mpi", str, ("computes", "in-mpi")),
        "comp_over_comm": Parameter("the target's computation over the operations on a target inside MPI", float),
        "work": WORK,
        "compute": COMPUTE,
    },
    scales={
        "test": Scale(1, (_rma(("get",), WORD, 20, 2.0),), 2, 2, 1, 0.5, variants=("bare", "limit"), point_s=0.5,
                      mpis=("mpich",), limit=IN_MPI),
        "quick": Scale(
            1,
            (
                _rma(OF_A_WORD, WORD, 100, 8.0),
                _rma(("get",), WORD, 100, 8.0, synchronisation=("lock",)),
                _rma(("get",), WORD, 100, 8.0, compute=("sleep",)),
                _rma(("put",), 64 * KIB, 20, 2.0, synchronisation=("flush", "pscw", "fence")),
                _rma(("get", "put", "accumulate"), MIB, 4, 1.0),
            ),
            3, 20, 1, 0.5, variants=VARIANTS, point_s=0.6, mpis=("mpich",), more=DECIDING, limit=IN_MPI,
        ),
        "paper": Scale(
            DEFENSIBLE,
            (
                _rma(OF_A_WORD, WORD, 300, 8.0, synchronisation=("flush", "lock")),
                _rma(OF_A_WORD[:5], WORD, 300, 8.0, synchronisation=("pscw", "fence"), window=("created",)),
                _rma(OF_A_WORD[:5], WORD, 300, 8.0, compute=("sleep",)),
                *(
                    _rma(OF_A_WORD[:3], size, count, 2.0, synchronisation=("flush", "lock", "pscw", "fence"))
                    for size, count in ((KIB, 200), (64 * KIB, 50), (MIB, 8), (4 * MIB, 2))
                ),
            ),
            10, 100, 2, 20.0, variants=VARIANTS, point_s=20.0, limit=IN_MPI,
        ),
    },
)  # fmt: skip


def _of_scale(*grids: Grid, launches: int, samples: int, seconds: float, mpis: tuple[str, ...] = ()) -> Scale:
    least = min(3, samples)
    return Scale(launches, grids, least, samples, 1, seconds, variants=OVERLAPPING, point_s=seconds, mpis=mpis)


def _halo(exchanges: tuple[str, ...], *sizes: int, **more: tuple[Value, ...]) -> Grid:
    point: Grid = {"exchange": exchanges, "size_bytes": sizes, "comp_over_comm": (1.0,)}
    return point | more


NEIGHBOUR_OVERLAP = Study(
    name="neighbour-overlap",
    order=4501,
    of_a_paper=False,
    title="Do halos that travel by neighbourhood collectives move beside a computation, as messages do?",
    group="onesided",
    source="No paper's",
    workload=WORKLOAD,
    calibrate_points=True,
    same_work={"exchange": "messages", "topology": "graph"},
    parameters=PARAMETERS,
    scales={
        "test": _of_scale(_halo(("messages", "alltoallv"), MIB), launches=1, samples=2, seconds=0.4, mpis=("mpich",)),
        "quick": _of_scale(
            _halo(EXCHANGES, MIB, 4 * MIB),
            _halo(("alltoallw",), MIB, topology=("cartesian",)),
            launches=DEFENSIBLE, samples=5, seconds=0.4, mpis=("mpich",),
        ),
        "paper": _of_scale(
            _halo(("messages",), *HALOS, topology=("graph",)),
            _halo(EXCHANGES[1:], *HALOS, topology=("graph", "cartesian")),
            launches=DEFENSIBLE, samples=50, seconds=20,
        ),
    },
)  # fmt: skip


MODES = ("partitioned", "pieces", "whole")


def _parts(number: tuple[int, ...], *sizes: int, pattern: str = "sender") -> Grid:
    point: Grid = {"mode": MODES, "partitions": number, "size_bytes": sizes, "comp_over_comm": (1.0,)}
    return point | {"pattern": (pattern,)}


PARTITIONED_OVERLAP = Study(
    name="partitioned-overlap",
    order=4502,
    of_a_paper=False,
    title="Does a message whose parts are computed one after the other travel while the rest is computed?",
    group="onesided",
    source="No paper's",
    workload=("microbench", "partitioned-overlap"),
    calibrate_points=True,
    same_work={"mode": "whole"},
    parameters={
        "mode": Parameter("a partitioned message, a message a part, or one of all at the end", str, MODES),
        "partitions": Parameter("parts, computed one after the other", int),
        "size_bytes": SIZE,
        "pattern": Parameter("who computes", str, ("sender", "both")),
        "comp_over_comm": Parameter("computation time over the bare communication time", float),
        "work": WORK,
        "compute": COMPUTE,
    },
    scales={
        "test": _of_scale(_parts((4,), MIB), launches=1, samples=2, seconds=0.4, mpis=("mpich",)),
        "quick": _of_scale(_parts((8,), MIB, 4 * MIB), _parts((8,), 4 * MIB, pattern="both"), launches=DEFENSIBLE,
                         samples=5, seconds=0.4, mpis=("mpich",)),
        "paper": _of_scale(
            *(_parts((2, 8, 32), 64 * KIB, MIB, 4 * MIB, 32 * MIB, pattern=pattern) for pattern in ("sender", "both")),
            launches=DEFENSIBLE, samples=50, seconds=20,
        ),
    },
)  # fmt: skip


# Both sides of a message, or all ranks of a sum, on one node that has a core for each rank; some have more.
SPARE = "adaptive:placement=spare"
ON_NODE: tuple[tuple[str, str, int, Study, Grid], ...] = (
    ("messages", "Do messages within a node move while their owners compute?", 2, OVERLAP_RATIO,
     {"pattern": ("both", "sender", "receiver"), "size_bytes": (4 * MIB, MIB, 64 * KIB)}),
    ("sums", "Do sums of the ranks of a node progress while these compute?", 2, COLLECTIVE_OVERLAP,
     {"collective": ("ireduce", "iallreduce"), "size_bytes": (64 * KIB, 4 * MIB)}),
    ("sums-of-8", "Do sums of eight ranks of a node progress while these compute?", 8, COLLECTIVE_OVERLAP,
     {"collective": ("ireduce", "iallreduce"), "size_bytes": (64 * KIB, 4 * MIB)}),
)  # fmt: skip


def _on_node(number: int, name: str, title: str, ranks: int, of: Study, points: Grid) -> Study:
    grid: Grid = {**points, "comp_over_comm": (1.0,)}
    first = {axis: values[:1] for axis, values in grid.items()}
    variants = (*OVERLAPPING, SPARE)
    return replace(
        of,
        name=f"on-node-{name}",
        order=4510 + number,
        of_a_paper=False,
        title=title,
        group="onesided",
        source="No paper's",
        tasks_per_node=ranks,
        nodes=1,
        shared_memory=True,
        needs=(Need(f"cores>={ranks}"),),
        scales={
            "test": Scale(1, (first,), 2, 2, 1, 0.4, variants=("bare", "adaptive"), point_s=0.4, mpis=("mpich",)),
            "quick": Scale(DEFENSIBLE, (grid,), 3, 5, 1, 0.4, variants=variants, point_s=0.4, mpis=("mpich",)),
            "paper": Scale(DEFENSIBLE, (grid,), 10, 50, 2, 20.0, variants=variants, point_s=20.0),
        },
    )


STUDIES = (
    RMA_PROGRESS,
    NEIGHBOUR_OVERLAP,
    PARTITIONED_OVERLAP,
    *(_on_node(number, *row) for number, row in enumerate(ON_NODE)),
)
__getattr__ = checks(__name__, STUDIES)
