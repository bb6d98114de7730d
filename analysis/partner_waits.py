# SPDX-License-Identifier: BSD-3-Clause
"""What of a wait for a message progress could win, once it is known what both of its processes did meanwhile.

A wait before the partner has called its send or receive is for a late partner (Scalasca's late sender, late receiver):
no progress engine wins it. What is left could be shorter by as much as one of the two computed while both had called,
and nobody had to be in MPI for that but a progress engine: before the wait the one that waits, during it the partner.
Where nobody knows what the partner did, as in a collective operation, all that was waited could be won.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NS = 1e-9
Place = tuple[int, int]  # a rank, and the number of an operation in its profile


@dataclass
class Found:
    """Of an operation's waits, in seconds: for late partners; and how much more can be won than the profile says, which
    knows its own process alone."""

    late_s: float = 0.0
    more_s: float = 0.0


@dataclass(frozen=True)
class PartnerWaits:
    """`known`: the share of what was waited for which the partner's calls are known."""

    by_operation: Mapping[Place, Found]
    known: float


@dataclass(frozen=True)
class _Wait:
    """A line of `waits` in a profile, with the partner's calls; times in nanoseconds of the day."""

    operation: int
    blocks: bool
    begin: int
    time: int
    share: int
    computed: int
    own_start: int | None = None
    partner: tuple[int, float] | None = None  # when its call began, and when it waited for that, too

    @property
    def late(self) -> int:
        return min(max(self.partner[0] - self.begin, 0), self.time) if self.partner else 0

    @property
    def computed_beside(self) -> float:
        """By one of the two, while both had called and this one did not wait, or the other one did not."""
        if self.partner is None or self.own_start is None:
            return math.inf
        start, waits = self.partner
        span = self.begin - self.own_start
        both = self.begin - max(self.own_start, start)
        own = self.computed * min(1.0, max(0, both) / span) if span > 0 else 0.0  # as if it were spread evenly
        return own + max(0.0, min(self.begin + self.time, waits) - max(self.begin, start))


def partner_waits(profiles: Sequence[Mapping[str, Any]]) -> PartnerWaits:
    """Of the profiles of all processes."""
    messages = _messages(profiles)
    found: defaultdict[Place, Found] = defaultdict(Found)
    whole = known = 0
    for profile in profiles:
        calls: defaultdict[int, list[_Wait]] = defaultdict(list)
        for call, wait in _waits(profile, messages):
            calls[call].append(wait)
            whole += wait.share
            known += wait.share if wait.partner else 0
        for waits in calls.values():
            _share(waits, found, profile["rank"])
    return PartnerWaits(found, known / whole if whole else 1.0)


def _share(waits: Sequence[_Wait], found: defaultdict[Place, Found], rank: int) -> None:
    """Those of one call wait for the latest partner, and as long as the last message takes."""
    late, whole = max(wait.late for wait in waits), waits[0].time
    could = min(whole - late, max(wait.computed_beside for wait in waits))
    for wait in waits:
        said = 0 if wait.blocks else min(whole, max(one.computed for one in waits))
        mine = found[rank, wait.operation]
        mine.late_s += NS * late * wait.share / whole
        mine.more_s += NS * (could - said) * wait.share / whole


Messages = Mapping[tuple[int, int, int, int, bool], list[tuple[int, float]]]


def _messages(profiles: Sequence[Mapping[str, Any]]) -> Messages:
    """(rank, its partner, tag, size of the communicator, whether it sends) -> its calls of each message, in order."""
    return {
        (profile["rank"], one["peer"], one["tag"], one["size"], one["sends"]): [
            (profile["began_ns"] + start, math.inf if waits is None else profile["began_ns"] + waits)
            for start, waits in zip(one["starts"], one["completing"], strict=True)
        ]
        for profile in profiles
        for one in profile["streams"]
        if one["sends"] or profile["numbers_receives"]
    }


def _waits(profile: Mapping[str, Any], messages: Messages) -> Iterator[tuple[int, _Wait]]:
    """Each with the call that it was in."""
    rank, began = profile["rank"], profile["began_ns"]
    for operation, stream, number, call, begin, time, share, computed in profile["waits"]:
        blocks = profile["operations"][operation]["completion"] is None
        wait = _Wait(operation, blocks, began + begin, time, share, computed)
        one = profile["streams"][stream] if stream >= 0 else None
        if one and (one["sends"] or profile["numbers_receives"]):
            theirs = messages.get((one["peer"], rank, one["tag"], one["size"], not one["sends"]), [])
            partner = theirs[number] if number < len(theirs) else None
            wait = _Wait(
                operation, blocks, began + begin, time, share, computed, began + one["starts"][number], partner
            )
        yield call, wait
