# SPDX-License-Identifier: BSD-3-Clause
"""P10: Contention on the task queues."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Growth, Ratio
from analysis.studies.pioman.common import PAPER

CLAIMS = tuple(
    Claim(
        statement=f"Under load the submission queue beats the {other} queue",
        number=f"time a task, submission queue / {other}, more than one submitter",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator=f"{other} queue",
        source="section IV-B, figure 1",
        figure="task_queues",
        measure=Ratio(
            "task_s",
            "bare",
            "bare",
            {"queue": "submission", "submitters": (">", 1)},
            {"queue": other},
        ),
        cause=Cause(
            "with two cores for the submitters and the poller hardly two of them run inside a queue at once: it is not "
            "contended for, and the queue with the fewest instructions wins",
            f"growth of the {other} queue's own time in proportion to the submitters, a single queue (contended: 1)",
            Growth("task_s", "bare", "submitters", {"queue": other, "locality": False}, per_step=True),
        ),
        requires=("three cores",),
        since="2026-11-21 16:19",
    )
    for other in ("lock", "lock-free")
)

FIGURES = (
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

CHAPTER = Chapter("P10", ("tasks",), PAPER, "contention on the task queues", CLAIMS, FIGURES)
