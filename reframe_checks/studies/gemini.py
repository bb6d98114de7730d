# SPDX-License-Identifier: BSD-3-Clause
"""Strohbeen, "Overlapping Communication and Computation using Cray's Gemini Interconnect", Sandia 2011: studies G1
to G5. G2, G3 and G4 are a miniGhost stripped to send - inflated computation - receive."""

from __future__ import annotations

from reframe_checks.catalogue import Grid, Need, Parameter, Scale, Study, checks
from reframe_checks.studies.shared import DEFENSIBLE, KIB, MIB, SIZE, measured, paper, scale

SOURCE = "Strohbeen, Gemini, Sandia 2011"
WORKLOAD = ("minighost", "exchange")
EXCHANGES = ("messages", "alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv")
PARAMETERS = {
    "size_bytes": SIZE,
    "posting": Parameter(
        "when the receives are posted", str, ("receives-first", "sends-first", "receives-last")
    ),
    "edge": Parameter("edge of the block that the computation sweeps over", int),
    "comp_over_comm": Parameter("computation time over the bare communication time", float),
    "test_every": Parameter("manual progression: MPI_Testall after so many units of the computation, 0 never", int),
    "exchange": Parameter("messages, or a neighbourhood collective in their place", str, EXCHANGES),
    "topology": Parameter("of the communicator of a neighbourhood collective", str, ("graph", "cartesian")),
}  # fmt: skip
FIRST = ("receives-first",)
_PAPER_VARIANTS = ("bare", "mpi-async", "thread", "idle", "adaptive")
MB_80 = 80_000_000


def few(*grids: Grid, launches: int = DEFENSIBLE, samples: int = 2, seconds: float = 0.4) -> Scale:
    """Bare and adaptive, so many samples a launch and no more; on MPICH alone."""
    return measured(
        launches,
        *grids,
        samples=(1, samples),
        seconds=seconds,
        warmup=1 if samples > 1 else 0,
        variants=("bare", "adaptive"),
        mpis=("mpich",),
    )


def all_variants(*grids: Grid, samples: int = 50, seconds: float = 20) -> Scale:
    return measured(DEFENSIBLE, *grids, samples=(10, samples), seconds=seconds, warmup=2, variants=_PAPER_VARIANTS)


# G1: conjugate gradients with and without overlap, time and packets of each MPI call. Strohbeen, Sandia 2011.
MINIFE_MODES = ("blocking", "overlapped", "pipelined")
WITH_BARRIER = ("blocking", "overlapped")  # the modes whose reductions block


def _grids(edge: int) -> tuple[Grid, ...]:
    """A cube, thrice: as it is; with who comes late waited for before the reductions; with the packets counted, which
    takes time of its own."""
    cube: Grid = {"nx": (edge,), "ny": (edge,), "nz": (edge,)}
    return (
        {**cube, "mode": MINIFE_MODES, "barrier": (False,), "packets": (False,)},
        {**cube, "mode": WITH_BARRIER, "barrier": (True,), "packets": (False,)},
        {**cube, "mode": MINIFE_MODES, "barrier": (False,), "packets": (True,)},
    )


MINIFE_PACKETS = Study(
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
        "mode": Parameter("how halo and sums travel", str, MINIFE_MODES),
        "barrier": Parameter("wait for who comes late before each reduction, not in it", bool),
        "packets": Parameter("count the packets of each call", bool),
    },
    scales={
        "test": measured(1, *_grids(8), samples=(2, 2), seconds=2, variants=("bare", "adaptive")),
        "quick": measured(
            DEFENSIBLE,
            *_grids(32),
            samples=(2, 4),
            seconds=0.4,
            variants=("bare", "adaptive"),
            point_s=0.4,
            mpis=("mpich",),
        ),
        "paper": measured(
            DEFENSIBLE,
            *_grids(64),
            *_grids(128),
            *_grids(200),
            samples=(10, 30),
            seconds=120,
            warmup=2,
            variants=("bare", "mpi-async", "thread", "idle", "adaptive"),
            point_s=120,
        ),
    },
)


