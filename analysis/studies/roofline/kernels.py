# SPDX-License-Identifier: BSD-3-Clause
"""L1: how fast could the serial kernels be?"""

from __future__ import annotations

from analysis.chapter import Chapter
from analysis.documents.roofline import EP, HIMENO, PEAK, TRIAD, shares
from analysis.evidence import Evidence
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.records import frames

PAPER = "Williams, Waterman, Patterson, CACM 52 (2009)"


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Each kernel's share of its bound."""
    found = [
        {"label": f"{share.kernel} {share.size}", "mpi": share.mpi, "variant": "bare",
         "study": HIMENO if share.kernel == "Himeno" else EP, "value": share.share.value,
         "low": share.share.low, "high": share.share.high, "interval": share.share.kind, "status": "ok", "reason": "",
         "reached": share.reached.value, "bound": share.bound.value, "unit": share.unit}
        for share in shares(evidence)
    ]  # fmt: skip
    frame = intervals.wanted(evidence, found)
    if not len(frame):
        return []
    formula = (
        "what a kernel reaches on one rank over what the triad of an equal footprint (Himeno: 34 operations for 72 "
        f"bytes) or the core (EP: two multiplications, a division, a square root a pair) allows; {PAPER}"
    )
    drawn = intervals.draw(
        "roofline", "Serial kernels against the roofline", formula, "share of the bound", {"the bound": 1.0},
        frame, provenance,
    )  # fmt: skip
    drawn.found = (
        "; ".join(f"{x['label']}: {100 * float(str(x['value'])):.0f} % of its bound" for x in frames.rows(frame)) + "."
    )
    return [drawn]


CHAPTER = Chapter(
    "L1", (TRIAD, PEAK, HIMENO, EP), "", "how fast the serial kernels could be", (), (draw,),
    "nothing is claimed: the bounds are this machine's",
)  # fmt: skip
