# SPDX-License-Identifier: BSD-3-Clause
"""What the engine does to the times of other people's codes. Their own verification decides whether there is a time.

What was predicted before anything was measured: docs/measured/third-party-predictions.md.
"""

from __future__ import annotations

from analysis.chapter import Chapter
from analysis.documents.harm import BASE, rows
from analysis.evidence import Evidence
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn

STUDIES = (
    "imb-*", "osu-*", "npb-original-*", "p3dfft-*", "p3dfft3-*", "minife-original", "minighost-original", "hpcg-*",
    "himeno-original", "hpcc-*", "lammps-*", "dolfinx-*", "openfoam-*", "quantum-espresso-*", "meep-*",
    "scalapack-*", "nwchem-*",
)  # fmt: skip


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Each code, point and variant in one figure."""
    found = [
        {"label": f"{row.workload}: {row.point}", "mpi": row.mpi, "variant": name, "quantity": row.quantity}
        | {"session": row.session, "system": row.system, "study": study}
        | {"value": cell.ratio.value, "low": cell.ratio.low, "high": cell.ratio.high, "interval": cell.ratio.kind}
        | {"status": "ok", "reason": ""}
        for study in CHAPTER.recorded(evidence.records)
        for row in rows(evidence, study)
        for name, cell in row.cells.items()
        if name != BASE and cell.ratio is not None
    ]
    frame = intervals.wanted(evidence, found)
    if not len(frame):
        return []
    title = "Other people's codes under the engine"
    formula = "its leading time under a variant over that under bare (less than 1 is faster)"
    lines = {"bare": 1.0}
    return [intervals.draw("third_party", title, formula, "time / bare", lines, frame, provenance)]


CHAPTER = Chapter(
    "third-party",
    STUDIES,
    "",
    "other people's codes",
    figures=(draw,),
    note="nothing is claimed of them: they are witnesses",
)
