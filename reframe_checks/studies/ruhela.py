# SPDX-License-Identifier: BSD-3-Clause
"""Ruhela et al., "Efficient Asynchronous Communication Progress for MPI without Dedicated Resources", EuroMPI 2018:
studies R1 to R4."""

from __future__ import annotations

from harness.codes.code import Case
from harness.codes.known import CASES, CODES
from harness.codes.spec_mpi2007 import SIZES
from reframe_checks.catalogue import Grid, Parameter, Scale, Study, checks
from reframe_checks.studies.shared import (
    BACK_TO_BACK,
    COMPUTES_FOR,
    DEFENSIBLE,
    KIB,
    MIB,
    SIZE,
    TEST_EVERY,
    WORK,
    measured,
    paper,
    scale,
)

# R4: do the codes of SPEC MPI2007 run faster? Ruhela et al., EuroMPI 2018. A study for each open counterpart of the
# suite's codes, and one for each part of the suite itself, where a licensed copy is. What is not found is skipped,
# and says how to get it. What has no counterpart stands with the claim, in analysis.
SOURCE = "Ruhela et al., EuroMPI 2018 (study R4)"
VARIANTS = ("bare", "mpi-async", "thread", "timer", "idle", "adaptive", "offload")
MPIS = ("debian-openmpi",)  # what the distribution's applications are linked to; a site's own MPIs are all taken
OPEN = {  # case -> the codes of SPEC's that it stands for
    "lammps-melt": "126.lammps",
    "dolfinx-poisson-cg": "128.GAPgeofem",
    "openfoam-cavity": "107.leslie3d and 115.fds4",
    "meep-waveguide": "113.GemsFDTD",
    "quantum-espresso-silicon": "130.socorro",
    "npb-original-lu": "137.lu",
}
TIMEOUT_S, TIMEOUT_OF_SUITE_S = 300.0, 7200.0  # of a launch


def _scale(case: Case, launches: int, variants: tuple[str, ...], size: str, timeout_s: float) -> Scale:
    grid = dict(case.points) | ({"size": (size,)} if "size" in case.points else {})
    return Scale(launches, (grid,), 1, 1, 0, 0.0, variants=variants, timeout_s=timeout_s, mpis=MPIS)


def _study(name: str, number: int, case: Case, title: str, timeout_s: float) -> Study:
    part = case.name.rpartition("-")[2][0]
    sized = {"size": Parameter("how large", str, SIZES)} if "size" in case.points else {}
    codes = tuple(str(code) for code in case.points.get("benchmark", ()))
    chosen = {"benchmark": Parameter("which of the suite's codes", str, codes)} if sized else {}
    return Study(
        name=name,
        order=350 + number,
        title=title,
        group="ruhela",
        source=SOURCE,
        workload=(),
        own_threads=True,
        case=case.name,
        parameters=sized | chosen,
        scales={
            "test": _scale(case, 1, ("bare", "adaptive"), f"{part}test", timeout_s),
            "quick": _scale(case, DEFENSIBLE, ("bare", "adaptive"), f"{part}test", timeout_s),
            "paper": _scale(case, DEFENSIBLE, VARIANTS, f"{part}ref", 10 * timeout_s),
        },
    )


_OPEN = tuple(
    _study(f"spec-{name}", number, CASES[name][1], f"In place of {theirs}: {CASES[name][1].title}", TIMEOUT_S)
    for number, (name, theirs) in enumerate(OPEN.items())
)
_SUITE = tuple(
    _study(case.name, len(_OPEN) + number, case, case.title, TIMEOUT_OF_SUITE_S)
    for number, case in enumerate(next(code for code in CODES if code.name == "spec-mpi2007").cases)
)
SPEC = (*_OPEN, *_SUITE)


# R1: do nonblocking collectives progress while their ranks compute? Ruhela et al., EuroMPI 2018.
# `pattern` names the paper's three kinds; the workload itself needs only the collective
KINDS = {
    "all-to-one": ("ireduce", "igather"),
    "one-to-all": ("ibcast", "iscatter"),
    "all-to-all": ("iallreduce", "ialltoall", "iallgather"),
}
_COLLECTIVES = tuple(name for names in KINDS.values() for name in names)


def _grids(rest: Grid) -> tuple[Grid, ...]:
    return tuple({"pattern": (kind,), "collective": names, **rest} for kind, names in KINDS.items())


