# SPDX-License-Identifier: BSD-3-Clause
"""C1: what the engine costs as a table, each budget with what a session measured, and whether it was met.

The parts `core` and `calls` send no message: their benchmarks leave nanoseconds in <session>/costs, a file a part and
MPI. The ping-pong is the study `one-byte-ping-pong` and has records like any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.budgets import BASE, PARTS, Budget, of_part
from analysis.evidence import SETTING, Evidence, Value
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.records import frames
from analysis.statistics.interval import NO_VALUE, Interval, difference_of_medians, middle
from analysis.subject import Claim, Subject
from analysis.tables import failure, page, times
from analysis.text_table import markdown

STUDY, QUANTITY, BENCHMARK = "one-byte-ping-pong", "batch_median_s", "latency"
FOLDER = "costs"  # of a session, for what its benchmarks without messages say
NANO = 1e9

HEAD = f"""# What the engine costs

Written by `./bench engine-costs`. Nanoseconds, but for the section of instructions, which Valgrind's Callgrind counts
in the thread that calls: those of a quiet machine and of a busy one are the same. Each value is the median over
launches of the launches' medians, in brackets its interval; variants alternate, and what an MPI's row says is the
difference from `{BASE}` in the same session. A budget is *met* if the median is within it and *missed* if not;
*unclear* stands where the interval reaches over the budget, *cannot tell* where there are fewer than six launches or
others disturbed the machine.
"""

Launches = list[Any]  # each the nanoseconds of its samples


@dataclass(frozen=True)
class Piece:
    """One part on one MPI: variant -> benchmark -> launches; and what failed, variant -> why."""

    part: str
    mpi: str
    samples: dict[str, dict[str, Launches]]
    failures: dict[str, str] = field(default_factory=dict)
    session: str = ""
    system: str = ""
    disturbed: str = ""  # why the ping-pong decides nothing, whatever it says


def pieces(evidence: Evidence) -> list[Piece]:
    """All that the sessions hold."""
    sessions = evidence.records.sessions
    kept = [piece for session in sessions for piece in _of_benchmarks(Path(session["path"]) / FOLDER)]
    return [*kept, *of_study(evidence)]


def _of_benchmarks(folder: Path) -> Iterator[Piece]:
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text())
        yield Piece(data["part"], data["mpi"], data["samples"], session=folder.parent.name)


def of_study(evidence: Evidence) -> Iterator[Piece]:
    """The ping-pong on each MPI of each session."""
    points = evidence.records.points
    mine = points[points["study"] == STUDY] if len(points) else points
    for (session, system, mpi), part in frames.groups(mine, SETTING):
        samples, failures = {}, {}
        for (variant,), launches in frames.groups(part, ["variant"]):
            if failed := failure(launches):
                failures[str(variant)] = f"{failed.harm.value}: {failed.reason}"
            else:
                found = times(evidence.records, launches, QUANTITY, rate=False)
                samples[str(variant)] = {BENCHMARK: [launch * NANO for launch in found]}
        disturbed, _ = evidence.state(part)
        yield Piece("ping-pong", str(mpi), samples, failures, str(session), str(system), disturbed)


def document(evidence: Evidence) -> str:
    """The whole table as Markdown."""
    found = pieces(evidence)
    sections = [_section(part, [piece for piece in found if piece.part == part]) for part in PARTS]
    return page(evidence, HEAD, *filter(None, sections))


def _section(part: str, found: Sequence[Piece]) -> str:
    if not found:
        return ""
    rows = [row for budget in of_part(part) for piece in found for row in _row(budget, piece)]
    columns = ["path", "MPI", "variant", "budget", "measured", ""]
    if part == "core":
        rows, columns = [[row[0], *row[3:]] for row in rows], [columns[0], *columns[3:]]
    reasons = [f"- {piece.mpi}, {name}: {why}" for piece in found for name, why in piece.failures.items()]
    reasons += [f"- {piece.mpi}: {piece.disturbed}" for piece in found if piece.disturbed]
    return "\n".join([f"## {PARTS[part][0].upper()}{PARTS[part][1:]}", "", *markdown(columns, rows), "", *reasons])


def _row(budget: Budget, piece: Piece) -> list[list[str]]:
    limit = "" if budget.limit_ns is None else f"{budget.limit_ns:g}"
    head = [budget.path, piece.mpi, budget.variant, limit]
    if budget.variant in piece.failures or (piece.failures and BASE in piece.failures):
        return [[*head, "failed", ""]]
    interval = measured(budget, piece)
    if interval is None:
        return []
    value = f"{_number(interval.value)} [{_number(interval.low)}, {_number(interval.high)}]"
    return [[*head, value, verdict(budget.limit_ns, interval, piece.disturbed)]]


def _number(value: float) -> str:
    return f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def measured(budget: Budget, piece: Piece) -> Interval | None:
    """What a piece says of a budget, nanoseconds; None if it does not measure it."""
    launches = piece.samples.get(budget.variant, {}).get(budget.benchmark)
    if launches is None:
        return None
    if budget.variant:
        base = piece.samples.get(BASE, {}).get(budget.benchmark)
        return difference_of_medians(launches, base) if base else None
    return middle(launches)


def verdict(limit_ns: float | None, interval: Interval, disturbed: str = "") -> str:
    """ "met", "missed", "unclear", "cannot tell" or nothing."""
    if limit_ns is None:
        return ""
    if disturbed:
        return "cannot tell: the machine was disturbed"
    if not interval.defensible:
        return "cannot tell: too few launches"
    if interval.low <= limit_ns < interval.high:
        return f"unclear ({'met' if interval.value <= limit_ns else 'missed'} at the median)"
    return "met" if interval.value <= limit_ns else "missed"


def _added(evidence: Evidence) -> list[tuple[Piece, Budget, Interval, str]]:
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
            for piece, budget, interval, failed in (_added(evidence) if study == STUDY else [])
            if budget.variant == self.variant
        ]  # fmt: skip


CLAIMS = (
    Claim(
        statement="The adaptive engine adds no more than 100 ns to half a round trip of a byte",
        number="nanoseconds of half a round trip, adaptive less bare-multiple",
        operator="<=",
        threshold=100.0,
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
        for piece, budget, x, failed in _added(evidence)
    ]  # fmt: skip
    formula = f"median of {BENCHMARK} of one byte between two ranks of one node, less that of {BASE} (lower is better)"
    title, lines = "What the engine adds to half a round trip of a byte", {"the budget": 100.0}
    return intervals.draw(evidence, provenance, found, "engine_costs", title, formula, "ns added", lines)


TITLE = "what the engine adds to the way of a byte"
SUBJECT = Subject("C1", (STUDY,), "", TITLE, CLAIMS, (draw,))

SUBJECTS = (SUBJECT,)
