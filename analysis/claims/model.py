# SPDX-License-Identifier: BSD-3-Clause
"""A claim: which study, what is measured, against which threshold, with which margin; and how it is decided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from analysis.statistics.interval import ENOUGH_LAUNCHES, Interval, simultaneous

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
    """One measured number that the claim is about, with the setting and the point that it belongs to.

    A number that could not be had is NaN, and `caveat` says why: the point is there, and must not be forgotten.
    """

    system: str
    mpi: str
    session: str
    point: str
    interval: Interval
    variant: str = ""
    caveat: str = ""  # why this point cannot decide, whatever its interval says
    remark: str = ""  # what a reader must know beside the decision; the interval holds it


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
    reproduction on another machine may be and still count. When each was written and last changed is in history.json.
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
        points = f" (it holds over {interval.points} points at the same time)" if interval.points > 1 else ""
        return Decision.INCONCLUSIVE, f"the interval lies on both sides of {claim.bound:g}{points}"
    decision = Decision.REPRODUCED if inside else Decision.NOT_REPRODUCED
    if not interval.defensible:
        return (
            Decision.INCONCLUSIVE,
            f"points to {decision.value}, but {ENOUGH_LAUNCHES} launches are needed: {interval.kind}",
        )
    return decision, ""


def decide(values: Sequence[Value], claim: Claim) -> tuple[Decision, str, Value]:
    """The decision over all points of a setting, the reason, and the value that decided with the interval that did.

    Every point must hold; of a claim of "up to" one must. What needs all points is held against each point's own
    interval: if one is not so, its interval says otherwise no more often than by itself. What one point of many is
    enough for is held against intervals that hold for all points at the same time, as the luckiest of many is lucky:
    that one point refutes a claim on every point, and that one point proves a claim of "up to".
    """
    known = [value for value in values if math.isfinite(value.interval.value)]
    if not known:
        return Decision.INCONCLUSIVE, _caveats(values, len(values)), values[0]
    if claim.up_to:
        alone, common = Decision.REPRODUCED, Decision.NOT_REPRODUCED
    else:
        alone, common = Decision.NOT_REPRODUCED, Decision.REPRODUCED
    high = (claim.operator == "<=") != claim.up_to  # one high number is enough for `alone`, or one low number

    def furthest(found: Sequence[Value]) -> Value:
        return max(found, key=lambda value: value.interval.high if high else -value.interval.low)

    together = {id(value): replace(value, interval=simultaneous(value.interval, len(known))) for value in known}
    enough = [value for value in together.values() if _decide_value(value, claim)[0] is alone]
    if enough:
        return alone, furthest(enough).remark, furthest(enough)
    undecided = [value for value in values if _decide_value(value, claim)[0] is not common]
    if not undecided:
        return common, furthest(known).remark, furthest(known)
    barred = [value for value in undecided if value.caveat]
    free = [value for value in undecided if not value.caveat]
    if not free:
        measured = [value for value in barred if math.isfinite(value.interval.value)]
        return Decision.INCONCLUSIVE, _caveats(barred, len(values)), furthest(measured or known)
    shown = together[id(furthest(free))]
    reasons = [_decide_value(shown, claim)[1], _caveats(barred, len(values))]
    return Decision.INCONCLUSIVE, "; ".join(filter(None, reasons)), shown


def _decide_value(value: Value, claim: Claim) -> tuple[Decision, str]:
    return (Decision.INCONCLUSIVE, value.caveat) if value.caveat else decide_one(value.interval, claim)


def _caveats(values: Sequence[Value], of: int) -> str:
    """Why some of so many points cannot decide: the reason of the first, and how many they are."""
    reasons = [value.caveat or "no value" for value in values]
    if len(reasons) <= 1:
        return "".join(reasons)
    return f"{len(reasons)} of {of} points cannot decide, the first: {reasons[0]}"
