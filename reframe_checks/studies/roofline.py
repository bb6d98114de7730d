# SPDX-License-Identifier: BSD-3-Clause
"""The two bounds of the roofline model, and the kernels that are held against them, one rank each and no engine.

Bounds and kernels are in one group so that one session has them of one machine at one time: that is what divides them.
"""

from __future__ import annotations

from reframe_checks.catalogue import Grid, Parameter, Scale, Study, checks
from reframe_checks.studies.shared import DEFENSIBLE

OPERATIONS = ("fma-single", "fma-double", "divide", "sqrt", "multiply-integer")


def _study(number: int, workload: tuple[str, str], title: str, parameters: dict[str, Parameter],
           *grids: Grid) -> Study:  # fmt: skip
    """The first grid is the one that a test runs."""
    return Study(
        name=f"roofline-{workload[1] if workload[0] == 'roofline' else workload[0]}",
        order=4000 + number,
        of_a_paper=False,
        title=title,
        group="roofline",
        source="Williams, Waterman, Patterson, CACM 52 (2009)",
        workload=workload,
        nodes=1,
        parameters=parameters,
        scales={
            "test": Scale(1, grids[:1], 2, 2, 1, 0.2, variants=("bare",), point_s=0.2, mpis=("mpich",)),
            "quick": Scale(DEFENSIBLE, grids, 3, 7, 1, 2.0, variants=("bare",), point_s=2.0, mpis=("mpich",)),
        },
    )  # fmt: skip


STUDIES = (
    _study(
        0, ("roofline", "triad"), "Bytes a second that caches and memory give",
        {"megabytes": Parameter("three arrays together", int)}, {"megabytes": (4,)}, {"megabytes": (30, 235)},
    ),
    _study(
        1, ("roofline", "peak"), "Operations a second of a core",
        {"operation": Parameter("of which kind", str, OPERATIONS)}, {"operation": OPERATIONS},
    ),
    _study(
        2, ("himeno", "solve"), "Himeno on one rank",
        {"grid": Parameter("the problem's size", str, ("XS", "S", "M", "L", "XL")),
         "iterations": Parameter("of the solver, a repetition", int)},
        {"grid": ("XS",), "iterations": (200,)}, {"grid": ("S",), "iterations": (40,)},
        {"grid": ("M",), "iterations": (4,)},
    ),
    _study(
        3, ("npb", "ep"), "NPB EP on one rank",
        {"class": Parameter("the problem's size", str, ("S", "W", "A", "B", "C"))},
        {"class": ("S",)}, {"class": ("W",)},
    ),
)  # fmt: skip

__getattr__ = checks(__name__, STUDIES)
