# SPDX-License-Identifier: BSD-3-Clause
"""Denis, "pioman: a pthread-based Multithreaded Communication Engine", PDP 2015: P1 to P10."""

from __future__ import annotations

from analysis.figures.curves import Curves
from analysis.figures.overlap import SEND_TIME, OverlapMap, Sweep, efficiency, ratio, send_time
from analysis.measures import Growth, MetricAt, Nanoseconds, OfAll, Ratio
from analysis.metrics.evaluate import STUDY
from analysis.subject import Cause, Claim, Subject

PAPER = "Denis, pioman, PDP 2015"
NATIVE = "idle:waiting=native"  # idle as it is, but whoever waits polls by itself
MANAGED = (
    "with managed waiting whoever waits sleeps until a thread of the engine has polled, and all threads of a rank have "
    "one core here: a message waits for the period and for a switch of threads; in the paper other cores were idle"
)
HALF = (
    "half a round trip; best, median and mean of each launch's round trips, the median over launches (lower is better"
)
BEST_TO_MEAN = ("min", "median", "mean")
NAMES = {name: name.upper() for name in ("is", "ep", "cg", "mg", "ft", "lu")}  # of the NAS Parallel Benchmarks


MB4 = 4 << 20
EQUAL_BOTH = {"pattern": "both", "size_bytes": MB4, "comp_over_comm": 1.0}
IN_THE_SOCKETS = Cause(
    "this MPI gives the kernel the whole message as long as it fits into the sockets' buffers, and the kernel moves it "
    "while the program computes; a message beyond the buffers has to wait",
    "bare efficiency at 32 MB",
    MetricAt("overlap_efficiency", "bare", {**EQUAL_BOTH, "size_bytes": 32 << 20}),
)

P1_CLAIMS = (
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
            "compute slowdown with adaptive at the same point",
            MetricAt("compute_inflation", "adaptive", EQUAL_BOTH),
        ),
        since="2026-11-21 09:57",
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
        cause=IN_THE_SOCKETS,
        since="2026-11-21 09:57",
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
        since="2026-11-21 09:57",
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
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="Polling inside MPI calls alone does not overlap either when both sides compute",
        number="overlap efficiency, explicit, 4 MB, both sides compute, comp = comm",
        operator="<=",
        threshold=0.0,
        margin=0.30,
        comparator="serial execution",
        source="section V-B, figure 7 (the flavour nothread)",
        measure=MetricAt("overlap_efficiency", "explicit", EQUAL_BOTH),
        figure="overlap_efficiency-both",
        cause=IN_THE_SOCKETS,
        since="2026-11-29 02:30",
    ),
)

P1 = Subject(
    "P1",
    ("overlap-ratio",),
    PAPER,
    "overlap ratio against computation",
    P1_CLAIMS,
    (efficiency, ratio, OverlapMap(STUDY), Sweep(STUDY)),
)


P2_CLAIMS = (
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
            "compute slowdown with adaptive beside 1 MB and 1 ms",
            MetricAt("compute_inflation", "adaptive", {"pattern": "both", "size_bytes": 1 << 20, "comp_s": 1e-3}),
        ),
        figure="send_time-both",
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="The MPIs as they are have no overlap in this case",
        number="overlap efficiency, bare, best size and computation from 100 µs on",
        operator="<=",
        threshold=0.0,
        margin=0.30,
        comparator="serial execution",
        source="section V-B, figure 9",
        measure=MetricAt("overlap_efficiency", "bare", {"pattern": "both", "comp_s": (">=", 1e-4)}),
        figure="send_time-both",
        cause=Cause(
            "a short message is in the sockets when its call returns, and the kernel moves it while the program "
            "computes; the paper's InfiniBand does so, too, for messages without a handshake, which are too short for "
            "its figure to tell",
            "hidden communication, bare, beside 1 MB and 1 ms",
            MetricAt("hidden_communication", "bare", {"pattern": "both", "size_bytes": 1 << 20, "comp_s": 1e-3}),
        ),
        since="2026-11-29 02:30",
    ),
)


