# SPDX-License-Identifier: BSD-3-Clause
"""Beside P7: the same benchmarks with communication beside the computation that does not need it."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Ratio
from analysis.studies.pioman.common import NAMES

STUDY = "npb-overlap"
OVERLAPPED, BLOCKING = {"mode": "overlapped"}, {"mode": "blocking"}

CLAIMS = (
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
        margin=0.0,
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

TIMES = Curves(
    name="npb_overlap",
    study=STUDY,
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

CHAPTER = Chapter(STUDY, (STUDY,), "", "NAS Parallel Benchmarks with overlap", CLAIMS, (TIMES,))
