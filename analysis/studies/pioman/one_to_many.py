# SPDX-License-Identifier: BSD-3-Clause
"""P8: Latency with many threads."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Growth, Ratio
from analysis.studies.pioman.common import MANAGED, NATIVE, PAPER

CLAIMS = (
    Claim(
        statement="One sender, N receiving threads: latency does not depend on N with managed waiting",
        number="median latency at the most receivers / at one, idle",
        operator="<=",
        threshold=1.0,
        margin=0.50,
        comparator="one receiver",
        source="section V-C, figure 10",
        measure=Growth("latency_s", "idle", "receivers"),
        requires=("four cores",),
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="One sender, N receiving threads: the MPI alone is linear in N",
        number="growth of the median latency in proportion to N, bare-multiple",
        operator=">=",
        threshold=1.0,
        margin=0.50,
        comparator="growth in proportion to N",
        source="section V-C, figure 10",
        measure=Growth("latency_s", "bare-multiple", "receivers", per_step=True),
        cause=Cause(
            "the receiving threads share one core: only one of them is inside MPI at a time, and nobody contends for "
            "its lock; with as many messages under way as threads they do take turns",
            "the same growth of N senders and N receivers, bare-multiple",
            Growth("latency_s", "bare-multiple", "pairs", per_step=True),
            studies=("many-to-many",),
        ),
        requires=("four cores",),
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="N senders, N receivers: the slope is lower with the engine",
        number="median latency idle / bare-multiple at each N",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="the MPI alone at MPI_THREAD_MULTIPLE",
        source="section V-C, figure 11",
        measure=Ratio("latency_s", "idle", "bare-multiple", {"pairs": (">", 1)}),
        cause=Cause(
            MANAGED,
            "the same where the waiting ones poll",
            Ratio("latency_s", NATIVE, "bare-multiple", {"pairs": (">", 1)}),
        ),
        requires=("four cores",),
        since="2026-11-21 09:57",
    ),
)

FIGURES = (
    Curves(
        name="one_to_many",
        study="one-to-many",
        title="Latency of one sending thread and N receiving ones",
        quantity="latency_s",
        formula="half a round trip of a byte, median (lower is better; Denis, pioman, PDP 2015, figure 10)",
        x="receivers",
        x_label="receiving threads",
        y_label="latency",
    ),
    Curves(
        name="many_to_many",
        study="many-to-many",
        title="Latency of N threads that each talk to one of N others",
        quantity="latency_s",
        formula="half a round trip of a byte, median over all threads (lower is better; Denis, pioman, PDP 2015, "
        "figure 11)",
        x="pairs",
        x_label="threads on each side",
        y_label="latency",
    ),
)

CHAPTER = Chapter("P8", ("one-to-many", "many-to-many"), PAPER, "latency with many threads", CLAIMS, FIGURES)
