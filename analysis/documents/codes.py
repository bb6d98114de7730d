# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes under the engine, as tables: how long their launches take, and what they print."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.documents.harm import BASE, Row, rows
from analysis.evidence import Evidence
from analysis.records import frames
from analysis.statistics.bootstrap import ratio_of_medians
from analysis.text_table import markdown
from analysis.words import mpi_title

WHOLE = "whole_s"


def whole_times(evidence: Evidence) -> list[str]:
    """A Markdown table, a row a study and MPI: the whole time of a launch under bare, and under each other variant over
    that, with its interval. Launches that were not measured well are left out, and what has no whole time."""
    points = evidence.records.points
    names = _variants(frames.unique(points["variant"]))
    lines = []
    for (study, mpi), part in frames.groups(points, ["study", "mpi"]):
        whole = {str(variant): evidence.launches(group, WHOLE, "median")
                 for (variant,), group in frames.groups(part, ["variant"])}  # fmt: skip
        if bare := whole.get(BASE):
            cells = [ratio_of_medians(whole[name], bare).text() if whole.get(name) else "" for name in names]
            lines.append([study, mpi_title(str(mpi)), f"{np.median(np.concatenate(bare)):.2f}", *cells])
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
