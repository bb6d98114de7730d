# SPDX-License-Identifier: BSD-3-Clause
"""From which message size on the engine pays, of no paper."""

from __future__ import annotations

from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.figures.overlap import LOWEST, PATTERNS, OverlapMap, with_added
from analysis.figures.toolkit import Drawn, Plot, plain_words
from analysis.measures import MetricAt, Ratio
from analysis.metrics.evaluate import BY_SIZE, at_equal
from analysis.metrics.formulas import METRICS
from analysis.records import frames
from analysis.subject import Claim, Subject
from analysis.words import added_text, bytes_text

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


TITLE = "Overlap against message size, where computation takes as long as communication"


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Overlap efficiency where comp = comm, over the message size: a column an MPI, a row a pattern."""
    part = at_equal(evidence.shown)
    part = part[(part["study"] == BY_SIZE) & (part["metric"] == "overlap_efficiency")]
    if not len(part) or not part["value"].notna().any():
        return []
    plot = Plot(
        x="size_bytes", x_label="message size", x_axis="bytes", y_label="efficiency", row="pattern",
        words=lambda value, name: PATTERNS.get(str(value), plain_words(value, name)), lines={"perfect": 1.0},
        order=(*toolkit.STYLES,), lowest=LOWEST,
        beyond=lambda point: added_text(*(point[f"added_{name}"] for name in ("value", "low", "high"))),
    )  # fmt: skip
    caption = (
        f"{TITLE}: {METRICS['overlap_efficiency'].formula}; medians, comm and comp of bare in the same "
        f"session. {toolkit.interval_words(part)} {provenance}"
    )
    several = part["system"].nunique() > 1
    return [
        Drawn(
            toolkit.slug("overlap_efficiency_by_size", system if several else None),
            TITLE,
            caption,
            with_added(group, evidence.metrics),
            plot,
        )
        for (system,), group in frames.groups(part, ["system"])
    ]


CLAIMS = (*map(_hidden, (65536, 262144)), *map(_no_longer, (65536, 262144, 1048576)))
SUBJECTS = (
    Subject("sizes", ("overlap-by-size",), "", "overlap against message size", CLAIMS, (draw, OverlapMap(BY_SIZE))),
)