# G2: did the halo arrive before anybody waited for it? Strohbeen, Sandia 2011.
EARLY_ARRIVAL = Study(
    name="early-arrival",
    order=501,
    title="Did the halo arrive before MPI_Wait was called?",
    group="gemini",
    source=f"{SOURCE}, slide 'miniGhost Receives Data Values before MPI_Wait is Called' (study G2)",
    workload=WORKLOAD,
    calibrate_points=True,
    parameters=PARAMETERS,
    scales={
        "test": few({"posting": FIRST, "size_bytes": (MIB,), "comp_over_comm": (2.0,)}, launches=1),
        "quick": few(
            {
                "posting": ("receives-first", "sends-first"),
                "size_bytes": (16 * KIB, 256 * KIB, 4 * MIB),
                "comp_over_comm": (2.0,),
            }
        ),
        "paper": all_variants(
            {
                "posting": ("receives-first", "sends-first"),
                "size_bytes": (*(4**k for k in range(12)), 16 * MIB),
                "comp_over_comm": (1.0, 2.0, 4.0),
            }
        ),
    },
)


# G3: is the run time flat as long as the computation is shorter than the communication? Strohbeen, Sandia 2011.
COMPUTATION_INFLATION = Study(
    name="computation-inflation",
    order=502,
    title="Run time against an inflated computation between send and receive",
    group="gemini",
    source=f"{SOURCE}, slides 'miniGhost and Computation Inflation' (study G3)",
    workload=WORKLOAD,
    calibrate_points=True,
    parameters=PARAMETERS,
    scales={
        "test": few({"posting": FIRST, "size_bytes": (MIB,), "comp_over_comm": (0.5, 1.0)}, launches=1),
        "quick": few(
            {"posting": FIRST, "size_bytes": (64 * KIB, MIB), "comp_over_comm": (0.25, 0.5, 1.0, 2.0)},
            {"posting": ("receives-last",), "size_bytes": (MIB,), "comp_over_comm": (0.5, 1.0)},
            {"posting": FIRST, "size_bytes": (4 * MIB,), "comp_over_comm": (1.0,)},
        ),
        "paper": all_variants(
            {
                "posting": ("receives-first", "receives-last"),
                "size_bytes": (KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 32 * MIB),
                "comp_over_comm": (0.125, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0),
            },
            {
                "posting": FIRST,
                "edge": (32, 128),  # 64 is the default, and the one of which the amounts of work are chosen
                "size_bytes": (64 * KIB, 4 * MIB),
                "comp_over_comm": (0.25, 0.5, 1.0, 2.0),
            },
            {"posting": FIRST, "test_every": (100,), "size_bytes": (4 * MIB,), "comp_over_comm": (0.5, 1.0, 2.0)},
        ),
    },
)


# G4: do messages of 80 MB overlap? Strohbeen, Sandia 2011.
LARGE_MESSAGES = Study(
    name="large-messages",
    order=503,
    title="80 MB messages beside a computation as long as they",
    group="gemini",
    source=f"{SOURCE}, slide 'A Similar Experiment Produced Contradictory Results' (study G4)",
    workload=WORKLOAD,
    calibrate_points=True,
    parameters=PARAMETERS,
    scales={
        "test": few(
            {"posting": FIRST, "size_bytes": (MB_80,), "comp_over_comm": (1.0,)}, launches=1, samples=1, seconds=8
        ),
        "quick": few({"posting": FIRST, "size_bytes": (MB_80,), "comp_over_comm": (1.0,)}, samples=1, seconds=4),
        "paper": all_variants(
            {
                "posting": ("receives-first", "receives-last"),
                "size_bytes": (MB_80,),
                "comp_over_comm": (0.25, 0.5, 0.75, 1.0, 1.5, 2.0),
            },
            samples=20,
            seconds=120,
        ),
    },
)


# G5: what would a miniGhost give in which everything is nonblocking? Strohbeen, Sandia 2011, conclusion.
MINIGHOST_MODES = ("blocking", "nonblocking", "direct", "overlapped")


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
        {"mode": MINIGHOST_MODES[:1], "reduction": ("blocking",), **size},
        {"mode": MINIGHOST_MODES[1:], "reduction": ("late",), **size},
    )


MINIGHOST_NONBLOCKING = Study(
    name="minighost-nonblocking",
    order=505,
    title="miniGhost with everything nonblocking: 26 neighbours at once, the interior first, late global sums",
    group="gemini",
    source=f"{SOURCE}, conclusion (study G5)",
    workload=("minighost", "solve"),
    parameters={
        "mode": Parameter("how the halos are exchanged", str, MINIGHOST_MODES),
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

STUDIES = (MINIFE_PACKETS, EARLY_ARRIVAL, COMPUTATION_INFLATION, LARGE_MESSAGES, MINIGHOST_NONBLOCKING)
__getattr__ = checks(__name__, STUDIES)
