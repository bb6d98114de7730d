# SPDX-License-Identifier: BSD-3-Clause
"""P6: Latency of off, explicit, idle."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Ratio
from analysis.studies.pioman.common import BEST_TO_MEAN, HALF, MANAGED, NATIVE, PAPER

CLAIMS = (
    Claim(
        statement="Polling inside MPI calls adds about 100 ns to the latency",
        number="median latency explicit / off, 1 byte",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="the engine loaded and inert (off)",
        source="section V-A, figure 5 (about 100 ns of 1.2 µs and more)",
        measure=Ratio("latency_s", "explicit", "off", {"size_bytes": 1}),
        requires=("rdma",),
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="Threads add another 100 to 200 ns to the median",
        number="median latency idle / explicit, 1 byte",
        operator="<=",
        threshold=1.0,
        margin=0.20,
        comparator="explicit",
        source="section V-A, figure 5",
        measure=Ratio("latency_s", "idle", "explicit", {"size_bytes": 1}),
        cause=Cause(
            MANAGED,
            "median latency idle / explicit where the waiting one polls",
            Ratio("latency_s", NATIVE, "explicit", {"size_bytes": 1}),
        ),
        requires=("rdma",),
        since="2026-11-21 09:57",
    ),
)

FIGURES = (
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

CHAPTER = Chapter("P6", ("latency-flavours",), PAPER, "latency of off, explicit, idle", CLAIMS, FIGURES)
