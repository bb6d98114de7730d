# SPDX-License-Identifier: BSD-3-Clause
"""Simulated races of settings, decided by the code that decides real ones, on the noise of real launches.

A race has the noise of one point and variant, since some are noisier than others. Either every setting is a copy of the
default (A/A), where a winner that is confirmed is a false one; or one value of one of six parameters is good, which the
winner should have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from analysis.tuning import step, verdict
from analysis.tuning.measured import DEFAULT, OLD, TUNED, UNSET, Asked, Axis, Block, Measured, Score
from analysis.tuning.verdict import Verdict

Array = npt.NDArray[np.float64]
Values = Mapping[str, str]
Gain = Callable[[Values], float]
Launch = Callable[[Values, int], float]  # what a setting measures in a round, more is better
SPACE = tuple(Axis(f"p{number}", (UNSET, "1", "2", "3")) for number in range(6))
PLANTED = ("p3", "2")
EFFECT = 0.08  # of the good value: its logarithm
HARM = 0.05  # of a bad value
ALLOWED = 0.05  # of A/A races that have a winner
SAMPLES = 20  # of a launch
JITTER = 1e-9  # of a logarithm: what is drawn has ties, real times have none


def no_effect(_values: Values) -> float:
    """Every setting is a copy of the default."""
    return 0.0


def planted(values: Values) -> float:
    """One value is good; each value "3" is bad."""
    good = EFFECT if values.get(PLANTED[0]) == PLANTED[1] else 0.0
    return good - HARM * sum(value == "3" for value in values.values())


def made_up(gain: Gain, pools: Sequence[Array], seed: int) -> Launch:
    """Launches with these gains, whose noise is drawn from one of these series; a round's own is common to all."""
    rng = np.random.default_rng(seed)
    series = pools[int(rng.integers(len(pools)))]
    common: dict[int, float] = {}

    def launch(values: Values, turn: int) -> float:
        if turn not in common:
            common[turn] = float(rng.choice(series))
        drawn = float(rng.choice(series)) + float(rng.normal(0, JITTER))
        return gain(values) - drawn - common[turn]

    return launch


def race(launch: Launch, search: str, seed: int, blocks: int = 8) -> Verdict:
    """One race of so many blocks at most."""
    asked = Asked("time", SPACE, search=search)
    scores: dict[str, dict[int, Score]] = {DEFAULT: {}}
    turn = 0

    def run(arms: Mapping[str, Values], rounds: int) -> Block:
        """A block in which each arm has a launch a round."""
        nonlocal turn
        for here in range(turn, turn + rounds):
            for name, values in arms.items():
                scores.setdefault(name, {})[here] = Score(launch(values, here))
        turn += rounds
        return Block(tuple(arms), rounds, turn - rounds)

    def measured() -> Measured:
        plain = {arm: {at: -one.value for at, one in turns.items()} for arm, turns in scores.items()}
        return Measured(asked, scores, {}, plain)

    then = step.next_(measured(), seed)
    for _ in range(blocks):
        if then.over:
            break
        fresh = {f"s{len(asked.contenders) + place + 1:03d}": values for place, values in enumerate(then.new)}
        known = {**asked.contenders, **fresh}
        block = run({DEFAULT: {}, **{name: known[name] for name in (*then.alive, *fresh)}}, asked.settle)
        asked = replace(asked, contenders=known, blocks=(*asked.blocks, block))
        then = step.next_(measured(), seed)
    leader = then.state.leader
    while leader != DEFAULT and (not asked.confirmed or verdict.undecided(measured())):
        block = run({OLD: {}, TUNED: asked.contenders[leader]}, asked.confirm)
        asked = replace(asked, blocks=(*asked.blocks, block))
    return verdict.of(measured())
