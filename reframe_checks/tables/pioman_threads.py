# SPDX-License-Identifier: BSD-3-Clause
"""Denis, PDP 2015, many threads: studies P8 and P9."""

from __future__ import annotations

from reframe_checks.study import Parameter, Study
from reframe_checks.tables.common import DEFENSIBLE, MIB, ROUND_TRIPS, SIZE, paper, scale

_THREADED = ("bare-multiple", "idle", "adaptive")
_SMALL = {"size_bytes": SIZE, "round_trips": ROUND_TRIPS}

ONE_TO_MANY = Study(
    name="one-to-many",
    title="Latency of one sending thread and N receiving ones",
    group="pioman",
    source="Denis, PDP 2015, figure 10 (study P8)",
    workload=("microbench", "one-to-many"),
    quantity="latency_s",
    parameters=_SMALL | {"receivers": Parameter("receiving threads", int)},
    scales={
        "test": scale(1, {"receivers": (1, 2), "round_trips": (20,)}, variants=("bare-multiple", "idle"), samples=2),
        "quick": scale(2, {"receivers": (1, 2, 4, 8), "round_trips": (100,)}, variants=_THREADED),
        "paper": paper(
            6,
            {"receivers": (1, 2, 4, 8, 16, 32), "round_trips": (1000,)},
            variants=_THREADED,
            samples=100,
            seconds=60,
        ),
    },
)

MANY_TO_MANY = Study(
    name="many-to-many",
    title="Latency of N threads that each talk to one of N others",
    group="pioman",
    source="Denis, PDP 2015, figure 11 (study P8)",
    workload=("microbench", "many-to-many"),
    quantity="latency_s",
    parameters=_SMALL | {"pairs": Parameter("threads on each side", int)},
    scales={
        "test": scale(1, {"pairs": (1, 2), "round_trips": (20,)}, variants=("bare-multiple", "idle"), samples=2),
        "quick": scale(2, {"pairs": (1, 2, 4, 8), "round_trips": (50,)}, variants=_THREADED),
        "paper": paper(
            6,
            {"pairs": (1, 2, 4, 8, 16, 32), "round_trips": (1000,)},
            variants=_THREADED,
            samples=100,
            seconds=60,
        ),
    },
)

N_LOAD = Study(
    name="n-load",
    title="A 1 MB ping-pong beside N computing threads on each side, N beyond the cores",
    group="pioman",
    source="Denis, PDP 2015, figure 12 (study P9)",
    workload=("microbench", "n-load"),
    quantity="latency_s",
    parameters=_SMALL
    | {
        "computing_threads": Parameter("computing threads on each side", int),
        "work": Parameter("what the computation is bound by", str, ("register", "memory")),
    },
    scales={
        "test": scale(
            1, {"computing_threads": (0, 2), "round_trips": (2,)}, variants=("bare", "idle"), samples=1, seconds=1
        ),
        "quick": scale(
            DEFENSIBLE,
            {"computing_threads": (0, 1, 4), "size_bytes": (MIB,), "round_trips": (5,)},
            variants=("bare", "idle"),
            samples=2,
            seconds=0.8,
        ),
        "paper": paper(
            6,
            {
                "computing_threads": (0, 1, 2, 4, 8, 16, 32, 64),
                "size_bytes": (MIB,),
                "work": ("register", "memory"),
                "round_trips": (100,),
            },
            variants=("bare", "idle", "adaptive"),
            samples=30,
            seconds=120,
        ),
    },
)

STUDIES = (ONE_TO_MANY, MANY_TO_MANY, N_LOAD)
