# SPDX-License-Identifier: BSD-3-Clause
"""An estimate with its interval, and the words that say what kind of interval it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scipy import special

ENOUGH_LAUNCHES = 6  # the lowest and highest of n launches hold the median with 1 - 2^(1-n): 97 % at 6, 94 % at 5


@dataclass(frozen=True)
class Interval:
    """`value` with [low, high]; `kind` in words; `defensible` where the stated confidence really is reached.

    `freedom`: with how many degrees of freedom its width is known (see bootstrap.interval); `points`: over how many
    points, of which it is one, the intervals hold at the same time.
    """

    value: float
    low: float
    high: float
    kind: str
    defensible: bool
    freedom: float = ENOUGH_LAUNCHES**0.5
    points: int = 1

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    def text(self) -> str:
        """As in tables: 0.82 [0.76, 0.93]."""
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


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


def simultaneous(interval: Interval, points: int, confidence: float = 0.95) -> Interval:
    """The interval as one of `points` that hold at the same time with `confidence` (Bonferroni: however the points
    depend on each other).

    Each side is widened as Student's quantiles of its degrees of freedom grow from the one level to the other: so few
    launches have no order statistics that far out. analysis/tests/test_simultaneous.py says how often they hold. One
    that is not defensible by itself stays as it is.
    """
    if points <= 1 or not interval.defensible:
        return interval
    kind = f"{interval.kind}, simultaneous over {points} points"
    tail = (1 - confidence) / 2
    wider = float(special.stdtrit(interval.freedom, tail / points) / special.stdtrit(interval.freedom, tail))
    low = interval.value - wider * (interval.value - interval.low)
    high = interval.value + wider * (interval.high - interval.value)
    return replace(interval, low=low, high=high, kind=kind, points=points)
