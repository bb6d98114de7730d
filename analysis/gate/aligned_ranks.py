# SPDX-License-Identifier: BSD-3-Clause
"""Is one of three sides slower? The aligned rank test of Hodges and Lehmann (1962), over many series at once.

In each round baseline, its copy and candidate run in an order that is drawn, so without an effect each of the three
values is as likely the candidate's as the two others are, whatever their distribution is and whatever the round was
like. The candidate is held against both of the others: its difference to them has three quarters of the variance that
a difference to one of them has. Values are aligned by the middle of their round and its neighbours, which takes out
what the machine does more slowly than that, and counted by their rank among all of them, so a launch that took twice as
long moves little. The middle is of all sides alike, so it tells nothing of which of them is the candidate.

How likely a sum of the candidate's ranks is, given the ranks of every round, has no table: it is computed by the
saddlepoint approximation of Lugannani and Rice, as Robinson has it for permutation tests (JRSS B 44, 1982).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from analysis.statistics.ranks import Middle

Array = npt.NDArray[np.float64]
SIDES = 3
NEW = 2  # its place; before it are baseline and copy
BESIDE = 2  # rounds on either side of one, by which it is aligned
STEPS = 40  # of a search, at most
BOUND_STEPS = 28  # of the search for a bound, whose digits nobody reads beyond the fourth
EXACT = 1e-12
NEAR = 1e-4  # of the middle the formula divides zero by zero
DENSITY = 1 / math.sqrt(2 * math.pi)  # of the normal distribution at its middle


def p_above(logs: npt.ArrayLike, bound: float) -> Array:
    """How likely a candidate as slow as this is, if it is slower by `bound` or less. `logs`: (..., sides, rounds)."""
    values = np.array(logs, dtype=float)
    values[..., NEW, :] -= bound
    return _tail(_scores(values))


def p_below(logs: npt.ArrayLike, bound: float) -> Array:
    """The same of a candidate as fast as this, if it is slower by `bound` or more."""
    return p_above(-np.asarray(logs, dtype=float), -bound)


def fewest(level: float) -> int:
    """The fewest rounds that can show anything at this level: by chance the candidate is last once in three."""
    return math.ceil(-math.log(level) / math.log(SIDES)) if 0 < level < 1 else 1


def ratio(logs: npt.ArrayLike, level: float) -> Middle:
    """By how much the candidate is slower, and the bounds that the test leaves at this level on either side; infinite
    where so few rounds cannot show anything at it. The estimate is the same test's (Hodges and Lehmann, 1963): less it,
    the candidate's ranks are as those of the others. So it is within the bounds, whatever the values are."""
    values = np.asarray(logs, dtype=float)
    reach = 2 * float(np.ptp(values)) + 1e-9
    centre = _crossing(lambda bound: _rank_sum(values, bound) > 0, -reach, reach)
    if level <= 0 or values.shape[-1] < fewest(level):
        return Middle(centre, -math.inf, math.inf)
    low = _crossing(lambda bound: float(p_above(values, bound)) <= level, -reach, centre)
    high = _crossing(lambda bound: float(p_below(values, bound)) <= level, reach, centre)
    return Middle(centre, low, high)


def _rank_sum(logs: Array, bound: float) -> float:
    """Of a candidate that is faster by `bound` than it was: 0 is expected of one as fast as the others."""
    values = logs.copy()
    values[NEW] -= bound
    return float(_scores(values)[NEW].sum())


def _crossing(shown: Callable[[float], bool], outside: float, inside: float) -> float:
    """The bound nearest to `inside` at which something is shown; it is shown `outside`."""
    if shown(inside):
        return inside
    for _ in range(BOUND_STEPS):
        here = (outside + inside) / 2
        outside, inside = (here, inside) if shown(here) else (outside, here)
    return outside


def _scores(values: Array) -> Array:
    """Ranks of the aligned values, less the mean of their round."""
    aligned = values - _level(values)[..., None, :]
    flat = aligned.reshape(*aligned.shape[:-2], -1)
    ranks = stats.rankdata(flat, axis=-1).reshape(aligned.shape) / flat.shape[-1]
    return np.asarray(ranks - ranks.mean(axis=-2, keepdims=True), dtype=np.float64)


def _level(values: Array) -> Array:
    """The middle of the values of each round and of its neighbours."""
    around = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(BESIDE, BESIDE)], constant_values=np.nan)
    windows = np.moveaxis(np.lib.stride_tricks.sliding_window_view(around, 2 * BESIDE + 1, axis=-1), -3, -2)
    ordered = np.sort(windows.reshape(*windows.shape[:-2], -1), axis=-1)  # what is not there last; nanmedian is slow
    there = np.count_nonzero(~np.isnan(ordered), axis=-1)[..., None]
    middle = np.concatenate([(there - 1) // 2, there // 2], axis=-1)
    return np.asarray(np.take_along_axis(ordered, middle, axis=-1).mean(axis=-1), dtype=np.float64)


def _tail(scores: Array) -> Array:
    """P(the sum over rounds of one of three scores each, drawn, is what the candidate's is or more)."""
    total = scores[..., NEW, :].sum(axis=-1)
    most = scores.max(axis=-2)
    limit = np.prod((scores >= most[..., None, :] - 1e-12).mean(axis=-2), axis=-1)
    t, first = _saddlepoint(scores, total)
    cumulant, _, spread = _cumulants(scores, t)
    root = np.sign(t) * np.sqrt(np.maximum(0.0, 2 * (t * total - cumulant)))
    with np.errstate(divide="ignore", invalid="ignore"):
        beside = t * np.sqrt(spread)
        found = special.ndtr(-root) + DENSITY * np.exp(-(root**2) / 2) * (1 / beside - 1 / root)
        normal = special.ndtr(-total / np.sqrt(first))
    found = np.where(np.abs(root) < NEAR, normal, found)
    # no sum is less likely than the largest one, which no finite t leads to
    found = np.where(total >= most.sum(axis=-1) - 1e-9, limit, np.clip(found, limit, 1.0))
    return np.asarray(np.where(first > 0, found, 1.0), dtype=np.float64)


def _saddlepoint(scores: Array, total: Array) -> tuple[Array, Array]:
    """Where the derivative of the cumulants is `total`; and their second one at zero. By Newton's steps, and by
    bisection where such a step leads out of what is left."""
    reach = 40.0 / np.maximum(1e-12, np.ptp(scores, axis=-2).max(axis=-1))
    low, high = -reach, reach
    t = np.zeros_like(total)
    _, slope, first = _cumulants(scores, t)
    curvature = first
    for _ in range(STEPS):
        low, high = np.where(slope < total, t, low), np.where(slope < total, high, t)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = t + (total - slope) / curvature
        following = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        near = bool(np.all(np.abs(following - t) <= EXACT * reach))
        t = following
        if near:
            break
        _, slope, curvature = _cumulants(scores, t)
    return t, first


def _cumulants(scores: Array, t: Array) -> tuple[Array, Array, Array]:
    """Of the sum: the generating function at `t`, and its first two derivatives."""
    powers = scores * t[..., None, None]
    highest = powers.max(axis=-2, keepdims=True)
    weights = np.exp(powers - highest)
    whole = weights.sum(axis=-2)
    first = (weights * scores).sum(axis=-2) / whole
    second = (weights * scores**2).sum(axis=-2) / whole - first**2
    cumulant = highest[..., 0, :] + np.log(whole / SIDES)
    return cumulant.sum(axis=-1), first.sum(axis=-1), second.sum(axis=-1)
