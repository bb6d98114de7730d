# SPDX-License-Identifier: BSD-3-Clause
"""P4: Computation against the idle period."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Ratio
from analysis.studies.pioman.common import PAPER

CLAIMS = tuple(
    Claim(
        statement=f"The idle period moves the time of EP by less than 0.5 % ({words})",
        number="time of EP at a period / at 1000 µs, idle, class B, 2 processes",
        operator=operator,
        threshold=threshold,
        margin=0.0,
        comparator="period 1000 µs",
        source="section IV-C, figure 4",
        measure=Ratio("elapsed_s", "idle", "idle", {"period_us": ("<", 1000)}, {"period_us": 1000}),
        figure="compute_idle_period",
        cause=Cause(
            "each rank has one core here, on which the idle thread takes turns with the computation; the paper's idle "
            "threads found cores that idled",
            "CPU time of the process at the period / at 1000 µs",
            Ratio("cpu_s", "idle", "idle", {"period_us": ("<", 1000)}, {"period_us": 1000}),
        ),
        since="2026-11-21 09:57",
    )
    for operator, threshold, words in (("<=", 1.005, "not slower"), (">=", 0.995, "not faster"))
)

FIGURES = (
    Curves(
        name="compute_idle_period",
        study="compute-idle-period",
        title="Time of NPB EP against the idle threads' period",
        quantity="elapsed_s",
        formula="time of a run of EP on all ranks (lower is better; Denis, pioman, PDP 2015, figure 4: differences "
        "below 0.5 %). Period 0: the thread only yields",
        x="period_us",
        x_label="period of the idle threads (µs)",
        y_label="time of EP",
        log_y=False,
    ),
)

CHAPTER = Chapter("P4", ("compute-idle-period",), PAPER, "computation against the idle period", CLAIMS, FIGURES)
