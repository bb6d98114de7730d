# SPDX-License-Identifier: BSD-3-Clause
"""What the studies on Gemini share."""

from __future__ import annotations

from reframe_checks.studies.common import DEFENSIBLE, SIZE
from reframe_checks.study import Grid, Parameter, Scale

SOURCE = "Strohbeen, Gemini, Sandia 2011"
WORKLOAD = ("minighost", "exchange")
PARAMETERS = {
    "size_bytes": SIZE,
    "posting": Parameter(
        "when the receives are posted", str, ("receives-first", "sends-first", "receives-last")
    ),
    "edge": Parameter("edge of the block that the computation sweeps over", int),
    "comp_over_comm": Parameter("computation time over the bare communication time", float),
    "test_every": Parameter("manual progression: MPI_Testall after so many units of the computation, 0 never", int),
}  # fmt: skip
FIRST = ("receives-first",)
_PAPER_VARIANTS = ("bare", "mpi-async", "thread", "idle", "adaptive")
MB_80 = 80_000_000


def few(*grids: Grid, launches: int = DEFENSIBLE, samples: int = 2, seconds: float = 0.4) -> Scale:
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


def all_variants(*grids: Grid, samples: int = 50, seconds: float = 20) -> Scale:
    return Scale(
        launches=DEFENSIBLE,
        grids=grids,
        min_samples=10,
        max_samples=samples,
        warmup=2,
        time_box_s=seconds,
        variants=_PAPER_VARIANTS,
    )
