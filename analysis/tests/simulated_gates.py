# SPDX-License-Identifier: BSD-3-Clause
"""Thousands of simulated gates on noise that was recorded, decided by the code that decides real ones.

The noise is that of real launches: of every point of the sessions that has enough launches of one variant, the
logarithms of the medians of each launch's first samples, as few as a gate takes, less their middle. A launch of a
simulated gate is drawn from those of one point, so that it has their tails: a launch that took twice as long is drawn
as often as it happened. That launches near in time are alike is not drawn: rounds
take it out of a real gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.compare.pairs import measured
from analysis.gate import decide, sequential
from analysis.gate.decide import Rule, State
from analysis.records.load import load

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
    """(gates, points, arms, rounds) of logarithms without any effect.

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
    logs[:, 0, decide.NEW] += np.log1p(effect)
    states, _ = decide.run(logs, Rule(), sequential.looks(ROUNDS), ROUNDS)
    return Tally(gates, int(np.sum(states == int(State.COMMIT))), int(np.sum(states == int(State.MOVED))))