P2 = Subject(
    "P2",
    ("send-time",),
    PAPER,
    "send time against message size",
    P2_CLAIMS,
    (send_time, OverlapMap(SEND_TIME), Sweep(SEND_TIME)),
)


BYTE = {"size_bytes": 1}
FREQUENT, BEYOND, RARE = {"period_us": ("<", 10)}, {"period_us": (">", 10)}, {"period_us": 10000}

P3_CLAIMS = (
    Claim(
        statement="The idle threads' period hardly moves the best latency",
        number="best latency at every period / at 10000 µs, idle, 1 byte",
        operator="=",
        threshold=1.0,
        margin=0.10,
        comparator="period 10000 µs",
        source="section IV-C, figures 2 and 3",
        measure=Ratio("latency_s", "idle", "idle", {"period_us": ("<", 10000), **BYTE}, RARE, "min"),
        cause=Cause(
            MANAGED,
            "best latency at every period / at 10000 µs where the waiting one polls",
            Ratio("latency_s", NATIVE, NATIVE, {"period_us": (">=", 0)}, RARE, "min"),
        ),
        requires=("rdma",),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="Below a period of 10 µs the median latency rises",
        number="median latency below 10 µs / at 10000 µs, idle, 1 byte",
        operator=">",
        threshold=1.0,
        comparator="period 10000 µs",
        source="section IV-C, figures 2 and 3",
        measure=Ratio("latency_s", "idle", "idle", FREQUENT | BYTE, RARE),
        cause=Cause(
            MANAGED,
            "median latency below 10 µs / at 10000 µs where the waiting one polls",
            Ratio("latency_s", NATIVE, NATIVE, FREQUENT, RARE),
        ),
        requires=("rdma",),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="Beyond a period of 10 µs the effect on the median latency is negligible",
        number="median latency beyond 10 µs / at 10000 µs, idle, 1 byte",
        operator="=",
        threshold=1.0,
        margin=0.05,
        comparator="period 10000 µs",
        source="section IV-C, figures 2 and 3",
        measure=Ratio("latency_s", "idle", "idle", BEYOND | BYTE, RARE),
        cause=Cause(
            MANAGED,
            "median latency beyond 10 µs / at 10000 µs where the waiting one polls",
            Ratio("latency_s", NATIVE, NATIVE, {"period_us": (">", 10)}, RARE),
        ),
        requires=("rdma",),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="Below a period of 10 µs the mean latency rises, too",
        number="mean latency below 10 µs / at 10000 µs, idle, 1 byte",
        operator=">",
        threshold=1.0,
        comparator="period 10000 µs",
        source="section IV-C, figures 2 and 3",
        measure=Ratio("latency_s", "idle", "idle", FREQUENT | BYTE, RARE, "mean"),
        requires=("rdma",),
        since="2026-11-29 02:30",
    ),
    Claim(
        statement="The mean latency stays close to the median: extreme values do not happen often",
        number="mean / median latency at every period, idle, 1 byte",
        operator="=",
        threshold=1.0,
        margin=0.10,
        comparator="the median at the same period",
        source="section IV-C, figures 2 and 3 (how close is our reading)",
        measure=Ratio("latency_s", "idle", "idle", BYTE, None, "mean", "median"),
        requires=("rdma",),
        since="2026-11-29 02:30",
    ),
)

P3_FIGURES = (
    Curves(
        name="latency_idle_period",
        study="latency-idle-period",
        title="Latency of a byte against the idle threads' period",
        quantity="latency_s",
        formula=f"{HALF}; Denis, pioman, PDP 2015, figures 2 and 3). Period 0: the thread only yields",
        x="period_us",
        x_label="period of the idle threads (µs)",
        y_label="latency",
        row="statistic",
        statistics=BEST_TO_MEAN,
    ),
)

P3 = Subject("P3", ("latency-idle-period",), PAPER, "latency against the idle period", P3_CLAIMS, P3_FIGURES)


