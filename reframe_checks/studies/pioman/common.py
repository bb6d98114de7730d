# SPDX-License-Identifier: BSD-3-Clause
"""What the studies of pioman share."""

from __future__ import annotations

from reframe_checks.studies.common import DEFENSIBLE, ROUND_TRIPS, SIZE, TEST_EVERY, WORK
from reframe_checks.study import BASELINES, PRESETS, Grid, Parameter

OVERLAP = {
    "pattern": Parameter("who computes", str, ("both", "sender", "receiver")),
    "size_bytes": Parameter("message size", int),
    "receive": Parameter("whether the receive is there before the send starts", str, ("preposted", "late")),
    "work": WORK,
    "test_every": TEST_EVERY,
    "wake_us": Parameter("variant limit alone: how long its thread sleeps after each move, microseconds", int),
}

DECIDING = {"bare": DEFENSIBLE, "adaptive": DEFENSIBLE, "limit": DEFENSIBLE}
ALL = (*BASELINES, *PRESETS, "limit")
FEW_WAKES: Grid = {"wake_us": (500, 2000)}
WAKES: Grid = {"wake_us": (250, 500, 1000, 2000, 3000, 5000)}

LATENCY = {
    "size_bytes": SIZE,
    "round_trips": ROUND_TRIPS,
    "calls": Parameter("calls that wait or calls that start and wait", str, ("blocking", "nonblocking")),
}
ONE_BYTE = {"size_bytes": (1,), "round_trips": (500,)}
# 10 million round trips of a byte: as many repetitions of 1000
TEN_MILLION, TEN_MINUTES = 10_000, 600.0
CLASS = Parameter("the problem's size", str, ("S", "W", "A", "B", "C"))

THREADED = ("bare-multiple", "idle", "adaptive")
SMALL = {"size_bytes": SIZE, "round_trips": ROUND_TRIPS}
NPB = {
    "kernel": Parameter("which of the benchmarks", str, ("is", "ep", "cg", "mg", "ft", "lu")),
    "class": Parameter("the problem's size; ep has no class D", str, ("S", "W", "A", "B", "C", "D")),
    "mode": Parameter("as published, or with communication beside computation", str, ("blocking", "overlapped")),
}
