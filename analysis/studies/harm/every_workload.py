# SPDX-License-Identifier: BSD-3-Clause
"""H1: does the engine slow any workload down?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from analysis.chapter import Chapter, Claim
from analysis.documents.harm import BASE, PREFIX, Harm, Row, rows
from analysis.evidence import Evidence, Value
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.records import frames
from analysis.statistics.interval import Interval

NO_VALUE = Interval(float("nan"), float("nan"), float("nan"), "no value", False)
OTHERS = {
    Harm.NONE: "within the budget:",
    Harm.UNCLEAR: "cannot be told:",
    Harm.FAILED: "failed:",
    Harm.SKIPPED: "skipped:",
    Harm.UNCOMPARED: "without bare:",
}


@dataclass(frozen=True)
class LossOfBudget:
    """How much slower than bare a variant makes a workload, as a share of what it may: 1 is all of the budget."""

    variant: str

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        return [self._value(row) for row in rows(evidence, study) if self.variant in row.cells]

    def _value(self, row: Row) -> Value:
        cell = row.cells[self.variant]
        place = (row.system, row.mpi, row.session, row.workload)
        if cell.ratio is None:
            return Value(*place, NO_VALUE, self.variant, caveat=f"{cell.harm.value}: {cell.reason}".rstrip(": "))
        share = {name: (getattr(cell.ratio, name) - 1) / (row.allowed - 1) for name in ("value", "low", "high")}
        return Value(*place, replace(cell.ratio, **share), self.variant, caveat=cell.disturbed)


CLAIMS = (
    Claim(
        statement="The adaptive engine slows no workload down by more than its budget",
        number="what a workload loses, adaptive against bare, as a share of what it may: 2 %, or 100 ns of a latency",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="the MPI as it is",
        source="the engine's own promise",
        measure=LossOfBudget("adaptive"),
        figure="harm",
        since="2026-11-23 02:15",
    ),
)


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Every workload and variant in one figure."""
    found = [
        {
            "label": row.workload,
            "session": row.session,
            "system": row.system,
            "study": row.study,
            "mpi": row.mpi,
            "variant": name,
            "quantity": row.quantity,
            "verdict": cell.harm.value,
        }
        | _numbers(cell.ratio or NO_VALUE)
        | {"status": cell.status, "reason": cell.why}
        for row in rows(evidence)
        for name, cell in row.cells.items()
        if name != BASE
    ]
    frame = intervals.wanted(evidence, found)
    if not len(frame):
        return []
    formula = (
        "a workload's whole time (or else its leading quantity) under a variant over the same under bare, of a rate "
        "the other way round (more than 1 is slower)"
    )
    lines = {"bare": 1.0, "2 % slower": 1.02}
    drawn = intervals.draw(
        "harm", "What each variant costs each workload", formula, "time / bare", lines, frame, provenance
    )
    harmed = [f"{point['label']} on {point['mpi']} ({point['variant']})" for point in frames.rows(frame)
              if point["verdict"] == Harm.HARMED.value]  # fmt: skip
    drawn.found = f"Shown to be harmed: {', '.join(harmed) or 'none'}; {_others(frame['verdict'].tolist())}."
    return [drawn]


def _others(verdicts: Sequence[str]) -> str:
    """Of how many cells something else is said: that none is shown to be harmed does not say that none is."""
    counts = Counter(verdicts)
    said = [f"{words} {counts[harm.value]}" for harm, words in OTHERS.items() if counts[harm.value]]
    return ", ".join(said) or "nothing else was measured"


def _numbers(interval: Interval) -> dict[str, object]:
    return {"value": interval.value, "low": interval.low, "high": interval.high, "interval": interval.kind}


CHAPTER = Chapter("H1", (f"{PREFIX}*",), "", "harm: every workload with the engine", CLAIMS, (draw,))
