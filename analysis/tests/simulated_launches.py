# SPDX-License-Identifier: BSD-3-Clause
"""Simulated launches whose true median is known, and how often the intervals hold it (nominal 95 %).

The method's one parameter, interval.NARROWING, was chosen with the distributions marked as chosen; the others were not
looked at until it was fixed. Samples within a launch are skewed to the right, as times are. The truth is the median
over all launches that there could be, found from a million of them. No interval of a median of launches of two kinds
can hold it as often (the median itself jumps from one kind to the other): intervals over such launches say so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.statistics.interval import (
    ENOUGH_LAUNCHES,
    Group,
    Interval,
    effective_groups,
    effective_groups_of,
    interval,
    of_medians,
    quantiles_of_median,
    resampled_medians,
    tail_of,
)

Array = npt.NDArray[np.float64]
Random = np.random.Generator
Launches = list[Array]
NOMINAL, TOLERANCE = 0.95, 0.02
RATIO = 1.5
RESAMPLES = 1000


@dataclass(frozen=True)
class Effect:
    """How launches differ: `draw(rng, n)` on a scale of about 1. `chosen`: the method's parameter was set with it."""

    draw: Callable[[Random, int], Array]
    chosen: bool = False
    two_kinds: bool = False


def _mixed(share: float, distance: float, spread: float = 1.0) -> Callable[[Random, int], Array]:
    """Normal launches, of which `share` lie `distance` higher and spread `spread` times as far."""

    def draw(rng: Random, n: int) -> Array:
        other = rng.random(n) < share
        return np.asarray(rng.standard_normal(n) * np.where(other, spread, 1.0) + distance * other)

    return draw


EFFECTS = {
    "normal": Effect(lambda rng, n: rng.standard_normal(n), chosen=True),
    "uniform": Effect(lambda rng, n: rng.uniform(-1, 1, n), chosen=True),
    "Laplace": Effect(lambda rng, n: rng.laplace(0, 1, n), chosen=True),
    "exponential": Effect(lambda rng, n: rng.exponential(1, n), chosen=True),
    "lognormal, 0.5": Effect(lambda rng, n: rng.lognormal(0, 0.5, n), chosen=True),
    "t, 3": Effect(lambda rng, n: rng.standard_t(3, n), chosen=True),
    "logistic": Effect(lambda rng, n: rng.logistic(0, 1, n)),
    "Gumbel": Effect(lambda rng, n: rng.gumbel(0, 1, n)),
    "Weibull, 1.5": Effect(lambda rng, n: rng.weibull(1.5, n)),
    "lognormal, 0.75": Effect(lambda rng, n: rng.lognormal(0, 0.75, n)),
    "normal + exponential": Effect(lambda rng, n: rng.standard_normal(n) + rng.exponential(2, n)),
    "beta, 2 and 5": Effect(lambda rng, n: 4 * rng.beta(2, 5, n)),
    "t, 2": Effect(lambda rng, n: rng.standard_t(2, n)),
    "one in ten disturbed": Effect(_mixed(0.1, 3.0, 3.0)),
    "two kinds, 1 in 5": Effect(_mixed(0.2, 15.0), two_kinds=True),
    "two kinds, 1 in 2": Effect(_mixed(0.5, 15.0), two_kinds=True),
}


@dataclass(frozen=True)
class Spread:
    """Relative differences between launches and between samples, and samples a launch."""

    between: float
    within: float
    samples: int


SPREADS = (Spread(0.02, 0.005, 101), Spread(0.02, 0.02, 21), Spread(0.005, 0.03, 15), Spread(0.1, 0.02, 21))


def launches(rng: Random, scale: float, count: int, effect: Effect, spread: Spread) -> Launches:
    """`count` launches, each its samples."""
    shifts = spread.between * effect.draw(rng, count)
    noise = rng.exponential(spread.within, (count, spread.samples))
    return list(scale * np.exp(shifts[:, None] + noise))


