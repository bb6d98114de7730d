# SPDX-License-Identifier: BSD-3-Clause
"""What `./bench where` says as a page: the answer, a bar a rank, the tables, and when each rank waited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis import where as found
from analysis.partner_waits import when
from analysis.report.report import environment
from analysis.where import Rank, Where
from analysis.words import seconds_text

RANKS = 32  # which are drawn: those that could win most
WAITS = 400  # of a rank: its longest ones
WIDTH = 1000.0  # of a bar, in the picture's own units


@dataclass(frozen=True)
class Piece:
    """A part of a bar: where it begins and how wide it is, in the picture's units; `kind` names its colour."""

    at: float
    width: float
    kind: str
    words: str


@dataclass(frozen=True)
class Bar:
    """A rank's row."""

    rank: int
    pieces: list[Piece]


KINDS = {
    "computing": "outside of MPI",
    "winnable": "waited, and at most this progress could win",
    "late": "waited for a partner that began late",
    "other": "the rest of the time in MPI",
}


def page(where: Where) -> str:
    """HTML that needs no other file. Pictures are of at most RANKS ranks, and say how many they leave out."""
    ranks = sorted(where.ranks, key=lambda rank: rank.winnable_s, reverse=True)[:RANKS]
    by_rank = {int(profile["rank"]): profile for profile in where.profiles}
    return (
        environment()
        .get_template("where.html.j2")
        .render(
            sentence=found.sentence(where),
            efficiencies=found.efficiencies(where),
            kinds=KINDS,
            sums=[Bar(rank.rank, list(_sums(rank, where.elapsed_s))) for rank in ranks],
            waits=[Bar(rank.rank, list(_waits(by_rank[rank.rank], where))) for rank in ranks],
            width=WIDTH,
            whole=seconds_text(where.elapsed_s),
            left_out=len(where.ranks) - len(ranks),
            most_waits=WAITS,
            clocks=any(profile["clock_error_ns"] is None for profile in where.profiles),
            tables=found.tables(where),
        )
    )


def _sums(rank: Rank, whole_s: float) -> Iterator[Piece]:
    """The parts of a rank's time. Where threads wait at once the parts in MPI are cut to what is left of it."""
    left_s = max(0.0, rank.elapsed_s - rank.computing_s)
    parts = {"computing": rank.computing_s}
    for kind, time_s in (("winnable", rank.winnable_s), ("late", rank.late_s)):
        parts[kind] = min(time_s, left_s)
        left_s -= parts[kind]
    at = 0.0
    for kind, time_s in {**parts, "other": left_s}.items():
        width = _scaled(time_s, whole_s)
        yield Piece(at, width, kind, f"{KINDS[kind]}: {seconds_text(time_s)}")
        at += width


def _waits(profile: Mapping[str, Any], where: Where) -> Iterator[Piece]:
    """The longest waits of a rank, one a call: it may complete several operations."""
    calls = {call: (operation, begin, time) for operation, _, _, call, begin, time, *_ in reversed(profile["waits"])}
    known = profile["clock_error_ns"] is not None  # else only those of one machine have one clock
    here = [one["began_ns"] for one in where.profiles if known or one["host"] == profile["host"]]
    for operation, begin, time in sorted(calls.values(), key=lambda wait: wait[2], reverse=True)[:WAITS]:
        begin_s = 1e-9 * (when(profile, begin) - min(here))
        name = where.names.get((int(profile["rank"]), operation), "?")
        width = max(1.0, _scaled(1e-9 * time, where.elapsed_s))
        yield Piece(_scaled(begin_s, where.elapsed_s), width, "wait", f"{name}: {seconds_text(1e-9 * time)}")


def _scaled(time_s: float, whole_s: float) -> float:
    return round(WIDTH * time_s / whole_s, 2) if whole_s > 0 else 0.0


# Profiles of processes as a timeline in the Chrome trace-event format, which Perfetto and Speedscope open: each rank's
# waits, and beside them which messages were pending. As many as a profile holds; waits of less than 20 microseconds are
# not in it.

US = 1e-3  # of nanoseconds
ROW_OF_WAITS = 1  # the row of a rank in which its waits stand


def timeline(profiles: Sequence[Mapping[str, Any]], names: Mapping[tuple[int, int], str]) -> dict[str, Any]:
    """`names`: of an operation, by rank and its number in the profile. Times in microseconds from the first process's
    beginning on."""
    first = min((profile["began_ns"] for profile in profiles), default=0)
    events: list[dict[str, Any]] = []
    for profile in profiles:
        events += _described(profile)
        events += _waits_of(profile, first, names)
        events += _messages(profile, first)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _described(profile: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    rank = profile["rank"]
    named = {"process_name": f"rank {rank} on {profile.get('host', '?')}", "thread_name": "waits"}
    for name, text in named.items():
        yield {"name": name, "ph": "M", "pid": rank, "tid": ROW_OF_WAITS, "args": {"name": text}}


def _waits_of(profile: Mapping[str, Any], first: int, names: Mapping[tuple[int, int], str]) -> Iterator[dict[str, Any]]:
    """One a call: it may complete several operations."""
    seen: set[int] = set()
    for operation, _stream, _number, call, begin, time, *_ in profile["waits"]:
        if call not in seen:
            seen.add(call)
            yield {
                "name": names.get((profile["rank"], operation), "?"), "cat": "wait", "ph": "X", "pid": profile["rank"],
                "tid": ROW_OF_WAITS, "ts": US * (when(profile, begin) - first), "dur": US * time,
            }  # fmt: skip


def _messages(profile: Mapping[str, Any], first: int) -> Iterator[dict[str, Any]]:
    """Those that were pending, from the call that started them to the one that waited for them."""
    for at, stream in enumerate(profile["streams"]):
        name = (
            stream.get("collective") or f"{'to' if stream['sends'] else 'from'} {stream['peer']}, tag {stream['tag']}"
        )
        for number, (start, waits) in enumerate(zip(stream["starts"], stream["completing"], strict=True)):
            if waits is None or waits <= start:
                continue
            same = {"name": name, "cat": "pending", "pid": profile["rank"], "id": f"{profile['rank']}.{at}.{number}"}
            for phase, time in (("b", start), ("e", waits)):
                yield same | {"ph": phase, "tid": ROW_OF_WAITS, "ts": US * (when(profile, time) - first)}
