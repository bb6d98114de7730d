# SPDX-License-Identifier: BSD-3-Clause
"""Our applications on one rank beside the codes that they repeat."""

from __future__ import annotations

from analysis.chapter import Chapter
from analysis.documents.serial import WITHIN, pairs
from analysis.evidence import Evidence
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn

BOUNDS = {"the same": 1.0, "10 % slower": 1 - WITHIN}


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Our rate over theirs, kernel by kernel."""
    found = [
        {"label": pair.what, "mpi": pair.mpi, "variant": "bare", "session": pair.session, "system": pair.system}
        | {"study": pair.study, "value": pair.ratio.value, "low": pair.ratio.low, "high": pair.ratio.high}
        | {"interval": pair.ratio.kind, "status": "ok", "reason": "", "verdict": pair.verdict}
        for pair in pairs(evidence)
    ]
    frame = intervals.wanted(evidence, found)
    if not len(frame):
        return []
    formula = "operations a second on one rank, ours over the original's or FFTW's (more is faster)"
    return [intervals.draw("serial", "Our kernels beside the originals", formula, "ours / theirs", BOUNDS, frame,
                           provenance)]  # fmt: skip


CHAPTER = Chapter(
    "serial",
    ("serial-*",),
    "",
    "one rank beside the originals",
    figures=(draw,),
    note="nothing is claimed of it: it says whether our kernels are as fast as those that they repeat",
)