@functools.cache
def true_median(effect: Effect, spread: Spread, count: int = 1_000_000) -> float:
    """The median over launches of their medians, for a scale of 1.

    The median of an odd number m of samples is distributed as the sample's quantile function at
    Beta((m + 1) / 2, (m + 1) / 2), which spares drawing them.
    """
    rng = np.random.default_rng(99)
    middle = (spread.samples + 1) / 2
    noise = -spread.within * np.log1p(-rng.beta(middle, middle, count))
    return float(np.exp(np.median(spread.between * effect.draw(rng, count) + noise)))


# A statement takes the launches of two groups and a seed; its truth, the true medians of the two (or arrays of them).
Statement = tuple[Callable[[Launches, Launches, int], Interval], Callable[[Any, Any], Any]]


def _efficiency(bare: Launches, variant: Launches, seed: int) -> Interval:
    """(2 comm - total) / comm, comm and comp taken from the same launches of bare: as evaluate() does it."""
    rng = np.random.default_rng(seed)
    groups = [Group(len(x), rng, RESAMPLES) for x in (bare, variant)]
    pools = [np.stack([resampled_medians(values, 256, rng) for values in x]) for x in (bare, variant)]
    medians = [[float(np.median(values)) for values in x] for x in (bare, variant)]
    comm, comp = (groups[0].draws(medians[0], pools[0]) for _ in range(2))
    total = groups[1].draws(medians[1], pools[1])

    def of(a: Array | float, b: Array | float, c: Array | float) -> Array:
        return np.asarray((a + b - c) / np.minimum(a, b))

    parts = [of(comm.resampled, comp.resampled, total.value), of(comm.value, comp.value, total.resampled)]
    return interval(
        float(of(comm.value, comp.value, total.value)),
        of(comm.resampled, comp.resampled, total.resampled),
        min(len(bare), len(variant)),
        groups=effective_groups(parts),
    )


STATEMENTS: dict[str, Statement] = {
    "ratio": (
        lambda a, b, seed: of_medians(lambda a, b: a / b, {"a": a, "b": b}, NOMINAL, RESAMPLES, seed),
        lambda a, b: a / b,
    ),
    "difference": (
        lambda a, b, seed: of_medians(lambda a, b: a - b, {"a": a, "b": b}, NOMINAL, RESAMPLES, seed),
        lambda a, b: a - b,
    ),
    "median": (lambda a, _, seed: of_medians(lambda a: a, {"a": a}, NOMINAL, RESAMPLES, seed), lambda a, _: a),
    "efficiency": (lambda a, b, seed: _efficiency(b, a, seed), lambda a, b: (2 * b - a) / b),
}
AT_ONCE = ("ratio", "difference", "median")  # what of_medians makes of one quantity a group


def coverage(
    statement: str, counts: tuple[int, int], effect: Effect, spread: Spread, runs: int, seed: int = 0
) -> float:
    """The share of `runs` whose interval holds the truth; `counts` are the launches of the two groups."""
    return coverages([statement], counts, effect, spread, runs, seed)[statement]


def coverages(
    statements: Sequence[str], counts: tuple[int, int], effect: Effect, spread: Spread, runs: int, seed: int = 0
) -> dict[str, float]:
    """The same of several statements of the same runs."""
    above, below = simulated(counts, effect, spread, runs, seed)
    median = true_median(effect, spread)
    found = {}
    for statement in statements:
        wanted = STATEMENTS[statement][1](RATIO * median, median)
        low, high = bounds(statement, above, below)
        found[statement] = float(np.mean((low <= wanted) & (wanted <= high)))
    return found


def simulated(counts: tuple[int, int], effect: Effect, spread: Spread, runs: int, seed: int = 0) -> tuple[Array, Array]:
    """The samples of two groups, of the shape (runs, launches, samples)."""
    rng = np.random.default_rng([seed, *counts])
    above, below = (np.empty((runs, count, spread.samples)) for count in counts)
    for run in range(runs):
        for scale, samples in ((RATIO, above), (1.0, below)):
            samples[run] = launches(rng, scale, samples.shape[1], effect, spread)
    return above, below


