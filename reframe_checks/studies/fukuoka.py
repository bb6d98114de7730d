# SPDX-License-Identifier: BSD-3-Clause
"""Fukuoka, Endo, Taura, "An Efficient Inter-node Communication System with Lightweight-thread Scheduling", HPCC 2019:
studies F1 to F4."""

from __future__ import annotations

from reframe_checks.catalogue import Grid, Parameter, Study, checks
from reframe_checks.studies.shared import DEFENSIBLE, KIB, MIB, ROUND_TRIPS, SIZE, measured, paper, scale

# bare-multiple with kernel threads and, at threading=ult, as the paper's MPI+Argobots: user-level threads that test and
# yield; at threading=phases as its conventional method.
BOTH = ("bare-multiple", "offload")
CORES = Parameter("kernel threads that run the user-level threads, 0 one a CPU", int)
ULTS = Parameter("tasks of each process", int)
MAT_SIZE = Parameter("computation of a task, units of work of about 1 us", int)


# F1: latency of threads that communicate at once. Fukuoka et al., HPCC 2019.
CONCURRENT_LATENCY = Study(
    name="concurrent-latency",
    order=401,
    title="Latency of threads that communicate at once",
    group="fukuoka",
    source="Fukuoka et al., HPCC 2019, 'Concurrent Latency' (study F1)",
    workload=("ult", "concurrent-latency"),
    parameters={
        "threads": Parameter("threads on each side", int),
        "threading": Parameter("kind of thread", str, ("kernel", "ult")),
        "size_bytes": SIZE,
        "round_trips": ROUND_TRIPS,
        "cores": CORES,
    },
    scales={
        "test": scale(
            1, {"threading": ("kernel", "ult"), "threads": (1, 4), "round_trips": (20,)}, variants=BOTH, samples=2
        ),
        "quick": scale(
            2, {"threading": ("kernel", "ult"), "threads": (1, 2, 4, 8), "round_trips": (200,)}, variants=BOTH
        ),
        "paper": paper(
            6,
            {"threading": ("kernel", "ult"), "threads": (1, 2, 4, 8, 16, 32), "round_trips": (1000,)},
            variants=BOTH,
            samples=100,
            seconds=60,
        ),
    },
)


# F2: blocking calls of many threads beside their computation. Fukuoka et al., HPCC 2019.
ULT_OVERLAP = Study(
    name="ult-overlap",
    order=402,
    title="Many threads that exchange, compute and exchange by blocking calls",
    group="fukuoka",
    source="Fukuoka et al., HPCC 2019, 'Overlap Benchmark' (study F2)",
    workload=("ult", "overlap"),
    parameters={
        "mat_size": MAT_SIZE,
        "threading": Parameter("kind of thread", str, ("kernel", "ult", "phases")),
        "ults": ULTS,
        "size_bytes": SIZE,
        "cores": CORES,
    },
    scales={
        "test": scale(
            1,
            {"threading": ("ult",), "mat_size": (10, 100), "ults": (20,), "size_bytes": (16 * KIB,)},
            variants=BOTH,
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
            variants=BOTH,
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
            variants=BOTH,
            samples=10,
            seconds=120,
        ),
    },
)


# F3: two ways to wait in a user-level thread. Fukuoka et al., HPCC 2019, appendix.
WAITING = Study(
    name="waiting",
    order=403,
    title="Two ways to wait in a user-level thread",
    group="fukuoka",
    source="Fukuoka et al., HPCC 2019, appendix (study F3)",
    workload=("ult", "waiting"),
    parameters={
        "waiting": Parameter("out of the ready queue, or back into it", str, ("remove", "reinsert")),
        "mat_size": MAT_SIZE,
        "ults": ULTS,
        "threading": Parameter("kind of thread", str, ("ult",)),
        "parts": Parameter("computations of a task, each behind an exchange", int),
        "size_bytes": SIZE,
        "cores": CORES,
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


# F4: miniFE with a blocking thread for each neighbour. Fukuoka et al., HPCC 2019.
THREADING = ("kernel", "ult")


def _cube(edge: int) -> Grid:
    return {"nx": (edge,), "ny": (edge,), "nz": (edge,), "threading": THREADING}


MINIFE_THREADS = Study(
    name="minife-threads",
    order=404,
    title="miniFE, a thread for each neighbour that makes blocking calls",
    group="fukuoka",
    source="Fukuoka et al., HPCC 2019, 'Application Benchmark' (study F4)",
    workload=("minife_threads", "solve"),
    parameters={
        "nx": Parameter("elements along x", int),
        "ny": Parameter("elements along y", int),
        "nz": Parameter("elements along z", int),
        "iterations": Parameter("iterations at most", int),
        "threading": Parameter("kind of thread", str, THREADING),
        "cores": CORES,
    },
    scales={
        "test": measured(1, _cube(8), samples=(2, 2), seconds=2, variants=("bare-multiple", "offload")),
        "quick": measured(
            DEFENSIBLE,
            _cube(24),
            samples=(2, 4),
            seconds=0.5,
            variants=("bare", "bare-multiple", "mpi-async", "offload"),
            point_s=0.5,
            mpis=("mpich", "openmpi"),  # a claim compares MPIs
        ),
        "paper": measured(
            DEFENSIBLE,
            _cube(64),
            _cube(128),
            _cube(200),
            samples=(10, 30),
            seconds=120,
            warmup=2,
            variants=("bare", "bare-multiple", "mpi-async", "offload"),
            point_s=120,
        ),
    },
)

STUDIES = (CONCURRENT_LATENCY, ULT_OVERLAP, WAITING, MINIFE_THREADS)
__getattr__ = checks(__name__, STUDIES)
