# SPDX-License-Identifier: BSD-3-Clause
"""The workloads at points to which no model is fitted: ./bench validate-model predicts them, then measures them.

Each computation is given in seconds, or follows from the problem: what is predicted does not hang on what a
calibration finds on the day of the measurement.
"""

from __future__ import annotations

from dataclasses import dataclass

from reframe_checks.catalogue import Grid, Parameter, Scale, Study, checks
from reframe_checks.studies.shared import COMPUTE, KIB, MIB, SIZE

PREFIX = "validation-"
VARIANTS = ("bare", "mpi-async", "adaptive")
LAUNCHES = 4
COLLECTIVES = ("ireduce", "igather", "ibcast", "iscatter", "iallreduce", "ialltoall", "iallgather")
COMP = Parameter("seconds of computation", float)


@dataclass(frozen=True)
class Workload:
    """A row: a study of this name runs `program` at the points of `grids`. `can_sleep`: its computation can be replaced
    by a sleep, as 4 and 8 ranks on few cores need it."""

    name: str
    program: tuple[str, str]
    grids: tuple[Grid, ...]
    parameters: dict[str, Parameter]
    can_sleep: bool = True


def _message(size: int, seconds: float) -> Grid:
    return {"pattern": ("both",), "size_bytes": (size,), "comp_s": (seconds,)}


def _halo(size: int, seconds: float) -> Grid:
    return {"posting": ("receives-first",), "size_bytes": (size,), "comp_s": (seconds,)}


def _cube(edge: int, **rest: tuple[str | int, ...]) -> Grid:
    return {"nx": (edge,), "ny": (edge,), "nz": (edge,), **rest}


_EDGES = {f"n{axis}": Parameter(f"size along {axis}", int) for axis in "xyz"}

# Computations about as long as the messages take at 1 Gb/s.
WORKLOADS = (
    Workload(
        "overlap",
        ("microbench", "overlap"),
        (_message(256 * KIB, 0.003), _message(2 * MIB, 0.02), _message(8 * MIB, 0.07)),
        {"pattern": Parameter("who computes", str, ("both", "sender", "receiver")), "size_bytes": SIZE, "comp_s": COMP},
    ),
    Workload(
        "collectives",
        ("microbench", "collective-overlap"),
        ({"collective": COLLECTIVES, "size_bytes": (MIB,), "comp_s": (0.02,)},),
        {"collective": Parameter("collective", str, COLLECTIVES), "size_bytes": SIZE, "comp_s": COMP},
    ),
    Workload(
        "halo",
        ("minighost", "exchange"),
        (_halo(512 * KIB, 0.01), _halo(2 * MIB, 0.04)),
        {"posting": Parameter("when", str, ("receives-first", "sends-first")), "size_bytes": SIZE, "comp_s": COMP},
    ),
    Workload(
        "fft",
        ("pencil_fft", "transform"),
        (_cube(64, fields=(4,), mode=("blocking", "pipelined")),),
        _EDGES | {"fields": Parameter("how many", int), "mode": Parameter("how", str, ("blocking", "pipelined"))},
        can_sleep=False,
    ),
    Workload(
        "minife",
        ("minife", "solve"),
        (_cube(40, iterations=(30,), mode=("blocking", "overlapped")),),
        _EDGES | {"iterations": Parameter("at most", int), "mode": Parameter("how", str, ("blocking", "overlapped"))},
        can_sleep=False,
    ),
)


def _study(number: int, row: Workload) -> Study:
    return Study(
        name=PREFIX + row.name,
        order=6000 + number,
        of_a_paper=False,
        title=f"Predicted before it is measured: {' '.join(row.program)}",
        group="validation",
        source="No paper's",
        workload=row.program,
        parameters=row.parameters | ({"compute": COMPUTE} if row.can_sleep else {}),
        scales={
            "test": Scale(1, row.grids[:1], 2, 2, 1, 0.5, variants=("bare", "adaptive"), point_s=0.5, mpis=("mpich",)),
            "quick": Scale(LAUNCHES, row.grids, 2, 3, 1, 0.5, variants=VARIANTS, point_s=0.5),
        },
    )


STUDIES = tuple(_study(number, row) for number, row in enumerate(WORKLOADS))

__getattr__ = checks(__name__, STUDIES)
