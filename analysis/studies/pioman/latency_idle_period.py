# SPDX-License-Identifier: BSD-3-Clause
"""P3: Latency against the idle period."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Ratio
from analysis.studies.pioman.common import BEST_TO_MEAN, HALF, MANAGED, NATIVE, PAPER

FREQUENT, RARE = {"period_us": ("<", 10)}, {"period_us": 10000}

CLAIMS = (
    Claim(
        statement="The idle threads' period hardly moves the best latency",
        number="best latency at every period / at 10000 µs, idle, 1 byte",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="period 10000 µs",
        source="section IV-C, figures 2 and 3",
        measure=Ratio("latency_s", "idle", "idle", {"period_us": (">=", 0)}, RARE, "min"),
        cause=Cause(
            MANAGED,
            "best latency at every period / at 10000 µs where the waiting one polls",
            Ratio("latency_s", NATIVE, NATIVE, {"period_us": (">=", 0)}, RARE, "min"),
        ),
        requires=("rdma",),
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="Below a period of 10 µs the median latency rises",
        number="median latency below 10 µs / at 10000 µs, idle, 1 byte",
        operator=">=",
        threshold=1.0,
        margin=0.0,
        comparator="period 10000 µs",
        source="section IV-C, figures 2 and 3",
        measure=Ratio("latency_s", "idle", "idle", FREQUENT, RARE),
        cause=Cause(
            MANAGED,
            "median latency below 10 µs / at 10000 µs where the waiting one polls",
            Ratio("latency_s", NATIVE, NATIVE, FREQUENT, RARE),
        ),
        requires=("rdma",),
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="Beyond a period of 10 µs the effect on the median latency is negligible",
        number="median latency beyond 10 µs / at 10000 µs, idle, 1 byte",
        operator="<=",
        threshold=1.0,
        margin=0.05,
        comparator="period 10000 µs",
        source="section IV-C, figures 2 and 3",
        measure=Ratio("latency_s", "idle", "idle", {"period_us": (">", 10)}, RARE),
        cause=Cause(
            MANAGED,
            "median latency beyond 10 µs / at 10000 µs where the waiting one polls",
            Ratio("latency_s", NATIVE, NATIVE, {"period_us": (">", 10)}, RARE),
        ),
        requires=("rdma",),
        since="2026-11-21 09:57",
    ),
)

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
)

CHAPTER = Chapter("P3", ("latency-idle-period",), PAPER, "latency against the idle period", CLAIMS, FIGURES)
