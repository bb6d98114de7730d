# SPDX-License-Identifier: BSD-3-Clause
"""Denis, "pioman: a pthread-based Multithreaded Communication Engine", PDP 2015."""

from __future__ import annotations

from analysis.claims.evidence import Growth, Median, MetricAt, Ratio
from analysis.claims.model import Cause, Claim, Study

PAPER = "Denis, pioman, PDP 2015"
MB4 = 4 << 20
EQUAL_BOTH = {"pattern": "both", "size_bytes": MB4, "comp_over_comm": 1.0}

P1 = (
    Claim(
        statement="With the engine the overlap ratio reaches 1 where computation takes as long as communication",
        number="total / comp, adaptive, 4 MB, both sides compute, comp = comm",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="perfect overlap",
        source="section V-B, figure 7",
        measure=MetricAt("overlap_ratio", "adaptive", EQUAL_BOTH),
        figure="overlap_ratio-4mb",
        cause=Cause(
            "the kernel and the MPI copy the message on the core that computes; the paper's InfiniBand needs none",
            "compute inflation with adaptive at the same point",
            MetricAt("compute_inflation", "adaptive", EQUAL_BOTH),
        ),
    ),
    Claim(
        statement="The MPIs as they are do not overlap when both sides compute",
        number="overlap efficiency, bare, 4 MB, both sides compute, comp = comm",
        operator="<=",
        threshold=0.0,
        margin=0.30,
        comparator="serial execution",
        source="section V-B, figure 7",
        measure=MetricAt("overlap_efficiency", "bare", EQUAL_BOTH),
        figure="overlap_efficiency-both",
        cause=Cause(
            "this MPI gives the kernel the whole message as long as it fits into the sockets' buffers, and the kernel "
            "moves it while the program computes; a message beyond the buffers has to wait",
            "bare efficiency at 32 MB",
            MetricAt("overlap_efficiency", "bare", {**EQUAL_BOTH, "size_bytes": 32 << 20}),
        ),
    ),
    Claim(
        statement="Open MPI overlaps when only the sender computes",
        number="overlap efficiency, bare, 4 MB, sender computes, comp = comm",
        operator=">=",
        threshold=1.0,
        margin=0.15,
        comparator="perfect overlap",
        source="section V-B, figure 8 left",
        measure=MetricAt("overlap_efficiency", "bare", {**EQUAL_BOTH, "pattern": "sender"}),
        figure="overlap_efficiency-sender",
        cause=Cause(
            "over TCP the sender's own calls must fill the socket, which nobody does while it computes; the paper's "
            "InfiniBand reads the memory by itself",
            "efficiency of adaptive, which makes these calls meanwhile, at the same point",
            MetricAt("overlap_efficiency", "adaptive", {**EQUAL_BOTH, "pattern": "sender"}),
        ),
        mpis=("openmpi",),
    ),
    Claim(
        statement="Open MPI does not overlap when only the receiver computes",
        number="overlap efficiency, bare, 4 MB, receiver computes, comp = comm",
        operator="<=",
        threshold=0.0,
        margin=0.30,
        comparator="serial execution",
        source="section V-B, figure 8 right",
        measure=MetricAt("overlap_efficiency", "bare", {**EQUAL_BOTH, "pattern": "receiver"}),
        figure="overlap_efficiency-receiver",
        cause=Cause(
            "the sockets' buffers take in what the receiver has not read yet; a message beyond them has to wait",
            "bare efficiency at 32 MB, both sides",
            MetricAt("overlap_efficiency", "bare", {**EQUAL_BOTH, "size_bytes": 32 << 20}),
        ),
        mpis=("openmpi",),
    ),
)

P2 = (
    Claim(
        statement="With the engine a send with computation takes as long as the longer of the two, from 100 µs on",
        number="total / max(comp, comm), adaptive, worst size and computation from 100 µs on",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="perfect overlap",
        source="section V-B, figure 9",
        measure=MetricAt("slowdown", "adaptive", {"pattern": "both", "comp_s": (">=", 1e-4)}),
        cause=Cause(
            "each side has one core here: each wake of the engine's thread and the kernel's copying take time from the "
            "computation, which counts where computation and message are as short as that",
            "compute inflation with adaptive beside 1 MB and 1 ms",
            MetricAt("compute_inflation", "adaptive", {"pattern": "both", "size_bytes": 1 << 20, "comp_s": 1e-3}),
        ),
        figure="send_time-both",
    ),
)

