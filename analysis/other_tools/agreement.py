# SPDX-License-Identifier: BSD-3-Clause
"""A number of another tool's and the same of ours: agreement, or by how much they differ.

Agreement is a whole interval within 5 % (of an overlap or an overhead: 5 percentage points).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import SETTING, Array, Evidence
from analysis.records import frames
from analysis.statistics.interval import Interval, middle, ratio_of_medians

PREFIX = "cross-check-"
ALONE, OVERLAP = "alone: ", "overlap: "  # before a collective's name and size
EXPOSED, SLOWED = "exposed: ", "slowdown: "
SHARES = {OVERLAP: "efficiency", EXPOSED: "hidden", SLOWED: "inflation"}  # what is in per cent -> our metric of it
WITHIN, POINTS = 0.05, 5.0
AGREES, DIFFERS, UNKNOWN, UNLIKE = "agrees", "differs", "cannot tell", "not the same quantity"


@dataclass(frozen=True)
class Number:
    """What is measured, and where."""

    session: str
    system: str
    mpi: str
    variant: str
    study: str
    what: str


@dataclass(frozen=True)
class Comparison(Number):
    """One number of theirs beside ours. `same`: their formula on our samples; `of_same`: theirs over that, of a
    share theirs less that, in percentage points. `unsure`: why it decides nothing; `unlike`: both measure different
    things, and are only shown side by side."""

    ours: Interval
    same: Interval
    theirs: Interval
    of_same: Interval
    remark: str = ""
    unsure: str = ""
    unlike: bool = False

    @classmethod
    def of(
        cls, where: dict[str, Any], what: str, ours: Sequence[Array], same: Sequence[Array], theirs: Sequence[Array]
    ) -> Comparison:
        """By the medians of launches."""
        of_same = ratio_of_medians(theirs, same)
        return cls(**where, what=what, ours=middle(ours), same=middle(same), theirs=middle(theirs), of_same=of_same)

    @property
    def share(self) -> str:
        """What it is a share of the communication of; empty of times and rates."""
        return next((kind for kind in SHARES if self.what.startswith(kind)), "")

    @property
    def verdict(self) -> str:
        """Whether they agree once both mean the same; too few launches or a disturbed machine decide nothing."""
        if self.unlike:
            return UNLIKE
        if self.unsure or not self.of_same.defensible:
            return UNKNOWN
        low, high = (-POINTS, POINTS) if self.share else (1 - WITHIN, 1 + WITHIN)
        if self.of_same.low > high or self.of_same.high < low:
            return DIFFERS
        return AGREES if low <= self.of_same.low and self.of_same.high <= high else UNKNOWN

    def said(self) -> str:
        """The verdict and what belongs to it."""
        few = "" if self.of_same.defensible else "too few launches"
        return ", ".join(filter(None, [self.verdict, few, self.unsure, self.remark]))


@dataclass(frozen=True)
class Uncompared(Number):
    """A number of one side that has no other, and why."""

    why: str


Outcome = Comparison | Uncompared


def difference(one: Interval, other: Interval, factor: float = 1.0) -> Interval:
    """`factor` times the difference, as wide as both are."""
    return replace(
        one,
        value=factor * (one.value - other.value),
        low=factor * (one.low - other.high),
        high=factor * (one.high - other.low),
        defensible=one.defensible and other.defensible,
    )


def metrics_of(
    evidence: Evidence, where: dict[str, Any], ours: pd.DataFrame
) -> tuple[dict[str, Interval], dict[str, str]]:
    """Our metrics of a point, by name; of those without a value why."""
    frame = evidence.metrics
    if not len(frame):
        return {}, {}
    same = [frame[name] == where[name] for name in (*SETTING, "variant")]
    same += [frame[name] == ours[name].iloc[0] for name in ("study", "point")]
    known, lacking = {}, {}
    for row in frames.rows(frame[np.logical_and.reduce(same)]):
        if np.isfinite(row["value"]):
            known[row["metric"]] = Interval(row["value"], row["low"], row["high"], row["interval"], row["defensible"])
        else:
            lacking[row["metric"]] = str(row["reason"] or row.get("note") or "it has no value")
    return known, lacking
