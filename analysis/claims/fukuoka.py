# SPDX-License-Identifier: BSD-3-Clause
"""Fukuoka, Endo, Taura, "An Efficient Inter-node Communication System with Lightweight-thread Scheduling", 2019."""

from __future__ import annotations

from analysis.claims.evidence import Growth, Median, Ratio
from analysis.claims.model import Cause, Claim, Study

PAPER = "Fukuoka et al., MPI+myth, HPCC 2019"
MANY = {"threads": (">", 1)}
ULTS = {"threading": "ult"}

F1 = (
    Claim(
        statement="Offloading is faster than MPI_THREAD_MULTIPLE when threads communicate at once",
        number="mean latency offload / bare-multiple, more than one thread",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="user-level threads over MPI_THREAD_MULTIPLE (their MPI+Argobots)",
        source="slide 'Concurrent Latency'",
        measure=Ratio("mean_latency_s", "offload", "bare-multiple", MANY),
        requires=("four cores",),
        cause=Cause(
            "each process has one CPU here: the communication thread takes its turns from the threads that it serves, "
            "two switches a message, where the paper's has a core of its own",
            "the same ratio with one thread, where nothing but the hand-over differs",
            Ratio("mean_latency_s", "offload", "bare-multiple", {"threads": 1}),
        ),
    ),
    Claim(
        statement="With offloading the latency does not grow with the threads",
        number="mean latency at the most threads / at the fewest, offload",
        operator="<=",
        threshold=1.0,
        margin=0.50,
        comparator="the fewest threads",
        source="slide 'Concurrent Latency'",
        measure=Growth("mean_latency_s", "offload", "threads", ULTS),
        requires=("four cores",),
        cause=Cause(
            "the one CPU of a process carries the messages of all its threads, and each waits for the others' turns",
            "CPU time of the process at the most threads / at the fewest, offload",
            Growth("cpu_s", "offload", "threads", ULTS),
        ),
    ),
)
F2 = (
    Claim(
        statement="The time that communication adds shrinks as computation grows",
        number="whole time − computation, largest MAT_SIZE / smallest, offload",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="the smallest computation",
        source="slide 'Overlap Benchmark Result'",
        measure=Growth("remainder_s", "offload", "mat_size", ULTS),
    ),
)
F3 = (
    Claim(
        statement="Removing a waiting thread from the ready queue is faster than putting it back",
        number="whole time, remove / re-insert, offload",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="re-insertion",
        source="appendix, 'Comparison of Waiting Methods'",
        measure=Ratio("elapsed_s", "offload", "offload", {"waiting": "remove"}, {"waiting": "reinsert"}),
        requires=("four cores",),
        cause=Cause(
            "a thread that is put back only takes turns on a CPU that nobody else wants meanwhile",
            "CPU time, remove / re-insert, offload",
            Ratio("cpu_s", "offload", "offload", {"waiting": "remove"}, {"waiting": "reinsert"}),
        ),
    ),
    Claim(
        statement="Removing balances the computing parts over the cores better",
        number="computing parts of the busiest core / mean, remove / re-insert",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="re-insertion",
        source="appendix, 'What makes that difference'",
        measure=Ratio("imbalance", "offload", "offload", {"waiting": "remove"}, {"waiting": "reinsert"}),
        requires=("four cores",),
        cause=Cause(
            "the two kernel threads of a process share its one CPU, and with re-insertion they are balanced already",
            "computing parts of the busiest kernel thread / mean with re-insertion (1 is perfect)",
            Median("imbalance", "offload", {"waiting": "reinsert"}),
        ),
    ),
)
F4 = (
    Claim(
        statement="miniFE spends less time communicating",
        number="communication time, offload / bare-multiple",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="the MPI alone at MPI_THREAD_MULTIPLE",
        source="slide 'Application Benchmark'",
        measure=Ratio("communication_s", "offload", "bare-multiple"),
    ),
    Claim(
        statement="2.4 to 5.1 times faster than existing systems",
        number="time, offload / best other MPI",
        operator="<=",
        threshold=1 / 2.4,
        margin=0.0,
        comparator="the best over all MPIs and their own asynchronous modes",
        source="conclusions; the benchmark is not named there",
        measure=Ratio("elapsed_s", "offload", "best other"),
    ),
)

STUDIES = (
    Study("F1", ("concurrent-latency",), PAPER, "latency of threads that communicate at once", F1),
    Study("F2", ("ult-overlap",), PAPER, "overlap by user-level threads", F2),
    Study("F3", ("waiting",), PAPER, "two ways to wait in a user-level thread", F3),
    Study("F4", ("minife-ult",), PAPER, "miniFE, one thread a neighbour", F4),
)
