# SPDX-License-Identifier: BSD-3-Clause
"""Estimates with their intervals, and the words that say of what kind one is: of a median of independent samples, from
order statistics and the binomial distribution; over launches by a hierarchical bootstrap.

The bootstrap takes launches, then samples within each launch.

A launch's median differs from the next launch's by more than its own samples tell, so launches are what is resampled;
the samples within carry the rest. What makes the result cover what it says:

- The median of m samples drawn with replacement is an order statistic, so it is drawn directly: the place of the middle
  one of m uniform numbers follows Beta((m + 1) / 2, (m + 1) / 2), and the value there is interpolated between samples
  (a smoothed bootstrap; Harrell and Davis, Biometrika 69, 1982). A million samples cost as much as ten.
- Resampled medians of six launches take too few values, and resampling both levels counts the noise within twice
  (Davison and Hinkley, Bootstrap Methods, section 3.8). Launches are independent, though, and so are their medians:
  from 6 launches on the binomial distribution gives the median behind them exactly, whatever the distribution. The
  draws keep their order, which carries how the quantities of one group vary together, and take these values.
- Two groups combined so cover too much, because each is as wide as its own few launches demand (Fay, Proschan and
  Brittain, Biometrics 71, 2015, prove that they cover no less than they say). What each contributes to the variance
  tells how much of that there is; `interval` narrows by it.

The estimate is the median over launches of the launches' medians.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import special, stats

TAIL = 0.025  # what a 95 % interval leaves out on either side
ENOUGH_LAUNCHES = 6  # the lowest and highest of n launches hold the median with 1 - 2^(1-n): 97 % at 6, 94 % at 5


@dataclass(frozen=True)
class Interval:
    """`value` with [low, high]; `kind` in words; `defensible` where the stated confidence really is reached.

    `freedom`: with how many degrees of freedom its width is known (see `interval`); `points`: over how many
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

    `two_kinds`: the launches fall into two kinds (see Draws.two_kinds), between which a median jumps.
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


RESAMPLES = 2000
# How far two equal groups are narrowed, times the root of their launches: a median's spacing tells its own spread with
# about that many degrees of freedom. Set with some distributions of launches and checked on others, see
# analysis/tests/test_statistics.py and docs/explanation/statistics.md.
NARROWING = 0.45
GAP = 0.6  # share of the launches' whole range, without a launch in it, from which on they are of two kinds
FEW, WIDER = 8, 0.7  # of fewer launches of one kind, so wide a gap is as rare as GAP is of FEW: one set in a hundred


@dataclass(frozen=True)
class Draws:
    """Of one quantity over the launches of one group: the launches' medians and bootstrap draws of their median.

    `medians` has shape (launches,), `resampled` (resamples,).
    """

    medians: Array
    resampled: Array

    @cached_property
    def value(self) -> float:
        return float(np.median(self.medians))

    @cached_property
    def two_kinds(self) -> bool:
        return two_kinds(self.medians)


def two_kinds(medians: npt.ArrayLike) -> bool:
    """Whether launches fall into two kinds, at least two of each: their median then jumps from one to the other, and no
    interval of it holds what it says. One launch apart from all others is an outlier, which a median bears."""
    ordered = np.sort(np.asarray(medians, dtype=float))
    gaps = np.diff(ordered)[1:-1]
    share = GAP if len(ordered) >= FEW else WIDER
    return bool(len(gaps) and gaps.max() > share * (ordered[-1] - ordered[0]))


def resampled_medians(samples: npt.ArrayLike, resamples: int, rng: np.random.Generator) -> Array:
    """`resamples` bootstrap medians of one launch's samples, in O(resamples) after a sort."""
    ordered = np.sort(np.asarray(samples, dtype=float))
    m = len(ordered)
    places = rng.beta((m + 1) / 2, (m + 1) / 2, resamples) * m - 0.5
    return np.asarray(np.interp(places, np.arange(m), ordered), dtype=np.float64)


class Group:
    """The launches of one variant: draws of several quantities that share their resampled launches."""

    def __init__(self, launches: int, rng: np.random.Generator, resamples: int = RESAMPLES) -> None:
        self.launches = launches
        self._rng = rng
        self._resamples = resamples
        self._chosen = rng.integers(0, launches, (resamples, launches))

    def draws(self, medians: npt.ArrayLike, pools: npt.ArrayLike) -> Draws:
        """Combines per-launch medians, shape (launches,), and their bootstrap draws, (launches, resamples).

        NaN in a launch's median leaves that launch out of this quantity.
        """
        medians, pools = np.asarray(medians, dtype=float), np.asarray(pools, dtype=float)
        within = pools - medians[:, None]
        kept = ~np.isnan(medians)
        if not kept.any():
            return Draws(medians, np.full(self._resamples, np.nan))
        pick = self._rng.integers(0, within.shape[1], self._chosen.shape)
        values = medians[self._chosen] + within[self._chosen, pick]
        median = np.median if kept.all() else np.nanmedian
        resampled = np.asarray(median(values, axis=1))
        if kept.sum() >= ENOUGH_LAUNCHES:
            resampled = _exact(resampled, medians[kept])
        return Draws(medians[kept], resampled)


def _exact(resampled: Array, medians: Array) -> Array:
    """The draws in their order, with the values that the binomial distribution gives the median behind `medians`."""
    found = np.empty_like(resampled)
    found[np.argsort(resampled, kind="stable")] = _values(medians, len(resampled))
    return found


