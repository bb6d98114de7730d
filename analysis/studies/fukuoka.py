# SPDX-License-Identifier: BSD-3-Clause
"""Fukuoka, Endo, Taura, "An Efficient Inter-node Communication System with Lightweight-thread Scheduling", 2019: F1
to F4."""

from __future__ import annotations

from analysis.figures.curves import Curves
from analysis.measures import Growth, Median, Ratio
from analysis.subject import Cause, Claim, Subject

PAPER = "Fukuoka et al., MPI+myth, HPCC 2019"
ULTS = {"threading": "ult"}
THREADING = {
    "kernel": "kernel threads",
    "ult": "user-level threads",
    "phases": "master only, in phases",
    "remove": "removed from the queue",
    "reinsert": "put back, to test",
}


MANY = {"threads": (">", 1)}

F1_CLAIMS = (
    Claim(
        statement="Offloading is faster than MPI_THREAD_MULTIPLE when threads communicate at once",
        number="mean latency offload / bare-multiple, more than one thread",
        operator="<",
        threshold=1.0,
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
        since="2026-11-28 12:10",
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
        since="2026-11-21 19:47",
    ),
)

F1_FIGURES = (
    Curves(
        name="concurrent_latency",
        study="concurrent-latency",
        title="Latency of threads that communicate at once",
        quantity="mean_latency_s",
        formula="time of all round trips of a byte, over twice their number a thread; user-level threads without "
        "offload test and yield (lower is better; Fukuoka et al., MPI+myth, HPCC 2019)",
        x="threads",
        x_label="threads on each side",
        y_label="latency",
        row="threading",
        meanings=THREADING,
    ),
)

F1 = Subject("F1", ("concurrent-latency",), PAPER, "latency of threads that communicate at once", F1_CLAIMS, F1_FIGURES)


F2_CLAIMS = (
    Claim(
        statement="The time that communication adds shrinks as computation grows",
        number="whole time − computation, largest MAT_SIZE / smallest, offload",
        operator="<",
        threshold=1.0,
        comparator="the smallest computation",
        source="slide 'Overlap Benchmark Result'",
        measure=Growth("remainder_s", "offload", "mat_size", ULTS),
        since="2026-11-28 12:10",
    ),
)

F2_FIGURES = (
    Curves(
        name="ult_overlap",
        study="ult-overlap",
        title="What communication adds to the computation of many threads that make blocking calls",
        quantity="remainder_s",
        formula="whole time less the time of the same computation alone; each thread exchanges, computes, exchanges "
        "(lower is better; Fukuoka et al., MPI+myth, HPCC 2019)",
        x="mat_size",
        x_label="computation of a thread (units of about 1 µs)",
        y_label="whole time − computation",
        log_y=False,
        row="threading",
        meanings=THREADING,
    ),
)

F2 = Subject("F2", ("ult-overlap",), PAPER, "overlap by user-level threads", F2_CLAIMS, F2_FIGURES)


F3_CLAIMS = (
    Claim(
        statement="Removing a waiting thread from the ready queue is faster than putting it back",
        number="whole time, remove / re-insert, offload",
        operator="<",
        threshold=1.0,
        comparator="re-insertion",
        source="appendix, 'Comparison of Waiting Methods'",
        measure=Ratio("elapsed_s", "offload", "offload", {"waiting": "remove"}, {"waiting": "reinsert"}),
        requires=("four cores",),
        cause=Cause(
            "a thread that is put back only takes turns on a CPU that nobody else wants meanwhile",
            "CPU time, remove / re-insert, offload",
            Ratio("cpu_s", "offload", "offload", {"waiting": "remove"}, {"waiting": "reinsert"}),
        ),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="Removing balances the computing parts over the cores better",
        number="computing parts of the busiest core / mean, remove / re-insert",
        operator="<",
        threshold=1.0,
        comparator="re-insertion",
        source="appendix, 'What makes that difference'",
        measure=Ratio("imbalance", "offload", "offload", {"waiting": "remove"}, {"waiting": "reinsert"}),
        requires=("four cores",),
        cause=Cause(
            "the two kernel threads of a process share its one CPU, and with re-insertion they are balanced already",
            "computing parts of the busiest kernel thread / mean with re-insertion (1 is perfect)",
            Median("imbalance", "offload", {"waiting": "reinsert"}),
        ),
        since="2026-11-28 12:10",
    ),
)

