# SPDX-License-Identifier: BSD-3-Clause
"""All claims against some sessions: one row a claim and setting, as data, text, JSON.

print(table([Path("results/latest")]).text())
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.claims.decision import Decision, decide, missing, of_a_simulation
from analysis.evidence import Evidence, Value
from analysis.records.load import Records, load
from analysis.subject import Claim, Subject, recorded, subjects
from analysis.text_table import json_text

PAPER = "paper"  # the scale with all points that a paper has


@dataclass(frozen=True)
class Row:
    """A claim as it stands in one setting. `value`, `low`, `high` are None where nothing was measured."""

    study: str
    claim: str
    number: str
    operator: str
    threshold: float | None
    margin: float | None
    comparator: str
    source: str
    figure: str
    decision: str
    reason: str
    session: str = ""
    system: str = ""
    mpi: str = ""
    point: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    interval: str = ""
    points: int = 0  # over how many points the interval holds at the same time
    decided_at: int = 0  # points that have a value which may decide
    of_points: int = 0  # points that the session was to measure of it
    scale: str = ""  # how much of the study was run
    since: str = ""  # since when the claim has stood as it is
    changed_after: bool = False  # whether that is after the session was measured

    @property
    def was_run(self) -> bool:
        """Whether its study was, though perhaps without the points that it needs."""
        return self.decision != Decision.NOT_MEASURED.value or bool(self.number and self.reason)

    @property
    def together(self) -> str:
        """', over 30 points at once' behind an interval, nothing behind that of one point; and at how many points the
        claim was decided: ', at 29 of 30 points (scale quick)'."""
        at_once = f", over {self.points} points at once" if self.points > 1 else ""
        less = f" (scale {self.scale})" if self.scale not in ("", PAPER) else ""
        of = f", at {self.decided_at} of {self.of_points} point{'s'[: self.of_points > 1]}{less}"
        return at_once + (of if self.of_points else "")

    @property
    def dated(self) -> str:
        """'since 2026-11-21 09:57: after this session'."""
        return f"since {self.since}" + (": after this session" if self.changed_after else "") if self.since else ""

    @property
    def wanted(self) -> str:
        """'<= 1 (margin 0.1)'; nothing where nothing is claimed."""
        if self.threshold is None:
            return ""
        return f"{self.operator} {self.threshold:.3g}" + (f" (margin {self.margin:g})" if self.margin else "")


@dataclass(frozen=True)
class ClaimTable:
    """The rows and how often each decision was reached."""

    rows: list[Row]
    cautions: list[str] = field(default_factory=list)  # on the records: cut short, damaged

    @property
    def counts(self) -> dict[str, int]:
        return {d.value: sum(row.decision == d.value for row in self.rows) for d in Decision}

    def json(self) -> str:
        claims = [asdict(row) for row in self.rows]
        return json_text({"counts": self.counts, "cautions": self.cautions, "claims": claims})

    def text(self, every: bool = True) -> str:
        """Plain text, a paragraph a claim, for a terminal; of studies that were not run only where `every`."""
        lines = []
        shown = [row for row in self.rows if every or row.was_run]
        name = max((len(row.study) for row in shown), default=0) + 2
        decided = max((len(row.decision) for row in shown), default=0) + 2
        below = " " * (name + decided)
        for row in shown:
            where = " ".join(part for part in (row.mpi, f"({row.system})" if row.system else "") if part)
            lines.append(f"{row.study:<{name}}{row.decision:<{decided}}{row.claim}{f' [{where}]' if where else ''}")
            if row.value is not None:
                measured = f"{_short(row.value)} ({_short(row.low)} to {_short(row.high)}{row.together})"
                lines.append(
                    f"{below}{row.number}: {measured}, wanted {row.wanted}{f', at {row.point}' if row.point else ''}"
                )
            if row.since:
                lines.append(f"{below}{row.dated}")
            if row.reason:
                lines.append(f"{below}{row.reason}")
        summary = ", ".join(f"{count} {name}" for name, count in self.counts.items() if count)
        return "\n".join([*lines, f"{len(self.rows)} rows: {summary}.", *self.cautions])


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def table(sessions: Sequence[Path]) -> ClaimTable:
    """All claims against the records of `sessions` (none: all are `not measured`).

    Raises UsageError where a session does not exist.
    """
    return build(load(sessions), chosen=subjects())


def build(
    records: Records, evaluated: pd.DataFrame | None = None, chosen: Sequence[Subject] | None = None
) -> ClaimTable:
    """Decides the claims on loaded records: of `chosen` subjects, or else of those that were recorded. `evaluated` is
    evaluate(records) where it has been made already."""
    evidence = Evidence(records, evaluated)
    found = recorded(records) if chosen is None else chosen
    return ClaimTable([row for subject in found for row in _subject_rows(subject, evidence)], records.cautions())


def _subject_rows(subject: Subject, evidence: Evidence) -> Iterator[Row]:
    recorded = subject.recorded(evidence.records)
    if not subject.claims:
        decision = Decision.NO_CLAIM if recorded else Decision.NOT_MEASURED
        if recorded and not _measured(evidence.records, recorded):
            decision, _ = of_a_simulation(decision, "")
        yield Row(subject.id, subject.title, "", "", None, None, "", subject.paper, "", decision.value, subject.note)
    for claim in subject.claims:
        yield from _claim_rows(subject, claim, recorded, evidence)


def _measured(records: Records, studies: Sequence[str]) -> bool:
    """Whether some launch of these studies is no model's prediction."""
    sessions = records.launches.loc[records.launches["study"].isin(studies), "session"].unique()
    return not all(map(records.simulated, map(str, sessions)))


