# SPDX-License-Identifier: BSD-3-Clause
"""F3: Two ways to wait in a user-level thread."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Median, Ratio
from analysis.studies.fukuoka.common import PAPER, THREADING

CLAIMS = (
    Claim(
        statement="Removing a waiting thread from the ready queue is faster than putting it back",
        number="whole time, remove / re-insert, offload",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="re-insertion",
        source="appendix, 'Comparison of Waiting Methods'",
        measure=Ratio("elapsed_s", "offload", "offload", {"waiting": "remove"}, {"waiting": "reinsert"}),
        requires=("four cores",),
        cause=Cause(
            "a thread that is put back only takes turns on a CPU that nobody else wants meanwhile",
            "CPU time, remove / re-insert, offload",
            Ratio("cpu_s", "offload", "offload", {"waiting": "remove"}, {"waiting": "reinsert"}),
        ),
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="Removing balances the computing parts over the cores better",
        number="computing parts of the busiest core / mean, remove / re-insert",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="re-insertion",
        source="appendix, 'What makes that difference'",
        measure=Ratio("imbalance", "offload", "offload", {"waiting": "remove"}, {"waiting": "reinsert"}),
        requires=("four cores",),
        cause=Cause(
            "the two kernel threads of a process share its one CPU, and with re-insertion they are balanced already",
            "computing parts of the busiest kernel thread / mean with re-insertion (1 is perfect)",
            Median("imbalance", "offload", {"waiting": "reinsert"}),
        ),
        since="2026-11-21 09:57",
    ),
)

FIGURES = (
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

CHAPTER = Chapter("F3", ("waiting",), PAPER, "two ways to wait in a user-level thread", CLAIMS, FIGURES)
