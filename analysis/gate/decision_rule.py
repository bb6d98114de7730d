# SPDX-License-Identifier: BSD-3-Clause
"""What rounds show: arrays in, states out. Over one gate or thousands of simulated ones alike.

Three answers need three tests of the logarithms, a value a side and round: the candidate is slower than baseline and
copy by more than the margin in some point (`commit`); in every point it is not, and it is within the margin or faster
(`same`); the control, a second copy of the baseline, differs from the baseline (`moved`), and then nothing is said of
the candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from analysis.gate import sequential
from analysis.gate.aligned_ranks import fewest, p_above, p_below
from analysis.statistics.ranks import p_above as higher
from analysis.statistics.ranks import p_below as lower

BASE, CONTROL, NEW = range(3)  # the places of the sides
Array = npt.NDArray[np.float64]
States = npt.NDArray[np.int64]


class State(IntEnum):
    """What is known after a look."""

    OPEN = 0
    COMMIT = 1
    SAME = 2
    MOVED = 3


@dataclass(frozen=True)
class Rule:
    """`margin`: slow-downs up to it are of no interest. `false_alarms`: the chance that a gate calls a candidate slower
    which is slower by the margin at most, over all its points and looks; `false_passes`: that one point passes which is
    slower by more; `false_moves`: that a control is said to have moved that is the baseline."""

    margin: float = 0.02
    false_alarms: float = 0.01
    false_passes: float = 0.01
    false_moves: float = 0.01

    @property
    def bound(self) -> float:
        """The margin as a difference of logarithms."""
        return float(np.log1p(self.margin))


@dataclass(frozen=True)
class Levels:
    """What one look may spend on each single test."""

    commit: float
    same: float
    moved: float
    faster: float


def levels(rule: Rule, at: Sequence[int], planned: int, points: int) -> list[Levels]:
    """Of every look; the three errors are promised separately."""
    commit = sequential.levels(at, planned, rule.false_alarms, points, fewest)
    same = sequential.levels(at, planned, rule.false_passes, 1, fewest)
    moved = sequential.levels(at, planned, rule.false_moves, 2 * points)
    faster = sequential.levels(at, planned, rule.false_passes, points, fewest)  # one lucky point of many would do
    return [Levels(*each) for each in zip(commit, same, moved, faster, strict=True)]


def state(logs: Array, rule: Rule, level: Levels) -> States:
    """(..., points, sides, rounds) of the logarithms, of which less is better -> (...)."""
    slower = (p_above(logs, rule.bound) <= level.commit).any(axis=-1)
    below = p_below(logs, rule.bound) <= level.same
    settled = (p_above(logs, -rule.bound) <= level.same) | (p_below(logs, 0.0) <= level.same)
    control = logs[..., CONTROL, :] - logs[..., BASE, :]
    moved = (np.minimum(higher(control, 0.0), lower(control, 0.0)) <= level.moved).any(axis=-1)
    found = np.where((below & settled).all(axis=-1), int(State.SAME), int(State.OPEN))
    found = np.where(slower, int(State.COMMIT), found)
    return np.asarray(np.where(moved, int(State.MOVED), found), dtype=np.int64)


def run(logs: Array, rule: Rule, at: Sequence[int], planned: int) -> tuple[States, States]:
    """The state in which each gate ends, and after how many rounds. `at`: its looks, the last one its last ever."""
    shape, points = logs.shape[:-3], logs.shape[-3]
    states, rounds = np.zeros(shape, dtype=np.int64), np.full(shape, at[-1], dtype=np.int64)
    for count, level in zip(at, levels(rule, at, planned, points), strict=True):
        pending = states == int(State.OPEN)
        if not pending.any():
            break
        found = np.zeros(shape, dtype=np.int64)
        found[pending] = state(logs[pending][..., :count], rule, level)
        ended = found != int(State.OPEN)
        states, rounds = np.where(ended, found, states), np.where(ended, count, rounds)
    return states, rounds
