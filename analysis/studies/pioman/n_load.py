# SPDX-License-Identifier: BSD-3-Clause
"""P9: Latency beside computing threads."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Growth, Median
from analysis.studies.pioman.common import PAPER

CLAIMS = (
    Claim(
        statement="Computing threads beyond the cores do not move the median of a 1 MB ping-pong",
        number="median latency under the highest load / unloaded, idle",
        operator="<=",
        threshold=1.0,
        margin=0.20,
        comparator="no computing thread",
        source="section V-C, figure 12",
        measure=Growth("latency_s", "idle", "computing_threads"),
        figure="n_load",
        cause=Cause(
            "the thread that communicates shares the node's only core with those that compute and waits for its turn, "
            "with the engine and without it",
            "median latency under the highest load / unloaded, bare",
            Growth("latency_s", "bare", "computing_threads"),
        ),
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="Under load the slowest round trip stays within 20 ms of the unloaded one",
        number="maximum over the unloaded maximum (s), idle",
        operator="<=",
        threshold=0.020,
        margin=0.0,
        comparator="20 ms",
        source="section V-C, figure 12",
        measure=Median("excess_latency_s", "idle", {"computing_threads": (">", 0)}, "max"),
        figure="n_load",
        cause=Cause(
            "with one core a node every computing thread has its time slice before the one that communicates has its "
            "own again; the paper's nodes had more cores",
            "the same number with bare (s)",
            Median("excess_latency_s", "bare", {"computing_threads": (">", 0)}, "max"),
        ),
        since="2026-11-21 09:57",
    ),
)

FIGURES = (
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
)

CHAPTER = Chapter("P9", ("n-load",), PAPER, "latency beside computing threads", CLAIMS, FIGURES)
