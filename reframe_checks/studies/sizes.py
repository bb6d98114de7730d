# SPDX-License-Identifier: BSD-3-Clause
"""From which message size on the engine pays, of no paper: overlap-ratio's points at every size."""

from __future__ import annotations

from dataclasses import replace

from reframe_checks.catalogue import Grid, Scale, checks
from reframe_checks.studies.pioman import OVERLAP_RATIO, WAKES
from reframe_checks.studies.shared import DEFENSIBLE, KIB, MIB

SIZES = (16 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB, 4 * MIB, 32 * MIB)
VARIANTS = ("bare", "mpi-async", "adaptive", "limit")
EQUAL: Grid = {"pattern": ("both",), "size_bytes": SIZES, "comp_over_comm": (1.0,)}

OVERLAP_BY_SIZE = replace(
    OVERLAP_RATIO,
    name="overlap-by-size",
    order=4600,
    of_a_paper=False,
    title="From which message size on does the engine pay, and how near does it come to plain TCP?",
    group="sizes",
    on_off=True,
    source="No paper's",
    scales={
        "test": Scale(
            2, (EQUAL | {"size_bytes": (64 * KIB, 256 * KIB)},), 3, 5, 1, 0.4, variants=("bare", "adaptive"),
            mpis=("openmpi",),
        ),
        "quick": Scale(DEFENSIBLE, (EQUAL,), 5, 100, 2, 1.0, variants=VARIANTS, limit=WAKES),
        "paper": Scale(
            2 * DEFENSIBLE,
            (EQUAL | {"pattern": ("both", "sender", "receiver"), "comp_over_comm": (0.5, 1.0, 2.0)},),
            10, 100, 2, 20.0, variants=VARIANTS, limit=WAKES,
        ),
    },
)  # fmt: skip

STUDIES = (OVERLAP_BY_SIZE,)
__getattr__ = checks(__name__, STUDIES)
