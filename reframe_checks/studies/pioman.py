# SPDX-License-Identifier: BSD-3-Clause
"""Denis, "pioman: a pthread-based Multithreaded Communication Engine", PDP 2015: studies P1 to P10."""

from __future__ import annotations

from reframe_checks.catalogue import BASELINES, PRESETS, Grid, Need, Parameter, Study, checks
from reframe_checks.studies.shared import (
    DEFENSIBLE,
    IDLE_NATIVE,
    KIB,
    MIB,
    NPB,
    ROUND_TRIPS,
    SIZE,
    TEST_EVERY,
    WORK,
    measured,
    paper,
    scale,
)

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


# P1: does a message move while its owners compute? Denis, PDP 2015, figures 7 and 8.
OVERLAP_RATIO = Study(
    name="overlap-ratio",
    order=101,
    title="Total time over computation time: does a message move while its owners compute?",
    group="pioman",
    source="Denis, PDP 2015, figures 7 and 8 (study P1)",
    workload=("microbench", "overlap"),
    parameters=OVERLAP | {"comp_over_comm": Parameter("computation time over the bare communication time", float)},
    scales={
        "test": measured(
            2,
            {"pattern": ("both",), "size_bytes": (4 * MIB,), "comp_over_comm": (1.0,)},
            samples=(3, 3),
            seconds=5,
            variants=("bare", "adaptive"),
            limit=FEW_WAKES,
        ),
        "quick": measured(
            1,
            {"pattern": ("both",), "size_bytes": (64 * KIB, 4 * MIB), "comp_over_comm": (0.5, 1.0, 2.0)},
            {"pattern": ("sender", "receiver"), "size_bytes": (4 * MIB,), "comp_over_comm": (1.0,)},
            {"pattern": ("both",), "size_bytes": (32 * MIB,), "comp_over_comm": (1.0,)},
            samples=(3, 20),
            seconds=0.45,
            more=DECIDING,
            mpis=("mpich", "openmpi"),  # claims of this study name Open MPI
            variants=ALL,
            limit=FEW_WAKES | {"comp_over_comm": (1.0, 2.0)},
        ),
        "paper": measured(
            6,
            {
                "pattern": ("both", "sender", "receiver"),
                "size_bytes": (64 * KIB, 4 * MIB, 32 * MIB),
                "comp_over_comm": (0.125, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0),
            },
            samples=(10, 100),
            seconds=20,
            warmup=2,
            variants=ALL,
            limit=WAKES,
        ),
    },
)


# P2: is the time of a send with computation their maximum or their sum? Denis, PDP 2015, figure 9.
_SIZES_TO_8_MIB = (*(4**k for k in range(11)), 2 * MIB, 4 * MIB, 8 * MIB)

SEND_TIME = Study(
    name="send-time",
    order=102,
    title="Time of a send with computation against message size: max(computation, communication) or their sum?",
    group="pioman",
    source="Denis, PDP 2015, figure 9 (study P2)",
    workload=("microbench", "overlap"),
    parameters=OVERLAP | {"comp_s": Parameter("computation time, seconds", float)},
    scales={
        "test": measured(
            2,
            {"pattern": ("both",), "size_bytes": (1, 64 * KIB), "comp_s": (0.0, 0.0005)},
            samples=(3, 10),
            seconds=1,
            variants=("bare", "adaptive"),
            limit=FEW_WAKES,
        ),
        "quick": measured(
            1,
            {
                "pattern": ("both",),
                "size_bytes": (1, 1 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1 * MIB, 8 * MIB),
                "comp_s": (0.0, 0.0001, 0.0002, 0.0005, 0.001),
            },
            samples=(3, 30),
            seconds=0.2,
            more=DECIDING,
            mpis=("mpich",),
            variants=("bare", "mpi-async", "idle", "adaptive", "limit"),
            limit=FEW_WAKES | {"comp_s": (0.0005, 0.001)},
        ),
        "paper": measured(
            6,
            {
                "pattern": ("both",),
                "size_bytes": (*_SIZES_TO_8_MIB, 80 * MIB),
                "comp_s": (0.0, 0.0001, 0.0002, 0.0005, 0.001),
            },
            samples=(10, 1000),
            seconds=10,
            warmup=2,
            variants=ALL,
            limit=WAKES,
        ),
    },
)


