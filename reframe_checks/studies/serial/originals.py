# SPDX-License-Identifier: BSD-3-Clause
"""Is a rank of our applications as fast as the codes that they repeat? Ours and theirs, on one rank, in one session.

What overlap hides depends on how long the computation takes: with a slow kernel everything is hidden. A code that is
not found is skipped, and says how to get it.
"""

from __future__ import annotations

from collections.abc import Mapping

import reframe as rfm
from reframe.core.meta import make_test

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.catalogue import class_name
from reframe_checks.studies.common import DEFENSIBLE
from reframe_checks.studies.pioman.common import NPB
from reframe_checks.study import Grid, Parameter, Scale, Study
from workloads.apps.table import CASES

GROUP = "serial"
KERNELS = ("is", "cg", "mg", "ft")
THEIRS = (*(f"npb-original-{kernel}" for kernel in KERNELS), "npb-original-lu-w")  # LU of class A takes a minute
MPIS = ("debian-openmpi",)  # has a compiler for Fortran
TIMEOUT_S = 300.0
ORDER = 4300


def _scales(quick: tuple[Grid, ...], test: tuple[Grid, ...], *, samples: int = 1, warmup: int = 1,
            timeout_s: float = 0.0, point_s: float = 0.0) -> dict[str, Scale]:  # fmt: skip
    return {
        name: Scale(launches, grids, samples, samples, warmup, 2.0, variants=("bare",), timeout_s=timeout_s,
                    point_s=point_s, mpis=MPIS)
        for name, launches, grids in (("test", 1, test), ("quick", DEFENSIBLE, quick))
    }  # fmt: skip


def _study(number: int, name: str, title: str, scales: dict[str, Scale], workload: tuple[str, ...] = (),
           parameters: Mapping[str, Parameter] | None = None, case: str = "") -> Study:  # fmt: skip
    return Study(
        name=f"{GROUP}-{name}",
        order=ORDER + number,
        of_a_paper=False,
        title=title,
        group=GROUP,
        source="No paper's",
        workload=workload,
        parameters=parameters or {},
        scales=scales,
        nodes=1,
        case=case,
        ranks=1 if case else 0,
    )


def _class(name: str, *kernels: str) -> Grid:
    return {"kernel": kernels, "class": (name,), "mode": ("blocking",)}


def _fft(name: str, mode: str, title: str, number: int) -> Study:
    """Of one field."""
    grids: list[Grid] = [
        {"nx": (edge,), "ny": (edge,), "nz": (edge,), "field": ("complex", "real"), "fields": (1,), "mode": (mode,)}
        for edge in (16, 64, 128)
    ]
    axes = {axis: Parameter(f"points along {axis[1]}", int) for axis in ("nx", "ny", "nz")}
    return _study(
        number,
        name,
        title,
        _scales(tuple(grids[1:]), (grids[0],), samples=5, point_s=0.5),
        ("pencil_fft", "transform"),
        axes | {"field": Parameter("what is transformed", str, ("complex", "real"))},
    )


def _theirs(number: int, name: str) -> Study:
    case = CASES[name][1]
    grids = (dict(case.points),)
    return _study(number, name, f"On one rank: {case.title}", _scales(grids, grids, warmup=0, timeout_s=TIMEOUT_S),
                  case=name)  # fmt: skip


STUDIES = (
    _study(
        0,
        "npb",
        "On one rank: our NAS Parallel Benchmarks",
        _scales((_class("A", *KERNELS), _class("W", "lu")), (_class("S", *KERNELS, "lu"),), point_s=8.0),
        ("npb", "suite"),
        NPB,
    ),
    *(_theirs(1 + number, name) for number, name in enumerate(THEIRS)),
    _fft("fft", "blocking", "On one rank: our transforms by pencils", 10),
    _fft("fftw", "fftw", "On one rank: FFTW's own plan of a whole field", 11),
)

for _found in STUDIES:
    rfm.simple_test(make_test(class_name(_found), (WorkloadCheck,), {"study": _found}, module=__name__))
