# SPDX-License-Identifier: BSD-3-Clause
"""Denis, PDP 2015, many threads: studies P8, P9 and P10."""

from __future__ import annotations

from reframe_checks.features import Need
from reframe_checks.study import Parameter, Study
from reframe_checks.tables.common import DEFENSIBLE, IDLE_NATIVE, MIB, ROUND_TRIPS, SIZE, WORK, paper, scale

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
        "quick": scale(2, {"pairs": (1, 2, 4, 8), "round_trips": (50,)}, variants=(*_THREADED, IDLE_NATIVE)),
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
        "work": WORK,
    },
    scales={
        "test": scale(
            1, {"computing_threads": (0, 2), "round_trips": (2,)}, variants=("bare", "idle"), samples=1, seconds=1
        ),
        "quick": scale(
            DEFENSIBLE,
            # bare and beside 4 threads a round trip takes half a second on one core
            {"computing_threads": (0, 1, 4), "size_bytes": (MIB,), "round_trips": (2,)},
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

QUEUES = ("submission", "lock", "lock-free")

TASKS = Study(
    name="tasks",
    title="Time of an ltask while several threads submit and poll, on three designs of a queue",
    group="pioman",
    source="Denis, PDP 2015, section IV, figure 1 (study P10)",
    workload=("tasks", "contention"),
    nodes=1,
    own_threads=True,
    quantity="task_s",
    parameters={
        "queue": Parameter("design of the queues", str, QUEUES),
        "locality": Parameter("a queue for every place of the machine, or a single one", bool),
        "submitters": Parameter("threads that submit ltasks and wait for them", int),
        "pollers": Parameter("threads that only poll", int),
        "window": Parameter("ltasks that a submitter has under way", int),
        "polls": Parameter("polls until an ltask is done", int),
    },
    needs=(Need("cores>=2"),),
    scales={
        "test": scale(
            1, {"queue": QUEUES, "locality": (True,), "submitters": (2,)}, variants=("bare",), samples=2, seconds=0.1
        ),
        "quick": scale(
            DEFENSIBLE,
            {"queue": QUEUES, "locality": (True, False), "submitters": (1, 2, 4)},
            variants=("bare",),
            samples=10,
            seconds=0.1,
        ),
        "paper": paper(
            6,
            {
                "queue": QUEUES,
                "locality": (True, False),
                "submitters": (1, 2, 4, 8, 16, 32),
                "pollers": (0, 1, 4),
                "polls": (1, 16),
            },
            variants=("bare",),
            samples=100,
            seconds=10,
        ),
    },
)

STUDIES = (ONE_TO_MANY, MANY_TO_MANY, N_LOAD, TASKS)
