# SPDX-License-Identifier: BSD-3-Clause
"""Strohbeen, "Overlapping Communication and Computation using Cray's Gemini Interconnect", Sandia 2011: studies G2, G3
and G4, miniGhost stripped to send - inflated computation - receive."""

from __future__ import annotations

from reframe_checks.study import Grid, Parameter, Scale, Study
from reframe_checks.tables.common import DEFENSIBLE, KIB, MIB, SIZE

_SOURCE = "Strohbeen, Gemini, Sandia 2011"
_WORKLOAD = ("minighost", "exchange")
_PARAMETERS = {
    "size_bytes": SIZE,
    "posting": Parameter(
        "when the receives are posted", str, ("receives-first", "sends-first", "receives-last")
    ),
    "edge": Parameter("edge of the block that the computation sweeps over", int),
    "comp_over_comm": Parameter("computation time over the bare communication time", float),
    "test_every": Parameter("manual progression: MPI_Testall after so many units of the computation, 0 never", int),
}  # fmt: skip
_FIRST = ("receives-first",)
_PAPER_VARIANTS = ("bare", "mpi-async", "thread", "idle", "adaptive")
MB_80 = 80_000_000


def _scale(*grids: Grid, launches: int = DEFENSIBLE, samples: int = 2, seconds: float = 0.4) -> Scale:
    """Bare and adaptive, so many samples a launch and no more; on MPICH alone."""
    return Scale(
        launches=launches,
        grids=grids,
        min_samples=1,
        max_samples=samples,
        warmup=1 if samples > 1 else 0,
        time_box_s=seconds,
        variants=("bare", "adaptive"),
        mpis=("mpich",),
    )


def _paper(*grids: Grid, samples: int = 50, seconds: float = 20) -> Scale:
    return Scale(
        launches=DEFENSIBLE,
        grids=grids,
        min_samples=10,
        max_samples=samples,
        warmup=2,
        time_box_s=seconds,
        variants=_PAPER_VARIANTS,
    )


EARLY_ARRIVAL = Study(
    name="early-arrival",
    title="Did the halo arrive before MPI_Wait was called?",
    group="gemini",
    source=f"{_SOURCE}, slide 'miniGhost Receives Data Values before MPI_Wait is Called' (study G2)",
    workload=_WORKLOAD,
    quantity="arrived_early",
    calibrate_points=True,
    parameters=_PARAMETERS,
    scales={
        "test": _scale({"posting": _FIRST, "size_bytes": (MIB,), "comp_over_comm": (2.0,)}, launches=1),
        "quick": _scale(
            {
                "posting": ("receives-first", "sends-first"),
                "size_bytes": (16 * KIB, 256 * KIB, 4 * MIB),
                "comp_over_comm": (2.0,),
            }
        ),
        "paper": _paper(
            {
                "posting": ("receives-first", "sends-first"),
                "size_bytes": (*(4**k for k in range(12)), 16 * MIB),
                "comp_over_comm": (1.0, 2.0, 4.0),
            }
        ),
    },
)

COMPUTATION_INFLATION = Study(
    name="computation-inflation",
    title="Run time against an inflated computation between send and receive",
    group="gemini",
    source=f"{_SOURCE}, slides 'miniGhost and Computation Inflation' (study G3)",
    workload=_WORKLOAD,
    calibrate_points=True,
    parameters=_PARAMETERS,
    scales={
        "test": _scale({"posting": _FIRST, "size_bytes": (MIB,), "comp_over_comm": (0.5, 1.0)}, launches=1),
        "quick": _scale(
            {"posting": _FIRST, "size_bytes": (64 * KIB, MIB), "comp_over_comm": (0.25, 0.5, 1.0, 2.0)},
            {"posting": ("receives-last",), "size_bytes": (MIB,), "comp_over_comm": (0.5, 1.0)},
            {"posting": _FIRST, "size_bytes": (4 * MIB,), "comp_over_comm": (1.0,)},
        ),
        "paper": _paper(
            {
                "posting": ("receives-first", "receives-last"),
                "size_bytes": (KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 32 * MIB),
                "comp_over_comm": (0.125, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0),
            },
            {
                "posting": _FIRST,
                "edge": (32, 128),  # 64 is the default, and the one of which the amounts of work are chosen
                "size_bytes": (64 * KIB, 4 * MIB),
                "comp_over_comm": (0.25, 0.5, 1.0, 2.0),
            },
            {"posting": _FIRST, "test_every": (100,), "size_bytes": (4 * MIB,), "comp_over_comm": (0.5, 1.0, 2.0)},
        ),
    },
)

LARGE_MESSAGES = Study(
    name="large-messages",
    title="80 MB messages beside a computation as long as they",
    group="gemini",
    source=f"{_SOURCE}, slide 'A Similar Experiment Produced Contradictory Results' (study G4)",
    workload=_WORKLOAD,
    calibrate_points=True,
    parameters=_PARAMETERS,
    scales={
        "test": _scale(
            {"posting": _FIRST, "size_bytes": (MB_80,), "comp_over_comm": (1.0,)}, launches=1, samples=1, seconds=8
        ),
        "quick": _scale(
            {"posting": _FIRST, "size_bytes": (MB_80,), "comp_over_comm": (1.0,)},
            samples=1,
            seconds=4,
        ),
        "paper": _paper(
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

STUDIES = (EARLY_ARRIVAL, COMPUTATION_INFLATION, LARGE_MESSAGES)
