# SPDX-License-Identifier: BSD-3-Clause
"""When a gate looks, and how much of its error each look may spend.

The error is spent with the cube of the share of rounds of all that were planned (Lan and DeMets, Biometrika 70, 1983,
with a power as their spending function), and looks share it as the union bound has it: so it holds whatever the looks
have to do with each other. Few looks and the cube leave most of it to the last one, which sees most; what is plain is
told long before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from analysis.statistics.ranks import fewest

FIRST = 12
GROWTH = 2
POWER = 3


def looks(rounds: int) -> list[int]:
    """After how many rounds a gate of at most `rounds` looks; the last look is after all of them."""
    found, here = [], FIRST
    while here < rounds:
        found.append(here)
        here = max(here + 1, math.ceil(GROWTH * here))
    return [*found, rounds]


def levels(
    at: Sequence[int], planned: int, error: float, parts: int = 1, least: Callable[[float], int] = fewest
) -> list[float]:
    """What each look may spend on each of `parts` tests, if the last of `at` is the last one ever. `least`: the fewest
    rounds in which the test can show anything at a level.

    A look that could show nothing at its level spends nothing and leaves it to the next. The last look takes all that
    is left, also where the time ended the gate: the clock knows nothing of the results.
    """
    spent, found = 0.0, []
    for place, rounds in enumerate(at):
        share = 1.0 if place == len(at) - 1 else min(1.0, rounds / planned) ** POWER
        level = error / parts * share - spent
        if rounds < least(level):
            level = 0.0
        spent += level
        found.append(level)
    return found
