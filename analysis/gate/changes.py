# SPDX-License-Identifier: BSD-3-Clause
"""Where a series of gates changed: a loss that creeps in below every single gate's margin is found here.

The series is that of the candidate's ratios of one point in one comparison on one system, which the machine's own
changes do not move: candidate and baseline ran by turns, so on which of its nodes does not matter either. ruptures
finds where the series splits best. That a split is more than chance says a permutation of the series, which looks for
its best split as well, and Holm's correction over all series. Each half is then looked at again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.compare.judge import holm
from analysis.gate.store import Entry

Array = npt.NDArray[np.float64]
SHORTEST = 3  # gates on either side of a change
PERMUTATIONS = 999
FALSE_ALARMS = 0.05  # the chance of any change in a history in which nothing did


class Key(NamedTuple):
    """What the gates of a series have in common. `place`: see Entry.place; `comparison`: see measured.Measurement."""

    place: str
    comparison: str
    point: str

    def __str__(self) -> str:
        return f"{self.point} on {self.place}, {self.comparison}"


@dataclass(frozen=True)
class Change:
    """From `entry` on, the ratios of `key` are `ratio` times what they were. `adjusted`: its p-value, after Holm."""

    key: Key
    entry: Entry
    ratio: float
    adjusted: float


def series(entries: Sequence[Entry]) -> dict[Key, list[tuple[Entry, float]]]:
    """The gates and ratios of each series, by time."""
    found: dict[Key, list[tuple[Entry, float]]] = {}
    for entry in entries:
        compared = entry.comparison or f"against {entry.base}"  # an earlier version kept no more of it
        for point, ratio in entry.ratios.items():
            found.setdefault(Key(entry.place, compared, point), []).append((entry, ratio))
    return found


def changes(entries: Sequence[Entry]) -> list[Change]:
    """Every change that is more than chance, by time."""
    every = series(entries)
    logs = {key: np.log([ratio for _, ratio in values]) for key, values in every.items()}
    proposed = [(key, *split) for key, values in logs.items() for split in _splits(values)]
    adjusted = holm([split[-1] for split in proposed])
    found = []
    for (key, start, place, end, _), p in zip(proposed, adjusted, strict=True):
        if p < FALSE_ALARMS:
            values = logs[key]
            moved = float(np.median(values[place:end]) - np.median(values[start:place]))
            found.append(Change(key, every[key][place][0], float(np.exp(moved)), p))
    return sorted(found, key=lambda change: change.entry.time)


def _splits(values: Array, start: int = 0) -> Iterator[tuple[int, int, int, float]]:
    """(start, place, end, p) of the best split, and of those within its halves while they could be told from chance."""
    if len(values) < 2 * SHORTEST:
        return
    place, gain = _best(values)
    rng = np.random.default_rng(len(values))
    chance = sum(_best(rng.permutation(values))[1] >= gain for _ in range(PERMUTATIONS))
    p = (1 + chance) / (1 + PERMUTATIONS)
    yield start, start + place, start + len(values), p
    if p < FALSE_ALARMS:
        yield from _splits(values[:place], start)
        yield from _splits(values[place:], start + place)


def _best(values: Array) -> tuple[int, float]:
    """Where the ranks of a series split best, and by how much that lessens their squares. One spike is no step."""
    ranks = np.argsort(np.argsort(values)).astype(float)
    place = _search().fit(ranks).predict(n_bkps=1)[0]
    parts = (ranks[:place], ranks[place:])
    return place, float(len(ranks) * np.var(ranks) - sum(len(part) * np.var(part) for part in parts))


@functools.cache
def _search() -> Any:
    import ruptures  # noqa: PLC0415 - half a second of imports

    return ruptures.Binseg(model="l2", min_size=SHORTEST, jump=1)
