# SPDX-License-Identifier: BSD-3-Clause
"""Hierarchical bootstrap: launches, then samples within each launch.

A launch's median differs from the next launch's by more than its own samples tell, so launches are what is resampled;
the samples within carry the rest. Two details make the result cover what it says (analysis/tests/test_coverage.py):

- The median of m samples drawn with replacement is an order statistic, so it is drawn directly: the place of the middle
  one of m uniform numbers follows Beta((m + 1) / 2, (m + 1) / 2), and the value there is interpolated between samples
  (a smoothed bootstrap; Harrell and Davis, Biometrika 69, 1982). A million samples cost as much as ten.
- Resampling both levels as they are counts the noise within launches twice, once in the launches' medians and once more
  in the samples (Davison and Hinkley, Bootstrap Methods, section 3.8). The two parts are therefore weighted so that
  together they have the variance that the launches show (`_weights`).

The estimate is the median over launches of the launches' medians.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.statistics.interval import Interval, describe

Array = npt.NDArray[np.float64]
RESAMPLES = 2000
WITHIN_AT_MOST = 0.85  # share of the variance; more covers 92 % instead of 95 %, as the draws within are too peaked


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
        centre = float(np.median(medians[kept]))
        between, inside = _weights(medians[kept], within[kept])
        pick = self._rng.integers(0, within.shape[1], self._chosen.shape)
        values = centre + between * (medians[self._chosen] - centre) + inside * within[self._chosen, pick]
        median = np.median if kept.all() else np.nanmedian
        return Draws(medians[kept], np.asarray(median(values, axis=1)))


def _weights(medians: Array, within: Array) -> tuple[float, float]:
    """The factors of the deviations between launches and of the noise within them.

    Their variances add up to the launches' own, or to that of the noise within where a few launches happen to agree
    better than their noise allows.
    """
    noise = float(np.mean(np.var(within, axis=1)))
    observed = float(np.var(medians, ddof=1)) if len(medians) > 1 else 0.0
    if observed == 0 or noise == 0:
        return 1.0, 1.0
    total = max(observed, noise)
    between = min(1.0, (1 - min(WITHIN_AT_MOST, noise / total)) * total / observed)
    return float(np.sqrt(between)), float(np.sqrt((total - between * observed) / noise))


def interval(
    value: float, resampled: Array, launches: int, confidence: float = 0.95, one_group: bool = False
) -> Interval:
    """The percentile interval of the draws; called a confidence interval only from 6 launches on.

    Of two groups of 6 launches and more it covers what it says. Of `one_group` alone the median takes too few values,
    so the percentiles are moved out as a t distribution would (Hesterberg, The American Statistician 69, 2015).
    """
    kind, defensible = describe(launches, confidence)
    finite = resampled[np.isfinite(resampled)]
    if len(finite) < 0.9 * len(resampled) or not np.isfinite(value):
        return Interval(value, float("nan"), float("nan"), "undefined", False)
    tail = (1 - confidence) / 2
    if one_group and launches > 1:
        tail = float(stats.norm.cdf(stats.t.ppf(tail, launches - 1) * np.sqrt(launches / (launches - 1))))
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
    return interval(value, resampled, min(map(len, groups.values())), confidence, one_group=len(groups) == 1)


def ratio_of_medians(above: Sequence[npt.ArrayLike], below: Sequence[npt.ArrayLike], seed: int = 0) -> Interval:
    """median(above) / median(below), each a list of launches."""
    return of_medians(lambda above, below: above / below, {"above": above, "below": below}, seed=seed)


def difference_of_medians(left: Sequence[npt.ArrayLike], right: Sequence[npt.ArrayLike], seed: int = 0) -> Interval:
    """median(left) - median(right), each a list of launches."""
    return of_medians(lambda left, right: left - right, {"left": left, "right": right}, seed=seed)
