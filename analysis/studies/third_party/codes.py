# SPDX-License-Identifier: BSD-3-Clause
"""What the engine does to the times of other people's codes. Their own verification decides whether there is a time.

What was measured: docs/measured/other-codes.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.chapter import Chapter
from analysis.documents.harm import BASE, Cell, Harm, Row, rows
from analysis.evidence import Evidence
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.measures import NO_VALUE
from analysis.statistics.interval import Interval

STUDIES = (
    "imb-*", "osu-*", "npb-original-*", "p3dfft-*", "p3dfft3-*", "minife-original", "minighost-original", "hpcg-*",
    "himeno-original", "hpcc-*", "lammps-*", "dolfinx-*", "openfoam-*", "quantum-espresso-*", "meep-*",
    "scalapack-*", "nwchem-*",
)  # fmt: skip


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Each code, point and variant in one figure; a cross for what failed. Codes that are not here are counted."""
    measured = [row for study in CHAPTER.recorded(evidence.records) for row in rows(evidence, study)]
    cells = list(_cells(measured))
    found = [
        {"label": _label(row), "mpi": row.mpi, "variant": name, "quantity": row.quantity}
        | {"session": row.session, "system": row.system, "study": row.study}
        | _numbers(cell.ratio or NO_VALUE)
        | {"status": cell.status, "reason": cell.why}
        for row, name, cell in cells
        if cell.harm is not Harm.SKIPPED
    ]
    frame = intervals.wanted(evidence, found)
    if not len(frame):
        return []
    title = "Other people's codes under the engine"
    formula = "its leading time under a variant over that under bare (less than 1 is faster)"
    lines = {"bare": 1.0}
    drawn = intervals.draw("third_party", title, formula, "time / bare", lines, frame, provenance)
    drawn.found = _found(cells)
    return [drawn]


def _cells(measured: Sequence[Row]) -> Iterator[tuple[Row, str, Cell]]:
    for row in measured:
        for name, cell in row.cells.items():
            if name != BASE:
                yield row, name, cell


def _label(row: Row) -> str:
    return f"{row.workload}: {row.point}"


def _numbers(ratio: Interval) -> dict[str, float | str]:
    return {"value": ratio.value, "low": ratio.low, "high": ratio.high, "interval": ratio.kind}


def _found(cells: Sequence[tuple[Row, str, Cell]]) -> str:
    """What has no number: each failure, and how many codes were skipped."""
    said = [
        f"{_label(row)} on {row.mpi} ({name}): {cell.why}"
        for row, name, cell in cells
        if cell.ratio is None and cell.harm is not Harm.SKIPPED
    ]
    skipped = dict.fromkeys(row.workload for row, _, cell in cells if cell.harm is Harm.SKIPPED)
    lines = [f"Without a number: {'; '.join(said)}." if said else "Every code that ran has its number."]
    if skipped:
        lines.append(f"Skipped, the reasons are in the records: {', '.join(skipped)}.")
    return " ".join(lines)


CHAPTER = Chapter(
    "third-party",
    STUDIES,
    "",
    "other people's codes",
    figures=(draw,),
    note="nothing is claimed of them: they are witnesses",
)
