# SPDX-License-Identifier: BSD-3-Clause
"""Do other tools see what ours see? Our latency and collectives beside IMB's and OSU's, and what communication and
computation lose beside each other as IMB-ASYNC tells it, in one session.

Ours and theirs are measured one after the other on the same nodes at the same sizes. A tool that is not found is
skipped, and says how to get it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.codes.benchmarks import ASYNC_SIZES, SIZES
from harness.codes.known import CASES
from reframe_checks.catalogue import Grid, Parameter, Scale, Study, checks
from reframe_checks.studies.gemini import PARAMETERS, WORKLOAD
from reframe_checks.studies.pioman import OVERLAP_RATIO
from reframe_checks.studies.shared import BACK_TO_BACK, COMPUTES_FOR, DEFENSIBLE, ROUND_TRIPS, SIZE

GROUP = "cross-check"
VARIANTS = ("bare", "mpi-async")  # a progress thread of the MPI's own is where the tools disagree
# IMB-ASYNC refuses a thread level above the one that it asks for, as MPICH's own progress thread brings it.
OF_ASYNC = ("bare", "adaptive", "offload")
COLLECTIVES = ("ibcast", "ireduce", "iallreduce", "ialltoall", "igather", "iscatter", "iallgather")
THEIRS = (
    "imb-point-to-point", "imb-nonblocking-collectives", "imb-async", "osu-latency", "osu-bw",
    *(f"osu-{name}" for name in COLLECTIVES),
)  # fmt: skip
# Ours as in all our studies, and as theirs are: these follow one another, and find a shaped network's bucket empty
# (after so many without a pause ours do, too), and a rank computes as long as its own part of the collective takes.
USUAL_AND_AS_THEIRS: tuple[Grid, ...] = (
    {"back_to_back": (0,), "computes_for": ("work_units",)},
    {"back_to_back": (4,), "computes_for": ("own_part",)},
)
# What IMB-ASYNC computes beside its messages is longer than they are: so do ours, and all is hidden that can be.
LONG: Grid = {"size_bytes": ASYNC_SIZES[::-1], "comp_over_comm": (2.0,)}
TIMEOUT_S = 300.0
ORDER = 4200


def _scales(
    grids: tuple[Grid, ...], samples: int, seconds: float, timeout_s: float = 0.0, variants: tuple[str, ...] = VARIANTS
) -> dict[str, Scale]:
    return {
        name: Scale(launches, grids, min(3, samples), samples, 1, seconds, variants=variants, timeout_s=timeout_s,
                    point_s=seconds)
        for name, launches in (("test", 1), ("quick", DEFENSIBLE))
    }  # fmt: skip


COLLECTIVE = Parameter("collective", str, COLLECTIVES)
RATIO = Parameter("computation time over the bare communication time", float)


def _study(number: int, name: str, title: str, **more: Any) -> Study:
    return Study(
        name=f"{GROUP}-{name}", order=ORDER + number, of_a_paper=False, title=f"Cross-check: {title}", group=GROUP,
        source="No paper's", **more,
    )  # fmt: skip


_OURS = (
    _study(
        0,
        "latency",
        "our latency",
        workload=("microbench", "latency"),
        parameters={"size_bytes": SIZE, "round_trips": ROUND_TRIPS},
        scales=_scales(({"size_bytes": SIZES, "round_trips": (20,)},), 5, 1.0),
    ),
    _study(
        1,
        "collectives",
        "our collectives beside a computation",
        workload=("microbench", "collective-overlap"),
        calibrate_points=True,
        parameters={
            "collective": COLLECTIVE,
            "size_bytes": SIZE,
            "comp_over_comm": RATIO,
            "back_to_back": BACK_TO_BACK,
            "computes_for": COMPUTES_FOR,
        },
        scales=_scales(
            tuple(
                {"collective": COLLECTIVES, "size_bytes": SIZES, "comp_over_comm": (1.0,), **how}
                for how in USUAL_AND_AS_THEIRS
            ),
            20,
            1.0,
        ),
    ),
)


def _overheads(
    number: int, name: str, what: str, workload: tuple[str, ...], parameters: Mapping[str, Parameter], **fixed: str
) -> Study:
    """Ours of what IMB-ASYNC calls `name`."""
    grid: Grid = {**{axis: (value,) for axis, value in fixed.items()}, **LONG}
    return _study(
        number,
        f"beside-{name}",
        f"our {what} beside a computation",
        workload=workload,
        calibrate_points=True,
        parameters=parameters,
        scales=_scales((grid,), 20, 1.0, variants=OF_ASYNC),
    )


_OURS_BESIDE = (
    _overheads(2, "pt2pt", "message", OVERLAP_RATIO.workload, OVERLAP_RATIO.parameters, pattern="both"),
    _overheads(3, "na2a", "exchange of neighbours", WORKLOAD, PARAMETERS, exchange="alltoall", topology="graph"),
    _overheads(4, "allreduce", "reduction", ("microbench", "collective-overlap"),
            {"collective": COLLECTIVE, "size_bytes": SIZE, "comp_over_comm": RATIO}, collective="iallreduce"),
)  # fmt: skip


def _theirs(number: int, name: str) -> Study:
    case = CASES[name][1]
    variants = OF_ASYNC if name == "imb-async" else VARIANTS
    return _study(
        number,
        name,
        case.title,
        workload=(),
        case=name,
        scales=_scales((dict(case.points),), 1, 0.0, TIMEOUT_S, variants),
    )


STUDIES = (*_OURS, *_OURS_BESIDE, *(_theirs(number, name) for number, name in enumerate(THEIRS, 10)))

__getattr__ = checks(__name__, STUDIES)
