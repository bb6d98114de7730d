# SPDX-License-Identifier: BSD-3-Clause
"""bootstrap.of_medians for many simulated runs at once: the same arithmetic with one axis more.

A run by itself takes a millisecond, most of which is spent in calls of numpy on arrays of some numbers; a million of
them are what it takes to know coverages. analysis/tests/test_statistics.py holds the two against each other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from analysis.statistics.bootstrap import effective_groups_of, tail_of
from analysis.statistics.interval import quantiles_of_median

Array = npt.NDArray[np.float64]
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


def bounds(function: Function, above: Array, below: Array, confidence: float, resamples: int) -> tuple[Array, Array]:
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
