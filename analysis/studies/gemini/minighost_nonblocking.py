# SPDX-License-Identifier: BSD-3-Clause
"""G5: A fully nonblocking miniGhost."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Ratio
from analysis.studies.gemini.common import PAPER

STUDY = "minighost-nonblocking"
SOURCE = "our own, after the open question of the conclusion"
AS_PUBLISHED = {"mode": "blocking", "reduction": "blocking"}
PHASED, DIRECT = {"mode": "nonblocking"}, {"mode": "direct"}
NONBLOCKING = {"mode": "overlapped", "reduction": "late"}

CLAIMS = (
    Claim(
        statement="With everything nonblocking and the adaptive engine miniGhost is faster than as published",
        number="time, 26 neighbours at once, interior first, late sums, adaptive / phases and sums that block, bare",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="the same MPI, bare, phase after phase, global sums that block",
        source=SOURCE,
        measure=Ratio("elapsed_s", "adaptive", "bare", NONBLOCKING, AS_PUBLISHED),
        figure="minighost_nonblocking",
        cause=Cause(
            "a step in parts costs the stencil more, which reads the boundary's points for a second time, and the "
            "engine's thread takes time from the core that computes",
            "time of the computation, everything nonblocking with adaptive / as published and bare",
            Ratio("comp_s", "adaptive", "bare", NONBLOCKING, AS_PUBLISHED),
        ),
        since="2026-11-23 02:15",
    ),
    Claim(
        statement="26 neighbours at once take no longer than three phases of two messages",
        number="time, 26 neighbours at once / phases, neither of them blocking, bare",
        operator="<=",
        threshold=1.0,
        margin=0.02,
        comparator="the same MPI, bare, phase after phase",
        source=SOURCE,
        measure=Ratio("elapsed_s", "bare", "bare", DIRECT, PHASED),
        figure="minighost_nonblocking",
        cause=Cause(
            "edges and corners are messages of their own, each with its own cost, where in phases they travel with the "
            "faces; on few ranks many of them go to the same neighbour",
            "messages that a rank sends, 26 neighbours at once / phases",
            Ratio("messages", "bare", "bare", DIRECT, PHASED),
        ),
        since="2026-11-23 02:15",
    ),
    Claim(
        statement="The engine hides halos that travel beside the interior's computation",
        number="time, 26 neighbours at once, interior first, late sums, adaptive / bare",
        operator="<=",
        threshold=0.9,
        margin=0.05,
        comparator="the same MPI, bare, everything nonblocking as well",
        source=SOURCE,
        measure=Ratio("elapsed_s", "adaptive", "bare", NONBLOCKING),
        figure="minighost_nonblocking",
        cause=Cause(
            "halos that fit the kernel's socket buffers travel without the engine, and of those that do not it can "
            "hide no more than the shorter of computation and communication",
            "time in the calls that complete messages, adaptive / bare",
            Ratio("wait_s", "adaptive", "bare", NONBLOCKING),
        ),
        since="2026-11-23 02:15",
    ),
)

TIMES = Curves(
    name="minighost_nonblocking",
    study=STUDY,
    title="miniGhost: four ways to exchange halos with 26 neighbours",
    quantity="elapsed_s",
    formula="time steps of a stencil, every point verified. Phases: an axis after the other, blocking with blocking "
    "global sums, or nonblocking; direct: all 26 neighbours at once; interior first: that beside the computation of "
    "the points that need no ghost. All but the first complete the global sums one step late (lower is better; "
    "Strohbeen, Gemini, Sandia 2011, conclusion)",
    x="mode",
    x_label="exchange",
    x_axis="words",
    y_label="time",
    row="stencil",
    apart=("nx",),
    order=("blocking", "nonblocking", "direct", "overlapped"),
    log_y=False,
    meanings={
        "blocking": "phases, blocking",
        "nonblocking": "phases, nonblocking",
        "direct": "26 direct",
        "overlapped": "26 direct,\ninterior first",
    },
    words_of={"stencil": "{:g} points".format, "nx": lambda edge: f"{edge:g}³ points"},
)

CHAPTER = Chapter("G5", (STUDY,), PAPER, "a fully nonblocking miniGhost", CLAIMS, (TIMES,))
