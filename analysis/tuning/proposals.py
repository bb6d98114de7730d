# SPDX-License-Identifier: BSD-3-Clause
"""What is tried next. It is proposed from what was tried so far; whether that is any good the search alone decides.

By the effects of single values (`by_effects`), or by Optuna. Everything is made anew each time from what the
session holds, so nothing has to be kept.

By effects: first every value is tried once, a few of them at a time. Then the gains are explained as sums of the
values' effects (Bayesian linear regression). Each proposal believes one draw of these effects (Thompson sampling: what
is little known is tried as often as it may be good), and goes from the best setting so far to better neighbours, one
value a step. So what two values do together is found as well, since the best setting is where it begins.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.tuning.search_records import CHANGED, UNSET, Axis, Tried

if TYPE_CHECKING:
    import optuna

Values = Mapping[str, str]
SEARCHES = ("effects", "tpe", "random", "grid")
ATTEMPTS = 200  # at a setting that was not tried yet, after which there is perhaps none
STARTUP = 10  # settings that are drawn by chance before anything can be learnt from them


def propose(space: Sequence[Axis], tried: Sequence[Tried], method: str, seed: int) -> Iterator[dict[str, str]]:
    """Settings that were not tried, each once, best first as the search has it; ends when none is found any more.

    A setting is what is not left alone. The default is known, so it is not proposed.
    """
    seen = {_key({}), *(_key(one.values) for one in tried)}
    for values in _source(space, tried, method, seed):
        if _key(values) not in seen:
            seen.add(_key(values))
            yield values


def _key(values: Values) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(values.items()))


def _changed(values: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: value for name, value in values if value != UNSET}


def _source(space: Sequence[Axis], tried: Sequence[Tried], method: str, seed: int) -> Iterator[dict[str, str]]:
    if method == "grid":
        return _grid(space)
    seed += len(tried)
    if method == "effects":
        return itertools.chain(by_effects(space, tried, seed), _random(space, seed))
    return _random(space, seed) if method == "random" else _tpe(space, tried, seed)


def _grid(space: Sequence[Axis]) -> Iterator[dict[str, str]]:
    """Every setting, those with the fewest changes first."""
    every: list[dict[str, str]] = [{}]
    for axis in space:
        every = [{**one, axis.name: value} for one in every for value in axis.values]
    yield from sorted((_changed(one.items()) for one in every), key=len)


def _random(space: Sequence[Axis], seed: int) -> Iterator[dict[str, str]]:
    drawn = random.Random(seed)
    chance = min(0.5, CHANGED / max(1, len(space)))
    for _ in range(ATTEMPTS):
        yield {axis.name: drawn.choice(axis.values[1:]) for axis in space if drawn.random() < chance}


def _tpe(space: Sequence[Axis], tried: Sequence[Tried], seed: int) -> Iterator[dict[str, str]]:
    """Tree-structured Parzen estimator over all parameters at once; bounds that are broken count as its constraints."""
    if len(tried) < STARTUP:
        yield from _random(space, seed)
        return
    import optuna  # noqa: PLC0415 - a second of imports, and a group of its own

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=STARTUP)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for trial in _trials(space, tried):
        study.add_trial(trial)
    distributions: dict[str, Any] = {axis.name: _distribution(axis) for axis in space}
    for _ in range(ATTEMPTS):
        yield _changed((name, str(value)) for name, value in study.ask(distributions).params.items())


def _distribution(axis: Axis) -> optuna.distributions.BaseDistribution:
    import optuna  # noqa: PLC0415

    return optuna.distributions.CategoricalDistribution(axis.values)


def _trials(space: Sequence[Axis], tried: Sequence[Tried]) -> Iterator[optuna.trial.FrozenTrial]:
    """What was tried; what failed is as bad as the worst, and not allowed."""
    import optuna  # noqa: PLC0415

    worst = min([0.0, *(one.gain for one in tried if one.gain is not None and math.isfinite(one.gain))])
    for one in tried:
        yield optuna.trial.create_trial(
            params={axis.name: one.values.get(axis.name, UNSET) for axis in space},
            distributions={axis.name: _distribution(axis) for axis in space},
            value=worst if one.gain is None else one.gain,
            constraints={"beyond": 1.0 if one.gain is None else one.beyond},
        )


NOISE = 0.5  # of a gain, as a share of how far gains lie apart
STEPS = 3  # values by which a proposal differs from the best setting, at most

Effects = Mapping[tuple[str, str], float]


def by_effects(space: Sequence[Axis], tried: Sequence[Tried], seed: int) -> Iterator[dict[str, str]]:
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