F3_FIGURES = (
    Curves(
        name="waiting_time",
        study="waiting",
        title="Two ways to wait in a user-level thread: time",
        quantity="elapsed_s",
        formula="whole time of many threads that exchange and compute in turn (lower is better; Fukuoka et al., "
        "MPI+myth, HPCC 2019, appendix)",
        x="waiting",
        x_label="a waiting thread is",
        x_axis="words",
        y_label="time",
        log_y=False,
        meanings=THREADING,
    ),
    Curves(
        name="waiting_balance",
        study="waiting",
        title="Two ways to wait in a user-level thread: balance",
        quantity="imbalance",
        formula="computing parts that the busiest core did over the mean of all (1 is perfect; Fukuoka et al., "
        "MPI+myth, HPCC 2019, appendix)",
        x="waiting",
        x_label="a waiting thread is",
        x_axis="words",
        y_label="busiest core / mean",
        say="{:.2f}".format,
        log_y=False,
        meanings=THREADING,
        lines={"perfect balance": 1.0},
    ),
)

F3 = Subject("F3", ("waiting",), PAPER, "two ways to wait in a user-level thread", F3_CLAIMS, F3_FIGURES)


MINIFE_THREADS = "minife-threads"
KERNEL = {"threading": "kernel"}
ONE_CPU = (
    "each process has one CPU here, which its communication thread shares with the threads that it serves, where the "
    "paper's has a core of its own"
)

F4_CLAIMS = (
    Claim(
        statement="miniFE spends less time communicating",
        number="communication time, offload with user-level threads / bare-multiple with kernel threads",
        operator="<",
        threshold=1.0,
        comparator="the MPI alone at MPI_THREAD_MULTIPLE",
        source="slide 'Application Benchmark'",
        measure=Ratio("comm_s", "offload", "bare-multiple", ULTS, KERNEL),
        figure="minife_threads",
        cause=Cause(
            ONE_CPU,
            "time in reductions alone, where no thread is made, offload / bare-multiple",
            Ratio("allreduce_s", "offload", "bare-multiple", ULTS, KERNEL),
        ),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="A solve of miniFE is 2.4 times faster than with existing systems",
        number="time, offload with user-level threads / best other MPI with kernel threads",
        operator="<=",
        threshold=1 / 2.4,
        comparator="the best over all MPIs and their own asynchronous modes",
        source="conclusions: '2.4x to 5.1x', of a benchmark that is not named there; miniFE is our reading",
        measure=Ratio("elapsed_s", "offload", "best other", ULTS, KERNEL),
        figure="minife_threads",
        cause=Cause(
            "most of a solve is computation, which no way of communicating makes faster",
            "time outside of communication, offload / bare-multiple",
            Ratio("comp_s", "offload", "bare-multiple", ULTS, KERNEL),
        ),
        requires=("four cores",),
        since="2026-11-29 02:30",
    ),
)

F4_FIGURES = (
    Curves(
        name="minife_threads",
        study=MINIFE_THREADS,
        title="miniFE: communication of a thread for each neighbour",
        quantity="comm_s",
        formula="time from the making of the threads until the last has ended, and in reductions, of a solve; "
        "user-level threads without offload test and yield (lower is better; Fukuoka et al., MPI+myth, HPCC 2019)",
        x="threading",
        x_label="kind of thread",
        x_axis="words",
        y_label="communication",
        row="nx",
        meanings=THREADING,
        words_of={"nx": lambda edge: f"{edge:g}³ elements"},
    ),
)

F4 = Subject("F4", (MINIFE_THREADS,), PAPER, "miniFE, one thread a neighbour", F4_CLAIMS, F4_FIGURES)


SUBJECTS = (F1, F2, F3, F4)
