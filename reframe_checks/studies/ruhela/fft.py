# SPDX-License-Identifier: BSD-3-Clause
"""R3: how long do 3D Fourier transforms take whose transposes can travel beside them? Ruhela et al., EuroMPI 2018."""

from __future__ import annotations

import reframe as rfm

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.studies.common import DEFENSIBLE
from reframe_checks.study import Grid, Parameter, Scale, Study

# of one field in so many chunks, or of so many fields at once: a transpose beside the transforms of the others
MODES = ("blocking", "pipelined", "chunked")


def _grid(edge: int, fields: int, **rest: tuple[str | int, ...]) -> Grid:
    """A cube, so that nothing but its edge says how large it is."""
    return {"nx": (edge,), "ny": (edge,), "nz": (edge,), "fields": (fields,), "mode": MODES, **rest}


STUDY = Study(
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
        "test": Scale(
            launches=1,
            grids=({**_grid(16, 2), "mode": ("blocking", "pipelined")},),
            min_samples=2,
            max_samples=2,
            warmup=1,
            time_box_s=2,
            variants=("bare", "adaptive"),
        ),
        "quick": Scale(
            launches=2,
            grids=(_grid(64, 4),),
            min_samples=3,
            max_samples=5,
            warmup=1,
            time_box_s=0.5,
            variants=("bare", "mpi-async", "adaptive"),
            more={"bare": DEFENSIBLE, "adaptive": DEFENSIBLE},  # a claim is decided on them
            point_s=0.5,
            mpis=("mpich", "openmpi"),  # its claim compares MPIs
        ),
        "paper": Scale(
            launches=6,
            grids=(
                _grid(128, 8, field=("complex", "real")),
                _grid(256, 4, field=("complex", "real")),
                {**_grid(256, 1), "mode": ("chunked",), "chunks": (2, 8, 16)},
            ),
            min_samples=10,
            max_samples=20,
            warmup=2,
            time_box_s=120,
            variants=("bare", "mpi-async", "thread", "idle", "adaptive"),
            point_s=120,
        ),
    },
)


@rfm.simple_test
class Fft(WorkloadCheck):
    study = STUDY
