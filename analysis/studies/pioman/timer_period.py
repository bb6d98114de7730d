# SPDX-License-Identifier: BSD-3-Clause
"""P5: Latency and computation against the timer period."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Ratio
from analysis.studies.pioman.common import BEST_TO_MEAN, HALF, PAPER

CLAIMS = tuple(
    Claim(
        statement=f"A timer period of 1 ms and of 100 ms cannot be told apart ({words})",
        number=f"{words} at 1 ms / at 100 ms, timer",
        operator="<=",
        threshold=1.0,
        margin=0.01,
        comparator="timer period 100 ms",
        source="section IV-C",
        measure=Ratio(quantity, "timer", "timer", {"timer_ms": 1}, {"timer_ms": 100}),
        cause=Cause(
            "each rank has one core here, so that every round of the timer interrupts what runs there",
            "CPU time of the process at 1 ms / at 100 ms",
            Ratio("cpu_s", "timer", "timer", {"timer_ms": 1}, {"timer_ms": 100}),
        ),
        since="2026-11-21 09:57",
    )
    for quantity, words in (("latency_s", "latency"), ("elapsed_s", "time of EP"))
)

FIGURES = (
    Curves(
        name="timer_period",
        study="timer-period",
        title="Latency of a byte against the timer's period",
        quantity="latency_s",
        formula=f"{HALF}; Denis, pioman, PDP 2015, section IV-C: 'indistinguishable')",
        x="timer_ms",
        x_label="period of the timer (ms)",
        y_label="latency",
        row="statistic",
        statistics=BEST_TO_MEAN,
    ),
    Curves(
        name="timer_period_ep",
        study="timer-period-ep",
        title="Time of NPB EP against the timer's period",
        quantity="elapsed_s",
        formula="time over that at 100 ms (Denis, pioman, PDP 2015, section IV-C: 'indistinguishable')",
        x="timer_ms",
        x_label="period of the timer (ms)",
        y_label="time / at 100 ms",
        relative=("timer_ms", 100),
        say="{:.3f}".format,
        log_y=False,
        lines={"the same": 1.0},
    ),
)

CHAPTER = Chapter(
    "P5",
    ("timer-period", "timer-period-ep"),
    PAPER,
    "latency and computation against the timer period",
    CLAIMS,
    FIGURES,
)
