# SPDX-License-Identifier: BSD-3-Clause
"""P8, P9 and P10: many threads, as figures 10, 11 and 12 of the pioman paper, and its section IV in numbers."""

from __future__ import annotations

from analysis.claims.evidence import Evidence
from analysis.figures.curves import Curves
from analysis.figures.toolkit import Drawn

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
    Curves(
        name="n_load",
        study="n-load",
        title="A 1 MB ping-pong beside N computing threads on each side",
        quantity="latency_s",
        formula="half a round trip of 1 MB beside N threads that only compute; best, median and slowest of each launch "
        "(Denis, pioman, PDP 2015, figure 12)",
        x="computing_threads",
        x_label="computing threads on each side",
        x_axis="number",
        y_label="latency",
        row="statistic",
        statistics=("min", "median", "max"),
    ),
    Curves(
        name="task_queues",
        study="tasks",
        title="Time of an ltask under contention, on three designs of a queue",
        quantity="task_s",
        formula="from submission until known to be done, 16 ltasks under way a submitter, 4 polls each, one more "
        "thread that only polls; constant where queues do not contend and cores suffice (lower is better; "
        "Denis, pioman, PDP 2015, section IV)",
        x="submitters",
        x_label="submitting threads",
        y_label="time per ltask",
        series="queue",
        row="locality",
        order=("submission", "lock", "lock-free"),
        meanings={True: "a queue per place", False: "a single queue"},
    ),
)


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """The figures of the studies that were run."""
    return [drawn for figure in FIGURES for drawn in figure.draw(evidence, provenance)]
