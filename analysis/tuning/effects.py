# SPDX-License-Identifier: BSD-3-Clause
"""Proposals for races of a few dozen settings: what each value does is estimated, and the best is changed accordingly.

First every value is tried once, a few of them at a time. Then the gains are explained as sums of the values' effects
(Bayesian linear regression). Each proposal believes one draw of these effects (Thompson sampling: what is little known
is tried as often as it may be good), and goes from the best setting so far to better neighbours, one value a step. So
what two values do together is found as well, since the best setting is where it begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from analysis.tuning.asked import CHANGED, UNSET, Axis, Tried

NOISE = 0.5  # of a gain, as a share of how far gains lie apart
STEPS = 3  # values by which a proposal differs from the best setting, at most
ATTEMPTS = 200

Effects = Mapping[tuple[str, str], float]


def propose(space: Sequence[Axis], tried: Sequence[Tried], seed: int) -> Iterator[dict[str, str]]:
    """Settings, some perhaps known; before anything ran, only those that try each value once."""
    rng = np.random.default_rng(seed)
    yield from _untried(space, tried, rng)
    if not tried:
        return
    best = max(tried, key=lambda one: -np.inf if one.gain is None or one.beyond > 0 else one.gain)
    draws = _draws(space, tried, rng)
    for _ in range(ATTEMPTS):
        yield _climb(dict(best.values), space, next(draws), int(rng.integers(1, STEPS + 1)))


def _untried(space: Sequence[Axis], tried: Sequence[Tried], rng: np.random.Generator) -> Iterator[dict[str, str]]:
    """Settings that have every value once that no setting has had."""
    had = {pair for one in tried for pair in one.values.items()}
    pairs = [(axis.name, value) for axis in space for value in axis.values[1:] if (axis.name, value) not in had]
    left = [pairs[at] for at in rng.permutation(len(pairs))]
    while left:
        one: dict[str, str] = {}
        for name, value in left:
            if len(one) < CHANGED:
                one.setdefault(name, value)
        left = [(name, value) for name, value in left if one.get(name) != value]
        yield one


def _draws(space: Sequence[Axis], tried: Sequence[Tried], rng: np.random.Generator) -> Iterator[Effects]:
    """What the effects of all values may be, drawn from what is known of them. What fails is as bad as the worst."""
    columns = [(axis.name, value) for axis in space for value in axis.values[1:]]
    rows = np.array([[float(one.values.get(name) == value) for name, value in columns] for one in tried])
    worst = min([0.0, *(one.gain for one in tried if one.gain is not None)])
    gains = np.array([worst if one.gain is None or one.beyond > 0 else one.gain for one in tried])
    spread = float(np.std([0.0, *gains])) or 1.0
    precision = rows.T @ rows / (NOISE * spread) ** 2 + np.eye(len(columns)) / spread**2
    centre = np.linalg.solve(precision, rows.T @ gains) / (NOISE * spread) ** 2
    root = np.linalg.cholesky(precision)
    while True:
        drawn = centre + np.linalg.solve(root.T, rng.normal(size=len(columns)))
        yield dict(zip(columns, drawn.tolist(), strict=True))


def _climb(values: dict[str, str], space: Sequence[Axis], effects: Effects, steps: int) -> dict[str, str]:
    """The setting after some steps to the best neighbour; the first step is made even where it leads down."""
    for step in range(steps):
        here = {axis.name: effects.get((axis.name, values.get(axis.name, UNSET)), 0.0) for axis in space}
        gains = {
            (axis.name, value): effects.get((axis.name, value), 0.0) - here[axis.name]
            for axis in space
            for value in axis.values
            if value != values.get(axis.name, UNSET)
        }
        name, value = max(gains, key=lambda pair: gains[pair])
        if step > 0 and gains[name, value] <= 0:
            break
        values = {key: old for key, old in values.items() if key != name} | ({name: value} if value != UNSET else {})
    return values
