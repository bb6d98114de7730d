# SPDX-License-Identifier: BSD-3-Clause
"""An estimate with its interval, and the words that say what kind of interval it is."""

from __future__ import annotations

from dataclasses import dataclass

ENOUGH_LAUNCHES = 6  # the lowest and highest of n launches hold the median with 1 - 2^(1-n): 97 % at 6, 94 % at 5


@dataclass(frozen=True)
class Interval:
    """`value` with [low, high]; `kind` in words; `defensible` where the stated confidence really is reached."""

    value: float
    low: float
    high: float
    kind: str
    defensible: bool

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def describe(launches: int, confidence: float = 0.95, two_kinds: bool = False) -> tuple[str, bool]:
    """What an interval over so many launches may be called, and whether it reaches `confidence`.

    `two_kinds`: the launches fall into two kinds (see bootstrap.two_kinds), between which a median jumps.
    """
    percent = f"{100 * confidence:g} %"
    if launches >= ENOUGH_LAUNCHES and two_kinds:
        return f"interval over {launches} launches of two kinds (may hold less than {percent})", False
    if launches >= ENOUGH_LAUNCHES:
        return f"{percent} interval over {launches} launches", True
    if launches > 1:
        return f"spread of {launches} launches (fewer than {ENOUGH_LAUNCHES}: not a {percent} interval)", False
    if launches == 1:
        return "spread within one launch (nothing is known of the difference between launches)", False
    return "no launch", False