def bounds(statement: str, above: Array, below: Array) -> tuple[Array, Array]:
    """The ends of the intervals, one a run; a run's number is its seed."""
    if statement in AT_ONCE and min(above.shape[1], below.shape[1]) >= ENOUGH_LAUNCHES:
        return bounds_of_runs(STATEMENTS[statement][1], above, below, NOMINAL, RESAMPLES)
    return one_by_one(statement, above, below)


def one_by_one(statement: str, above: Array, below: Array) -> tuple[Array, Array]:
    """The same, as sessions are evaluated."""
    pairs = enumerate(zip(above, below, strict=True))
    found = [STATEMENTS[statement][0](list(a), list(b), run) for run, (a, b) in pairs]
    return np.array([one.low for one in found]), np.array([one.high for one in found])


def outside(found: float, runs: int) -> bool:
    """Whether a coverage is further from nominal than TOLERANCE and two standard errors of its simulation."""
    return abs(found - NOMINAL) > TOLERANCE + 2 * float(np.sqrt(NOMINAL * (1 - NOMINAL) / runs))


# bootstrap.of_medians for many simulated runs at once: the same arithmetic with one axis more.
Function = Callable[[Array, Array], Array]


@functools.cache
def _orders(runs: int, resamples: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """In which order of_medians draws, of both groups; shapes (runs, resamples). The seed of a run is its number."""
    orders = np.empty((2, runs, resamples), dtype=np.intp)
    for run in range(runs):
        rng = np.random.default_rng(run)
        orders[0, run], orders[1, run] = rng.permutation(resamples), rng.permutation(resamples)
    return orders[0], orders[1]


def _at(ordered: Array, places: Array) -> Array:
    """Values at `places` of sorted ones along the last axis, interpolated."""
    below = np.clip(np.floor(places).astype(np.intp), 0, ordered.shape[-1] - 2)
    low, high = (np.take_along_axis(ordered, below + step, axis=-1) for step in (0, 1))
    return np.asarray(low + (places - below) * (high - low), dtype=np.float64)


def bounds_of_runs(
    function: Function, above: Array, below: Array, confidence: float, resamples: int
) -> tuple[Array, Array]:
    """The lower and upper ends of the intervals of `function` of two groups' medians, one a run; run k has seed k.

    `above`, `below`: samples, of the shape (runs, launches, samples); at least ENOUGH_LAUNCHES launches.
    """
    runs = len(above)
    probabilities = (np.arange(resamples) + 0.5) / resamples
    draws, values = [], []
    for samples, order in zip((above, below), _orders(runs, resamples), strict=True):
        medians = np.sort(np.median(samples, axis=-1), axis=-1)
        places = quantiles_of_median(np.arange(medians.shape[-1]), probabilities)
        inner = np.clip(np.floor(places).astype(np.intp), 0, medians.shape[-1] - 2)
        ordered = medians[:, inner] + (places - inner) * (medians[:, inner + 1] - medians[:, inner])
        draws.append(np.take_along_axis(ordered, order, axis=-1))
        values.append(np.median(medians, axis=-1))
    parts = [function(draws[0], values[1][:, None]), function(values[0][:, None], draws[1])]
    groups = effective_groups_of(np.stack([np.broadcast_to(part, draws[0].shape).var(axis=-1) for part in parts]))
    tail = tail_of(groups, min(above.shape[1], below.shape[1]), confidence)
    found = np.sort(function(*draws), axis=-1)
    low, high = _at(found, np.stack([tail, 1 - tail], axis=-1) * (resamples - 1)).T
    value = function(values[0], values[1])
    return np.minimum(low, value), np.maximum(high, value)
