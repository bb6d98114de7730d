# SPDX-License-Identifier: BSD-3-Clause
"""G1: Conjugate gradient with and without overlap."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.calls import ByCall
from analysis.measures import Ratio
from analysis.studies.gemini.common import PAPER

STUDY = "minife-packets"
AS_IT_IS = {"barrier": False, "packets": False}
OFF, ON = {"mode": "blocking", **AS_IT_IS}, {"mode": "overlapped", **AS_IT_IS}
PIPELINED = {"mode": "pipelined", **AS_IT_IS}
WITH_BARRIER = {"barrier": True, "packets": False}
OFF_WITH_BARRIER, ON_WITH_BARRIER = {"mode": "blocking", **WITH_BARRIER}, {"mode": "overlapped", **WITH_BARRIER}

CLAIMS = (
    Claim(
        statement="Overlapping the matrix-vector product slows the global dot product",
        number="time in Allreduce, overlap on / off, bare",
        operator=">=",
        threshold=1.0,
        margin=0.0,
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
        since="2026-11-23 02:15",
    ),
    Claim(
        statement="A nonblocking reduction removes the slow-down",
        number="time a solve, overlap with nonblocking reduction / overlap off, bare",
        operator="<=",
        threshold=1.0,
        margin=0.02,
        comparator="overlap off",
        source="slide 'MPI Collective Operations Decrease Overlapping Potential' (expected there)",
        measure=Ratio("elapsed_s", "bare", "bare", PIPELINED, OFF),
        figure="minife_time",
        cause=Cause(
            "the pipelined method updates six vectors an iteration where the plain one updates three, and the last of "
            "its products is not needed: that is more than the reductions of two ranks take",
            "time outside of MPI calls, pipelined / overlap off, bare",
            Ratio("comp_s", "bare", "bare", PIPELINED, OFF),
        ),
        since="2026-11-23 02:15",
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

FIGURES = (
    ByCall(
        name="minife_time",
        study=STUDY,
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
        study=STUDY,
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

CHAPTER = Chapter("G1", (STUDY,), PAPER, "conjugate gradient with and without overlap", CLAIMS, FIGURES)
