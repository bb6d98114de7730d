# SPDX-License-Identifier: BSD-3-Clause
"""R2: Context switches of adaptive and always-on threads."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Median, Ratio
from analysis.studies.ruhela.common import PAPER

CLAIMS = (
    Claim(
        statement="The adaptive thread has fewer context switches than an always-on one",
        number="switches a second, adaptive / thread, communication pending",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="a thread that always polls",
        source="abstract",
        measure=Ratio("switches_per_s", "adaptive", "thread", {"pending": True}),
        figure="context_switches",
        cause=Cause(
            "a thread that always polls never leaves its core by itself: it is switched only when its time slice ends, "
            "and has half of the core meanwhile; adaptive sleeps and wakes with the traffic and leaves the core to the "
            "computation",
            "time of the computation, adaptive / thread",
            Ratio("comp_in_s", "adaptive", "thread", {"pending": True}),
        ),
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="With nothing pending the adaptive thread does not switch at all",
        number="switches a second of the engine's threads, adaptive, nothing pending",
        operator="<=",
        threshold=0.0,
        margin=0.1,
        comparator="none",
        source="abstract; the engine's own promise",
        measure=Median("switches_per_s", "adaptive", {"pending": False}),
        since="2026-11-21 09:57",
    ),
)

FIGURES = (
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

CHAPTER = Chapter(
    "R2", ("context-switches",), PAPER, "context switches of adaptive and always-on threads", CLAIMS, FIGURES
)
