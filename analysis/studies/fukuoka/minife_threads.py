# SPDX-License-Identifier: BSD-3-Clause
"""F4: MiniFE, one thread a neighbour."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Ratio
from analysis.studies.fukuoka.common import PAPER, THREADING, ULTS

STUDY = "minife-threads"
KERNEL = {"threading": "kernel"}
ONE_CPU = (
    "each process has one CPU here, which its communication thread shares with the threads that it serves, where the "
    "paper's has a core of its own"
)

CLAIMS = (
    Claim(
        statement="miniFE spends less time communicating",
        number="communication time, offload with user-level threads / bare-multiple with kernel threads",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="the MPI alone at MPI_THREAD_MULTIPLE",
        source="slide 'Application Benchmark'",
        measure=Ratio("comm_s", "offload", "bare-multiple", ULTS, KERNEL),
        figure="minife_threads",
        cause=Cause(
            ONE_CPU,
            "time in reductions alone, where no thread is made, offload / bare-multiple",
            Ratio("allreduce_s", "offload", "bare-multiple", ULTS, KERNEL),
        ),
        since="2026-11-23 02:15",
    ),
    Claim(
        statement="2.4 to 5.1 times faster than existing systems",
        number="time, offload with user-level threads / best other MPI with kernel threads",
        operator="<=",
        threshold=1 / 2.4,
        margin=0.0,
        comparator="the best over all MPIs and their own asynchronous modes",
        source="conclusions; the benchmark is not named there",
        measure=Ratio("elapsed_s", "offload", "best other", ULTS, KERNEL),
        figure="minife_threads",
        cause=Cause(
            "most of a solve is computation, which no way of communicating makes faster",
            "time outside of communication, offload / bare-multiple",
            Ratio("comp_s", "offload", "bare-multiple", ULTS, KERNEL),
        ),
        since="2026-11-23 02:15",
    ),
)

FIGURES = (
    Curves(
        name="minife_threads",
        study=STUDY,
        title="miniFE: communication of a thread for each neighbour",
        quantity="comm_s",
        formula="time from the making of the threads until the last has ended, and in reductions, of a solve; "
        "user-level threads without offload test and yield (lower is better; Fukuoka et al., MPI+myth, HPCC 2019)",
        x="threading",
        x_label="kind of thread",
        x_axis="words",
        y_label="communication",
        row="nx",
        meanings=THREADING,
        words_of={"nx": lambda edge: f"{edge:g}³ elements"},
    ),
)

CHAPTER = Chapter("F4", (STUDY,), PAPER, "miniFE, one thread a neighbour", CLAIMS, FIGURES)
