# SPDX-License-Identifier: BSD-3-Clause
"""Strohbeen, "Overlapping Communication and Computation using Cray's Gemini Interconnect", Sandia 2011: G1 to G5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.figures.calls import ByCall
from analysis.figures.curves import Curves
from analysis.figures.toolkit import Drawn, Plot
from analysis.measures import Difference, MetricAt, OfAll, Ratio
from analysis.metrics.evaluate import measured_ratio
from analysis.records import frames
from analysis.subject import Cause, Claim, Subject
from analysis.words import bytes_text, mpi_title

SLIDES = "Strohbeen, Gemini, Sandia 2011, slides 'miniGhost and Computation Inflation'"


@dataclass(frozen=True)
class Runtime:
    """total / comm of a study against its computation: one figure a system."""

    study: str
    title: str

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        frame = evidence.shown
        part = frame[(frame["study"] == self.study) & (frame["metric"] == "slowdown")]
        if "comp_over_comm" not in part or not part["value"].notna().any():
            return []
        several = part["system"].nunique() > 1
        return [
            _drawn_runtime(self, _as_runtime(group), provenance, system if several else None)
            for (system,), group in frames.groups(part, ["system"])
            if group["value"].notna().any()
        ]


def _as_runtime(part: pd.DataFrame) -> pd.DataFrame:
    """total / comm from total / max(comp, comm), with its interval; one row of panels a size and posting."""
    part = part.assign(x=measured_ratio(part), posting=part.get("posting", pd.Series("receives-first", part.index)))
    longest = np.maximum(1, part["x"])
    scaled = {name: part[name] * longest for name in ("value", "low", "high")}
    return part.assign(**scaled).sort_values(["size_bytes", "posting", "x"])


def _drawn_runtime(spec: Runtime, part: pd.DataFrame, provenance: str, system: Any) -> Drawn:
    caption = (
        f"{spec.title}: total / comm (lower is better; {SLIDES}). Each rank sends one halo to each neighbour, "
        "computes and receives; the total ends when all ranks are done. comm and comp are those of bare in the same "
        "session. "
        f"{toolkit.hidden_words(part, ['mpi', 'variant', 'point'])}{toolkit.interval_words(part)} {provenance}"
    )
    name = toolkit.slug(spec.study.replace("-", "_"), system)
    halos = zip(part["size_bytes"], part["posting"], strict=True)
    part = part.assign(halo=[f"{bytes_text(size)}, {posting}" for size, posting in halos])
    plot = Plot(
        x="x", place="point", x_label="computation / communication", y_label="total / comm", x_axis="number",
        row="halo",
        guides={"flat until comp = comm": lambda x: np.maximum(1, x), "no overlap: 1 + comp / comm": lambda x: 1 + x},
        order=tuple(toolkit.STYLES),
    )  # fmt: skip
    return Drawn(name, spec.title, caption, part, plot, _found_runtime(part) + toolkit.doubt_words(part))


def _found_runtime(part: pd.DataFrame) -> str:
    """total / comm of each MPI and variant at the point nearest to comp = comm, of the largest message."""
    size = part["size_bytes"].max()
    said = []
    for (mpi, variant), mine in frames.groups(part[(part["size_bytes"] == size)], ["mpi", "variant"]):
        good = mine[mine["value"].notna()]
        if len(good):
            nearest = good.loc[(good["x"] - 1).abs().idxmin()]
            said.append(f"{mpi_title(str(mpi))}, {variant}: {nearest['value']:.2f} at {nearest['x']:.2f}")
    return f"Total / communication at comp / comm, {bytes_text(size)}. {'; '.join(said)}." if said else ""


PAPER = "Strohbeen, Gemini, 2011"


MINIFE_PACKETS = "minife-packets"
AS_IT_IS = {"barrier": False, "packets": False}
OFF, ON = {"mode": "blocking", **AS_IT_IS}, {"mode": "overlapped", **AS_IT_IS}
PIPELINED = {"mode": "pipelined", **AS_IT_IS}
WITH_BARRIER = {"barrier": True, "packets": False}
OFF_WITH_BARRIER, ON_WITH_BARRIER = {"mode": "blocking", **WITH_BARRIER}, {"mode": "overlapped", **WITH_BARRIER}

G1_CLAIMS = (
    Claim(
        statement="Overlapping the matrix-vector product slows the global dot product",
        number="time in Allreduce, overlap on / off, bare",
        operator=">",
        threshold=1.0,
        comparator="overlap off",
        source="slide 'miniFE is Negatively Impacted'",
        measure=Ratio("allreduce_s", "bare", "bare", ON, OFF),
        figure="minife_time",
        cause=Cause(
            "what slows a dot product is who comes late to it: of equal blocks on equal cores none comes later with "
            "overlap than without",
            "time in a barrier before each Allreduce, overlap on / off, bare",
            Ratio("barrier_s", "bare", "bare", ON_WITH_BARRIER, OFF_WITH_BARRIER),
        ),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="Conjugate gradients whose reductions do not block (pipelined) take no longer than without overlap",
        number="time a solve, pipelined / overlap off, bare",
        operator="<=",
        threshold=1.0,
        margin=0.02,
        comparator="overlap off",
        source="our own, another algorithm than the paper's, after the slide 'MPI Collective Operations Decrease "
        "Overlapping Potential': nonblocking collectives 'could probably help'",
        measure=Ratio("elapsed_s", "bare", "bare", PIPELINED, OFF),
        figure="minife_time",
        cause=Cause(
            "the pipelined method updates six vectors an iteration where the plain one updates three, and the last of "
            "its products is not needed: that is more than the reductions of two ranks take",
            "time outside of MPI calls, pipelined / overlap off, bare",
            Ratio("comp_s", "bare", "bare", PIPELINED, OFF),
        ),
        since="2026-11-29 02:30",
    ),
)

CALLS = {
    "irecv": "Irecv",
    "send": "Send or Isend",
    "wait": "Waitall of the halo",
    "allreduce": "Allreduce or its start",
    "allreduce_wait": "Wait of Iallreduce",
    "barrier": "Barrier",
    "outside": "outside of MPI calls",
}

G1_FIGURES = (
    ByCall(
        name="minife_time",
        study=MINIFE_PACKETS,
        title="miniFE: time in each MPI call",
        suffixes=("_s",),
        calls={**{call: words for call, words in CALLS.items() if call != "outside"}, "comp": CALLS["outside"]},
        formula="a solve's time by the call that it was spent in; with barrier: MPI_Barrier before each MPI_Allreduce, "
        "so that who comes late is waited for there (lower is better; Strohbeen, Gemini, Sandia 2011)",
        y_label="time of a solve",
        where={"packets": False},
    ),
    ByCall(
        name="minife_packets",
        study=MINIFE_PACKETS,
        title="miniFE: packets in each MPI call, and outside of all",
        suffixes=("_packets_in", "_packets_out"),
        calls=CALLS,
        formula="TCP segments that the MPI's connections sent and received during each call, by the kernel's count "
        "(TCP_INFO); outside of MPI calls: while the program computed, so moved by the kernel or by a thread beside it "
        "(Strohbeen, Gemini, Sandia 2011)",
        y_label="packets of a solve",
        where={"packets": True},
    ),
)

G1 = Subject("G1", (MINIFE_PACKETS,), PAPER, "conjugate gradient with and without overlap", G1_CLAIMS, G1_FIGURES)


G2_CLAIMS = (
    Claim(
        statement="The halo has changed before MPI_Wait is called",
        number="share of all halos that had arrived when MPI_Wait was called, bare, receives pre-posted",
        operator=">=",
        threshold=1.0,
        margin=0.10,
        comparator="every halo",
        source="slide 'miniGhost Receives Data Values before MPI_Wait is Called'",
        measure=OfAll("arrived_early", "bare", "mean", {"posting": "receives-first"}),
        figure="early_arrival",
        cause=Cause(
            "nothing moves a message into the program's memory while it computes, unless somebody polls beside it: "
            "what the network has brought is still in the kernel's sockets. The engine's thread does poll, and halos "
            "arrive whose computation is longer than some tens of microseconds, which a wake of it takes",
            "the same share with adaptive",
            OfAll("arrived_early", "adaptive", "mean", {"posting": "receives-first"}),
        ),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="Posting sends first delays the halo of large messages",
        number="share of all halos that had arrived when MPI_Wait was called, sends − receives first, bare, 1 MB on",
        operator="<",
        threshold=0.0,
        comparator="receives pre-posted",
        source="slide 'miniGhost Receives Data Values before MPI_Wait is Called': 'should be an issue with the BTE' "
        "(expected there); large is read as 1 MB and more",
        measure=Difference(
            "arrived_early",
            "bare",
            "bare",
            {"posting": "sends-first", "size_bytes": (">=", 1 << 20)},
            {"posting": "receives-first"},
            "mean",
        ),
        figure="early_arrival",
        since="2026-11-29 02:30",
    ),
)

G2_FIGURES = (
    Curves(
        name="early_arrival",
        study="early-arrival",
        title="Halos that had arrived before MPI_Wait was called",
        quantity="arrived_early",
        formula="share of the halos whose receive buffer, poisoned before, held the message completely when the wait "
        "began; on the rank with the fewest, median (higher is more asynchronous; Strohbeen, Gemini, "
        "Sandia 2011)",
        x="size_bytes",
        x_label="halo",
        x_axis="bytes",
        y_label="arrived early",
        row="posting",
        say="{:.0%}".format,
        log_y=False,
    ),
)

G2 = Subject("G2", ("early-arrival",), PAPER, "did the halo arrive before MPI_Wait", G2_CLAIMS, G2_FIGURES)


G3_CLAIMS = (
    Claim(
        statement="Run time is flat in the computation as long as that is shorter than the communication (small "
        "messages)",
        number="total / communication alone while comp is at most comm, bare, up to 64 KB",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="communication alone",
        source="slides 'miniGhost Demonstrates Computation Overlap for Small Messages'; small is read as up to 64 KB",
        measure=MetricAt("slowdown", "bare", {"comp_over_comm": ("<=", 1.0), "size_bytes": ("<=", 64 << 10)}),
        figure="computation_inflation",
        cause=Cause(
            "what begins with a handshake or does not fit the kernel's socket buffers waits for the program to come "
            "back into MPI; the engine's thread does not let it wait, where the message takes longer than its wake",
            "total / max(comp, comm) with adaptive",
            MetricAt("slowdown", "adaptive", {"comp_over_comm": ("<=", 1.0), "size_bytes": ("<=", 64 << 10)}),
        ),
        since="2026-11-29 02:30",
    ),
)

G3_FIGURES = (Runtime("computation-inflation", "Run time against the inflated computation"),)

G3 = Subject("G3", ("computation-inflation",), PAPER, "run time against inflated computation", G3_CLAIMS, G3_FIGURES)


MB_80 = {"size_bytes": 80_000_000, "comp_over_comm": 1.0}

G4_CLAIMS = (
    Claim(
        statement="80 MB messages do not overlap on the MPI as it is",
        number="overlap efficiency, bare, 80 MB, comp = comm",
        operator="<=",
        threshold=0.0,
        margin=0.30,
        comparator="serial execution",
        source="slide 'A Similar Experiment Produced Contradictory Results'",
        measure=MetricAt("overlap_efficiency", "bare", MB_80),
        figure="large_messages",
        cause=Cause(
            "this MPI hands the kernel much of the message at once, and the sockets move it while the program computes",
            "hidden communication, bare",
            MetricAt("hidden_communication", "bare", MB_80),
        ),
        since="2026-11-28 12:10",
    ),
)

G4_FIGURES = (Runtime("large-messages", "Run time of 80 MB messages against the computation"),)

G4 = Subject("G4", ("large-messages",), PAPER, "80 MB messages", G4_CLAIMS, G4_FIGURES)


MINIGHOST = "minighost-nonblocking"
SOURCE = "our own, after the open question of the conclusion"
AS_PUBLISHED = {"mode": "blocking", "reduction": "blocking"}
PHASED, DIRECT = {"mode": "nonblocking"}, {"mode": "direct"}
NONBLOCKING = {"mode": "overlapped", "reduction": "late"}

G5_CLAIMS = (
    Claim(
        statement="With everything nonblocking and the adaptive engine miniGhost is faster than as published",
        number="time, 26 neighbours at once, interior first, late sums, adaptive / phases and sums that block, bare",
        operator="<",
        threshold=1.0,
        comparator="the same MPI, bare, phase after phase, global sums that block",
        source=SOURCE,
        measure=Ratio("elapsed_s", "adaptive", "bare", NONBLOCKING, AS_PUBLISHED),
        figure="minighost_nonblocking",
        cause=Cause(
            "a step in parts costs the stencil more, which reads the boundary's points for a second time, and the "
            "engine's thread takes time from the core that computes",
            "time of the computation, everything nonblocking with adaptive / as published and bare",
            Ratio("comp_s", "adaptive", "bare", NONBLOCKING, AS_PUBLISHED),
        ),
        since="2026-11-28 12:10",
    ),
    Claim(
        statement="26 neighbours at once take no longer than three phases of two messages",
        number="time, 26 neighbours at once / phases, neither of them blocking, bare",
        operator="<=",
        threshold=1.0,
        margin=0.02,
        comparator="the same MPI, bare, phase after phase",
        source=SOURCE,
        measure=Ratio("elapsed_s", "bare", "bare", DIRECT, PHASED),
        figure="minighost_nonblocking",
        cause=Cause(
            "edges and corners are messages of their own, each with its own cost, where in phases they travel with the "
            "faces; on few ranks many of them go to the same neighbour",
            "messages that a rank sends, 26 neighbours at once / phases",
            Ratio("messages", "bare", "bare", DIRECT, PHASED),
        ),
        since="2026-11-23 02:15",
    ),
    Claim(
        statement="The engine hides halos that travel beside the interior's computation",
        number="time, 26 neighbours at once, interior first, late sums, adaptive / bare",
        operator="<=",
        threshold=0.9,
        margin=0.05,
        comparator="the same MPI, bare, everything nonblocking as well",
        source=SOURCE,
        measure=Ratio("elapsed_s", "adaptive", "bare", NONBLOCKING),
        figure="minighost_nonblocking",
        cause=Cause(
            "halos that fit the kernel's socket buffers travel without the engine, and of those that do not it can "
            "hide no more than the shorter of computation and communication",
            "time in the calls that complete messages, adaptive / bare",
            Ratio("wait_s", "adaptive", "bare", NONBLOCKING),
        ),
        since="2026-11-23 02:15",
    ),
)

TIMES = Curves(
    name="minighost_nonblocking",
    study=MINIGHOST,
    title="miniGhost: four ways to exchange halos with 26 neighbours",
    quantity="elapsed_s",
    formula="time steps of a stencil, every point verified. Phases: an axis after the other, blocking with blocking "
    "global sums, or nonblocking; direct: all 26 neighbours at once; interior first: that beside the computation of "
    "the points that need no ghost. All but the first complete the global sums one step late (lower is better; "
    "Strohbeen, Gemini, Sandia 2011, conclusion)",
    x="mode",
    x_label="exchange",
    x_axis="words",
    y_label="time",
    row="stencil",
    apart=("nx",),
    order=("blocking", "nonblocking", "direct", "overlapped"),
    log_y=False,
    meanings={
        "blocking": "phases, blocking",
        "nonblocking": "phases, nonblocking",
        "direct": "26 direct",
        "overlapped": "26 direct,\ninterior first",
    },
    words_of={"stencil": "{:g} points".format, "nx": lambda edge: f"{edge:g}³ points"},
)

G5 = Subject("G5", (MINIGHOST,), PAPER, "a fully nonblocking miniGhost", G5_CLAIMS, (TIMES,))


SUBJECTS = (G1, G2, G3, G4, G5)
