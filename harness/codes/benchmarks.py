# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks of communication, and their cases: Intel's (IMB), one made of it (IMB-ASYNC), Ohio State University's.

Each is asked for few sizes, and verifies its data itself where it can.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.codes import benchmark_output
from harness.codes.code import LEADING_RATE, LEADING_TIME, RATE, SHARE, TIME, Case, Code, Quantity
from harness.codes.output import Value

SIZES = (1024, 65536, 1048576)
LARGEST = str(SIZES[-1])
# Of the sizes in a file and of no others. The limit is for a hang alone: a size that reaches it has no numbers at all.
_IMB = ("-npmin", "2", "-iter", "20", "-iter_policy", "off", "-time", "30", "-msglen", "sizes")
_IMB_FILES = {"sizes": "".join(f"{size}\n" for size in SIZES)}

ONE_WAY = {"latency_s": LEADING_TIME, "bytes_per_s": RATE}
OVERLAP = {"overall_s": LEADING_TIME, "pure_s": TIME, "compute_s": TIME, "overlap": SHARE}
RATE_ALONE = {"bytes_per_s": LEADING_RATE}
LATENCY = {"latency_s": LEADING_TIME}


_THREADS = 2
_COUNTS = ",".join(str(size // (4 * _THREADS)) for size in SIZES)  # IMB-MT counts integers of each thread
_IMB_MT = ("-thread_level", "multiple", "-count", _COUNTS, "-repeat", "20", "-warmup", "2", "-check", "yes")


def _imb(
    name: str,
    what: str,
    program: str,
    benchmarks: tuple[str, ...],
    quantities: Mapping[str, Quantity],
    more: Mapping[str, tuple[Value, ...]] = MappingProxyType({}),
) -> Case:
    """A case of sizes in a file."""
    points: dict[str, tuple[Value, ...]] = {"benchmark": benchmarks, **more, "size_bytes": SIZES}
    words, read = (*_IMB, *benchmarks), benchmark_output.imb
    return Case(f"imb-{name}", f"IMB: {what}", program, words, read, points, quantities, files=_IMB_FILES)


IMB = Code(
    "intel-mpi-benchmarks",
    "Intel MPI Benchmarks",
    ("IMB-MPI1", "IMB-NBC", "IMB-P2P", "IMB-MT", "IMB-RMA"),
    spack="intel-mpi-benchmarks",
    wheel="intel-mpi",
    cases=(
        _imb("point-to-point", "a ping-pong between two ranks", "IMB-MPI1", ("PingPong",), ONE_WAY),
        _imb("collectives", "blocking collective operations", "IMB-MPI1", ("Bcast", "Allreduce", "Alltoall"), LATENCY),
        _imb(
            "nonblocking-collectives",
            "nonblocking collective operations beside a computation",
            "IMB-NBC",
            ("Ibcast", "Ireduce", "Iallreduce", "Ialltoall", "Ialltoallv", "Igather", "Iscatter", "Iallgather"),
            OVERLAP,
        ),
        _imb("rates", "messages one way, one at a time and many", "IMB-P2P", ("Unirandom", "Birandom"), RATE_ALONE),
        _imb(
            "one-sided",
            "puts and gets, each waited for, or several at once",
            "IMB-RMA",
            ("Unidir_put", "Unidir_get"),
            LATENCY,
            {"mode": ("NON-AGGREGATE", "AGGREGATE")},
        ),
        Case(
            "imb-threads",
            "IMB: a ping-pong of two threads a rank",
            "IMB-MT",
            (*_IMB_MT, "PingPongMT"),
            benchmark_output.imb,
            {"benchmark": ("PingPongMT",), "size_bytes": SIZES},
            ONE_WAY,
            environment={"OMP_NUM_THREADS": str(_THREADS)},
        ),
    ),
    note="the wheel's run on MPICH as well, which has the same binary interface; IMB-MT wants libiomp5.so besides",
)

# -c: each size is validated; -m: from the smallest size to the largest; -i, -x: iterations, and those before. Those of
# a bandwidth are windows of 64 messages, and validating one takes longer than sending it.
_OSU = ("-c", "-m", f"{SIZES[0]}:{LARGEST}")
_FEW, _WINDOWS = ("-i", "10", "-x", "2"), ("-i", "4", "-x", "1")
_COLLECTIVES = ("ibcast", "ireduce", "iallreduce", "ialltoall", "ialltoallv", "igather", "iscatter", "iallgather")
# By itself OSU adds MPI_CHAR, for which MPI defines no sum (MPI 4.1, section 6.9.2); on Open MPI its validation fails.
_SUMS = dict.fromkeys(("ireduce", "iallreduce"), ("-T", "mpi_int"))
_OSU_PROGRAMS: tuple[tuple[str, str, tuple[str, ...], Mapping[str, Quantity]], ...] = (
    ("latency", "a ping-pong between two ranks", _FEW, LATENCY),
    ("bw", "messages one way, a window at a time", _WINDOWS, RATE_ALONE),
    ("bibw", "messages both ways, a window at a time", _WINDOWS, RATE_ALONE),
    ("latency_mt", "a ping-pong of two threads a rank", (*_FEW, "-t", f"{_THREADS}:{_THREADS}"), LATENCY),
    *((name, f"{name} beside a computation", (*_FEW, *_SUMS.get(name, ())), OVERLAP) for name in _COLLECTIVES),
)

OSU = Code(
    "osu-micro-benchmarks",
    "OSU Micro-Benchmarks",
    tuple(f"osu_{name}" for name, *_ in _OSU_PROGRAMS),
    spack="osu-micro-benchmarks",
    cases=tuple(
        Case(
            f"osu-{name.replace('_', '-')}",
            f"OSU: {what}",
            f"osu_{name}",
            (*_OSU, *options),
            benchmark_output.osu_validated,
            {"size_bytes": SIZES},
            quantities,
        )
        for name, what, options, quantities in _OSU_PROGRAMS
    ),
    note="7.1 or newer, whose sums can be of MPI_INT",
)

_ASYNC = ("pt2pt", "na2a", "allreduce")
ASYNC_SIZES = (*SIZES, 4194304)
_BYTES = ",".join(map(str, ASYNC_SIZES))
# Computation of twice the time of a message at 1 Gb/s or more, so that all of it can be hidden. IMB-ASYNC would compare
# it with a calibration of its own; here the time that it took is read, and compared with that of the other variants.
_COMPUTATION = (
    "-calctime",
    "100,1200,18000,72000",
    "-workload_params",
    "cpu_calculations=true:cycles_per_10usec=50:omit_calc_over_est=true",
)

IMB_ASYNC = Code(
    "imb-async",
    "IMB-ASYNC",
    ("IMB-ASYNC",),
    cases=(
        Case(
            "imb-async",
            "IMB-ASYNC: a message, an exchange of neighbours and a reduction, beside a computation",
            "IMB-ASYNC",
            (
                *("-thread_level", "single", "-datatype", "char", "-len", _BYTES, "-ncycles", "20", "-nwarmup", "2"),
                *("-pt2pt_params", "topology=ping-pong:bidirectional=false"),
                *_COMPUTATION,
                *(f"{kind}_{name}" for kind in ("sync", "async") for name in _ASYNC),
            ),
            benchmark_output.imb_async,
            {"benchmark": _ASYNC, "size_bytes": ASYNC_SIZES},
            {"overall_s": LEADING_TIME, "pure_s": TIME, "compute_s": TIME, "exposed_s": TIME},
        ),
    ),
    note="github.com/a-v-medvedev/mpi-benchmarks, on PATH or by apps in the site's file",
)

_PASSIVE = ("fetch_op", "compare_exchange", "accumulate", "get_accumulate", "rget_wait", "put_flush")

MPI_PROGRESS = Code(
    "mpi-progress",
    "mpi-progress",
    ("mpi_progress",),
    cases=(
        Case(
            "mpi-progress",
            "mpi-progress: operations on a window whose owner waits in a barrier, and whose owner sleeps",
            "mpi_progress",
            (),
            benchmark_output.mpi_progress,
            {"benchmark": tuple(name + end for name in _PASSIVE for end in ("", "_sleep")), "lock": ("shared",)},
            LATENCY,
        ),
    ),
    note="github.com/devreal/mpi-progress, on PATH or by apps in the site's file, made with NUM_REPS 1000UL, with "
    "SLEEPTIME 1 (else it takes half an hour), and with a barrier before benchmark_target (else two ranks may block "
    "each other for ever)",
)
