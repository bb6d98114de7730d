# SPDX-License-Identifier: BSD-3-Clause
"""What `./bench where` says as a page: the answer, a bar a rank, the tables, and when each rank waited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
