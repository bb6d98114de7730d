# SPDX-License-Identifier: BSD-3-Clause
"""Is a rank of our applications as fast as the codes that they repeat? Ours and theirs, on one rank, in one session.

What overlap hides depends on how long the computation takes: with a slow kernel everything is hidden. A code that is
not found is skipped, and says how to get it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.codes.known import CASES
from reframe_checks.catalogue import Grid, Parameter, Scale, Study, checks
from reframe_checks.studies.shared import DEFENSIBLE, NPB

GROUP = "serial"
KERNELS = {"is": "A", "cg": "A", "mg": "A", "ft": "A", "lu": "W"}  # LU of class A takes a minute
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


def _class(kernel: str, size: str) -> tuple[Grid, ...]:
    return ({"kernel": (kernel,), "class": (size,), "mode": ("blocking",)},)


def _ours(number: int, kernel: str, size: str) -> Study:
    return _study(
        number,
        f"kernel-{kernel}",
        f"On one rank: {kernel.upper()} of our NAS Parallel Benchmarks",
        _scales(_class(kernel, size), _class(kernel, "S"), point_s=8.0),
        ("npb", "suite"),
        NPB,
    )


def _fft(number: int) -> Study:
    """Of one field, by pencils and by FFTW's own plan of the whole field: the same launches measure both."""
    grids: list[Grid] = [
        {"nx": (edge,), "ny": (edge,), "nz": (edge,), "field": ("complex", "real"), "fields": (1,),
         "mode": ("blocking", "fftw")}
        for edge in (16, 64, 128)
    ]  # fmt: skip
    axes = {axis: Parameter(f"points along {axis[1]}", int) for axis in ("nx", "ny", "nz")}
    return _study(
        number,
        "fft",
        "On one rank: our transforms by pencils, and FFTW's own plan of a whole field",
        _scales(tuple(grids[1:]), (grids[0],), samples=5, point_s=0.5),
        ("pencil_fft", "transform"),
        axes
        | {
            "field": Parameter("what is transformed", str, ("complex", "real")),
            "mode": Parameter("by pencils, or FFTW's own plan", str, ("blocking", "fftw")),
        },
    )


def _theirs(number: int, kernel: str, size: str) -> Study:
    name = f"npb-original-{kernel}{'' if size == 'A' else f'-{size.lower()}'}"
    case = CASES[name][1]
    grids = (dict(case.points),)
    return _study(number, name, f"On one rank: {case.title}", _scales(grids, grids, warmup=0, timeout_s=TIMEOUT_S),
                  case=name)  # fmt: skip


def _sides() -> Iterator[Study]:
    """Ours and theirs in turn, kernel by kernel: a slow minute of the machine is in both."""
    for number, (kernel, size) in enumerate(KERNELS.items()):
        yield _ours(2 * number, kernel, size)
        yield _theirs(2 * number + 1, kernel, size)


STUDIES = (*_sides(), _fft(2 * len(KERNELS)))

__getattr__ = checks(__name__, STUDIES)