P4_CLAIMS = (
    Claim(
        statement="The idle period moves the time of EP by less than 0.5 %",
        number="time of EP at a period / at 1000 µs, idle, class B, 2 processes",
        operator="=",
        threshold=1.0,
        margin=0.005,
        comparator="period 1000 µs",
        source="section IV-C, figure 4",
        measure=Ratio("elapsed_s", "idle", "idle", {"period_us": ("<", 1000), "class": "B"}, {"period_us": 1000}),
        figure="compute_idle_period",
        requires=("two processes",),
        cause=Cause(
            "each rank has one core here, on which the idle thread takes turns with the computation; the paper's idle "
            "threads found cores that idled",
            "CPU time of the process at the period / at 1000 µs",
            Ratio("cpu_s", "idle", "idle", {"period_us": ("<", 1000)}, {"period_us": 1000}),
        ),
        since="2026-11-28 12:10",
    ),
)

P4_FIGURES = (
    Curves(
        name="compute_idle_period",
        study="compute-idle-period",
        title="Time of NPB EP against the idle threads' period",
        quantity="elapsed_s",
        formula="time of a run of EP on all ranks (lower is better; Denis, pioman, PDP 2015, figure 4: differences "
        "below 0.5 %). Period 0: the thread only yields",
        x="period_us",
        x_label="period of the idle threads (µs)",
        y_label="time of EP",
        log_y=False,
    ),
)

P4 = Subject("P4", ("compute-idle-period",), PAPER, "computation against the idle period", P4_CLAIMS, P4_FIGURES)


P5_CLAIMS = tuple(
    Claim(
        statement=f"Timer periods from 1 ms to 100 ms cannot be told apart ({words})",
        number=f"{words} at each period / at 100 ms, timer",
        operator="=",
        threshold=1.0,
        margin=0.01,
        comparator="timer period 100 ms",
        source="section IV-C",
        measure=Ratio(quantity, "timer", "timer", {"timer_ms": ("<", 100)}, {"timer_ms": 100}),
        cause=Cause(
            "each rank has one core here, so that every round of the timer interrupts what runs there",
            "CPU time of the process at 1 ms / at 100 ms",
            Ratio("cpu_s", "timer", "timer", {"timer_ms": 1}, {"timer_ms": 100}),
        ),
        since="2026-11-28 12:10",
    )
    for quantity, words in (("latency_s", "latency"), ("elapsed_s", "time of EP"))
)

P5_FIGURES = (
    Curves(
        name="timer_period",
        study="timer-period",
        title="Latency of a byte against the timer's period",
        quantity="latency_s",
        formula=f"{HALF}; Denis, pioman, PDP 2015, section IV-C: 'indistinguishable')",
        x="timer_ms",
        x_label="period of the timer (ms)",
        y_label="latency",
        row="statistic",
        statistics=BEST_TO_MEAN,
    ),
    Curves(
        name="timer_period_ep",
        study="timer-period-ep",
        title="Time of NPB EP against the timer's period",
        quantity="elapsed_s",
        formula="time over that at 100 ms (Denis, pioman, PDP 2015, section IV-C: 'indistinguishable')",
        x="timer_ms",
        x_label="period of the timer (ms)",
        y_label="time / at 100 ms",
        relative=("timer_ms", 100),
        say="{:.3f}".format,
        log_y=False,
        lines={"the same": 1.0},
    ),
)

P5 = Subject(
    "P5",
    ("timer-period", "timer-period-ep"),
    PAPER,
    "latency and computation against the timer period",
    P5_CLAIMS,
    P5_FIGURES,
)