NATIVE = "idle:waiting=native"  # idle as it is, but whoever waits polls by itself
_MANAGED = (
    "with managed waiting whoever waits sleeps until a thread of the engine has polled, and all threads of a rank have "
    "one core here: a message waits for the period and for a switch of threads; in the paper other cores were idle"
)
FREQUENT, RARE = {"period_us": ("<", 10)}, {"period_us": 10000}
P3 = (
    Claim(
        statement="The idle threads' period hardly moves the best latency",
        number="best latency at every period / at 10000 µs, idle, 1 byte",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="period 10000 µs",
        source="section IV-C, figures 2 and 3",
        measure=Ratio("latency_s", "idle", "idle", {"period_us": (">=", 0)}, RARE, "min"),
        cause=Cause(
            _MANAGED,
            "best latency at every period / at 10000 µs where the waiting one polls",
            Ratio("latency_s", NATIVE, NATIVE, {"period_us": (">=", 0)}, RARE, "min"),
        ),
        requires=("rdma",),
    ),
    Claim(
        statement="Below a period of 10 µs the median latency rises",
        number="median latency below 10 µs / at 10000 µs, idle, 1 byte",
        operator=">=",
        threshold=1.0,
        margin=0.0,
        comparator="period 10000 µs",
        source="section IV-C, figures 2 and 3",
        measure=Ratio("latency_s", "idle", "idle", FREQUENT, RARE),
        cause=Cause(
            _MANAGED,
            "median latency below 10 µs / at 10000 µs where the waiting one polls",
            Ratio("latency_s", NATIVE, NATIVE, FREQUENT, RARE),
        ),
        requires=("rdma",),
    ),
    Claim(
        statement="Beyond a period of 10 µs the effect on the median latency is negligible",
        number="median latency beyond 10 µs / at 10000 µs, idle, 1 byte",
        operator="<=",
        threshold=1.0,
        margin=0.05,
        comparator="period 10000 µs",
        source="section IV-C, figures 2 and 3",
        measure=Ratio("latency_s", "idle", "idle", {"period_us": (">", 10)}, RARE),
        cause=Cause(
            _MANAGED,
            "median latency beyond 10 µs / at 10000 µs where the waiting one polls",
            Ratio("latency_s", NATIVE, NATIVE, {"period_us": (">", 10)}, RARE),
        ),
        requires=("rdma",),
    ),
)

P4 = tuple(
    Claim(
        statement=f"The idle period moves the time of EP by less than 0.5 % ({words})",
        number="time of EP at a period / at 1000 µs, idle, class B, 2 processes",
        operator=operator,
        threshold=threshold,
        margin=0.0,
        comparator="period 1000 µs",
        source="section IV-C, figure 4",
        measure=Ratio("elapsed_s", "idle", "idle", {"period_us": ("<", 1000)}, {"period_us": 1000}),
        figure="compute_idle_period",
        cause=Cause(
            "each rank has one core here, on which the idle thread takes turns with the computation; the paper's idle "
            "threads found cores that idled",
            "CPU time of the process at the period / at 1000 µs",
            Ratio("cpu_s", "idle", "idle", {"period_us": ("<", 1000)}, {"period_us": 1000}),
        ),
    )
    for operator, threshold, words in (("<=", 1.005, "not slower"), (">=", 0.995, "not faster"))
)

P5 = tuple(
    Claim(
        statement=f"A timer period of 1 ms and of 100 ms cannot be told apart ({words})",
        number=f"{words} at 1 ms / at 100 ms, timer",
        operator="<=",
        threshold=1.0,
        margin=0.01,
        comparator="timer period 100 ms",
        source="section IV-C",
        measure=Ratio(quantity, "timer", "timer", {"timer_ms": 1}, {"timer_ms": 100}),
        cause=Cause(
            "each rank has one core here, so that every round of the timer interrupts what runs there",
            "CPU time of the process at 1 ms / at 100 ms",
            Ratio("cpu_s", "timer", "timer", {"timer_ms": 1}, {"timer_ms": 100}),
        ),
    )
    for quantity, words in (("latency_s", "latency"), ("elapsed_s", "time of EP"))
)

P6 = (
    Claim(
        statement="Polling inside MPI calls adds about 100 ns to the latency",
        number="median latency explicit / off, 1 byte",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="the engine loaded and inert (off)",
        source="section V-A, figure 5 (about 100 ns of 1.2 µs and more)",
        measure=Ratio("latency_s", "explicit", "off", {"size_bytes": 1}),
        requires=("rdma",),
    ),
    Claim(
        statement="Threads add another 100 to 200 ns to the median",
        number="median latency idle / explicit, 1 byte",
        operator="<=",
        threshold=1.0,
        margin=0.20,
        comparator="explicit",
        source="section V-A, figure 5",
        measure=Ratio("latency_s", "idle", "explicit", {"size_bytes": 1}),
        cause=Cause(
            _MANAGED,
            "median latency idle / explicit where the waiting one polls",
            Ratio("latency_s", NATIVE, "explicit", {"size_bytes": 1}),
        ),
        requires=("rdma",),
    ),
)

P7 = (
    Claim(
        statement="The engine costs the NAS Parallel Benchmarks at most 2 %",
        number="time with idle / bare, every kernel",
        operator="<=",
        threshold=1.02,
        margin=0.0,
        comparator="the same MPI, bare",
        source="section V-A, figure 6",
        measure=Ratio("elapsed_s", "idle", "bare"),
    ),
)

