# SPDX-License-Identifier: BSD-3-Clause
"""Thousands of simulated gates on noise that was recorded, decided by the code that decides real ones.

The noise is that of real launches: of every point of the sessions that has enough launches of one variant, the
logarithms of the medians of each launch's first samples, as few as a gate takes, less their middle. A launch of a
simulated gate is drawn from those of one point, so that it has their tails: a launch that took twice as long is drawn
as often as it happened. That launches near in time are alike is not drawn: rounds
take it out of a real gate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.compare.matched_points import measured
from analysis.gate import decision_rule, sequential
from analysis.gate.decision_rule import Rule, State
from analysis.records.load import load
from analysis.tuning import confirmation, document
from analysis.tuning.confirmation import Verdict
from analysis.tuning.search_records import DEFAULT, OLD, TUNED, UNSET, Axis, Block, Measured, Score, SearchPlan

Array = npt.NDArray[np.float64]
REFERENCE = (
    *(f"overlap/{name}" for name in ("overlap", "overlap-10gbit", "overlap-mtu-1500", "overlap-mtu-9000")),
    "demo",
)
FOLDER = Path(__file__).resolve().parents[2] / "results" / "reference"
ENOUGH = 6  # launches of one variant at one point
BOUND = 0.01  # of the rate of false alarms
POINTS = 3
ROUNDS = 31  # in three minutes: a launch of overlap-mtu-9000 took 1.65 s with three points, and a round has three


def noise(sessions: Sequence[Path], samples: int) -> list[Array]:
    """Of every point and variant with enough launches, the logarithms of their medians less the middle."""
    found = []
    for session in sessions:
        for one in measured(load([session])).values():
            if len(one.launches) >= ENOUGH:
                logs = np.log([np.median(values[:samples]) for values in one.launches.values()])
                found.append(logs - np.median(logs))
    return found


def drawn(pools: Sequence[Array], gates: int, rng: np.random.Generator) -> Array:
    """(gates, points, sides, rounds) of logarithms without any effect.

    Values of a pool of n launches are widened by sqrt(n / (n - 1)), by which their spread falls short.
    """
    chosen = rng.integers(0, len(pools), (gates, POINTS))
    logs = np.empty((gates, POINTS, 3, ROUNDS))
    for place, pool in enumerate(pools):
        where = chosen == place
        wide = pool * np.sqrt(len(pool) / (len(pool) - 1))
        logs[where] = rng.choice(wide, (int(where.sum()), 3, ROUNDS))
    # a discrete draw has ties, which real times have not: a jitter far below any noise parts them
    return logs + rng.normal(0, 1e-9, logs.shape)


def upper_95(count: int, of: int) -> float:
    """The upper end of the exact one-sided 95 % interval of a rate."""
    return float(stats.binomtest(count, of, alternative="less").proportion_ci(0.95, "exact").high)


@dataclass(frozen=True)
class Tally:
    """How simulated gates ended."""

    gates: int
    commit: int
    moved: int

    @property
    def bound(self) -> float:
        """The upper end of the exact one-sided 95 % interval of the rate of `commit`."""
        return upper_95(self.commit, self.gates)


def simulate(pools: Sequence[Array], effect: float, gates: int) -> Tally:
    """Gates of three minutes whose candidate is slower by `effect` in its first point."""
    logs = drawn(pools, gates, np.random.default_rng([1, round(1e6 * effect)]))
    logs[:, 0, decision_rule.NEW] += np.log1p(effect)
    states, _ = decision_rule.run(logs, Rule(), sequential.looks(ROUNDS), ROUNDS)
    return Tally(gates, int(np.sum(states == int(State.COMMIT))), int(np.sum(states == int(State.MOVED))))


# Simulated searches of settings, decided by the code that decides real ones, on the noise of real launches.
Values = Mapping[str, str]
Gain = Callable[[Values], float]
Launch = Callable[[Values, int], float]  # what a setting measures in a round, more is better
SPACE = tuple(Axis(f"p{number}", (UNSET, "1", "2", "3")) for number in range(6))
PLANTED = ("p3", "2")
EFFECT = 0.08  # of the good value: its logarithm
HARM = 0.05  # of a bad value
ALLOWED = 0.05  # of A/A searches that have a winner
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

    def launch(values: Values, round_: int) -> float:
        if round_ not in common:
            common[round_] = float(rng.choice(series))
        drawn = float(rng.choice(series)) + float(rng.normal(0, JITTER))
        return gain(values) - drawn - common[round_]

    return launch


def search(launch: Launch, method: str, seed: int, blocks: int = 8) -> Verdict:
    """One search of so many blocks at most."""
    asked = SearchPlan("time", SPACE, method=method)
    scores: dict[str, dict[int, Score]] = {DEFAULT: {}}
    round_ = 0

    def run(sides: Mapping[str, Values], rounds: int) -> Block:
        """A block in which each side has a launch a round."""
        nonlocal round_
        for here in range(round_, round_ + rounds):
            for name, values in sides.items():
                scores.setdefault(name, {})[here] = Score(launch(values, here))
        round_ += rounds
        return Block(tuple(sides), rounds, round_ - rounds)

    def measured() -> Measured:
        plain = {side: {at: -one.value for at, one in rounds.items()} for side, rounds in scores.items()}
        return Measured(asked, scores, {}, plain)

    then = document.next_(measured(), seed)
    for _ in range(blocks):
        if then.over:
            break
        fresh = {f"s{len(asked.contenders) + place + 1:03d}": values for place, values in enumerate(then.new)}
        known = {**asked.contenders, **fresh}
        block = run({DEFAULT: {}, **{name: known[name] for name in (*then.alive, *fresh)}}, asked.block_rounds)
        asked = replace(asked, contenders=known, blocks=(*asked.blocks, block))
        then = document.next_(measured(), seed)
    leader = then.state.leader
    while leader != DEFAULT and (not asked.confirmed or confirmation.undecided(measured())):
        block = run({OLD: {}, TUNED: asked.contenders[leader]}, asked.confirm)
        asked = replace(asked, blocks=(*asked.blocks, block))
    return confirmation.of(measured())