def _claim_rows(subject: Subject, claim: Claim, recorded: Sequence[str], evidence: Evidence) -> Iterator[Row]:
    began = {facts["session"]: str(facts.get("created") or "") for facts in evidence.records.sessions}
    blank = Row(
        study=subject.id,
        claim=claim.statement,
        number=claim.number,
        operator=claim.operator,
        threshold=claim.threshold,
        margin=claim.margin,
        comparator=claim.comparator,
        source=", ".join(filter(None, (subject.paper, claim.source))),
        figure=claim.figure,
        decision=Decision.NOT_MEASURED.value,
        reason="",
        since=claim.since,
    )
    if not recorded:
        yield blank
        return
    values = [value for name in recorded for value in claim.measure(evidence, name) if claim.holds_for(value.mpi)]
    by_setting: dict[tuple[str, str, str], list[Value]] = {}
    for value in values:
        by_setting.setdefault((value.session, value.system, value.mpi), []).append(value)
    if not by_setting:
        reason = f"{', '.join(recorded)} was recorded, but no point has what this claim needs"
        yield replace(blank, **{"reason": reason, **_not_here(claim, evidence, recorded)})
    for (session, system, mpi), group in by_setting.items():
        decision, reason, decisive = decide(group, claim)
        if evidence.records.simulated(session):
            decision, reason = of_a_simulation(decision, reason)
        row = replace(
            blank,
            decision=decision.value,
            reason=reason,
            session=session,
            system=system,
            mpi=mpi,
            point=decisive.point,
            value=_finite(decisive.interval.value),
            low=_finite(decisive.interval.low),
            high=_finite(decisive.interval.high),
            interval=decisive.interval.kind,
            points=decisive.interval.points,
            decided_at=sum(math.isfinite(value.interval.value) and not value.caveat for value in group),
            of_points=len(group),
            scale=_scale(evidence.records, session, recorded),
            changed_after=claim.younger_than(began.get(session, "")),
        )
        if evidence.records.emulated(session):
            yield replace(row, decision=Decision.EMULATED.value, reason="")
            continue
        kept = f"; {reason}" if any(value.caveat for value in group) else ""
        yield replace(row, **_not_here(claim, evidence, recorded, session, kept))


def _scale(records: Records, session: str, studies: Sequence[str]) -> str:
    launches = records.launches[records.launches["study"].isin(studies) & (records.launches["session"] == session)]
    return ", ".join(sorted(map(str, launches["scale"].dropna().unique())))


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _not_here(
    claim: Claim, evidence: Evidence, studies: Sequence[str], session: str | None = None, also: str = ""
) -> dict[str, Any]:
    """The fields of a claim that this machine cannot test, with the reasons and `also`; nothing where it can. What was
    launched counts of the claim's own `studies` alone: another one of the session may have run on more ranks."""
    launches = evidence.records.launches
    launches = launches[launches["study"].isin(studies)]
    for facts in evidence.records.sessions:
        if session in (None, facts["session"]):
            reasons = missing(claim.requires, facts, launches[launches["session"] == facts["session"]])
            if reasons:
                return {"decision": Decision.NOT_TESTABLE.value, "reason": "; ".join(reasons) + also}
    return {}