def _values(medians: Array, count: int) -> Array:
    """`count` evenly likely places of the median behind independent `medians`, in order."""
    return quantiles_of_median(np.sort(medians), (np.arange(count) + 0.5) / count)


def effective_groups(parts: Sequence[Array]) -> float:
    """How many groups a quantity really depends on, from its draws with one group varied at a time: 2 where two
    contribute the same variance, 1 where one decides alone (Satterthwaite's weighing of variances)."""
    return float(effective_groups_of(np.array([np.nanvar(p) if np.isfinite(p).any() else 0.0 for p in parts])))


def effective_groups_of(variances: Array) -> Array:
    """The same from the variances, along the first axis."""
    squares = np.sum(variances**2, axis=0)
    return np.asarray(np.where(squares > 0, np.sum(variances, axis=0) ** 2 / np.where(squares > 0, squares, 1), 1.0))


def tail_of(groups: npt.ArrayLike, launches: int, confidence: float) -> Array:
    """The share of the draws that lies below the interval, and above it; see NARROWING."""
    narrower = 1 - NARROWING * (np.asarray(groups) - 1) / np.sqrt(launches) if launches >= ENOUGH_LAUNCHES else 1.0
    return np.asarray(special.ndtr(narrower * special.ndtri((1 - confidence) / 2)))


def interval(
    value: float,
    resampled: Array,
    launches: int,
    confidence: float = 0.95,
    groups: float = 1.0,
    two_kinds: bool = False,
) -> Interval:
    """The percentile interval of the draws; called a confidence interval only from 6 launches on.

    `launches`: of the group that has fewest; `groups`: see effective_groups; `two_kinds`: of any group. The degrees of
    freedom are groups times the root of launches, as NARROWING has it.
    """
    kind, defensible = describe(launches, confidence, two_kinds)
    finite = resampled[np.isfinite(resampled)]
    if len(finite) < 0.9 * len(resampled) or not np.isfinite(value):
        return Interval(value, float("nan"), float("nan"), "undefined", False)
    tail = float(tail_of(groups, launches, confidence))
    low, high = np.quantile(finite, [tail, 1 - tail])
    return Interval(value, float(min(low, value)), float(max(high, value)), kind, defensible, groups * launches**0.5)


def of_medians(
    function: Callable[..., npt.ArrayLike],
    groups: Mapping[str, Sequence[npt.ArrayLike]],
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """`function` of the medians of independent groups; each group is a list of launches, each launch its samples.

    `function` takes one argument a group (by name), scalars or arrays alike: `lambda a, b: a / b` for a ratio,
    `lambda a, b: a - b` for a difference. The kind names the group with the fewest launches. An empty group or
    launch raises ValueError.
    """
    if not groups or any(not launches or any(np.size(x) == 0 for x in launches) for launches in groups.values()):
        raise ValueError("every group needs a launch and every launch a sample")
    rng = np.random.default_rng(seed)
    draws = {name: _draws(launches, resamples, rng) for name, launches in groups.items()}
    values = {name: d.value for name, d in draws.items()}
    resampled = {name: d.resampled for name, d in draws.items()}

    def of(arguments: Mapping[str, float | Array]) -> Array:
        return np.asarray(function(**arguments), dtype=float)

    return interval(
        float(of(values)),
        of(resampled),
        min(map(len, groups.values())),
        confidence,
        groups=effective_groups([of({**values, name: resampled[name]}) for name in groups]),
        two_kinds=any(d.two_kinds for d in draws.values()),
    )


def middle(launches: Sequence[npt.ArrayLike]) -> Interval:
    """The median over launches of the launches' medians."""
    return of_medians(lambda value: value, {"value": launches})


def _draws(launches: Sequence[npt.ArrayLike], resamples: int, rng: np.random.Generator) -> Draws:
    """Of one quantity. From 6 launches on the binomial distribution gives the values, and no other quantity shares
    their order: nothing is left to resample."""
    medians = np.array([np.median(np.asarray(x, dtype=float)) for x in launches])
    if len(launches) >= ENOUGH_LAUNCHES:
        return Draws(medians, rng.permutation(_values(medians, resamples)))
    pools = np.stack([resampled_medians(x, resamples, rng) for x in launches])
    return Group(len(launches), rng, resamples).draws(medians, pools)


def ratio_of_medians(above: Sequence[npt.ArrayLike], below: Sequence[npt.ArrayLike], seed: int = 0) -> Interval:
    """median(above) / median(below), each a list of launches; without a value where the latter is zero."""

    def ratio(above: float | Array, below: float | Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = np.divide(above, below)
        return np.where(np.isfinite(quotient), quotient, np.nan)

    return of_medians(ratio, {"above": above, "below": below}, seed=seed)


def difference_of_medians(left: Sequence[npt.ArrayLike], right: Sequence[npt.ArrayLike], seed: int = 0) -> Interval:
    """median(left) - median(right), each a list of launches."""
    return of_medians(lambda left, right: left - right, {"left": left, "right": right}, seed=seed)


WIDE = 0.05  # relative half-width of the median of total beyond which a point without comparison is called noisy


def exceeds_effect(total: Draws, reference: Draws | None) -> bool:
    """Whether the uncertainty of total is larger than its difference to the reference's total.

    Without a reference (the reference itself): whether the median of total is known to no better than WIDE.
    """
    if reference is None:
        return _half_width(total.resampled) > WIDE * total.value
    return _half_width(total.resampled - reference.resampled) > abs(total.value - reference.value)


def _half_width(draws: npt.NDArray[np.float64]) -> float:
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(high - low) / 2
