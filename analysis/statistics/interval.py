# SPDX-License-Identifier: BSD-3-Clause
"""An estimate with its interval, the words that say what kind of interval it is, and the nonparametric interval of a
median, from order statistics and the binomial distribution."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special, stats

TAIL = 0.025  # what a 95 % interval leaves out on either side
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


NO_VALUE = Interval(float("nan"), float("nan"), float("nan"), "no value", False)


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
    launches have no order statistics that far out. analysis/tests/test_statistics.py says how often they hold. One
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


def chance_above(interval: Interval, bound: float) -> float:
    """How likely a 95 % interval as high as this is if the truth is at `bound` or below: the level at which it would
    just reach it, widened as in `simultaneous`."""
    above, below = interval.value - bound, interval.value - interval.low
    if above <= 0 or below <= 0:
        return float(above <= 0)
    return float(special.stdtr(interval.freedom, above / below * float(special.stdtrit(interval.freedom, TAIL))))


def chance_below(interval: Interval, bound: float) -> float:
    """The same of an interval as low as this, if the truth is at `bound` or above."""
    turned = replace(interval, value=-interval.value, low=-interval.high, high=-interval.low)
    return chance_above(turned, -bound)


def holm(p_values: list[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given."""
    order = np.argsort(p_values)
    adjusted, running = np.empty(len(p_values)), 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return [float(p) for p in adjusted]


Array = npt.NDArray[np.float64]
STEPS = 64  # places tabulated between two order statistics


def order_ranks(count: int, confidence: float = 0.95) -> tuple[int, float] | None:
    """The largest k such that the k-th lowest and k-th highest of `count` values hold the median with at least
    `confidence`, and the confidence really reached; None where even lowest and highest do not (count < 6 at 95 %)."""
    k = int(stats.binom.ppf((1 - confidence) / 2, count, 0.5))
    while k > 0 and 1 - 2 * stats.binom.cdf(k - 1, count, 0.5) < confidence:
        k -= 1
    if k < 1:
        return None
    return k, float(1 - 2 * stats.binom.cdf(k - 1, count, 0.5))


@functools.cache
def _table(count: int) -> tuple[Array, Array]:
    """(probabilities, places): the median lies below the place, 0 to count - 1, in sorted values with that probability.

    At an order statistic it is exact, binomial; between two neighbours it is interpolated as Hettmansperger and
    Sheather do (Statistics & Probability Letters 4, 1986), which holds well for any distribution.
    """
    below = stats.binom.cdf(np.arange(count), count, 0.5)
    share = np.linspace(0, 1, STEPS)
    probabilities, places = [], []
    for k in range(1, count // 2 + 1):
        weight = (count - k) * share / (k + (count - 2 * k) * share)
        probabilities.append(below[k - 1] + share * (below[k] - below[k - 1]))
        places.append(k - 1 + weight)
    lower, where = np.concatenate([*probabilities, [0.5]]), np.concatenate([*places, [(count - 1) / 2]])
    lower, where = lower[lower <= 0.5], where[lower <= 0.5]
    return np.concatenate([lower, 1 - lower[::-1]]), np.concatenate([where, count - 1 - where[::-1]])


def quantiles_of_median(ordered: npt.ArrayLike, probabilities: npt.ArrayLike) -> Array:
    """The confidence distribution of the median behind sorted independent values: where it lies below with these
    probabilities. Beyond the lowest and the highest value nothing is said: they are the outermost answers."""
    values = np.asarray(ordered, dtype=float)
    places = np.interp(np.asarray(probabilities, dtype=float), *_table(len(values)))
    return np.asarray(np.interp(places, np.arange(len(values)), values), dtype=np.float64)


def median_interval(values: npt.ArrayLike, confidence: float = 0.95) -> Interval:
    """The median of independent samples with its interval, interpolated between order statistics.

    Fewer than 6 values: lowest and highest, with the confidence that those have. Values: any unit, which the result
    keeps. No value: all NaN.
    """
    array = np.sort(np.asarray(values, dtype=float))
    n = len(array)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, "no samples", False)
    median = float(np.median(array))
    if n == 1:
        return Interval(median, median, median, "one sample: no interval", False)
    if order_ranks(n, confidence) is None:
        reached = 1 - 2.0 ** (1 - n)
        kind = f"lowest and highest of {n} samples (holds the median with {100 * reached:.0f} %)"
        return Interval(median, float(array[0]), float(array[-1]), kind, False)
    low, high = quantiles_of_median(array, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(median, float(low), float(high), f"{100 * confidence:g} % interval of {n} samples", True)
