# SPDX-License-Identifier: BSD-3-Clause
"""A claim: which study, what is measured, against which threshold, with which margin; and how it is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from analysis.statistics.interval import ENOUGH_LAUNCHES, Interval

if TYPE_CHECKING:
    from analysis.claims.evidence import Evidence


class Decision(str, Enum):
    """What can be said of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTABLE = "not testable here"
    NOT_MEASURED = "not measured"
    NO_CLAIM = "measured, no claim"


@dataclass(frozen=True)
class Value:
    """One measured number that the claim is about, with the setting and the point that it belongs to."""

    system: str
    mpi: str
    session: str
    point: str
    interval: Interval
    variant: str = ""
    caveat: str = ""  # why this point cannot decide, whatever its interval says


class Measure(Protocol):
    """Reads the number of a claim off the records: one value a setting and point; empty where nothing was recorded."""

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]: ...


@dataclass(frozen=True)
class Cause:
    """Why a claim may not be reproduced: said only where it is not. `number` is what `measure` reads off `studies`
    (empty: the claim's own), which shows the cause or disproves it."""

    statement: str
    number: str = ""
    measure: Measure | None = None
    studies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """`operator` is <= or >=; the measured number is held against `threshold`, relaxed by `margin`.

    `margin` is in the number's own unit and always to the claim's advantage: how far from the paper's word a
    reproduction on another machine may be and still count. Both were written down before the first measurement.
    """

    statement: str
    number: str
    operator: str
    threshold: float
    margin: float
    comparator: str
    source: str
    measure: Measure
    figure: str = ""
    requires: tuple[str, ...] = ()
    mpis: tuple[str, ...] = ()
    cause: Cause | None = None
    up_to: bool = False  # "up to 46 %": the best point counts, where otherwise every point must hold

    @property
    def bound(self) -> float:
        return self.threshold + (self.margin if self.operator == "<=" else -self.margin)

    def holds_for(self, mpi: str) -> bool:
        """Whether the claim speaks of this MPI; `mpis` names families: 'openmpi' covers 'debian-openmpi'."""
        return not self.mpis or any(name in mpi for name in self.mpis)


@dataclass(frozen=True)
class Study:
    """One of the 26 studies; `names` are those of its records, `note` says why it claims nothing, if so."""

    id: str
    names: tuple[str, ...]
    paper: str
    title: str
    claims: tuple[Claim, ...] = field(default=())
    note: str = ""


def decide_one(interval: Interval, claim: Claim) -> tuple[Decision, str]:
    """The decision from one interval, and the reason where there is none.

    The whole interval must lie on one side of the bound. An interval over fewer than 6 launches decides nothing, but
    it says which way it points.
    """
    inside = interval.high <= claim.bound if claim.operator == "<=" else interval.low >= claim.bound
    outside = interval.low > claim.bound if claim.operator == "<=" else interval.high < claim.bound
    if not inside and not outside:
        return Decision.INCONCLUSIVE, f"the interval lies on both sides of {claim.bound:g}"
    decision = Decision.REPRODUCED if inside else Decision.NOT_REPRODUCED
    if not interval.defensible:
        return (
            Decision.INCONCLUSIVE,
            f"points to {decision.value}, but {ENOUGH_LAUNCHES} launches are needed: {interval.kind}",
        )
    return decision, ""


def decide(values: Sequence[Value], claim: Claim) -> tuple[Decision, str, Value]:
    """The decision over all points of a setting: reproduced where every point is, not where one is not.

    Also returns the value that decided: the one furthest to the claim's disadvantage. A claim of "up to" is decided
    by the point furthest to its advantage.
    """
    if claim.up_to:
        best = min(values, key=lambda v: v.interval.high if claim.operator == "<=" else -v.interval.low)
        values = [best]
    worst = max(values, key=lambda v: v.interval.high if claim.operator == "<=" else -v.interval.low)
    decided = [(*_decide_value(value, claim), value) for value in [worst, *values]]
    for wanted in (Decision.NOT_REPRODUCED, Decision.INCONCLUSIVE):
        found = next((entry for entry in decided if entry[0] is wanted), None)
        if found:
            return found
    return decided[0]


def _decide_value(value: Value, claim: Claim) -> tuple[Decision, str]:
    return (Decision.INCONCLUSIVE, value.caveat) if value.caveat else decide_one(value.interval, claim)