P6_CLAIMS = (
    Claim(
        statement="Polling inside MPI calls adds about 100 ns to the latency",
        number="median latency explicit − off (ns), 1 byte",
        operator="=",
        threshold=100.0,
        margin=50.0,
        comparator="the engine loaded and inert (off)",
        source="section V-A, figure 5 (about 100 ns of 1.2 µs and more)",
        measure=Nanoseconds("latency_s", "explicit", "off", BYTE),
        requires=("rdma",),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="Threads add another 100 to 200 ns to the median",
        number="median latency idle − explicit (ns), 1 byte",
        operator="=",
        threshold=150.0,
        margin=50.0,
        comparator="explicit",
        source="section V-A, figure 5",
        measure=Nanoseconds("latency_s", "idle", "explicit", BYTE),
        cause=Cause(
            MANAGED,
            "median latency idle − explicit (ns) where the waiting one polls",
            Nanoseconds("latency_s", NATIVE, "explicit", BYTE),
        ),
        requires=("rdma",),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="Threads hardly move the best latency",
        number="best latency idle / explicit, 1 byte",
        operator="=",
        threshold=1.0,
        margin=0.05,
        comparator="explicit",
        source="section V-A, figure 5 ('roughly the same')",
        measure=Ratio("latency_s", "idle", "explicit", BYTE, None, "min"),
        requires=("rdma",),
        since="2026-11-29 02:30",
    ),
)

P6_FIGURES = (
    Curves(
        name="latency_flavours",
        study="latency-flavours",
        title="Latency of the engine's flavours",
        quantity="latency_s",
        formula=f"{HALF}; Denis, pioman, PDP 2015, figure 5)",
        x="size_bytes",
        x_label="message size",
        x_axis="bytes",
        y_label="latency",
        row="statistic",
        statistics=BEST_TO_MEAN,
    ),
)

P6 = Subject("P6", ("latency-flavours",), PAPER, "latency of off, explicit, idle", P6_CLAIMS, P6_FIGURES)


NAS = "nas"
PUBLISHED = {"mode": "blocking"}


def _of_a_loss(variant: str, below: str) -> Cause:
    return Cause(
        "each rank has one core here: a thread of the engine that runs beside the program takes that core's time, and "
        "whoever waits for a message may sleep until the thread has polled; the paper's idle threads found cores that "
        "idled",
        f"CPU time of the process, {variant} / {below}",
        Ratio("cpu_s", variant, below, PUBLISHED),
    )


def _of_a_gain(variant: str, below: str) -> Cause:
    return Cause(
        "the engine's thread moves messages that are under way while a rank computes, and whoever waits and sleeps "
        "leaves its core to others, where the MPI alone polls on it",
        f"time in MPI calls, {variant} / {below}",
        Ratio("comm_s", variant, below, PUBLISHED),
    )


def _nas_claim(variant: str, below: str, operator: str, threshold: float, statement: str, source: str) -> Claim:
    return Claim(
        statement=statement,
        number=f"time with {variant} / {below}, {'every kernel' if operator == '<=' else 'the kernel that gains most'}",
        operator=operator,
        threshold=threshold,
        comparator="explicit polling alone" if below == "explicit" else "the same MPI, bare",
        source=source,
        measure=Ratio("elapsed_s", variant, below, PUBLISHED),
        figure="nas",
        cause=_of_a_loss(variant, below) if operator == "<=" else _of_a_gain(variant, below),
        since="2026-11-29 02:30",
    )


PAPERS = "section V-A, figure 6"
OURS = "our own, after section V-A"
NO_GAIN = "gives the NAS Parallel Benchmarks nothing, which communicate and compute by turns (2 % or less)"

P7_CLAIMS = (
    _nas_claim("idle", "explicit", "<=", 1.02, "Threads cost the NAS Parallel Benchmarks at most 2 %", PAPERS),
    _nas_claim("idle", "explicit", ">=", 0.98, f"A thread {NO_GAIN}", f"{PAPERS} (expected there)"),
    _nas_claim("adaptive", "bare", "<=", 1.02, "The adaptive engine costs the benchmarks at most 2 %", OURS),
    _nas_claim("adaptive", "bare", ">=", 0.98, f"The adaptive engine {NO_GAIN}", OURS),
)

