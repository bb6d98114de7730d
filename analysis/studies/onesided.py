# SPDX-License-Identifier: BSD-3-Clause
"""What else has to progress, of no paper: operations on windows, neighbourhood collectives, partitioned messages; and
what moves within a node."""

from __future__ import annotations

from analysis.figures.curves import Curves
from analysis.measures import MetricAt, Ratio
from analysis.subject import Cause, Claim, Subject
from analysis.words import bytes_text

RMA = "rma-progress"
IN_MPI = {"target": "in-mpi"}
OF_A_WORD = {"size_bytes": 8, "synchronisation": "flush", "compute": "real"}
POLLING = "the same MPI, bare, while the target is inside MPI"

RMA_CLAIMS = (
    Claim(
        statement="With the engine an operation on a computing target takes at most twice as long as on one inside MPI",
        number="median latency of 8 bytes with flush, adaptive / bare on a target inside MPI",
        operator="<=",
        threshold=2.0,
        comparator=POLLING,
        source="our own",
        measure=Ratio("latency_s", "adaptive", "limit", OF_A_WORD, IN_MPI),
        figure="rma_latency",
        since="2026-11-29 02:00",
    ),
    Claim(
        statement="Of ten operations nine take at most four times as long",
        number="90 % of the latencies of 8 bytes with flush, adaptive / bare on a target inside MPI",
        operator="<=",
        threshold=4.0,
        comparator=POLLING,
        source="our own",
        measure=Ratio("latency_s", "adaptive", "limit", OF_A_WORD, IN_MPI, statistic="90 %"),
        figure="rma_latency",
        since="2026-11-29 02:00",
    ),
    Claim(
        statement="The longest of a hundred operations waits a quarter as long with the engine, or less",
        number="longest operation of a repetition, adaptive / bare",
        operator="<=",
        threshold=0.25,
        comparator="the same MPI, bare, while the target computes",
        source="our own",
        measure=Ratio("worst_s", "adaptive", "bare", OF_A_WORD),
        figure="rma_latency",
        since="2026-11-29 02:00",
    ),
    Claim(
        statement="The target's computation takes at most a tenth longer for it",
        number="compute inflation of the target with adaptive, 8 bytes with flush",
        operator="<=",
        threshold=1.10,
        comparator="the computation alone",
        source="our own",
        measure=MetricAt("compute_inflation", "adaptive", OF_A_WORD),
        cause=Cause("each operation wakes the engine's thread, and target and thread have one core here"),
        since="2026-11-29 02:00",
    ),
)

RMA_LATENCY = Curves(
    name="rma_latency",
    study=RMA,
    title="Operations on the window of a target that computes",
    quantity="latency_s",
    formula="from the call to its completion at the target, with its synchronisation: median, 90 % and longest of each "
    "launch's operations, the median over launches; limit: the same MPI, bare, while the target is inside MPI (lower "
    "is better)",
    x="operation",
    x_label="operation",
    x_axis="words",
    y_label="latency",
    apart=("synchronisation", "size_bytes", "compute"),
    statistics=("median", "90 %", "max"),
)

NEIGHBOURS = "neighbour-overlap"
MESSAGES, COLLECTIVE = {"exchange": "messages"}, {"exchange": "alltoallv"}

NEIGHBOUR_CLAIMS = (
    Claim(
        statement="With the engine halos of 1 MB and more that travel by MPI_Ineighbor_alltoallv are hidden as far as "
        "those that travel by messages",
        number="total, alltoallv / messages, both with adaptive, comp = comm",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="MPI_Isend and MPI_Irecv of the same halos, with adaptive",
        source="our own",
        measure=Ratio("total_s", "adaptive", "adaptive", COLLECTIVE, MESSAGES),
        figure=NEIGHBOURS,
        since="2026-11-29 02:00",
    ),
    Claim(
        statement="The engine makes the exchange by MPI_Ineighbor_alltoallv beside a computation a tenth shorter",
        number="total of alltoallv, adaptive / bare, comp = comm",
        operator="<=",
        threshold=0.90,
        comparator="the same MPI, bare, with the same collective",
        source="our own",
        measure=Ratio("total_s", "adaptive", "bare", COLLECTIVE),
        figure=NEIGHBOURS,
        since="2026-11-29 02:00",
    ),
)

