# SPDX-License-Identifier: BSD-3-Clause
"""R4: do the codes of SPEC MPI2007 run faster? Ruhela et al., EuroMPI 2018.

A study for each open counterpart of the suite's codes, and one for each part of the suite itself, where a licensed copy
is. What is not found is skipped, and says how to get it. What has no counterpart stands with the claim, in analysis.
"""

from __future__ import annotations

import reframe as rfm
from reframe.core.meta import make_test

from reframe_checks.base_check import WorkloadCheck
from reframe_checks.catalogue import class_name
from reframe_checks.studies.common import DEFENSIBLE
from reframe_checks.study import Parameter, Scale, Study
from workloads.apps.model import Case
from workloads.apps.spec import SIZES
from workloads.apps.table import CASES, CODES

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
STUDIES = (*_OPEN, *_SUITE)

for _found in STUDIES:
    rfm.simple_test(make_test(class_name(_found), (WorkloadCheck,), {"study": _found}, module=__name__))
