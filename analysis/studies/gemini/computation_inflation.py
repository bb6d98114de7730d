# SPDX-License-Identifier: BSD-3-Clause
"""G3: Run time against inflated computation."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.runtime import Runtime
from analysis.measures import MetricAt
from analysis.studies.gemini.common import PAPER

CLAIMS = (
    Claim(
        statement="Run time is flat in the computation as long as that is shorter than the communication",
        number="total / communication alone while comp is at most comm, bare",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="communication alone",
        source="slides 'miniGhost and Computation Inflation'",
        measure=MetricAt("slowdown", "bare", {"comp_over_comm": ("<=", 1.0)}),
        figure="computation_inflation",
        cause=Cause(
            "what begins with a handshake or does not fit the kernel's socket buffers waits for the program to come "
            "back into MPI; the engine's thread does not let it wait, where the message takes longer than its wake",
            "total / max(comp, comm) with adaptive",
            MetricAt("slowdown", "adaptive", {"comp_over_comm": ("<=", 1.0)}),
        ),
        since="2026-11-21 09:57",
    ),
)

FIGURES = (Runtime("computation-inflation", "Run time against the inflated computation"),)

CHAPTER = Chapter("G3", ("computation-inflation",), PAPER, "run time against inflated computation", CLAIMS, FIGURES)