NEIGHBOUR_TOTALS = Curves(
    name=NEIGHBOURS,
    study=NEIGHBOURS,
    title="Halos by messages and by neighbourhood collectives, beside a computation as long as they",
    quantity="total_s",
    formula="from the start until every rank is done, comp as long as the bare exchange alone (lower is better)",
    x="exchange",
    x_label="exchange",
    x_axis="words",
    y_label="total",
    row="size_bytes",
    apart=("topology",),
    words_of={"size_bytes": bytes_text},
)

PARTITIONED = "partitioned-overlap"

PARTITIONED_CLAIMS = (
    Claim(
        statement="With the engine a partitioned message travels while the rest of it is computed",
        number="total, partitioned with adaptive / one message at the end and bare, comp = comm",
        operator="<=",
        threshold=0.75,
        comparator="the same MPI, bare, one MPI_Isend of all when all is computed",
        source="our own",
        measure=Ratio("total_s", "adaptive", "bare", {"mode": "partitioned"}, {"mode": "whole"}),
        figure=PARTITIONED,
        since="2026-11-29 02:00",
    ),
    Claim(
        statement="A partitioned message gains as much as a message for each part",
        number="total, partitioned / pieces, both with adaptive, comp = comm",
        operator="<=",
        threshold=1.0,
        margin=0.05,
        comparator="an MPI_Isend for each part, with adaptive",
        source="our own",
        measure=Ratio("total_s", "adaptive", "adaptive", {"mode": "partitioned"}, {"mode": "pieces"}),
        figure=PARTITIONED,
        since="2026-11-29 02:00",
    ),
)

PARTITIONED_TOTALS = Curves(
    name=PARTITIONED,
    study=PARTITIONED,
    title="A message whose parts are computed one after the other",
    quantity="total_s",
    formula="from the start until both sides are done, comp as long as the bare message alone (lower is better)",
    x="mode",
    x_label="mode",
    x_axis="words",
    y_label="total",
    row="size_bytes",
    apart=("partitions", "pattern"),
    order=("whole", "pieces", "partitioned"),
    words_of={"size_bytes": bytes_text, "partitions": "{:g} parts".format},
)

ON_NODE = ("on-node-messages", "on-node-sums", "on-node-sums-of-8")

ON_NODE_CLAIMS = (
    Claim(
        statement="Within a node the engine makes no message and no sum slower",
        number="total, adaptive / bare, comp = comm, every point",
        operator="<=",
        threshold=1.0,
        margin=0.02,
        comparator="the same MPI, bare",
        source="our own",
        measure=Ratio("total_s", "adaptive", "bare"),
        figure=ON_NODE[0],
        since="2026-11-29 02:30",
    ),
)


def _on_node(study: str, x: str, title: str) -> Curves:
    return Curves(
        name=study,
        study=study,
        title=title,
        quantity="total_s",
        formula="from the start until all are done, comp as long as the bare communication alone (lower is better)",
        x=x,
        x_label=x,
        x_axis="words",
        y_label="total",
        row="size_bytes",
        words_of={"size_bytes": bytes_text},
    )


ON_NODE_TOTALS = (
    _on_node(ON_NODE[0], "pattern", "Messages within a node, beside a computation as long as they"),
    _on_node(ON_NODE[1], "collective", "Sums within a node, beside a computation as long as they"),
    _on_node(ON_NODE[2], "collective", "Sums of eight ranks of a node, beside a computation as long as they"),
)

SUBJECTS = (
    Subject(RMA, (RMA,), "", "operations on windows of computing targets", RMA_CLAIMS, (RMA_LATENCY,)),
    Subject(NEIGHBOURS, (NEIGHBOURS,), "", "halos by neighbourhood collectives", NEIGHBOUR_CLAIMS, (NEIGHBOUR_TOTALS,)),
    Subject(
        PARTITIONED, (PARTITIONED,), "", "partitioned messages beside what computes them", PARTITIONED_CLAIMS,
        (PARTITIONED_TOTALS,),
    ),
    Subject("on-node", ON_NODE, "", "messages and sums within a node", ON_NODE_CLAIMS, ON_NODE_TOTALS),
)  # fmt: skip
