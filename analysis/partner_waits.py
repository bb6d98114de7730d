# SPDX-License-Identifier: BSD-3-Clause
"""What of a wait for a message progress could win, once it is known what both of its processes did meanwhile.

A wait before the partner has called its send or receive is for a late partner (Scalasca's late sender, late receiver):
no progress engine wins it. What is left could be shorter by as much as one of the two computed while both had called,
and nobody had to be in MPI for that but a progress engine: before the wait the one that waits, during it the partner,
as far as that did not wait for something else. What a thread computed before several of its waits hides no more than
its own length of all of them together. A collective operation is the same with all its processes as partners: none is
complete before all have called, where each needs something of each. Where nobody knows what the partners did all that
was waited could be won.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NS = 1e-9
OperationKey = tuple[int, int]  # a rank, and the number of an operation in its profile
COLUMNS, BEGIN, TIME = 10, 4, 5  # of a line of "waits"


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

    by_operation: Mapping[OperationKey, Found]
    known: float


def partner_waits(profiles: Sequence[Mapping[str, Any]]) -> PartnerWaits:
    """Of the profiles of all processes."""
    first = min((profile["began_ns"] for profile in profiles), default=0)
    calls = _calls(profiles, first)
    waiting = {profile["rank"]: _waiting(profile, first) for profile in profiles}
    found: defaultdict[OperationKey, Found] = defaultdict(Found)
    whole = known = 0.0
    for profile in profiles:
        if profile["waits"]:
            waits = _Waits(profile, calls, waiting, first)
            whole += waits.share.sum()
            known += waits.share[~np.isnan(waits.partner)].sum()
            waits.share_out(found)
    return PartnerWaits(found, known / whole if whole else 1.0)


# By the key of a stream, of each operation in order: when its call began, and when it waited for that, in nanoseconds
# after the first process's beginning.
Key = tuple[Any, ...]
Calls = Mapping[Key, tuple[Floats, Floats]]

# Each process waits for all others: MPI 4.1, sections 6.3, 6.7, 6.8, 6.9.6 and 6.10, nonblocking or persistent.
WAITS_FOR_ALL = re.compile(
    "MPI_I?(barrier|allgatherv?|alltoall[vw]?|allreduce|reduce_scatter(_block)?)(_init)?(_c)?", re.I
)


def _calls(profiles: Sequence[Mapping[str, Any]], first: int) -> Calls:
    found: dict[Key, tuple[Floats, Floats]] = {}
    together: defaultdict[Key, list[tuple[Floats, Floats]]] = defaultdict(list)
    for profile in profiles:
        for one in profile["streams"]:
            calls = (
                _after(profile, first, one["starts"]),
                _after(profile, first, [np.inf if waits is None else waits for waits in one["completing"]]),
            )
            if "collective" in one:
                together[_partners(profile, one)].append(calls)
            elif one["sends"] or profile["numbers_receives"]:
                found[profile["rank"], one["peer"], one["tag"], one["size"], one["sends"]] = calls
    for key, each in together.items():
        name, _, size = key
        if len(each) < size:
            continue
        known = min(len(starts) for starts, _ in each)
        starts, waits = (np.max([one[:known] for one in both], axis=0) for both in zip(*each, strict=True))
        found[key] = (starts if WAITS_FOR_ALL.fullmatch(name) else np.full(known, -np.inf)), waits
    return found


def _partners(profile: Mapping[str, Any], stream: Mapping[str, Any]) -> Key:
    """By which the calls are found that a stream's wait for: of a collective operation the latest of all."""
    if "collective" in stream:
        return stream["collective"], stream["group"], stream["size"]
    return stream["peer"], profile["rank"], stream["tag"], stream["size"], not stream["sends"]


def _after(profile: Mapping[str, Any], first: int, since_ns: Sequence[float] | Floats) -> Floats:
    after: Floats = profile["began_ns"] - first + profile["pace"] * np.asarray(since_ns, dtype=float)
    return after


# When a process waited, for numpy.interp: times, and for how long it had waited in all by each of them.
Waiting = tuple[Floats, Floats]


def _waiting(profile: Mapping[str, Any], first: int) -> Waiting:
    columns = np.array(profile["waits"] or [[0.0] * COLUMNS], dtype=float)
    columns = columns[np.argsort(columns[:, BEGIN], kind="stable")]
    begins = _after(profile, first, columns[:, BEGIN])
    ends = np.maximum.accumulate(_after(profile, first, columns[:, BEGIN] + columns[:, TIME]))
    begins = np.maximum(begins, np.append(-np.inf, ends[:-1]))  # of another thread, or of the same call
    lengths = np.maximum(0, ends - begins)
    times = np.stack([begins, begins + lengths], axis=1).ravel()
    return times, np.stack([np.zeros_like(lengths), lengths], axis=1).ravel().cumsum()


