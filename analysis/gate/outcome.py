# SPDX-License-Identifier: BSD-3-Clause
"""What a gate says: the words, and the exit status that goes with each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

NEW = "new"  # the candidate's side


class Verdict(str, Enum):
    """What the gate as a whole can say."""

    COMMIT = "commit"
    NODE = "node"
    SYSTEM = "system"
    SAME = "same"
    FASTER = "faster"
    UNDECIDED = "undecided"


PASSED, SLOWER, NOT_TOLD = 0, 1, 3  # 2 is a wrong call
STATUS = {
    Verdict.SAME: PASSED,
    Verdict.FASTER: PASSED,
    Verdict.COMMIT: SLOWER,
    Verdict.NODE: NOT_TOLD,
    Verdict.SYSTEM: NOT_TOLD,
    Verdict.UNDECIDED: NOT_TOLD,
}


@dataclass(frozen=True)
class PointFound:
    """One point. Ratios are times of the side over the baseline's, rates turned round, so that above 1 is slower; of
    the candidate and of the control, each with its interval. `slower`: by more than the margin, shown; `same`: within
    the margin, shown; `faster`: shown to be, by any amount. `base`: the baseline's own median, in the quantity's unit.
    `level`: the chance that the candidate's interval holds the truth, at the look that is shown, at least; of the
    control's `control_level`.
    """

    name: str
    quantity: str
    ratio: float
    low: float
    high: float
    control: float
    control_low: float
    control_high: float
    base: float
    slower: bool
    same: bool
    faster: bool
    level: float = math.nan
    control_level: float = math.nan


@dataclass(frozen=True)
class SlowPart:
    """A node, or a pair of nodes, that is slower than the others in the check run. `ratio`: over the others' middle."""

    where: str
    what: str
    ratio: float
    low: float


@dataclass(frozen=True)
class CheckRun:
    """Seconds of the check run: node or pair of nodes -> its middle over all rounds."""

    computation_s: dict[str, float] = field(default_factory=dict)
    transfer_s: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class GateFound:
    """The whole. `decided`: no further round is needed, and of the studies `settled` also where it is; `rounds`: those
    of each study in which all was measured, of `planned`; `sentence`: the verdict in words; `failed_sides`: those with
    launches that failed, or gave wrong results, by themselves; `check_run_failed`: in so many rounds that a slow node
    would not have been seen."""

    decided: bool
    settled: list[str]
    session: str
    base: str
    new: str
    verdict: Verdict
    sentence: str
    margin: float
    rounds: int
    planned: int
    points: list[PointFound]
    odd: list[SlowPart]
    check_run: CheckRun
    notes: list[str]
    failed_sides: list[str] = field(default_factory=list)
    check_run_failed: bool = False

    @property
    def status(self) -> int:
        return STATUS[self.verdict]

    @property
    def candidate_failed(self) -> bool:
        """Whether launches of the candidate failed, and none of the baseline: nothing is told of its time, and yet it
        should not pass."""
        return self.failed_sides == [NEW]
