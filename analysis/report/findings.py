# SPDX-License-Identifier: BSD-3-Clause
"""What was found, a section a study: the paper's claims in words with the numbers of these records, and the likely
cause where a claim is not reproduced."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from analysis.claims.decision import Decision
from analysis.claims.table import ClaimTable, Row
from analysis.evidence import Evidence, Value
from analysis.figures.toolkit import Drawn
from analysis.subject import OPERATORS, Cause, Subject, recorded
from analysis.words import mpi_title

AGAINST = f"points to {Decision.NOT_REPRODUCED.value}"
SHOWN = 9  # values of a cause at most


@dataclass(frozen=True)
class Section:
    """One study of the report: `sentences` on its claims; `drawn` are places in the list of figures."""

    title: str
    source: str
    sentences: list[str]
    drawn: list[int] = field(default_factory=list)


def sections(table: ClaimTable, evidence: Evidence, drawn: Sequence[Drawn]) -> list[Section]:
    """One section for every subject whose studies were run, in the papers' order."""
    found = []
    for subject in recorded(evidence.records):
        figures = [index for index, figure in enumerate(drawn) if figure.subject == subject.id]
        sentences = list(_sentences(subject, table, evidence))
        if figures or sentences:
            found.append(Section(f"{subject.id}: {subject.title}", subject.paper, sentences, figures))
    return found


def _sentences(subject: Subject, table: ClaimTable, evidence: Evidence) -> Iterator[str]:
    for claim in subject.claims:
        rows = [row for row in table.rows if row.study == subject.id and row.claim == claim.statement]
        rows = [row for row in rows if row.decision != Decision.NOT_MEASURED.value]
        if not rows:
            continue
        yield f"{claim.statement}? {_decisions(rows)}"
        against = [row.mpi for row in rows if _against(row)]
        if claim.cause and against:
            yield _cause(claim.cause, subject, evidence, against)
    if not subject.claims and subject.recorded(evidence.records):
        yield f"{subject.note.capitalize()}."


def _against(row: Row) -> bool:
    """Whether what was measured speaks against the claim, decided or not."""
    if row.decision == Decision.NOT_TESTABLE.value and row.low is not None and row.high is not None:
        low, high = OPERATORS[row.operator](row.threshold or 0, row.margin or 0)
        return row.low > high or row.high < low
    return row.decision == Decision.NOT_REPRODUCED.value or AGAINST in row.reason


def _decisions(rows: Sequence[Row]) -> str:
    """ "MPICH: 1.02 (0.98 to 1.05), wanted <= 1 (margin 0.1): reproduced. Open MPI: ..." """
    said = []
    several = [name for name in ("session", "system") if len({getattr(row, name) for row in rows}) > 1]
    for row in rows:
        place = [mpi_title(row.mpi), *(getattr(row, name) for name in several)]
        where = f"{', '.join(filter(None, place))}: " if row.mpi else ""
        reason = f" ({row.reason})" if row.reason else ""
        if row.value is None or row.low is None or row.high is None:
            said.append(f"{where}{row.decision}{reason}.")
        else:
            number = f"{_short(row.value)} ({_short(row.low)} to {_short(row.high)}{row.together}), wanted {row.wanted}"
            said.append(f"{where}{number}{f', at {row.point}' if row.point else ''}: {row.decision}{reason}.")
    return f"{rows[0].number[0].upper()}{rows[0].number[1:]}: " + " ".join(dict.fromkeys(said))


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _cause(cause: Cause, subject: Subject, evidence: Evidence, mpis: Sequence[str]) -> str:
    """The likely cause, with what was measured of it in the same session."""
    said = f"Likely cause: {cause.statement}"
    if cause.measure is None:
        return f"{said}."
    names = set(evidence.records.launches["study"])
    values: list[Value] = []
    for name in cause.studies or subject.recorded(evidence.records):
        values += cause.measure(evidence, name) if name in names else []
    shown = [
        f"{mpi_title(value.mpi)} {_short(value.interval.value)} "
        f"({_short(value.interval.low)} to {_short(value.interval.high)}){f' at {value.point}' if value.point else ''}"
        f"{_doubt(value)}"
        for value in values
        if value.mpi in mpis and math.isfinite(value.interval.value)
    ]
    if not shown:
        return f"{said}; what would show it ({cause.number}) was not measured in this session."
    return f"{said}; {cause.number}: {'; '.join(shown[:SHOWN])}."


def _doubt(value: Value) -> str:
    """Why a number does not show a cause yet, behind it; empty where it does."""
    said = value.caveat or ("" if value.interval.defensible else value.interval.kind)
    return f", {said}" if said else ""
