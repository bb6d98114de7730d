# SPDX-License-Identifier: BSD-3-Clause
"""Fukuoka, Endo, Taura, "An Efficient Inter-node Communication System with Lightweight-thread Scheduling", HPCC 2019:
studies F1, F2 and F3."""

from __future__ import annotations

from reframe_checks.study import Parameter, Study
from reframe_checks.tables.common import DEFENSIBLE, KIB, MIB, ROUND_TRIPS, SIZE, paper, scale

# bare-multiple with kernel threads and, at threading=ult, as the paper's MPI+Argobots: user-level threads that test and
# yield; at threading=phases as its conventional method.
_BOTH = ("bare-multiple", "offload")
_CORES = Parameter("kernel threads that run the user-level threads, 0 one a CPU", int)
_ULTS = Parameter("tasks of each process", int)
_MAT_SIZE = Parameter("computation of a task, units of work of about 1 us", int)

CONCURRENT_LATENCY = Study(
    name="concurrent-latency",
    title="Latency of threads that communicate at once",
    group="fukuoka",
    source="Fukuoka et al., HPCC 2019, 'Concurrent Latency' (study F1)",
    workload=("ult", "concurrent-latency"),
    quantity="mean_latency_s",
    parameters={
        "threads": Parameter("threads on each side", int),
        "threading": Parameter("kind of thread", str, ("kernel", "ult")),
        "size_bytes": SIZE,
        "round_trips": ROUND_TRIPS,
        "cores": _CORES,
    },
    scales={
        "test": scale(
            1, {"threading": ("kernel", "ult"), "threads": (1, 4), "round_trips": (20,)}, variants=_BOTH, samples=2
        ),
        "quick": scale(
            2, {"threading": ("kernel", "ult"), "threads": (1, 2, 4, 8), "round_trips": (200,)}, variants=_BOTH
        ),
        "paper": paper(
            6,
            {"threading": ("kernel", "ult"), "threads": (1, 2, 4, 8, 16, 32), "round_trips": (1000,)},
            variants=_BOTH,
            samples=100,
            seconds=60,
        ),
    },
)

ULT_OVERLAP = Study(
    name="ult-overlap",
    title="Many threads that exchange, compute and exchange by blocking calls",
    group="fukuoka",
    source="Fukuoka et al., HPCC 2019, 'Overlap Benchmark' (study F2)",
    workload=("ult", "overlap"),
    quantity="remainder_s",
    parameters={
        "mat_size": _MAT_SIZE,
        "threading": Parameter("kind of thread", str, ("kernel", "ult", "phases")),
        "ults": _ULTS,
        "size_bytes": SIZE,
        "cores": _CORES,
    },
    scales={
        "test": scale(
            1,
            {"threading": ("ult",), "mat_size": (10, 100), "ults": (20,), "size_bytes": (16 * KIB,)},
            variants=_BOTH,
            samples=2,
        ),
        "quick": scale(
            2,
            {
                "threading": ("kernel", "ult", "phases"),
                "mat_size": (100, 500, 2000),
                "ults": (100,),
                "size_bytes": (64 * KIB,),
            },
            variants=_BOTH,
            samples=3,
            seconds=1.0,
            more={"offload": DEFENSIBLE},
        ),
        "paper": paper(
            6,
            {
                "threading": ("kernel", "ult", "phases"),
                "mat_size": (100, 1000, 10_000, 30_000),
                "ults": (500,),
                "size_bytes": (MIB,),
            },
            variants=_BOTH,
            samples=10,
            seconds=120,
        ),
    },
)

WAITING = Study(
    name="waiting",
    title="Two ways to wait in a user-level thread",
    group="fukuoka",
    source="Fukuoka et al., HPCC 2019, appendix (study F3)",
    workload=("ult", "waiting"),
    quantity="elapsed_s",
    parameters={
        "waiting": Parameter("out of the ready queue, or back into it", str, ("remove", "reinsert")),
        "mat_size": _MAT_SIZE,
        "ults": _ULTS,
        "threading": Parameter("kind of thread", str, ("ult",)),
        "parts": Parameter("computations of a task, each behind an exchange", int),
        "size_bytes": SIZE,
        "cores": _CORES,
    },
    scales={
        "test": scale(
            1,
            {"waiting": ("remove", "reinsert"), "mat_size": (50,), "ults": (20,), "size_bytes": (16 * KIB,),
             "cores": (2,)},
            variants=("offload",),
            samples=2,
        ),
        "quick": scale(
            2,
            {"waiting": ("remove", "reinsert"), "mat_size": (200,), "ults": (100,), "size_bytes": (16 * KIB,),
             "cores": (2,)},
            variants=("offload",),
            samples=3,
            seconds=1.0,
            more={"offload": DEFENSIBLE},
        ),
        "paper": paper(
            6,
            {"waiting": ("remove", "reinsert"), "mat_size": (1000,), "ults": (500,), "size_bytes": (MIB,)},
            variants=("offload",),
            samples=10,
            seconds=120,
        ),
    },
)  # fmt: skip

STUDIES = (CONCURRENT_LATENCY, ULT_OVERLAP, WAITING)
