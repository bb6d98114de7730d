# SPDX-License-Identifier: BSD-3-Clause
"""Profiles of processes as a timeline in the Chrome trace-event format, which Perfetto and Speedscope open: each rank's
waits, and beside them which messages were pending. As many as a profile holds; waits of less than 20 microseconds are
not in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.partner_waits import when

US = 1e-3  # of nanoseconds
WAITS = 1  # the row of a rank in which its waits stand


def timeline(profiles: Sequence[Mapping[str, Any]], names: Mapping[tuple[int, int], str]) -> dict[str, Any]:
    """`names`: of an operation, by rank and its number in the profile. Times in microseconds from the first process's
    beginning on."""
    first = min((profile["began_ns"] for profile in profiles), default=0)
    events: list[dict[str, Any]] = []
    for profile in profiles:
        events += _described(profile)
        events += _waits(profile, first, names)
        events += _messages(profile, first)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _described(profile: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    rank = profile["rank"]
    named = {"process_name": f"rank {rank} on {profile.get('host', '?')}", "thread_name": "waits"}
    for name, text in named.items():
        yield {"name": name, "ph": "M", "pid": rank, "tid": WAITS, "args": {"name": text}}


def _waits(profile: Mapping[str, Any], first: int, names: Mapping[tuple[int, int], str]) -> Iterator[dict[str, Any]]:
    """One a call: it may complete several operations."""
    seen: set[int] = set()
    for operation, _stream, _number, call, begin, time, _share, _computed in profile["waits"]:
        if call not in seen:
            seen.add(call)
            yield {
                "name": names.get((profile["rank"], operation), "?"), "cat": "wait", "ph": "X", "pid": profile["rank"],
                "tid": WAITS, "ts": US * (when(profile, begin) - first), "dur": US * time,
            }  # fmt: skip


def _messages(profile: Mapping[str, Any], first: int) -> Iterator[dict[str, Any]]:
    """Those that were pending, from the call that started them to the one that waited for them."""
    for at, stream in enumerate(profile["streams"]):
        name = f"{'to' if stream['sends'] else 'from'} {stream['peer']}, tag {stream['tag']}"
        for number, (start, waits) in enumerate(zip(stream["starts"], stream["completing"], strict=True)):
            if waits is None or waits <= start:
                continue
            same = {"name": name, "cat": "pending", "pid": profile["rank"], "id": f"{profile['rank']}.{at}.{number}"}
            for phase, time in (("b", start), ("e", waits)):
                yield same | {"ph": phase, "tid": WAITS, "ts": US * (when(profile, time) - first)}
