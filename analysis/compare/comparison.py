# SPDX-License-Identifier: BSD-3-Clause
"""The outcome of a comparison, and how it is written: Markdown for people, JSON for programs, JUnit for CI."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from enum import Enum

from analysis.junit import Case, junit
from analysis.text_table import json_text, markdown
from analysis.words import interval_text, points_text


class Judgement(str, Enum):
    """What can be said of a point or a session."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class PointVerdict:
    """One point. `ratio` is NEW's time over BASE's (below 1 is better, rates are inverted); NaN where not measured.

    `p` is the point's own p-value, `adjusted` after Holm over all points; `superiority` the probability that a launch
    of NEW beats one of BASE. `lost`: it failed in NEW and not in BASE, or in more of the launches. `uncompared`: BASE
    measured it and nothing can be said of it, because NEW lacks it or what was recorded cannot be compared.
    `undisturbed`: only of a point that others disturbed, of which nothing is told: the verdict that its numbers would
    have given.
    """

    study: str
    system: str
    mpi: str
    variant: str
    point: str
    quantity: str
    verdict: Judgement
    reason: str = ""
    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    adjusted: float = math.nan
    superiority: float = math.nan
    launches: tuple[int, int] = (0, 0)
    lost: bool = False
    uncompared: bool = False
    undisturbed: Judgement | None = None

    @property
    def name(self) -> str:
        return f"{self.study} {self.system} {self.mpi} {self.variant}: {self.point}"


@dataclass(frozen=True)
class SessionVerdict:
    """What is said of a session. `undisturbed`: only where nothing is told of all points together because many were
    disturbed: what the others would have shown."""

    verdict: Judgement
    sentence: str
    undisturbed: Judgement | None = None


@dataclass(frozen=True)
class Comparison:
    """All points, and the verdict of the session with its sentence. `unread`: record files of NEW that cannot be read
    whole, where they are more than BASE's."""

    base: str
    new: str
    session: SessionVerdict
    margin: float
    false_alarms: float
    points: list[PointVerdict]
    notes: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> Judgement:
        return self.session.verdict

    @property
    def sentence(self) -> str:
        return self.session.sentence

    @property
    def regression(self) -> bool:
        """Whether NEW is shown to be worse: slower, or something no longer works."""
        return self.verdict is Judgement.SLOWER or any(point.lost for point in self.points)

    @property
    def incomplete(self) -> bool:
        """Whether it cannot be told that there is no regression: something of BASE was not compared, or nothing was, or
        a point or the session looks slower but was disturbed; or nobody knows what some launches of NEW measured."""
        compared = any(not math.isnan(point.p) and point.undisturbed is None for point in self.points)
        suspected = Judgement.SLOWER in (self.session.undisturbed, *(point.undisturbed for point in self.points))
        return not compared or suspected or bool(self.unread) or any(point.uncompared for point in self.points)

    @property
    def status(self) -> int:
        """A command's exit status: 0 only if all that BASE measured was compared and nothing is shown to be worse."""
        return 1 if self.regression or self.incomplete else 0

    def counts(self) -> dict[str, int]:
        return {j.value: sum(point.verdict is j for point in self.points) for j in Judgement}

    def json(self) -> str:
        """Machine-readable; numbers that do not exist are null."""
        content = {
            "base": self.base,
            "new": self.new,
            "verdict": self.verdict.value,
            "sentence": self.sentence,
            "undisturbed": self.session.undisturbed,
            "regression": self.regression,
            "incomplete": self.incomplete,
            "status": self.status,
            "margin": self.margin,
            "false_alarms": self.false_alarms,
            "counts": self.counts(),
            "notes": self.notes,
            "unread": self.unread,
            "points": [asdict(point) for point in self.points],
        }
        return json_text(content)

    def markdown(self) -> str:
        """A heading, the sentence, and the points: those that changed first, the unchanged ones counted."""
        lines = [f"## {self.new} against {self.base}: {self.verdict.value}", "", self.sentence, ""]
        lines += [f"- {note}" for note in self.notes] + ([""] if self.notes else [])
        changed = (Judgement.SLOWER, Judgement.FASTER)
        shown = [p for p in self.points if p.verdict in changed or p.undisturbed in changed or p.lost]
        if shown:
            order = sorted(shown, key=lambda p: (p.verdict is not Judgement.SLOWER, p.adjusted))
            columns = ["verdict", "point", "NEW / BASE", "adjusted p", "launches"]
            lines += [*markdown(columns, map(_row, order)), ""]
        counted = ", ".join(f"{count} {name}" for name, count in self.counts().items() if count) or "none"
        lines.append(f"{points_text(len(self.points))}: {counted}.")
        return "\n".join(lines) + "\n"

    def junit(self) -> str:
        """One test case a point: slower or lost fails, cannot tell is skipped. One of the session: its status."""
        cases = [Case("session", "session", "failure" if self.status else "", self.sentence)]
        for point in self.points:
            where = f"{point.study}.{point.mpi}.{point.variant}", point.point
            if point.verdict is Judgement.SLOWER or point.lost:
                message = point.reason or interval_text(point.ratio, point.low, point.high)
                cases.append(Case(*where, "failure", message))
            elif point.verdict is Judgement.CANNOT_TELL:
                cases.append(Case(*where, "skipped", point.reason))
            else:
                cases.append(Case(*where, said=point.reason))
        return junit(f"{self.new} against {self.base}", cases)


def _lost(point: PointVerdict) -> str:
    if not point.launches[1]:
        return "no longer works"
    return "fails more often" + (", slower" if point.verdict is Judgement.SLOWER else "")


def _row(point: PointVerdict) -> list[str]:
    adjusted = "–" if math.isnan(point.adjusted) else f"{point.adjusted:.2g}"
    verdict = _lost(point) if point.lost else point.verdict.value
    reason = f" ({point.reason})" if point.reason else ""
    ratio, launches = interval_text(point.ratio, point.low, point.high), "{} and {}".format(*point.launches)
    return [verdict, point.name + reason, ratio, adjusted, launches]
