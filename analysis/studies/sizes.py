# SPDX-License-Identifier: BSD-3-Clause
"""From which message size on the engine pays, of no paper."""

from __future__ import annotations

from analysis.figures.overlap import OverlapMap, efficiency_by_size
from analysis.measures import MetricAt, Ratio
from analysis.metrics.evaluate import BY_SIZE
from analysis.subject import Claim, Subject
from analysis.words import bytes_text

HIDDEN_BY_THE_MPI = ("mpich", "intel-mpi")  # over TCP, up to 1 MB


def _at(size: int) -> dict[str, object]:
    return {"pattern": "both", "size_bytes": size, "comp_over_comm": 1.0}


def _hidden(size: int) -> Claim:
    return Claim(
        statement=f"With the engine Open MPI hides a message of {bytes_text(size)}",
        number=f"overlap efficiency, adaptive, {bytes_text(size)}, both sides compute, comp = comm",
        operator=">=",
        threshold=0.8,
        margin=0.10,
        comparator="perfect overlap",
        source="our own",
        measure=MetricAt("overlap_efficiency", "adaptive", _at(size)),
        figure="overlap_efficiency_by_size",
        mpis=("openmpi",),
        since="2026-11-29 03:00",
    )


def _no_longer(size: int) -> Claim:
    return Claim(
        statement=f"Where the MPI hides a message of {bytes_text(size)} by itself, it takes no longer with the engine",
        number=f"total time, adaptive / bare, {bytes_text(size)}, both sides compute, comp = comm",
        operator="<=",
        threshold=1.01,
        margin=0.01,
        comparator="the same MPI, bare",
        source="our own",
        measure=Ratio("total_s", "adaptive", "bare", _at(size)),
        figure="overlap_efficiency_by_size",
        mpis=HIDDEN_BY_THE_MPI,
        since="2026-11-29 03:00",
    )


CLAIMS = (*map(_hidden, (65536, 262144)), *map(_no_longer, (65536, 262144, 1048576)))
SUBJECTS = (
    Subject("sizes", ("overlap-by-size",), "", "overlap against message size", CLAIMS, (efficiency_by_size, OverlapMap(BY_SIZE))),
)
