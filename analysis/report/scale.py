# SPDX-License-Identifier: BSD-3-Clause
"""Axes of the report's figures: where a value stands, and which values are written beside the axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

MOST_TICKS = 6
NICE = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Scale:
    """A linear, logarithmic ("log") or bent ("bent": logarithmic, but with zero) axis from `low` to `high`."""

    low: float
    high: float
    kind: str = "linear"
    base: int = 10
    unit: float = 1.0  # of a bent axis: where it begins to be logarithmic

    @classmethod
    def over(cls, values: Iterable[float], kind: str = "linear", base: int = 10, room: float = 0.06) -> Scale:
        """One that holds all finite values, with some room at both ends; "log" needs positive ones."""
        found = sorted(value for value in values if math.isfinite(value))
        positive = [value for value in found if value > 0]
        if kind == "log" and len(positive) < len(found):
            kind = "bent" if found[0] >= 0 and positive else "linear"
        unit = positive[0] if positive else 1.0
        plain = cls(*((found[0], found[-1]) if found else (1.0, 2.0)), kind, base, unit)
        low, high = plain._of(plain.low), plain._of(plain.high)
        narrow = 0.5 if kind == "linear" else (math.log(2) - (high - low)) / 2
        margin = max(room * (high - low), narrow) if kind != "linear" else room * (high - low) or narrow
        return cls(plain._back(low - margin), plain._back(high + margin), kind, base, unit)

    def _of(self, value: float) -> float:
        if self.kind == "log":
            return math.log(value)
        return math.asinh(value / self.unit) if self.kind == "bent" else value

    def _back(self, place: float) -> float:
        if self.kind == "log":
            return math.exp(place)
        return self.unit * math.sinh(place) if self.kind == "bent" else place

    def at(self, value: float) -> float:
        """0 at the low end, 1 at the high one; what lies beyond stands at the edge."""
        if self.kind == "log" and value <= 0:
            return 0.0
        low, high = self._of(self.low), self._of(self.high)
        return min(1.0, max(0.0, (self._of(value) - low) / (high - low)))

    def ticks(self) -> list[float]:
        """The values that are written."""
        if self.kind == "linear":
            return self._even()
        found = self._powers((1,) if self.base == 2 else (1, 2, 5))
        while len(found) > MOST_TICKS:
            found = found[:: -(-len(found) // MOST_TICKS)]
        return ([0.0] if self.kind == "bent" else []) + found or [self.low, self.high]

    def _even(self) -> list[float]:
        rough = (self.high - self.low) / (MOST_TICKS - 1)
        power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
        wide = self.high - self.low
        step = next(power * nice for nice in NICE if wide // (power * nice) < MOST_TICKS)
        first = math.ceil(self.low / step)
        return [round(step * index, 12) for index in range(first, math.floor(self.high / step + 1e-9) + 1)]

    def _powers(self, factors: tuple[int, ...]) -> list[float]:
        low = self.low if self.kind == "log" else self.unit
        powers = range(math.floor(math.log(low, self.base)), math.ceil(math.log(max(self.high, low), self.base)) + 1)
        every = [factor * float(self.base) ** power for power in powers for factor in factors]
        return [value for value in every if low * 0.999 <= value <= self.high * 1.001]
