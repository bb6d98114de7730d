# SPDX-License-Identifier: BSD-3-Clause
"""What a race does next: another block with these settings, or the confirmation of its winner."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.tuning import decide
from analysis.tuning.asked import Tried
from analysis.tuning.decide import State
from analysis.tuning.measured import Measured
from analysis.tuning.proposals import propose


@dataclass(frozen=True)
class Step:
    """`alive` race on, beside `new` settings; neither: the race is over, and `leader` is its winner."""

    state: State
    alive: Sequence[str]
    new: Sequence[dict[str, str]]

    @property
    def over(self) -> bool:
        return not self.new and len(self.alive) <= 1


def next_(found: Measured, seed: int) -> Step:
    """What the next block would have; new settings take the seats of those that are out."""
    state = decide.state(found)
    seats = max(0, found.asked.seats - len(state.alive))
    source = propose(found.asked.space, tried(found, state), found.asked.search, seed)
    return Step(state, state.alive, list(itertools.islice(source, seats)))


def tried(found: Measured, state: State) -> list[Tried]:
    """Every setting that ran, as those who propose see it."""
    seen = []
    for name, values in found.asked.contenders.items():
        one = state.standings.get(name)
        if one is None:
            continue
        if not one.rounds:
            seen.append(Tried(values, None))
            continue
        beyond = [one.bounds[word].value - most for word, most in found.asked.bounds.items() if word in one.bounds]
        seen.append(Tried(values, one.gain.value, max(beyond, default=-1.0)))
    return seen
