# SPDX-License-Identifier: BSD-3-Clause
"""What the studies of pioman share."""

from __future__ import annotations

PAPER = "Denis, pioman, PDP 2015"
NATIVE = "idle:waiting=native"  # idle as it is, but whoever waits polls by itself
MANAGED = (
    "with managed waiting whoever waits sleeps until a thread of the engine has polled, and all threads of a rank have "
    "one core here: a message waits for the period and for a switch of threads; in the paper other cores were idle"
)
HALF = (
    "half a round trip; best, median and mean of each launch's round trips, the median over launches (lower is better"
)
BEST_TO_MEAN = ("min", "median", "mean")
NAMES = {name: name.upper() for name in ("is", "ep", "cg", "mg", "ft", "lu")}  # of the NAS Parallel Benchmarks