NAS_TIMES = Curves(
    name="nas",
    study=NAS,
    title="NAS Parallel Benchmarks as they are published",
    quantity="elapsed_s",
    formula="what each benchmark times, its result verified by the published values (lower is better; Denis, pioman, "
    "PDP 2015, figure 6: at most 2 % more with the engine)",
    x="kernel",
    x_label="benchmark",
    x_axis="words",
    y_label="time",
    row="class",
    order=("S", "W", "A", "B", "C", "D"),
    meanings=NAMES,
    words_of={"class": "class {}".format},
)

P7 = Subject("P7", (NAS,), PAPER, "NAS Parallel Benchmarks", P7_CLAIMS, (NAS_TIMES,))


NPB_OVERLAP = "npb-overlap"
OVERLAPPED, BLOCKING = {"mode": "overlapped"}, {"mode": "blocking"}

NPB_CLAIMS = (
    Claim(
        statement="With the adaptive engine the overlapped order of a NAS Parallel Benchmark is not slower than the "
        "published one",
        number="time, overlapped with adaptive / as published and bare, every kernel",
        operator="<=",
        threshold=1.0,
        margin=0.02,
        comparator="the same MPI, bare, as published",
        source="our own",
        measure=Ratio("elapsed_s", "adaptive", "bare", OVERLAPPED, BLOCKING),
        figure="npb_overlap",
        cause=Cause(
            "the overlapped order sends more and smaller messages, each with its own cost; where they are short there "
            "is little to hide",
            "time in MPI calls, overlapped / as published, both bare",
            Ratio("comm_s", "bare", "bare", OVERLAPPED, BLOCKING),
        ),
        since="2026-11-23 02:15",
    ),
    Claim(
        statement="The engine makes at least one overlapped NAS Parallel Benchmark faster than the MPI alone does",
        number="time, overlapped, adaptive / bare",
        operator="<=",
        threshold=0.98,
        comparator="the same MPI, bare, overlapped",
        source="our own",
        measure=Ratio("elapsed_s", "adaptive", "bare", OVERLAPPED),
        figure="npb_overlap",
        up_to=True,
        cause=Cause(
            "messages of this size fit the kernel's socket buffers, so that they move without the engine, or are over "
            "before a wake of its thread pays",
            "time in MPI calls, adaptive / bare",
            Ratio("comm_s", "adaptive", "bare", OVERLAPPED),
        ),
        since="2026-11-23 02:15",
    ),
)

NPB_TIMES = Curves(
    name="npb_overlap",
    study=NPB_OVERLAP,
    title="NAS Parallel Benchmarks: communication before, or beside the computation",
    quantity="elapsed_s",
    formula="what each benchmark times, its result verified by the published values; blocking: as published; "
    "overlapped: IS ranks the keys that stay while the others travel, CG sends row sums in pieces, MG computes its "
    "interior first, FT transposes in chunks (lower is better)",
    x="kernel",
    x_label="benchmark",
    x_axis="words",
    y_label="time",
    row="mode",
    apart=("class",),
    order=("blocking", "overlapped"),
    meanings=NAMES,
    words_of={"class": "class {}".format},
)

NPB = Subject(NPB_OVERLAP, (NPB_OVERLAP,), "", "NAS Parallel Benchmarks with overlap", NPB_CLAIMS, (NPB_TIMES,))


