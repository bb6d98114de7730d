# SPDX-License-Identifier: BSD-3-Clause
"""What a race does next: another block with these settings, or the confirmation of its winner."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.tuning import decide
from analysis.tuning.decide import Standing, State
from analysis.tuning.measured import DEFAULT, Measured, Tried
from analysis.tuning.proposals import propose


@dataclass(frozen=True)
class Step:
    """`alive` race on, beside `new` settings. It is over where nothing is new and nobody is left who could still come
    to lead; `state.leader` is then its winner."""

    state: State
    alive: Sequence[str]
    new: Sequence[dict[str, str]]

    @property
    def over(self) -> bool:
        return not self.new and all(name == self.state.leader for name in self.alive)


def next_(found: Measured, seed: int) -> Step:
    """What the next block would have; new settings take the seats of those that are out."""
    state = decide.state(found)
    seats = max(0, found.asked.seats - len(state.alive))
    source = propose(found.asked.space, tried(found, state), found.asked.search, seed)
    racing = [found.asked.contenders[name] for name in state.alive]
    new = (values for values in source if values not in racing)
    return Step(state, state.alive, list(itertools.islice(new, seats)))


def tried(found: Measured, state: State) -> list[Tried]:
    """Every setting that ran, as those who propose see it: the default is one of them, and perhaps the best. One of
    which no round counts is not among them: nothing is known of it."""
    known = {name: one for name, one in state.standings.items() if one.rounds or one.out}
    ran = [(found.asked.contenders[name], one) for name, one in known.items()]
    default: list[tuple[Mapping[str, str], Standing]] = [({}, decide.standing(DEFAULT, found))] if ran else []
    return [_tried(values, one, found) for values, one in (*default, *ran)]


def _tried(values: Mapping[str, str], one: Standing, found: Measured) -> Tried:
    return Tried(values, one.gain.value, _beyond(one, found)) if one.rounds else Tried(values, None)


def _beyond(one: Standing, found: Measured) -> float:
    """By how much it breaks the bound that it breaks most; below zero where it keeps all."""
    over = [one.bounds[word].value - most for word, most in found.asked.bounds.items() if word in one.bounds]
    return max(over, default=-1.0)
