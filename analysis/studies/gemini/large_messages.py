# SPDX-License-Identifier: BSD-3-Clause
"""G4: 80 MB messages."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.runtime import Runtime
from analysis.measures import MetricAt
from analysis.studies.gemini.common import PAPER

CLAIMS = (
    Claim(
        statement="80 MB messages do not overlap on the MPI as it is",
        number="overlap efficiency, bare, 80 MB, comp = comm",
        operator="<=",
        threshold=0.0,
        margin=0.30,
        comparator="serial execution",
        source="slide 'A Similar Experiment Produced Contradictory Results'",
        measure=MetricAt("overlap_efficiency", "bare", {"comp_over_comm": 1.0}),
        figure="large_messages",
        cause=Cause(
            "this MPI hands the kernel much of the message at once, and the sockets move it while the program computes",
            "hidden communication (1 - wait / comm), bare",
            MetricAt("hidden_communication", "bare", {"comp_over_comm": 1.0}),
        ),
        since="2026-11-21 09:57",
    ),
)

FIGURES = (Runtime("large-messages", "Run time of 80 MB messages against the computation"),)

CHAPTER = Chapter("G4", ("large-messages",), PAPER, "80 MB messages", CLAIMS, FIGURES)
