# SPDX-License-Identifier: BSD-3-Clause
"""F1: Latency of threads that communicate at once."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Growth, Ratio
from analysis.studies.fukuoka.common import PAPER, THREADING, ULTS

MANY = {"threads": (">", 1)}

CLAIMS = (
    Claim(
        statement="Offloading is faster than MPI_THREAD_MULTIPLE when threads communicate at once",
        number="mean latency offload / bare-multiple, more than one thread",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="user-level threads over MPI_THREAD_MULTIPLE (their MPI+Argobots)",
        source="slide 'Concurrent Latency'",
        measure=Ratio("mean_latency_s", "offload", "bare-multiple", MANY),
        requires=("four cores",),
        cause=Cause(
            "each process has one CPU here: the communication thread takes its turns from the threads that it serves, "
            "two switches a message, where the paper's has a core of its own",
            "the same ratio with one thread, where nothing but the hand-over differs",
            Ratio("mean_latency_s", "offload", "bare-multiple", {"threads": 1}),
        ),
        since="2026-11-21 19:47",
    ),
    Claim(
        statement="With offloading the latency does not grow with the threads",
        number="mean latency at the most threads / at the fewest, offload",
        operator="<=",
        threshold=1.0,
        margin=0.50,
        comparator="the fewest threads",
        source="slide 'Concurrent Latency'",
        measure=Growth("mean_latency_s", "offload", "threads", ULTS),
        requires=("four cores",),
        cause=Cause(
            "the one CPU of a process carries the messages of all its threads, and each waits for the others' turns",
            "CPU time of the process at the most threads / at the fewest, offload",
            Growth("cpu_s", "offload", "threads", ULTS),
        ),
        since="2026-11-21 19:47",
    ),
)

FIGURES = (
    Curves(
        name="concurrent_latency",
        study="concurrent-latency",
        title="Latency of threads that communicate at once",
        quantity="mean_latency_s",
        formula="time of all round trips of a byte, over twice their number a thread; user-level threads without "
        "offload test and yield (lower is better; Fukuoka et al., MPI+myth, HPCC 2019)",
        x="threads",
        x_label="threads on each side",
        y_label="latency",
        row="threading",
        meanings=THREADING,
    ),
)

CHAPTER = Chapter("F1", ("concurrent-latency",), PAPER, "latency of threads that communicate at once", CLAIMS, FIGURES)
