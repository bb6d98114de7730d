# SPDX-License-Identifier: BSD-3-Clause
"""P3 to P6: what the engine adds to latency and computation, as figures 2 to 5 of the pioman paper."""

from __future__ import annotations

from analysis.claims.evidence import Evidence
from analysis.figures.curves import Curves
from analysis.figures.toolkit import Drawn

HALF = (
    "half a round trip; best, median and mean of each launch's round trips, the median over launches (lower is better"
)
BEST_TO_MEAN = ("min", "median", "mean")

FIGURES = (
    Curves(
        name="latency_idle_period",
        study="latency-idle-period",
        title="Latency of a byte against the idle threads' period",
        quantity="latency_s",
        formula=f"{HALF}; Denis, pioman, PDP 2015, figures 2 and 3). Period 0: the thread only yields",
        x="period_us",
        x_label="period of the idle threads (µs)",
        y_label="latency",
        row="statistic",
        statistics=BEST_TO_MEAN,
    ),
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
    Curves(
        name="latency_flavours",
        study="latency-flavours",
        title="Latency of the engine's flavours",
        quantity="latency_s",
        formula=f"{HALF}; Denis, pioman, PDP 2015, figure 5)",
        x="size_bytes",
        x_label="message size",
        x_axis="bytes",
        y_label="latency",
        row="statistic",
        statistics=BEST_TO_MEAN,
    ),
)


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """The figures of the studies that were run."""
    return [drawn for figure in FIGURES for drawn in figure.draw(evidence, provenance)]
