# SPDX-License-Identifier: BSD-3-Clause
"""P7: NAS Parallel Benchmarks."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Ratio
from analysis.studies.pioman.common import NAMES, PAPER

STUDY = "nas"
PUBLISHED = {"mode": "blocking"}


def _of_a_loss(variant: str) -> Cause:
    return Cause(
        "each rank has one core here: a thread of the engine that runs beside the program takes that core's time, and "
        "whoever waits for a message may sleep until the thread has polled; the paper's idle threads found cores that "
        "idled",
        f"CPU time of the process, {variant} / bare",
        Ratio("cpu_s", variant, "bare", PUBLISHED),
    )


def _of_a_gain(variant: str) -> Cause:
    return Cause(
        "the engine's thread moves messages that are under way while a rank computes, and whoever waits and sleeps "
        "leaves its core to others, where the MPI alone polls on it",
        f"time in MPI calls, {variant} / bare",
        Ratio("comm_s", variant, "bare", PUBLISHED),
    )


def _claim(variant: str, operator: str, threshold: float, statement: str, source: str) -> Claim:
    return Claim(
        statement=statement,
        number=f"time with {variant} / bare, {'every kernel' if operator == '<=' else 'the kernel that gains most'}",
        operator=operator,
        threshold=threshold,
        margin=0.0,
        comparator="the same MPI, bare",
        source=source,
        measure=Ratio("elapsed_s", variant, "bare", PUBLISHED),
        figure="nas",
        cause=_of_a_loss(variant) if operator == "<=" else _of_a_gain(variant),
        since="2026-11-23 02:15",
    )


PAPERS = "section V-A, figure 6"
OURS = "our own, after section V-A"
NO_GAIN = "gives the NAS Parallel Benchmarks nothing, which communicate and compute by turns (2 % or less)"

CLAIMS = (
    _claim("idle", "<=", 1.02, "The engine costs the NAS Parallel Benchmarks at most 2 %", PAPERS),
    _claim("idle", ">=", 0.98, f"The engine {NO_GAIN}", PAPERS),
    _claim("adaptive", "<=", 1.02, "The adaptive engine costs the NAS Parallel Benchmarks at most 2 %", OURS),
    _claim("adaptive", ">=", 0.98, f"The adaptive engine {NO_GAIN}", OURS),
)

TIMES = Curves(
    name="nas",
    study=STUDY,
    title="NAS Parallel Benchmarks as they are published",
    quantity="elapsed_s",
    formula="what each benchmark times, its result verified by the published values (lower is better; Denis, pioman, "
    "PDP 2015, figure 6: at most 2 % more with the engine)",
    x="kernel",
    x_label="benchmark",
    x_axis="words",
    y_label="time",
    row="class",
    order=("S", "W", "A", "B", "C", "D"),
    meanings=NAMES,
    words_of={"class": "class {}".format},
)

CHAPTER = Chapter("P7", (STUDY,), PAPER, "NAS Parallel Benchmarks", CLAIMS, (TIMES,))
