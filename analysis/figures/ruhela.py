# SPDX-License-Identifier: BSD-3-Clause
"""R1 and R2: collectives that should progress beside a computation, and what the engine's threads cost in switches."""

from __future__ import annotations

from analysis.claims.evidence import Evidence
from analysis.figures import style
from analysis.figures.curves import Curves
from analysis.figures.toolkit import Drawn

COLLECTIVES = ("ireduce", "igather", "ibcast", "iscatter", "iallreduce", "ialltoall", "iallgather")
AT_EQUAL = {"comp_over_comm": 1.0}

FIGURES = (
    Curves(
        name="collective_overlap",
        study="collective-overlap",
        title="Nonblocking collectives beside a computation as long as they",
        quantity="total_s",
        formula="total: from the start until every rank is done, comp as long as the bare collective alone, the same "
        "work for every variant (lower is better; Ruhela et al., EuroMPI 2018)",
        x="collective",
        x_label="collective",
        x_axis="words",
        y_label="total",
        row="size_bytes",
        order=COLLECTIVES,
        where=AT_EQUAL,
        words_of={"size_bytes": style.bytes_text},
    ),
    Curves(
        name="context_switches",
        study="context-switches",
        title="Context switches of the engine's threads while the program computes",
        quantity="switches_per_s",
        formula="switches a second of all threads but the application's, of a node (lower is better; Ruhela et al., "
        "EuroMPI 2018)",
        x="pending",
        x_label="communication",
        x_axis="words",
        y_label="switches a second",
        say="{:g}".format,
        log_y=False,
        meanings={True: "pending", False: "nothing pending"},
    ),
)


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """The figures of the studies that were run."""
    return [drawn for figure in FIGURES for drawn in figure.draw(evidence, provenance)]
