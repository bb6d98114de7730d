# SPDX-License-Identifier: BSD-3-Clause
"""What is tried next. It is proposed from what was tried so far; whether that is any good the race alone decides.

By the effects of single values (analysis.tuning.effects), or by Optuna. Everything is made anew each time from what the
session holds, so nothing has to be kept.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis.tuning import effects
from analysis.tuning.asked import CHANGED, UNSET, Axis, Tried

if TYPE_CHECKING:
    import optuna

Values = Mapping[str, str]
SEARCHES = ("effects", "tpe", "random", "grid")
ATTEMPTS = 200  # at a setting that was not tried yet, after which there is perhaps none
STARTUP = 10  # settings that are drawn by chance before anything can be learnt from them


def propose(space: Sequence[Axis], tried: Sequence[Tried], search: str, seed: int) -> Iterator[dict[str, str]]:
    """Settings that were not tried, each once, best first as the search has it; ends when none is found any more.

    A setting is what is not left alone. The default is known, so it is not proposed.
    """
    seen = {_key({}), *(_key(one.values) for one in tried)}
    for values in _source(space, tried, search, seed):
        if _key(values) not in seen:
            seen.add(_key(values))
            yield values


def _key(values: Values) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(values.items()))


def _changed(values: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: value for name, value in values if value != UNSET}


def _source(space: Sequence[Axis], tried: Sequence[Tried], search: str, seed: int) -> Iterator[dict[str, str]]:
    if search == "grid":
        return _grid(space)
    seed += len(tried)
    if search == "effects":
        return itertools.chain(effects.propose(space, tried, seed), _random(space, seed))
    return _random(space, seed) if search == "random" else _tpe(space, tried, seed)


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