class _Waits:
    """The lines of `waits` in a profile, with the partners' calls; not a number where those are not known."""

    def __init__(self, profile: Mapping[str, Any], calls: Calls, waiting: Mapping[int, Waiting], first: int) -> None:
        columns = np.array(profile["waits"], dtype=float).T
        self.waiting = waiting
        operation, stream, number, call, begin, self.time, self.share, self.computed, thread, outside = columns
        self.rank = profile["rank"]
        self.operation = operation.astype(int)
        _, first_of_call, self.call = np.unique(call, return_index=True, return_inverse=True)
        self.thread, self.outside = thread[first_of_call], outside[first_of_call]
        self.begin = _after(profile, first, begin)
        self.blocks = np.array([row["completion"] is None for row in profile["operations"]])[self.operation]
        self.own, self.partner, self.partner_waits = (np.full(len(begin), np.nan) for _ in range(3))
        self.peer = np.full(len(begin), -1)  # of collective operations it is not known who comes last
        for at in np.unique(stream[stream >= 0]).astype(int):
            one = profile["streams"][at]
            theirs = calls.get(_partners(profile, one))
            if theirs is None or not (one.get("sends", True) or profile["numbers_receives"]):
                continue
            here = np.flatnonzero((stream == at) & (number < len(theirs[0])))
            place = number[here].astype(int)
            self.own[here] = _after(profile, first, np.asarray(one["starts"], dtype=float)[place])
            self.partner[here], self.partner_waits[here] = theirs[0][place], theirs[1][place]
            self.peer[here] = one.get("peer", -1)

    def _late(self) -> Floats:
        return np.nan_to_num(np.clip(self.partner - self.begin, 0, self.time))

    def _computed_before(self) -> Floats:
        """By this process, while both had called and it did not wait: as if it were spread evenly."""
        span, both = self.begin - self.own, self.begin - np.fmax(self.own, self.partner)
        part = np.divide(np.maximum(both, 0), span, out=np.zeros_like(span), where=span > 0)
        before: Floats = self.computed * np.minimum(1.0, part)
        return before

    def _computed_by_partner(self) -> Floats:
        """While both had called, this one waited for the other one, and that one for nobody."""
        begin = np.fmax(self.begin, self.partner)
        until = np.fmax(begin, np.fmin(self.begin + self.time, self.partner_waits))
        beside: Floats = until - begin
        for peer in np.unique(self.peer[self.peer >= 0]):
            mine = self.peer == peer
            beside[mine] -= np.interp(until[mine], *self.waiting[peer]) - np.interp(begin[mine], *self.waiting[peer])
        return np.where(np.isnan(self.partner), np.inf, beside)

    def share_out(self, found: defaultdict[OperationKey, Found]) -> None:
        """Those of one call wait for the latest partner, and as long as the last message takes."""
        before, partners = self._computed_before(), self._computed_by_partner()
        late, beside = self._of_call(self._late()), self._of_call(before + partners)
        could = np.minimum(self.time - late, beside) - self._hidden_twice(before, partners, self.time - late)
        said = np.where(self.blocks, 0, np.minimum(self.time, self._of_call(self.computed)))
        part = NS * self.share / self.time
        late_s, more_s = (np.bincount(self.operation, part * what) for what in (late, could - said))
        for operation in np.unique(self.operation):
            found[self.rank, int(operation)] = Found(float(late_s[operation]), float(more_s[operation]))

    def _of_call(self, values: Floats) -> Floats:
        """Of each the largest of its call."""
        return self._each_call(values)[self.call]

    def _each_call(self, values: Floats) -> Floats:
        most = np.zeros(len(self.thread))
        np.maximum.at(most, self.call, values)
        return most

    def _hidden_twice(self, before: Floats, partners: Floats, waited: Floats) -> Floats:
        """What would have to be hidden behind a computation that hides an earlier wait already, of each its call's."""
        length, others = self._each_call(before), self._each_call(partners)
        wanted = np.clip(self._each_call(waited) - others, 0, length)
        lacking = np.zeros_like(length)
        for thread in np.unique(self.thread[wanted > 0]):
            mine = np.flatnonzero((self.thread == thread) & (wanted > 0))
            mine = mine[np.argsort(self.outside[mine], kind="stable")]
            begins, ends = self.outside[mine] - length[mine], self.outside[mine]
            earliest_from_here = np.minimum.accumulate(begins[::-1])[::-1]
            alone = np.append(True, earliest_from_here[1:] >= ends[:-1])  # from what came before
            alone &= np.append(alone[1:], True)
            computation = Computation()
            for at, begin, end in zip(mine[~alone], begins[~alone], ends[~alone], strict=True):
                lacking[at] = wanted[at] - computation.take(begin, end, wanted[at])
        return lacking[self.call]


class Computation:
    """Of one thread: which intervals of it hide waits. Asked in the order of their ends, each wait takes the earliest
    that is left of its interval: so the sum is the largest there is."""

    def __init__(self) -> None:
        self.begins: list[float] = []
        self.ends: list[float] = []

    def take(self, begin: float, end: float, most: float) -> float:
        """How much of the interval was left, `most` at most."""
        first = last = bisect_left(self.ends, begin)
        start = min([begin, *self.begins[first : first + 1]])
        at, taken = begin, 0.0
        while True:
            limit = min([end, *self.begins[last : last + 1]])
            part = min(max(0.0, limit - at), most - taken)
            at, taken = at + part, taken + part
            if taken >= most or last == len(self.begins) or self.begins[last] >= end:
                break
            at, last = self.ends[last], last + 1
        self.begins[first:last], self.ends[first:last] = [start], [at]
        return taken