P8_CLAIMS = (
    Claim(
        statement="One sender, N receiving threads: latency does not depend on N with managed waiting",
        number="median latency at the most receivers / at one, idle",
        operator="=",
        threshold=1.0,
        margin=0.50,
        comparator="one receiver",
        source="section V-C, figure 10",
        measure=Growth("latency_s", "idle", "receivers"),
        requires=("four cores",),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="One sender, N receiving threads: the MPI alone is linear in N",
        number="growth of the median latency beyond the middle N / as on a straight line, bare-multiple",
        operator="=",
        threshold=1.0,
        margin=0.25,
        comparator="a straight line that rises",
        source="section V-C, figure 10",
        measure=Growth("latency_s", "bare-multiple", "receivers", shape="straightness"),
        cause=Cause(
            "the receiving threads share one core: only one of them is inside MPI at a time, and nobody contends for "
            "its lock; with as many messages under way as threads they do take turns",
            "the same growth of N senders and N receivers, bare-multiple",
            Growth("latency_s", "bare-multiple", "pairs", shape="straightness"),
            studies=("many-to-many",),
        ),
        requires=("four cores",),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="N senders, N receivers: the slope is lower with the engine",
        number="slope of the median latency over N (s a thread), idle − bare-multiple",
        operator="<",
        threshold=0.0,
        comparator="the MPI alone at MPI_THREAD_MULTIPLE",
        source="section V-C, figure 11",
        measure=Growth("latency_s", "idle", "pairs", shape="slope", below="bare-multiple"),
        cause=Cause(
            MANAGED,
            "the same where the waiting ones poll",
            Growth("latency_s", NATIVE, "pairs", shape="slope", below="bare-multiple"),
        ),
        requires=("four cores",),
        since="2026-11-28 12:10",
    ),
    *(
        Claim(
            statement=f"N senders, N receivers: latency is linear in N ({words})",
            number=f"growth of the median latency beyond the middle N / as on a straight line, {variant}",
            operator="=",
            threshold=1.0,
            margin=0.25,
            comparator="a straight line that rises",
            source="section V-C, figure 11",
            measure=Growth("latency_s", variant, "pairs", shape="straightness"),
            requires=("four cores",),
            since="2026-11-29 02:30",
        )
        for variant, words in (("idle", "with the engine"), ("bare-multiple", "the MPI alone"))
    ),
)

P8_FIGURES = (
    Curves(
        name="one_to_many",
        study="one-to-many",
        title="Latency of one sending thread and N receiving ones",
        quantity="latency_s",
        formula="half a round trip of a byte, median (lower is better; Denis, pioman, PDP 2015, figure 10)",
        x="receivers",
        x_label="receiving threads",
        y_label="latency",
    ),
    Curves(
        name="many_to_many",
        study="many-to-many",
        title="Latency of N threads that each talk to one of N others",
        quantity="latency_s",
        formula="half a round trip of a byte, median over all threads (lower is better; Denis, pioman, PDP 2015, "
        "figure 11)",
        x="pairs",
        x_label="threads on each side",
        y_label="latency",
    ),
)

P8 = Subject("P8", ("one-to-many", "many-to-many"), PAPER, "latency with many threads", P8_CLAIMS, P8_FIGURES)


UNDER_LOAD = {"computing_threads": (">", 0), "size_bytes": 1 << 20}
FROM_16 = {"computing_threads": (">=", 16), "size_bytes": 1 << 20}