# P3: does the period of the idle threads show in the latency? Denis, PDP 2015, figures 2 and 3.
LATENCY_IDLE_PERIOD = Study(
    name="latency-idle-period",
    order=103,
    title="Latency of a byte against the period at which idle threads poll",
    group="pioman",
    source="Denis, PDP 2015, figures 2 and 3 (study P3)",
    workload=("microbench", "latency"),
    parameters=LATENCY | {"period_us": Parameter("period of the idle threads, microseconds", int, engine="idle_us")},
    scales={
        "test": scale(1, {"period_us": (1, 10000), **ONE_BYTE}, variants=("idle",), samples=2),
        "quick": scale(2, {"period_us": (0, 1, 5, 20, 100, 10000), **ONE_BYTE}, variants=("bare", "idle", IDLE_NATIVE)),
        "paper": paper(
            6,
            {"period_us": (0, 1, 2, 5, 10, 20, 50, 100, 1000, 10000), "size_bytes": (1,), "round_trips": (1000,)},
            variants=("bare", "idle"),
            samples=TEN_MILLION,
            seconds=TEN_MINUTES,
        ),
    },
)


# P4: does the idle threads' period slow a computation down? Denis, PDP 2015, figure 4.
COMPUTE_IDLE_PERIOD = Study(
    name="compute-idle-period",
    order=104,
    title="Time of NPB EP against the period at which idle threads poll",
    group="pioman",
    source="Denis, PDP 2015, figure 4 (study P4)",
    workload=("npb", "ep"),
    parameters={
        "class": CLASS,
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


# P5: does the timer's period show in the latency? Denis, PDP 2015, section IV-C.
TIMER_PERIOD = Study(
    name="timer-period",
    order=105,
    title="Latency of a byte against the timer's period",
    group="pioman",
    source="Denis, PDP 2015, section IV-C (study P5)",
    workload=("microbench", "latency"),
    parameters=LATENCY
    | {"timer_ms": Parameter("period of the timer thread, milliseconds", int, engine="timer_us", factor=1000)},
    scales={
        "test": scale(1, {"timer_ms": (1, 100), **ONE_BYTE}, variants=("timer",), samples=2),
        "quick": scale(DEFENSIBLE, {"timer_ms": (1, 10, 100), **ONE_BYTE}, variants=("timer",)),
        "paper": paper(
            6,
            {"timer_ms": (1, 2, 5, 10, 20, 50, 100), "size_bytes": (1,), "round_trips": (1000,)},
            variants=("bare", "timer"),
            samples=TEN_MILLION,
            seconds=TEN_MINUTES,
        ),
    },
)


# P5: does the timer's period show in a computation? Denis, PDP 2015, section IV-C.
TIMER_PERIOD_EP = Study(
    name="timer-period-ep",
    order=106,
    title="Time of NPB EP against the timer's period",
    group="pioman",
    source="Denis, PDP 2015, section IV-C (study P5)",
    workload=("npb", "ep"),
    parameters={
        "class": CLASS,
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


# P6: what do polling in calls and in threads add to the latency? Denis, PDP 2015, figure 5.
LATENCY_FLAVOURS = Study(
    name="latency-flavours",
    order=107,
    title="Latency against message size: the engine inert, polling in calls, polling in threads",
    group="pioman",
    source="Denis, PDP 2015, figure 5 (study P6)",
    workload=("microbench", "latency"),
    parameters=LATENCY,
    scales={
        "test": scale(1, {"size_bytes": (1,), "round_trips": (100,)}, variants=("off", "idle"), samples=2),
        "quick": scale(
            2,
            {"size_bytes": (1, 1 * KIB, 64 * KIB), "round_trips": (200,)},
            variants=("bare", "off", "explicit", "idle", IDLE_NATIVE, "adaptive"),
            point_s=0.0,
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


# P8: does the latency grow with the threads that wait? Denis, PDP 2015, figure 10.
ONE_TO_MANY = Study(
    name="one-to-many",
    order=108,
    title="Latency of one sending thread and N receiving ones",
    group="pioman",
    source="Denis, PDP 2015, figure 10 (study P8)",
    workload=("microbench", "one-to-many"),
    parameters=SMALL | {"receivers": Parameter("receiving threads", int)},
    scales={
        "test": scale(1, {"receivers": (1, 2), "round_trips": (20,)}, variants=("bare-multiple", "idle"), samples=2),
        "quick": scale(2, {"receivers": (1, 2, 4, 8), "round_trips": (100,)}, variants=THREADED),
        "paper": paper(
            6, {"receivers": (1, 2, 4, 8, 16, 32), "round_trips": (1000,)}, variants=THREADED, samples=100, seconds=60
        ),
    },
)


# P8: latency of N threads that talk to N others. Denis, PDP 2015, figure 11.
MANY_TO_MANY = Study(
    name="many-to-many",
    order=109,
    title="Latency of N threads that each talk to one of N others",
    group="pioman",
    source="Denis, PDP 2015, figure 11 (study P8)",
    workload=("microbench", "many-to-many"),
    parameters=SMALL | {"pairs": Parameter("threads on each side", int)},
    scales={
        "test": scale(1, {"pairs": (1, 2), "round_trips": (20,)}, variants=("bare-multiple", "idle"), samples=2),
        "quick": scale(2, {"pairs": (1, 2, 4, 8), "round_trips": (50,)}, variants=(*THREADED, IDLE_NATIVE)),
        "paper": paper(
            6, {"pairs": (1, 2, 4, 8, 16, 32), "round_trips": (1000,)}, variants=THREADED, samples=100, seconds=60
        ),
    },
)


# P9: does a ping-pong suffer from computing threads beyond the cores? Denis, PDP 2015, figure 12.
N_LOAD = Study(
    name="n-load",
    order=110,
    title="A 1 MB ping-pong beside N computing threads on each side, N beyond the cores",
    group="pioman",
    source="Denis, PDP 2015, figure 12 (study P9)",
    workload=("microbench", "n-load"),
    parameters=SMALL | {"computing_threads": Parameter("computing threads on each side", int), "work": WORK},
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


# P10: which design of a task queue stands up to contention? Denis, PDP 2015, section IV, figure 1.
QUEUES = ("submission", "lock", "lock-free")

TASKS = Study(
    name="tasks",
    order=111,
    title="Time of an ltask while several threads submit and poll, on three designs of a queue",
    group="pioman",
    source="Denis, PDP 2015, section IV, figure 1 (study P10)",
    workload=("tasks", "contention"),
    nodes=1,
    own_threads=True,
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


# P7: what does the engine cost programs that do not overlap? Denis, PDP 2015, figure 6.
NAS_KERNELS = ("is", "ep", "cg", "mg", "ft", "lu")
NAS_VARIANTS = ("bare", "explicit", "idle", "adaptive")


def _published(name: str, *kernels: str) -> Grid:
    """As published."""
    return {"kernel": kernels, "class": (name,), "mode": ("blocking",)}


NAS = Study(
    name="nas",
    order=113,
    title="NAS Parallel Benchmarks as they are published, with the engine and without",
    group="pioman",
    source="Denis, PDP 2015, figure 6 (study P7)",
    workload=("npb", "suite"),
    parameters=NPB,
    scales={
        "test": scale(1, _published("S", "is", "mg"), variants=("bare", "adaptive"), samples=1),
        "quick": scale(
            DEFENSIBLE,
            _published("S", "ep", "cg", "lu"),
            _published("W", "is", "mg", "ft"),
            variants=NAS_VARIANTS,
            samples=2,
            seconds=0.3,
        ),
        "paper": paper(
            6,
            _published("A", *NAS_KERNELS),
            _published("B", *NAS_KERNELS),
            _published("C", *NAS_KERNELS),
            variants=("bare", "mpi-async", "off", "explicit", "timer", "idle", "adaptive"),
            samples=10,
            seconds=120,
        ),
    },
)


# Beside P7: what does overlap give the NAS Parallel Benchmarks, where the program leaves room for it?
WITH_ROOM = ("is", "cg", "mg", "ft")
NPB_MODES = ("blocking", "overlapped")
NPB_VARIANTS = ("bare", "adaptive")


def _both_ways(name: str, *kernels: str) -> Grid:
    return {"kernel": kernels, "class": (name,), "mode": NPB_MODES}


NPB_OVERLAP = Study(
    name="npb-overlap",
    order=114,
    title="NAS Parallel Benchmarks with communication beside the computation, against the published order",
    group="pioman",
    source="our own, beside Denis, PDP 2015, figure 6",
    workload=("npb", "suite"),
    parameters=NPB,
    scales={
        "test": scale(1, _both_ways("S", "is", "mg"), variants=NPB_VARIANTS, samples=1),
        "quick": scale(
            DEFENSIBLE,
            _both_ways("S", "cg"),
            _both_ways("W", "is", "mg", "ft"),
            variants=NPB_VARIANTS,
            samples=1,
            seconds=0.3,
        ),
        "paper": paper(
            6,
            _both_ways("A", *WITH_ROOM),
            _both_ways("B", *WITH_ROOM),
            _both_ways("C", *WITH_ROOM),
            variants=("bare", "mpi-async", "thread", "idle", "adaptive"),
            samples=10,
            seconds=120,
        ),
    },
)

STUDIES = (
    OVERLAP_RATIO,
    SEND_TIME,
    LATENCY_IDLE_PERIOD,
    COMPUTE_IDLE_PERIOD,
    TIMER_PERIOD,
    TIMER_PERIOD_EP,
    LATENCY_FLAVOURS,
    ONE_TO_MANY,
    MANY_TO_MANY,
    N_LOAD,
    TASKS,
    NAS,
    NPB_OVERLAP,
)
__getattr__ = checks(__name__, STUDIES)
