# SPDX-License-Identifier: BSD-3-Clause
"""Denis, PDP 2015, what the engine costs: studies P3, P4, P5 and P6."""

from __future__ import annotations

from reframe_checks.study import Parameter, Study
from reframe_checks.tables.common import DEFENSIBLE, IDLE_NATIVE, KIB, MIB, ROUND_TRIPS, SIZE, paper, scale

_LATENCY = {
    "size_bytes": SIZE,
    "round_trips": ROUND_TRIPS,
    "calls": Parameter("calls that wait or calls that start and wait", str, ("blocking", "nonblocking")),
}
_ONE_BYTE = {"size_bytes": (1,), "round_trips": (500,)}
# 10 million round trips of a byte: as many repetitions of 1000
_TEN_MILLION, _TEN_MINUTES = 10_000, 600.0

LATENCY_IDLE_PERIOD = Study(
    name="latency-idle-period",
    title="Latency of a byte against the period at which idle threads poll",
    group="pioman",
    source="Denis, PDP 2015, figures 2 and 3 (study P3)",
    workload=("microbench", "latency"),
    quantity="latency_s",
    parameters=_LATENCY | {"period_us": Parameter("period of the idle threads, microseconds", int, engine="idle_us")},
    scales={
        "test": scale(1, {"period_us": (1, 10000), **_ONE_BYTE}, variants=("idle",), samples=2),
        "quick": scale(
            2, {"period_us": (0, 1, 5, 20, 100, 10000), **_ONE_BYTE}, variants=("bare", "idle", IDLE_NATIVE)
        ),
        "paper": paper(
            6,
            {
                "period_us": (0, 1, 2, 5, 10, 20, 50, 100, 1000, 10000),
                "size_bytes": (1,),
                "round_trips": (1000,),
            },
            variants=("bare", "idle"),
            samples=_TEN_MILLION,
            seconds=_TEN_MINUTES,
        ),
    },
)

COMPUTE_IDLE_PERIOD = Study(
    name="compute-idle-period",
    title="Time of NPB EP against the period at which idle threads poll",
    group="pioman",
    source="Denis, PDP 2015, figure 4 (study P4)",
    workload=("npb", "ep"),
    quantity="elapsed_s",
    parameters={
        "class": Parameter("the problem's size", str, ("S", "W", "A", "B", "C")),
        "period_us": Parameter("period of the idle threads, microseconds", int, engine="idle_us"),
    },
    scales={
        "test": scale(1, {"class": ("S",), "period_us": (0, 1000)}, variants=("bare", "idle"), samples=1),
        "quick": scale(
            DEFENSIBLE, {"class": ("A",), "period_us": (0, 10, 1000)}, variants=("bare", "idle"), samples=3, seconds=1.6
        ),
        "paper": paper(
            6,
            {"class": ("B",), "period_us": (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)},
            variants=("bare", "idle"),
            samples=10,
            seconds=300,
        ),
    },
)

TIMER_PERIOD = Study(
    name="timer-period",
    title="Latency of a byte against the timer's period",
    group="pioman",
    source="Denis, PDP 2015, section IV-C (study P5)",
    workload=("microbench", "latency"),
    quantity="latency_s",
    parameters=_LATENCY
    | {"timer_ms": Parameter("period of the timer thread, milliseconds", int, engine="timer_us", factor=1000)},
    scales={
        "test": scale(1, {"timer_ms": (1, 100), **_ONE_BYTE}, variants=("timer",), samples=2),
        "quick": scale(DEFENSIBLE, {"timer_ms": (1, 10, 100), **_ONE_BYTE}, variants=("timer",)),
        "paper": paper(
            6,
            {"timer_ms": (1, 2, 5, 10, 20, 50, 100), "size_bytes": (1,), "round_trips": (1000,)},
            variants=("bare", "timer"),
            samples=_TEN_MILLION,
            seconds=_TEN_MINUTES,
        ),
    },
)

TIMER_PERIOD_EP = Study(
    name="timer-period-ep",
    title="Time of NPB EP against the timer's period",
    group="pioman",
    source="Denis, PDP 2015, section IV-C (study P5)",
    workload=("npb", "ep"),
    quantity="elapsed_s",
    parameters={
        "class": Parameter("the problem's size", str, ("S", "W", "A", "B", "C")),
        "timer_ms": Parameter("period of the timer thread, milliseconds", int, engine="timer_us", factor=1000),
    },
    scales={
        "test": scale(1, {"timer_ms": (1, 100), "class": ("S",)}, variants=("timer",), samples=2),
        "quick": scale(
            DEFENSIBLE, {"timer_ms": (1, 10, 100), "class": ("A",)}, variants=("timer",), samples=2, seconds=1.6
        ),
        "paper": paper(
            6,
            {"timer_ms": (1, 2, 5, 10, 20, 50, 100), "class": ("B",)},
            variants=("bare", "timer"),
            samples=20,
            seconds=120,
        ),
    },
)

LATENCY_FLAVOURS = Study(
    name="latency-flavours",
    title="Latency against message size: the engine inert, polling in calls, polling in threads",
    group="pioman",
    source="Denis, PDP 2015, figure 5 (study P6)",
    workload=("microbench", "latency"),
    quantity="latency_s",
    parameters=_LATENCY,
    scales={
        "test": scale(1, {"size_bytes": (1,), "round_trips": (100,)}, variants=("off", "idle"), samples=2),
        "quick": scale(
            2,
            {"size_bytes": (1, 1 * KIB, 64 * KIB), "round_trips": (200,)},
            variants=("bare", "off", "explicit", "idle", IDLE_NATIVE, "adaptive"),
        ),
        "paper": paper(
            6,
            {"size_bytes": (*(4**k for k in range(11)), 8 * MIB), "round_trips": (1000,)},
            variants=("bare", "off", "explicit", "idle", "adaptive"),
            samples=1000,
            seconds=60,
        ),
    },
)

STUDIES = (LATENCY_IDLE_PERIOD, COMPUTE_IDLE_PERIOD, TIMER_PERIOD, TIMER_PERIOD_EP, LATENCY_FLAVOURS)
