# SPDX-License-Identifier: BSD-3-Clause
"""C1: what does the engine add to the way of a byte?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.chapter import Chapter, Claim
from analysis.documents.budgets import BASE, Budget, of_part
from analysis.documents.costs import BENCHMARK, STUDY, Piece, measured, of_study
from analysis.evidence import Evidence, Value
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.statistics.interval import Interval

NO_VALUE = Interval(float("nan"), float("nan"), float("nan"), "no value", False)


def _rows(evidence: Evidence) -> list[tuple[Piece, Budget, Interval, str]]:
    """What each variant adds, on each MPI; the reason where it has no value."""
    found = []
    for piece in of_study(evidence):
        for budget in of_part("ping-pong"):
            failed = piece.failures.get(budget.variant) or piece.failures.get(BASE, "")
            interval = None if failed else measured(budget, piece)
            if interval or failed:
                found.append((piece, budget, interval or NO_VALUE, failed))
    return found


@dataclass(frozen=True)
class Added:
    """Nanoseconds that a variant adds to half a round trip, less those of bare-multiple."""

    variant: str

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        return [
            Value(piece.system, piece.mpi, piece.session, "1 byte", interval, self.variant,
                  caveat=failed or piece.disturbed)
            for piece, budget, interval, failed in (_rows(evidence) if study == STUDY else [])
            if budget.variant == self.variant
        ]  # fmt: skip


CLAIMS = (
    Claim(
        statement="The adaptive engine adds no more than 100 ns to half a round trip of a byte",
        number="nanoseconds of half a round trip, adaptive less bare-multiple",
        operator="<=",
        threshold=100.0,
        margin=0.0,
        comparator="the MPI as it is, at MPI_THREAD_MULTIPLE",
        source="the engine's own budget",
        measure=Added("adaptive"),
        figure="engine_costs",
        since="2026-11-23 02:15",
    ),
)


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """What each variant adds."""
    found = [
        {"label": budget.variant, "session": piece.session, "system": piece.system, "study": STUDY,
         "mpi": piece.mpi, "variant": budget.variant, "value": x.value,
         "low": x.low,
         "high": x.high, "interval": x.kind, "status": "failed" if failed else "ok", "reason": failed}
        for piece, budget, x, failed in _rows(evidence)
    ]  # fmt: skip
    frame = intervals.wanted(evidence, found)
    if not len(frame):
        return []
    formula = f"median of {BENCHMARK} of one byte between two ranks of one node, less that of {BASE} (lower is better)"
    return [
        intervals.draw(
            "engine_costs", "What the engine adds to half a round trip of a byte", formula, "ns added",
            {"the budget": 100.0}, frame, provenance,
        )
    ]  # fmt: skip


CHAPTER = Chapter("C1", (STUDY,), "", "what the engine adds to the way of a byte", CLAIMS, (draw,))
