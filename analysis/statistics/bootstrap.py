# SPDX-License-Identifier: BSD-3-Clause
"""Hierarchical bootstrap: launches, then samples within each launch.

A launch's median differs from the next launch's by more than its own samples tell, so launches are what is resampled;
the samples within carry the rest. Two details make the result cover what it says (analysis/tests/test_coverage.py):

- The median of m samples drawn with replacement is an order statistic, so it is drawn directly: the k-th lowest of m
  uniform numbers follows Beta(k, m - k + 1). A million samples cost as much as ten.
- Resampling both levels counts the noise within launches twice, once in the launches' medians and once more in the
  samples. The launches' deviations are therefore shrunk by the share of that noise (variance components, as in Davison
  and Hinkley, Bootstrap Methods, section 3.8), which is negligible for long launches and matters for short ones.

The estimate is the median over launches of the launches' medians.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.statistics.interval import Interval, describe

Array = npt.NDArray[np.float64]
RESAMPLES = 2000


@dataclass(frozen=True)
class Draws:
    """Of one quantity over the launches of one group: the launches' medians and bootstrap draws of their median.

    `medians` has shape (launches,), `resampled` (resamples,).
    """

    medians: Array
    resampled: Array

    @property
    def value(self) -> float:
        return float(np.median(self.medians))


def resampled_medians(samples: npt.ArrayLike, resamples: int, rng: np.random.Generator) -> Array:
    """`resamples` bootstrap medians of one launch's samples, exact in distribution, in O(resamples) after a sort."""
    ordered = np.sort(np.asarray(samples, dtype=float))
    m = len(ordered)
    lower = (m + 1) // 2
    u = rng.beta(lower, m - lower + 1, resamples)
    low = ordered[np.minimum((u * m).astype(np.intp), m - 1)]
    if m % 2:
        return np.asarray(low)
    above = u + (1 - u) * rng.beta(1, m - lower, resamples)  # the lowest of those that lie above the lower one
    high = ordered[np.minimum((above * m).astype(np.intp), m - 1)]
    return np.asarray((low + high) / 2)


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
        centre = float(np.median(medians[kept]))
        shrink = _shrink(medians[kept], within[kept])
        pick = self._rng.integers(0, within.shape[1], self._chosen.shape)
        values = centre + shrink * (medians[self._chosen] - centre) + within[self._chosen, pick]
        median = np.median if kept.all() else np.nanmedian
        return Draws(medians[kept], np.asarray(median(values, axis=1)))


def _shrink(medians: Array, within: Array) -> float:
    """The factor that leaves only the variance between launches in the launches' deviations."""
    if len(medians) < 2:
        return 1.0
    observed = float(np.var(medians, ddof=1))
    if observed == 0:
        return 1.0
    return float(np.sqrt(max(0.0, 1 - float(np.mean(np.var(within, axis=1))) / observed)))


def interval(value: float, resampled: Array, launches: int, confidence: float = 0.95) -> Interval:
    """The percentile interval of the draws; called a confidence interval only from 6 launches on."""
    kind, defensible = describe(launches, confidence)
    finite = resampled[np.isfinite(resampled)]
    if len(finite) < 0.9 * len(resampled) or not np.isfinite(value):
        return Interval(value, float("nan"), float("nan"), "undefined", False)
    tail = (1 - confidence) / 2
    low, high = np.quantile(finite, [tail, 1 - tail])
    return Interval(value, float(min(low, value)), float(max(high, value)), kind, defensible)


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
    draws: dict[str, Draws] = {}
    for name, launches in groups.items():
        pools = np.stack([resampled_medians(x, resamples, rng) for x in launches])
        draws[name] = Group(len(launches), rng, resamples).draws(
            [np.median(np.asarray(x, dtype=float)) for x in launches], pools
        )
    value = float(np.asarray(function(**{name: d.value for name, d in draws.items()})))
    resampled = np.asarray(function(**{name: d.resampled for name, d in draws.items()}), dtype=float)
    return interval(value, resampled, min(map(len, groups.values())), confidence)


def ratio_of_medians(above: Sequence[npt.ArrayLike], below: Sequence[npt.ArrayLike], seed: int = 0) -> Interval:
    """median(above) / median(below), each a list of launches."""
    return of_medians(lambda above, below: above / below, {"above": above, "below": below}, seed=seed)


def difference_of_medians(left: Sequence[npt.ArrayLike], right: Sequence[npt.ArrayLike], seed: int = 0) -> Interval:
    """median(left) - median(right), each a list of launches."""
    return of_medians(lambda left, right: left - right, {"left": left, "right": right}, seed=seed)
