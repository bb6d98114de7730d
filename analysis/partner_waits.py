# SPDX-License-Identifier: BSD-3-Clause
"""What of a wait for a message progress could win, once it is known what both of its processes did meanwhile.

A wait before the partner has called its send or receive is for a late partner (Scalasca's late sender, late receiver):
no progress engine wins it. What is left could be shorter by as much as one of the two computed while both had called,
and nobody had to be in MPI for that but a progress engine: before the wait the one that waits, during it the partner.
Where nobody knows what the partner did, as in a collective operation, all that was waited could be won.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NS = 1e-9
Place = tuple[int, int]  # a rank, and the number of an operation in its profile


@dataclass
class Found:
    """Of an operation's waits, in seconds: for late partners; and how much more can be won than the profile says, which
    knows its own process alone."""

    late_s: float = 0.0
    more_s: float = 0.0


def when(profile: Mapping[str, Any], since_ns: float) -> int:
    """By the clock of all profiles, in nanoseconds, what the process's own shows so long after its beginning."""
    return int(profile["began_ns"] + profile["pace"] * since_ns)


@dataclass(frozen=True)
class PartnerWaits:
    """`known`: the share of what was waited for which the partner's calls are known."""

    by_operation: Mapping[Place, Found]
    known: float


def partner_waits(profiles: Sequence[Mapping[str, Any]]) -> PartnerWaits:
    """Of the profiles of all processes."""
    first = min((profile["began_ns"] for profile in profiles), default=0)
    messages = _messages(profiles, first)
    found: defaultdict[Place, Found] = defaultdict(Found)
    whole = known = 0.0
    for profile in profiles:
        if profile["waits"]:
            waits = _Waits(profile, messages, first)
            whole += waits.share.sum()
            known += waits.share[~np.isnan(waits.partner)].sum()
            waits.share_out(found)
    return PartnerWaits(found, known / whole if whole else 1.0)


Messages = Mapping[tuple[int, int, int, int, bool], tuple[Floats, Floats]]


def _messages(profiles: Sequence[Mapping[str, Any]], first: int) -> Messages:
    """(rank, its partner, tag, size of the communicator, whether it sends) -> of each message, in order, when its call
    began, and when it waited for that, in nanoseconds after `first`."""
    return {
        (profile["rank"], one["peer"], one["tag"], one["size"], one["sends"]): (
            _after(profile, first, one["starts"]),
            _after(profile, first, [np.inf if waits is None else waits for waits in one["completing"]]),
        )
        for profile in profiles
        for one in profile["streams"]
        if _numbered(profile, one)
    }


def _numbered(profile: Mapping[str, Any], stream: Mapping[str, Any]) -> bool:
    return bool(stream["sends"] or profile["numbers_receives"])


def _after(profile: Mapping[str, Any], first: int, since_ns: Sequence[float] | Floats) -> Floats:
    after: Floats = profile["began_ns"] - first + profile["pace"] * np.asarray(since_ns, dtype=float)
    return after


class _Waits:
    """The lines of `waits` in a profile, with the partners' calls; not a number where those are not known."""

    def __init__(self, profile: Mapping[str, Any], messages: Messages, first: int) -> None:
        columns = np.array(profile["waits"], dtype=float).T
        operation, stream, number, call, begin, self.time, self.share, self.computed = columns
        self.rank = profile["rank"]
        self.operation = operation.astype(int)
        _, self.call = np.unique(call, return_inverse=True)
        self.begin = _after(profile, first, begin)
        self.blocks = np.array([row["completion"] is None for row in profile["operations"]])[self.operation]
        self.own, self.partner, self.partner_waits = (np.full(len(begin), np.nan) for _ in range(3))
        for at in np.unique(stream[stream >= 0]).astype(int):
            one = profile["streams"][at]
            mine = (self.rank, one["peer"], one["tag"], one["size"], one["sends"])
            theirs = messages.get((one["peer"], self.rank, *mine[2:4], not one["sends"]))
            if not _numbered(profile, one) or theirs is None:
                continue
            here = np.flatnonzero((stream == at) & (number < len(theirs[0])))
            place = number[here].astype(int)
            self.own[here] = messages[mine][0][place]
            self.partner[here], self.partner_waits[here] = theirs[0][place], theirs[1][place]

    def _late(self) -> Floats:
        return np.nan_to_num(np.clip(self.partner - self.begin, 0, self.time))

    def _computed_beside(self) -> Floats:
        """By one of the two, while both had called and this one did not wait, or the other one did not."""
        span, both = self.begin - self.own, self.begin - np.fmax(self.own, self.partner)
        part = np.divide(np.maximum(both, 0), span, out=np.zeros_like(span), where=span > 0)
        own = self.computed * np.minimum(1.0, part)  # as if it were spread evenly
        until = np.minimum(self.begin + self.time, self.partner_waits)
        beside = own + np.maximum(0, until - np.maximum(self.begin, self.partner))
        return np.where(np.isnan(self.partner), np.inf, beside)

    def share_out(self, found: defaultdict[Place, Found]) -> None:
        """Those of one call wait for the latest partner, and as long as the last message takes."""
        late, could = self._of_call(self._late()), self._of_call(self._computed_beside())
        could = np.minimum(self.time - late, could)
        said = np.where(self.blocks, 0, np.minimum(self.time, self._of_call(self.computed)))
        part = NS * self.share / self.time
        late_s, more_s = (np.bincount(self.operation, part * what) for what in (late, could - said))
        for operation in np.unique(self.operation):
            found[self.rank, int(operation)] = Found(float(late_s[operation]), float(more_s[operation]))

    def _of_call(self, values: Floats) -> Floats:
        """Of each the largest of its call."""
        most = np.zeros(self.call.max() + 1)
        np.maximum.at(most, self.call, values)
        return most[self.call]
