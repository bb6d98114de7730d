# SPDX-License-Identifier: BSD-3-Clause
"""R4: SPEC MPI2007 or its open substitute."""

from __future__ import annotations

from analysis.chapter import Chapter, Claim
from analysis.measures import Ratio
from analysis.studies.ruhela.common import PAPER

CLAIMS = (
    Claim(
        statement="SPEC MPI2007's compute-intensive codes are 38 % faster",
        number="time, adaptive / best other MPI",
        operator="<=",
        threshold=0.62,
        margin=0.10,
        comparator="the best over all MPIs and their own asynchronous modes",
        source="abstract, 384 processes",
        measure=Ratio("elapsed_s", "adaptive", "best other"),
        requires=("384 processes", "spec licence"),
    ),
)

CHAPTER = Chapter("R4", ("spec",), PAPER, "SPEC MPI2007 or its open substitute", CLAIMS)
