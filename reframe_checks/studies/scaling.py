# SPDX-License-Identifier: BSD-3-Clause
"""Communication patterns over the number of ranks, and the engine's settings at some of these numbers.

For the system `simulated`. The work of a rank is given in seconds, or follows from the problem: from one number of
ranks to the next nothing else changes. The seconds are about what the messages take on the virtual cluster's network;
on another model --set comp_s= says what is meant.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reframe_checks.catalogue import Grid, Parameter, Scale, Study, checks
from reframe_checks.studies.shared import MIB, SIZE

COMP = Parameter("seconds of computation", float)
COLLECTIVES = ("ireduce", "igather", "ibcast", "iscatter", "iallreduce", "ialltoall", "iallgather")
MODES = ("blocking", "pipelined")
POSTING = ("receives-first", "sends-first", "receives-last")


@dataclass(frozen=True)
class Workload:
    """What runs, at one amount of work a rank (weak), or at one whole problem (strong)."""

    title: str
    program: tuple[str, str]
    grid: Grid
    parameters: dict[str, Parameter]


@dataclass(frozen=True)
class Row:
    """A study of this name. `settings`: those of the engine that are swept, one at a time, beside the defaults."""

    name: str
    group: str
    workload: Workload
    variants: tuple[str, ...]
    settings: Grid = field(default_factory=dict)


OVERLAP = Workload(
    "a message of 4 MiB from each rank of one half to one of the other (weak)",
    ("microbench", "overlap"),
    {"pattern": ("both",), "size_bytes": (4 * MIB,), "comp_s": (0.034,)},
    {"pattern": Parameter("who computes", str, ("both", "sender", "receiver")), "size_bytes": SIZE, "comp_s": COMP},
)
HALO = Workload(
    "halos of 1 MiB to up to six neighbours (weak)",
    ("minighost", "exchange"),
    {"posting": ("receives-first",), "size_bytes": (MIB,), "comp_s": (0.056,)},
    {"posting": Parameter("when receives are posted", str, POSTING), "size_bytes": SIZE, "comp_s": COMP},
)
GRID = Workload(
    "halos of one grid cut into more and more parts, the point that of 64 of them (strong)",
    HALO.program,
    HALO.grid,
    HALO.parameters,
)
SUM = Workload(
    "Iallreduce of 4 MiB (weak)",
    ("microbench", "collective-overlap"),
    {"collective": ("iallreduce",), "size_bytes": (4 * MIB,), "comp_s": (0.08,)},
    {"collective": Parameter("collective", str, COLLECTIVES), "size_bytes": SIZE, "comp_s": COMP},
)
FFT = Workload(
    "FFT of four fields of 256 points cubed (strong)",
    ("pencil_fft", "transform"),
    {"nx": (256,), "ny": (256,), "nz": (256,), "fields": (4,), "mode": MODES},
    {f"n{axis}": Parameter(f"points along {axis}", int) for axis in "xyz"}
    | {"fields": Parameter("how many fields", int), "mode": Parameter("how transposes travel", str, MODES)},
)

ENGINE = ("bare", "adaptive")
# A quarter and four times what progress_engine/src/policy/settings.cpp has.
TIMER: Grid = {"timer_us": (100, 500, 8000)}
ADAPTIVE: Grid = {
    "min_distance_us": (25, 400),
    "start_distance_us": (125, 2000),
    "max_distance_us": (1000, 16000),
    "timer_us": (500, 8000),
    "rest_us": (2500, 40000),
}
ROWS = (
    Row("scaling-overlap", "scaling", OVERLAP, ENGINE),
    Row("scaling-halo", "scaling", HALO, ENGINE),
    Row("scaling-iallreduce", "scaling", SUM, ENGINE),
    Row("scaling-grid", "scaling", GRID, ENGINE),
    Row("scaling-fft", "scaling", FFT, ENGINE),
    Row("wakes-timer-halo", "wakes", HALO, ("bare", "timer"), TIMER),
    Row("wakes-timer-iallreduce", "wakes", SUM, ("bare", "timer"), TIMER),
    Row("wakes-adaptive-halo", "wakes", HALO, ENGINE, ADAPTIVE),
    Row("wakes-adaptive-iallreduce", "wakes", SUM, ENGINE, ADAPTIVE),
)


def _grids(row: Row) -> tuple[Grid, ...]:
    """The point as it is, and with each setting alone."""
    swept = tuple(row.workload.grid | {name: values} for name, values in row.settings.items())
    return (row.workload.grid, *swept)


def _axes(settings: Grid) -> dict[str, Parameter]:
    return {name: Parameter(f"the engine's {name}", int, engine=name) for name in settings}


def _study(number: int, row: Row) -> Study:
    grids = _grids(row)
    return Study(
        name=row.name,
        order=6100 + number,
        of_a_paper=False,
        title=f"Over the number of ranks{', by setting' if row.settings else ''}: {row.workload.title}",
        group=row.group,
        source="No paper's",
        workload=row.workload.program,
        parameters=row.workload.parameters | _axes(row.settings),
        scales={
            "test": Scale(1, grids[:1], 2, 2, 1, 0.5, variants=row.variants, point_s=0.5, mpis=("mpich",)),
            "quick": Scale(1, grids, 2, 3, 1, 0.5, variants=row.variants, point_s=0.5, mpis=("mpich",)),
        },
    )


def part_of_grid(ranks: int) -> dict[str, str]:
    """The settings of scaling-grid: computations as the volume of a part, halos as its surface; a part of 64 has 1 MiB
    and computes for 56 ms, which is as long as its halos take on the virtual cluster's network."""
    share = 64 / ranks
    return {"size_bytes": f"{round(MIB * share ** (2 / 3))}", "comp_s": f"{0.056 * share:.6g}"}


OF_RANKS = {"scaling-grid": part_of_grid}  # whose point is another one at each number of ranks

STUDIES = tuple(_study(number, row) for number, row in enumerate(ROWS))

__getattr__ = checks(__name__, STUDIES)
