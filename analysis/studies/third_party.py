# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes under the engine: how long their launches take, and what they print. Their own verification
decides whether there is a time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import numpy as np

from analysis.evidence import Evidence
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.records import frames
from analysis.statistics.interval import NO_VALUE, ratio_of_medians
from analysis.subject import Subject
from analysis.tables import BASE, Cell, Harm, Row, numbers, pooled, rows, tell
from analysis.text_table import markdown
from analysis.words import mpi_title

WHOLE = "whole_s"


def whole_times(evidence: Evidence) -> list[str]:
    """A Markdown table, a row a study and MPI: the whole time of a launch under bare, and under each other variant over
    that, with its interval; last all studies together (geometric mean). Launches that were not measured well are left
    out, and what has no whole time."""
    points = evidence.records.points
    names = _variants(frames.unique(points["variant"]))
    lines, found = [], []
    for (study, mpi), part in frames.groups(points, ["study", "mpi"]):
        whole = {str(variant): evidence.launches(group, WHOLE, "median")
                 for (variant,), group in frames.groups(part, ["variant"])}  # fmt: skip
        if bare := whole.get(BASE):
            cells = {name: ratio_of_medians(whole[name], bare) for name in names if whole.get(name)}
            found += [(name, (str(study), ratio)) for name, ratio in cells.items()]
            texts = [cells[name].text() if name in cells else "" for name in names]
            lines.append([study, mpi_title(str(mpi)), f"{np.median(np.concatenate(bare)):.2f}", *texts])
    together = [pooled(ratio for mine, ratio in found if mine == name) for name in names]
    if any(np.isfinite(one.value) for one in together):
        lines.append(["all together", "", "", *(f"{one.text()}, {one.kind}" for one in together)])
    return markdown(["study", "MPI", "bare, s", *names], lines)


def own_times(evidence: Evidence) -> list[str]:
    """The same of what each code prints of itself, its leading quantity: mostly the time of its solver or its loop, in
    which its start, its input and its end are not. Of a rate the time of a unit. Empty where no code has one."""
    studies = frames.unique(evidence.records.points["study"])
    found = [row for study in studies for row in rows(evidence, study) if row.quantity != WHOLE]
    names = _variants([name for row in found for name in row.cells])
    lines = []
    for row in found:
        bare = f"{row.bare.value:.3g}" if row.bare else ""
        quantity = f"1/{row.quantity}" if row.rate else row.quantity
        lines.append([row.study, mpi_title(row.mpi), quantity, bare, *(_of(row, name) for name in names)])
    return markdown(["study", "MPI", "its own", "bare", *names], lines) if lines else []


def _variants(names: Sequence[str]) -> list[str]:
    return sorted({*names} - {BASE})


def _of(row: Row, name: str) -> str:
    cell = row.cells.get(name)
    return cell.ratio.text() if cell and cell.ratio else ""


STUDIES = (
    "imb-*", "osu-*", "mpi-progress", "npb-original-*", "p3dfft-*", "p3dfft3-*", "minife-original",
    "minighost-original", "hpcg-*", "himeno-original", "hpcc-*", "lammps-*", "dolfinx-*", "openfoam-*",
    "quantum-espresso-*", "meep-*", "scalapack-*", "nwchem-*",
)  # fmt: skip


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Each code, point and variant in one figure; a cross for what failed. Codes that are not here are counted."""
    measured = [row for study in SUBJECT.recorded(evidence.records) for row in rows(evidence, study)]
    cells = list(_cells(measured))
    found = [
        {"label": _label(row), "mpi": row.mpi, "variant": name, "quantity": row.quantity}
        | {"session": row.session, "system": row.system, "study": row.study}
        | numbers(cell.ratio or NO_VALUE)
        | {"status": cell.status, "reason": cell.why}
        for row, name, cell in cells
        if cell.harm is not Harm.SKIPPED
    ]
    title = "Other people's codes under the engine"
    formula = "its leading time under a variant over that under bare (less than 1 is faster)"
    said = _found(cells)
    return intervals.draw(
        evidence, provenance, found, "third_party", title, formula, "time / bare", {"bare": 1.0}, lambda _: said
    )


def _cells(measured: Sequence[Row]) -> Iterator[tuple[Row, str, Cell]]:
    for row in measured:
        for name, cell in row.cells.items():
            if name != BASE:
                yield row, name, cell


def _label(row: Row) -> str:
    return f"{row.workload}: {row.point}"


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


SUBJECT = Subject(
    "third-party",
    STUDIES,
    "",
    "other people's codes",
    figures=(draw,),
    note="nothing is claimed of them: they are witnesses",
)

SUBJECTS = (SUBJECT,)


def document(evidence: Evidence) -> str:
    """Both tables, as `.venv/bin/python -m analysis.studies.third_party SESSION...` prints them."""
    return "\n\n".join("\n".join(table) for table in (whole_times(evidence), own_times(evidence)) if table)


if __name__ == "__main__":
    tell("third_party", sys.argv[1:], "Other people's codes under the engine.", document)