COLLECTIVE_OVERLAP = Study(
    name="collective-overlap",
    order=301,
    title="Total time of a nonblocking collective and a computation",
    group="ruhela",
    source="Ruhela et al., EuroMPI 2018 (study R1)",
    workload=("microbench", "collective-overlap"),
    calibrate_points=True,
    parameters={
        "pattern": Parameter("kind of collective", str, tuple(KINDS)),
        "collective": Parameter("collective", str, _COLLECTIVES),
        "size_bytes": SIZE,
        "comp_over_comm": Parameter("computation time over the bare communication time", float),
        "work": WORK,
        "test_every": TEST_EVERY,
        "back_to_back": BACK_TO_BACK,
        "computes_for": COMPUTES_FOR,
    },
    scales={
        "test": measured(
            1,
            {"pattern": ("one-to-all",), "collective": ("ibcast",), "size_bytes": (MIB,), "comp_over_comm": (1.0,)},
            samples=(2, 2), seconds=2, variants=("bare", "adaptive"),
        ),
        "quick": measured(
            2, *_grids({"size_bytes": (4 * MIB,), "comp_over_comm": (1.0,)}), samples=(2, 5), seconds=0.5,
            variants=("bare", "mpi-async", "adaptive"), point_s=0.5,
            mpis=("mpich", "openmpi"),  # its claims compare MPIs
        ),
        "paper": measured(
            6,
            *_grids(
                {
                    "size_bytes": (64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB),
                    "comp_over_comm": (0.5, 1.0, 2.0),
                    "test_every": (0, 100),
                }
            ),
            samples=(10, 50), seconds=10, warmup=2, variants=("bare", "mpi-async", "thread", "idle", "adaptive"),
        ),
    },
)  # fmt: skip


# R2: how often are the engine's threads switched? Ruhela et al., EuroMPI 2018.
CONTEXT_SWITCHES = Study(
    name="context-switches",
    order=302,
    title="Context switches a second of the engine's threads, with communication pending and without",
    group="ruhela",
    source="Ruhela et al., EuroMPI 2018 (study R2)",
    workload=("microbench", "context-switches"),
    parameters={
        "pending": Parameter("whether messages are pending while the program computes", bool),
        "size_bytes": SIZE,
        "work": WORK,
        "comp_s": Parameter("computation time, seconds", float),
    },
    scales={
        "test": scale(1, {"pending": (True,), "comp_s": (0.05,)}, variants=("thread", "adaptive"), samples=2),
        "quick": scale(
            DEFENSIBLE,
            {"pending": (True, False), "comp_s": (0.1,)},
            variants=("bare", "thread", "adaptive"),
            samples=3,
            seconds=0.6,
        ),
        "paper": paper(
            6,
            {"pending": (True, False), "size_bytes": (MIB, 4 * MIB, 32 * MIB), "comp_s": (0.1, 1.0)},
            variants=("bare", "mpi-async", "thread", "timer", "idle", "adaptive"),
            samples=20,
            seconds=60,
        ),
    },
)


# R3: how long do 3D Fourier transforms take whose transposes can travel beside them? Ruhela et al., EuroMPI 2018.
# of one field in so many chunks, or of so many fields at once: a transpose beside the transforms of the others
MODES = ("blocking", "pipelined", "chunked")


def _grid(edge: int, fields: int, **rest: tuple[str | int, ...]) -> Grid:
    """A cube, so that nothing but its edge says how large it is."""
    return {"nx": (edge,), "ny": (edge,), "nz": (edge,), "fields": (fields,), "mode": MODES, **rest}


FFT = Study(
    name="fft",
    order=303,
    title="3D fast Fourier transforms: blocking transposes, a pipeline of fields, a field in chunks",
    group="ruhela",
    source="Ruhela et al., EuroMPI 2018 (study R3)",
    workload=("pencil_fft", "transform"),
    parameters={
        "nx": Parameter("points along x", int),
        "ny": Parameter("points along y", int),
        "nz": Parameter("points along z", int),
        "field": Parameter("what is transformed", str, ("complex", "real")),
        "fields": Parameter("how many fields", int),
        "row_ranks": Parameter("ranks of a row of the process grid, 0: chosen", int),
        "mode": Parameter("how the transposes travel", str, MODES),
        "chunks": Parameter("chunks of a field, in mode chunked", int),
    },
    scales={
        "test": measured(
            1,
            {**_grid(16, 2), "mode": ("blocking", "pipelined")},
            samples=(2, 2),
            seconds=2,
            variants=("bare", "adaptive"),
        ),
        "quick": measured(
            2,
            _grid(64, 4),
            samples=(3, 5),
            seconds=0.5,
            variants=("bare", "mpi-async", "adaptive"),
            more={"bare": DEFENSIBLE, "adaptive": DEFENSIBLE},
            point_s=0.5,
            mpis=("mpich", "openmpi"),
        ),
        "paper": measured(
            6,
            _grid(128, 8, field=("complex", "real")),
            _grid(256, 4, field=("complex", "real")),
            {**_grid(256, 1), "mode": ("chunked",), "chunks": (2, 8, 16)},
            samples=(10, 20),
            seconds=120,
            warmup=2,
            variants=("bare", "mpi-async", "thread", "idle", "adaptive"),
            point_s=120,
        ),
    },
)

STUDIES = (*SPEC, COLLECTIVE_OVERLAP, CONTEXT_SWITCHES, FFT)
__getattr__ = checks(__name__, STUDIES)
