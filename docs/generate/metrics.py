# SPDX-License-Identifier: BSD-3-Clause
"""The page of the metrics, from their formulas' table."""

from __future__ import annotations

from analysis.metrics.formulas import METRICS
from docs.generate.page import code, page, plain, table

TIMES = (
    ("comm", "the communication alone, under `bare`"),
    ("comp", "the computation alone, under `bare`"),
    (
        "total",
        "both together, from the first call to the end of the wait; where a rank waits for an acknowledgement, "
        "without what that takes by itself, but never less than the rank's own start, computation and wait",
    ),
    ("comp_in", "the computation while the message is under way"),
    ("wait", "from the end of the computation to the end of the wait"),
    ("cpu", "CPU time of a rank's process during total, all of its threads"),
    ("own comm, own comp", "as comm and comp, but under the variant itself"),
)


def pages() -> dict[str, str]:
    rows = [
        (one.title, code(one.name), code(one.formula), code(one.ideal_text), one.better, plain(one.source))
        for one in METRICS.values()
    ]
    return {
        "metrics.md": page(
            "Metrics",
            "analysis/metrics/formulas.py",
            "Workloads measure times; the analysis makes these numbers of them. comm and comp are always those of "
            "`bare` of the same MPI, point and session: a thread that spins would otherwise slow its own reference and "
            "look harmless. What each number hides says [a page of its own](../explanation/overlap-numbers.md).",
            "## Times",
            table(("time", "what it is"), TIMES),
            "## Numbers made of them",
            table(("metric", "name in tables", "formula", "perfect overlap", "better", "where it comes from"), rows),
        )
    }
