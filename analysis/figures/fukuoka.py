# SPDX-License-Identifier: BSD-3-Clause
"""F1, F2 and F3: threads that make blocking calls, as the slides of the MPI+myth paper."""

from __future__ import annotations

from analysis.claims.evidence import Evidence
from analysis.figures.curves import Curves
from analysis.figures.toolkit import Drawn

THREADING = {
    "kernel": "kernel threads",
    "ult": "user-level threads",
    "phases": "master only, in phases",
    "remove": "removed from the queue",
    "reinsert": "put back, to test",
}

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
    Curves(
        name="ult_overlap",
        study="ult-overlap",
        title="What communication adds to the computation of many threads that make blocking calls",
        quantity="remainder_s",
        formula="whole time less the time of the same computation alone; each thread exchanges, computes, exchanges "
        "(lower is better; Fukuoka et al., MPI+myth, HPCC 2019)",
        x="mat_size",
        x_label="computation of a thread (units of about 1 µs)",
        y_label="whole time − computation",
        log_y=False,
        row="threading",
        meanings=THREADING,
    ),
    Curves(
        name="waiting_time",
        study="waiting",
        title="Two ways to wait in a user-level thread: time",
        quantity="elapsed_s",
        formula="whole time of many threads that exchange and compute in turn (lower is better; Fukuoka et al., "
        "MPI+myth, HPCC 2019, appendix)",
        x="waiting",
        x_label="a waiting thread is",
        x_axis="words",
        y_label="time",
        log_y=False,
        meanings=THREADING,
    ),
    Curves(
        name="waiting_balance",
        study="waiting",
        title="Two ways to wait in a user-level thread: balance",
        quantity="imbalance",
        formula="computing parts that the busiest core did over the mean of all (1 is perfect; Fukuoka et al., "
        "MPI+myth, HPCC 2019, appendix)",
        x="waiting",
        x_label="a waiting thread is",
        x_axis="words",
        y_label="busiest core / mean",
        say="{:.2f}".format,
        log_y=False,
        meanings=THREADING,
        lines={"perfect balance": 1.0},
    ),
)


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """The figures of the studies that were run."""
    return [drawn for figure in FIGURES for drawn in figure.draw(evidence, provenance)]
