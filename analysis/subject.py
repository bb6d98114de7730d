# SPDX-License-Identifier: BSD-3-Clause
"""What the analysis has to say of a study: the claims that are decided, and the figures that are drawn.

A file of analysis/studies makes one subject, from the parts that are here.
"""

from __future__ import annotations

import datetime
import fnmatch
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from analysis.evidence import Evidence, Value
from analysis.figures.toolkit import Drawn
from analysis.records import frames
from analysis.records.load import Records


class Measure(Protocol):
    """Reads the number of a claim off the records: one value a setting and point; empty where nothing was recorded."""

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]: ...


class Figure(Protocol):
    """Draws what the records have points for: nothing, one figure, or one a system, size, pattern."""

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]: ...


@dataclass(frozen=True)
class Cause:
    """Why a claim may not be reproduced: said only where it is not. `number` is what `measure` reads off `studies`
    (empty: the claim's own), which shows the cause or disproves it."""

    statement: str
    number: str = ""
    measure: Measure | None = None
    studies: tuple[str, ...] = ()


# Between which bounds a number must lie, by a claim's operator, threshold and margin; a strict one holds on neither.
OPERATORS: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "<=": lambda threshold, margin: (-math.inf, threshold + margin),
    ">=": lambda threshold, margin: (threshold - margin, math.inf),
    "<": lambda threshold, margin: (-math.inf, threshold + margin),
    ">": lambda threshold, margin: (threshold - margin, math.inf),
    "=": lambda threshold, margin: (threshold - margin, threshold + margin),
}
STRICT = ("<", ">")


@dataclass(frozen=True)
class Claim:
    """`operator` is one of OPERATORS; the measured number is held against `threshold`, relaxed by `margin`. A claim of
    a difference is strict: that none was seen does not prove it. One that there is none has both sides.

    `margin` is in the number's own unit and always to the claim's advantage: how far from the paper's word a
    reproduction on another machine may be and still count. `since`: the minute (UTC) since when it has stood as it is;
    set it anew with any change of what decides, so that a report can say which claims are younger than what they judge.
    """

    statement: str
    number: str
    operator: str
    threshold: float
    comparator: str
    source: str
    measure: Measure
    figure: str = ""
    requires: tuple[str, ...] = ()
    mpis: tuple[str, ...] = ()
    cause: Cause | None = None
    up_to: bool = False  # "up to 46 %": the best point counts, where otherwise every point must hold
    margin: float = field(default=0.0, kw_only=True)
    since: str = field(kw_only=True)

    @property
    def bounds(self) -> tuple[float, float]:
        return OPERATORS[self.operator](self.threshold, self.margin)

    def holds_for(self, mpi: str) -> bool:
        """Whether the claim speaks of this MPI; `mpis` names families: 'openmpi' covers 'debian-openmpi'."""
        return not self.mpis or any(name in mpi for name in self.mpis)

    def younger_than(self, measured: str) -> bool:
        """Whether it was written or changed after a session that began at `measured` (ISO 8601); False if that is no
        time."""
        try:
            return _time(self.since) > _time(measured)
        except ValueError:
            return False


def _time(text: str) -> datetime.datetime:
    found = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=datetime.timezone.utc)


@dataclass(frozen=True)
class Subject:
    """One of the papers' 26 studies, P1 to G5, or one of our own. `studies`: what those that are run for it are called
    in the records, or how their names begin ("harm-*"). `note` says why nothing is claimed, if so."""

    id: str
    studies: tuple[str, ...]
    paper: str
    title: str
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    note: str = ""

    def covers(self, study: str) -> bool:
        """Whether a study that is run is one of this subject's."""
        return any(fnmatch.fnmatchcase(study, name) for name in self.studies)

    def recorded(self, records: Records) -> list[str]:
        """Its studies that left records."""
        names = frames.unique(records.launches["study"]) if len(records.launches) else []
        return [str(name) for name in names if self.covers(str(name))]