P9_CLAIMS = (
    Claim(
        statement="Computing threads beyond the cores do not move the median of a 1 MB ping-pong",
        number="median latency under the highest load / unloaded, idle",
        operator="=",
        threshold=1.0,
        margin=0.20,
        comparator="no computing thread",
        source="section V-C, figure 12",
        measure=Growth("latency_s", "idle", "computing_threads", {"size_bytes": 1 << 20}),
        figure="n_load",
        cause=Cause(
            "the thread that communicates shares the node's only core with those that compute and waits for its turn, "
            "with the engine and without it",
            "median latency under the highest load / unloaded, bare",
            Growth("latency_s", "bare", "computing_threads"),
        ),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="The latency of a 1 MB ping-pong under load is always below 20 ms",
        number="largest latency of all that were measured under load (s), idle",
        operator="<",
        threshold=0.020,
        comparator="20 ms",
        source="section V-C, figure 12",
        measure=OfAll("latency_s", "idle", "max", UNDER_LOAD),
        figure="n_load",
        cause=Cause(
            "with one core a node every computing thread has its time slice before the one that communicates has its "
            "own again; the paper's nodes had more cores",
            "the same number with bare (s)",
            OfAll("latency_s", "bare", "max", UNDER_LOAD),
        ),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="Beyond 16 computing threads Open MPI's median latency is linear in their number",
        number="growth of the median latency beyond the middle N / as on a straight line, bare, from 16 threads on",
        operator="=",
        threshold=1.0,
        margin=0.1,
        comparator="a straight line that rises",
        source="section V-C, figure 12, on 32 hardware threads",
        measure=Growth("latency_s", "bare", "computing_threads", FROM_16, shape="straightness"),
        figure="n_load",
        requires=("four cores",),
        mpis=("openmpi",),
        since="2026-11-29 14:50",
    ),
    Claim(
        statement="Open MPI's slowest latency under load is not bounded by 20 ms",
        number="largest latency of all that were measured under load (s), bare",
        operator=">",
        threshold=0.020,
        comparator="20 ms",
        source="section V-C, figure 12",
        measure=OfAll("latency_s", "bare", "max", UNDER_LOAD),
        figure="n_load",
        mpis=("openmpi",),
        since="2026-12-01 05:30",
    ),
    Claim(
        statement="Computing threads do not move MVAPICH2's median either",
        number="median latency under the highest load / unloaded, bare",
        operator="=",
        threshold=1.0,
        margin=0.20,
        comparator="no computing thread",
        source="section V-C, figure 12",
        measure=Growth("latency_s", "bare", "computing_threads", {"size_bytes": 1 << 20}),
        figure="n_load",
        mpis=("mvapich2",),
        since="2026-12-01 05:30",
    ),
)

P9_FIGURES = (
    Curves(
        name="n_load",
        study="n-load",
        title="A 1 MB ping-pong beside N computing threads on each side",
        quantity="latency_s",
        formula="half a round trip of 1 MB beside N threads that only compute; best, median and slowest of each launch "
        "(Denis, pioman, PDP 2015, figure 12)",
        x="computing_threads",
        x_label="computing threads on each side",
        x_axis="number",
        y_label="latency",
        row="statistic",
        statistics=("min", "median", "max"),
    ),
)

P9 = Subject("P9", ("n-load",), PAPER, "latency beside computing threads", P9_CLAIMS, P9_FIGURES)


P10_CLAIMS = tuple(
    Claim(
        statement=f"Under load the submission queue beats the {other} queue",
        number=f"time a task, submission queue / {other}, more than one submitter",
        operator="<",
        threshold=1.0,
        comparator=f"{other} queue",
        source="section IV-B, figure 1",
        figure="task_queues",
        measure=Ratio("task_s", "bare", "bare", {"queue": "submission", "submitters": (">", 1)}, {"queue": other}),
        cause=Cause(
            "with two cores for the submitters and the poller hardly two of them run inside a queue at once: it is not "
            "contended for, and the queue with the fewest instructions wins",
            f"growth of the {other} queue's own time in proportion to the submitters, a single queue (contended: 1)",
            Growth("task_s", "bare", "submitters", {"queue": other, "locality": False}, shape="in proportion"),
        ),
        requires=("three cores",),
        since="2026-11-28 12:10",
    )
    for other in ("lock", "lock-free")
)

P10_FIGURES = (
    Curves(
        name="task_queues",
        study="tasks",
        title="Time of an ltask under contention, on three designs of a queue",
        quantity="task_s",
        formula="from submission until known to be done, 16 ltasks under way a submitter, 4 polls each, one more "
        "thread that only polls; constant where queues do not contend and cores suffice (lower is better; "
        "Denis, pioman, PDP 2015, section IV)",
        x="submitters",
        x_label="submitting threads",
        y_label="time per ltask",
        series="queue",
        row="locality",
        order=("submission", "lock", "lock-free"),
        meanings={True: "a queue per place", False: "a single queue"},
    ),
)

P10 = Subject("P10", ("tasks",), PAPER, "contention on the task queues", P10_CLAIMS, P10_FIGURES)


SUBJECTS = (P1, P2, P3, P4, P5, P6, P7, NPB, P8, P9, P10)