P8 = (
    Claim(
        statement="One sender, N receiving threads: latency does not depend on N with managed waiting",
        number="median latency at the most receivers / at one, idle",
        operator="<=",
        threshold=1.0,
        margin=0.50,
        comparator="one receiver",
        source="section V-C, figure 10",
        measure=Growth("latency_s", "idle", "receivers"),
        requires=("four cores",),
    ),
    Claim(
        statement="One sender, N receiving threads: the MPI alone is linear in N",
        number="growth of the median latency in proportion to N, bare-multiple",
        operator=">=",
        threshold=1.0,
        margin=0.50,
        comparator="growth in proportion to N",
        source="section V-C, figure 10",
        measure=Growth("latency_s", "bare-multiple", "receivers", per_step=True),
        cause=Cause(
            "the receiving threads share one core: only one of them is inside MPI at a time, and nobody contends for "
            "its lock; with as many messages under way as threads they do take turns",
            "the same growth of N senders and N receivers, bare-multiple",
            Growth("latency_s", "bare-multiple", "pairs", per_step=True),
            studies=("many-to-many",),
        ),
        requires=("four cores",),
    ),
    Claim(
        statement="N senders, N receivers: the slope is lower with the engine",
        number="median latency idle / bare-multiple at each N",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="the MPI alone at MPI_THREAD_MULTIPLE",
        source="section V-C, figure 11",
        measure=Ratio("latency_s", "idle", "bare-multiple", {"pairs": (">", 1)}),
        cause=Cause(
            _MANAGED,
            "the same where the waiting ones poll",
            Ratio("latency_s", NATIVE, "bare-multiple", {"pairs": (">", 1)}),
        ),
        requires=("four cores",),
    ),
)

P9 = (
    Claim(
        statement="Computing threads beyond the cores do not move the median of a 1 MB ping-pong",
        number="median latency under the highest load / unloaded, idle",
        operator="<=",
        threshold=1.0,
        margin=0.20,
        comparator="no computing thread",
        source="section V-C, figure 12",
        measure=Growth("latency_s", "idle", "computing_threads"),
        figure="n_load",
        cause=Cause(
            "the thread that communicates shares the node's only core with those that compute and waits for its turn, "
            "with the engine and without it",
            "median latency under the highest load / unloaded, bare",
            Growth("latency_s", "bare", "computing_threads"),
        ),
    ),
    Claim(
        statement="Under load the slowest round trip stays within 20 ms of the unloaded one",
        number="maximum over the unloaded maximum (s), idle",
        operator="<=",
        threshold=0.020,
        margin=0.0,
        comparator="20 ms",
        source="section V-C, figure 12",
        measure=Median("excess_latency_s", "idle", {"computing_threads": (">", 0)}, "max"),
        figure="n_load",
        cause=Cause(
            "with one core a node every computing thread has its time slice before the one that communicates has its "
            "own again; the paper's nodes had more cores",
            "the same number with bare (s)",
            Median("excess_latency_s", "bare", {"computing_threads": (">", 0)}, "max"),
        ),
    ),
)

P10 = tuple(
    Claim(
        statement=f"Under load the submission queue beats the {other} queue",
        number=f"time a task, submission queue / {other}, more than one submitter",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator=f"{other} queue",
        source="section IV-B, figure 1",
        figure="task_queues",
        measure=Ratio(
            "task_s",
            "bare",
            "bare",
            {"queue": "submission", "submitters": (">", 1)},
            {"queue": other},
        ),
        cause=Cause(
            "with two cores for the submitters and the poller hardly two of them run inside a queue at once: it is not "
            "contended for, and the queue with the fewest instructions wins",
            f"growth of the {other} queue's own time in proportion to the submitters, a single queue (contended: 1)",
            Growth("task_s", "bare", "submitters", {"queue": other, "locality": False}, per_step=True),
        ),
        requires=("three cores",),
    )
    for other in ("lock", "lock-free")
)

STUDIES = (
    Study("P1", ("overlap-ratio",), PAPER, "overlap ratio against computation", P1),
    Study("P2", ("send-time",), PAPER, "send time against message size", P2),
    Study("P3", ("latency-idle-period",), PAPER, "latency against the idle period", P3),
    Study("P4", ("compute-idle-period",), PAPER, "computation against the idle period", P4),
    Study("P5", ("timer-period", "timer-period-ep"), PAPER, "latency and computation against the timer period", P5),
    Study("P6", ("latency-flavours",), PAPER, "latency of off, explicit, idle", P6),
    Study("P7", ("nas",), PAPER, "NAS Parallel Benchmarks", P7),
    Study("P8", ("one-to-many", "many-to-many"), PAPER, "latency with many threads", P8),
    Study("P9", ("n-load",), PAPER, "latency beside computing threads", P9),
    Study("P10", ("tasks",), PAPER, "contention on the task queues", P10),
)
