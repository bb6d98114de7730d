# SPDX-License-Identifier: BSD-3-Clause
"""Ruhela et al., "Efficient Asynchronous Communication Progress for MPI without Dedicated Resources", EuroMPI 2018."""

from __future__ import annotations

from analysis.claims.evidence import Median, MetricAt, Ratio
from analysis.claims.model import Cause, Claim, Study

PAPER = "Ruhela et al., EuroMPI 2018"

R1 = tuple(
    Claim(
        statement=f"{pattern.capitalize()} collectives are up to {percent} % better than the best other MPI",
        number=f"total, adaptive / best other MPI, best of the {pattern} collectives",
        operator="<=",
        threshold=1 - percent / 100,
        margin=0.10,
        comparator="the best over all MPIs and their own asynchronous modes",
        source="abstract, 1,024 processes",
        measure=Ratio("total_s", "adaptive", "best other", {"pattern": pattern}),
        requires=("1024 processes",),
        up_to=True,
        cause=Cause(
            "perfect overlap of two equal parts saves 50 %, and what an MPI's sockets overlap by themselves nobody "
            "gains again; the engine's thread and the kernel's copying take time from the core that computes, and a "
            "collective of dependent steps waits for a wake of the engine at each (docs/collectives.md)",
            "compute inflation with adaptive",
            MetricAt("compute_inflation", "adaptive", {"pattern": pattern, "comp_over_comm": 1.0}),
        ),
    )
    for pattern, percent in (("all-to-one", 46), ("one-to-all", 37), ("all-to-all", 49))
)
R2 = (
    Claim(
        statement="The adaptive thread has fewer context switches than an always-on one",
        number="switches a second, adaptive / thread, communication pending",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="a thread that always polls",
        source="abstract",
        measure=Ratio("switches_per_s", "adaptive", "thread", {"pending": True}),
        figure="context_switches",
        cause=Cause(
            "a thread that always polls never leaves its core by itself: it is switched only when its time slice ends, "
            "and has half of the core meanwhile; adaptive sleeps and wakes with the traffic and leaves the core to the "
            "computation",
            "time of the computation, adaptive / thread",
            Ratio("comp_in_s", "adaptive", "thread", {"pending": True}),
        ),
    ),
    Claim(
        statement="With nothing pending the adaptive thread does not switch at all",
        number="switches a second of the engine's threads, adaptive, nothing pending",
        operator="<=",
        threshold=0.0,
        margin=0.1,
        comparator="none",
        source="abstract; the engine's own promise",
        measure=Median("switches_per_s", "adaptive", {"pending": False}),
    ),
)
R3 = (
    Claim(
        statement="The 3D FFT is 44 % faster",
        number="time, adaptive / best other MPI",
        operator="<=",
        threshold=0.56,
        margin=0.10,
        comparator="the best over all MPIs and their own asynchronous modes",
        source="abstract, P3DFFT, 448 processes",
        measure=Ratio("elapsed_s", "adaptive", "best other"),
        requires=("448 processes",),
    ),
)
R4 = (
    Claim(
        statement="SPEC MPI2007's compute-intensive codes are 38 % faster",
        number="time, adaptive / best other MPI",
        operator="<=",
        threshold=0.62,
        margin=0.10,
        comparator="the best over all MPIs and their own asynchronous modes",
        source="abstract, 384 processes",
        measure=Ratio("elapsed_s", "adaptive", "best other"),
        requires=("384 processes", "spec licence"),
    ),
)

STUDIES = (
    Study("R1", ("collective-overlap",), PAPER, "overlap of nonblocking collectives", R1),
    Study("R2", ("context-switches",), PAPER, "context switches of adaptive and always-on threads", R2),
    Study("R3", ("fft",), PAPER, "3D fast Fourier transform", R3),
    Study("R4", ("spec",), PAPER, "SPEC MPI2007 or its open substitute", R4),
)
