# SPDX-License-Identifier: BSD-3-Clause
"""Strohbeen, "Overlapping Communication and Computation using Cray's Gemini Interconnect", Sandia 2011."""

from __future__ import annotations

from analysis.claims.evidence import Median, MetricAt, Ratio
from analysis.claims.model import Cause, Claim, Study

PAPER = "Strohbeen, Gemini, 2011"

G1 = (
    Claim(
        statement="Overlapping the matrix-vector product slows the global dot product",
        number="time in Allreduce, overlap on / off, bare",
        operator=">=",
        threshold=1.0,
        margin=0.0,
        comparator="overlap off",
        source="slide 'miniFE is Negatively Impacted'",
        measure=Ratio("allreduce_s", "bare", "bare", {"overlap": True}, {"overlap": False}),
    ),
    Claim(
        statement="A nonblocking reduction removes the slow-down",
        number="time a solve, overlap with nonblocking reduction / overlap off, bare",
        operator="<=",
        threshold=1.0,
        margin=0.02,
        comparator="overlap off",
        source="slide 'MPI Collective Operations Decrease Overlapping Potential' (expected there)",
        measure=Ratio(
            "elapsed_s",
            "bare",
            "bare",
            {"overlap": True, "reduction": "nonblocking"},
            {"overlap": False, "reduction": "blocking"},
        ),
    ),
)
G2 = (
    Claim(
        statement="The halo has changed before MPI_Wait is called",
        number="share of halos that had arrived when MPI_Wait was called, bare, receives pre-posted",
        operator=">=",
        threshold=1.0,
        margin=0.10,
        comparator="every halo",
        source="slide 'miniGhost Receives Data Values before MPI_Wait is Called'",
        measure=Median("arrived_early", "bare", {"posting": "receives-first"}),
        figure="early_arrival",
        cause=Cause(
            "nothing moves a message into the program's memory while it computes, unless somebody polls beside it: "
            "what the network has brought is still in the kernel's sockets. The engine's thread does poll, and halos "
            "arrive whose computation is longer than some tens of microseconds, which a wake of it takes",
            "the same share with adaptive",
            Median("arrived_early", "adaptive", {"posting": "receives-first"}),
        ),
    ),
)
G3 = (
    Claim(
        statement="Run time is flat in the computation as long as that is shorter than the communication",
        number="total / communication alone while comp is at most comm, bare",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="communication alone",
        source="slides 'miniGhost and Computation Inflation'",
        measure=MetricAt("slowdown", "bare", {"comp_over_comm": ("<=", 1.0)}),
        figure="computation_inflation",
        cause=Cause(
            "what begins with a handshake or does not fit the kernel's socket buffers waits for the program to come "
            "back into MPI; the engine's thread does not let it wait, where the message takes longer than its wake",
            "total / max(comp, comm) with adaptive",
            MetricAt("slowdown", "adaptive", {"comp_over_comm": ("<=", 1.0)}),
        ),
    ),
)
G4 = (
    Claim(
        statement="80 MB messages do not overlap on the MPI as it is",
        number="overlap efficiency, bare, 80 MB, comp = comm",
        operator="<=",
        threshold=0.0,
        margin=0.30,
        comparator="serial execution",
        source="slide 'A Similar Experiment Produced Contradictory Results'",
        measure=MetricAt("overlap_efficiency", "bare", {"comp_over_comm": 1.0}),
        figure="large_messages",
        cause=Cause(
            "this MPI hands the kernel much of the message at once, and the sockets move it while the program computes",
            "hidden communication (1 - wait / comm), bare",
            MetricAt("hidden_communication", "bare", {"comp_over_comm": 1.0}),
        ),
    ),
)

STUDIES = (
    Study("G1", ("minife",), PAPER, "conjugate gradient with and without overlap", G1),
    Study("G2", ("early-arrival",), PAPER, "did the halo arrive before MPI_Wait", G2),
    Study("G3", ("computation-inflation",), PAPER, "run time against inflated computation", G3),
    Study("G4", ("large-messages",), PAPER, "80 MB messages", G4),
    Study(
        "G5",
        ("nonblocking-minighost",),
        PAPER,
        "a fully nonblocking miniGhost",
        note="the paper's open question: quantified here, nothing was claimed",
    ),
)
