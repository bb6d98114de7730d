# SPDX-License-Identifier: BSD-3-Clause
"""What a race is worth: hundreds of simulated ones, decided by the code that decides real ones.

    .venv/bin/python -m analysis.benchmarks.races [--races 100] [--search effects,tpe,random] [SESSION...]

The noise is that of real launches, as analysis.benchmarks.gates draws it from recorded sessions. Three kinds: every
setting is a copy of the default (A/A), where a winner that is confirmed is a false one; one value of one of six
parameters is good, where the winner should have it; and three values of fourteen parameters are good, more are bad and
two fail, as where engine and MPI are tuned together. Prints how often the first two happened, after how many launches,
and which share of what there was to gain the settings have that are written in the third. Ends with status 1 where more
A/A races have a winner than one in a hundred leads to by chance.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.benchmarks.gates import FOLDER, REFERENCE, noise
from analysis.text_table import markdown
from analysis.tuning import step, verdict
from analysis.tuning.asked import DEFAULT, OLD, TUNED, UNSET, Asked, Axis, Block
from analysis.tuning.measured import Measured, Score

Array = npt.NDArray[np.float64]
Gain = Callable[[Mapping[str, str]], float]
SPACE = tuple(Axis(f"p{number}", (UNSET, "1", "2", "3")) for number in range(6))
LARGE = tuple(Axis(f"p{number}", (UNSET, "1", "2", "3")) for number in range(14))
PLANTED = ("p3", "2")
EFFECT = 0.08  # of the good value: its logarithm
HARM = 0.05  # of a bad value
GOOD = {("p1", "1"): 0.05, ("p7", "2"): 0.03, ("p9", "1"): 0.03}
BAD = {("p3", "2"): 0.02, ("p4", "2"): 0.02, ("p5", "2"): 0.02}
FAILING = {("p2", "1"), ("p11", "2")}
CHANCE = 0.999
SAMPLES = 20  # of a launch


@dataclass(frozen=True)
class Ended:
    """How a simulated race ended."""

    confirmed: bool
    winner: Mapping[str, str]
    blocks: int
    launches: int


def most_false(races: int) -> int:
    """How many of so many A/A races may have a winner, if one has with the probability that is allowed."""
    return int(stats.binom.ppf(CHANCE, races, verdict.ERROR))


def no_effect(_values: Mapping[str, str]) -> float:
    """Every setting is a copy of the default."""
    return 0.0


def planted(values: Mapping[str, str]) -> float:
    """One value is good; each value "3" is bad."""
    good = EFFECT if values.get(PLANTED[0]) == PLANTED[1] else 0.0
    return good - HARM * sum(value == "3" for value in values.values())


def several(values: Mapping[str, str]) -> float:
    """Some values are good, some and each value "3" are bad; not a number where a launch fails."""
    if FAILING & set(values.items()):
        return math.nan
    effects = (GOOD.get(pair, 0.0) - BAD.get(pair, 0.0) for pair in values.items())
    return sum(effects) - HARM * sum(value == "3" for value in values.values())


def race(gain: Gain, series: Array, search: str, seed: int, blocks: int = 8, space: Sequence[Axis] = SPACE) -> Ended:
    """One race of so many blocks at most, with launches whose noise is drawn from `series`."""
    rng = np.random.default_rng(seed)
    asked = Asked("time", tuple(space), search=search)
    scores: dict[str, dict[int, Score]] = {DEFAULT: {}}
    failures: dict[str, str] = {}
    turn = 0

    def run(arms: Mapping[str, Mapping[str, str]], rounds: int) -> Block:
        """A block in which each arm has a launch a round; a round's own noise is common to all of them."""
        nonlocal turn
        for here in range(turn, turn + rounds):
            common = float(rng.choice(series))
            for name, values in arms.items():
                if math.isnan(gain(values)):
                    failures[name] = "made up"
                    continue
                drawn = float(rng.choice(series)) + float(rng.normal(0, 1e-9))  # real times have no ties
                scores.setdefault(name, {})[here] = Score(gain(values) - drawn - common)
        turn += rounds
        return Block(tuple(arms), rounds, turn - rounds)

    def measured() -> Measured:
        plain = {arm: {at: -one.value for at, one in turns.items()} for arm, turns in scores.items()}
        return Measured(asked, scores, failures, plain)

    done = 0
    for done in range(blocks):  # noqa: B007 - how many there were
        then = step.next_(measured(), seed)
        if then.over:
            break
        fresh = {f"s{len(asked.contenders) + place + 1:03d}": values for place, values in enumerate(then.new)}
        known = {**asked.contenders, **fresh}
        block = run({DEFAULT: {}, **{name: known[name] for name in (*then.alive, *fresh)}}, asked.settle)
        asked = replace(asked, contenders=known, blocks=(*asked.blocks, block))
    leader = step.next_(measured(), seed).state.leader
    while leader != DEFAULT and (not asked.confirmed or verdict.undecided(measured())):
        block = run({OLD: {}, TUNED: asked.contenders[leader]}, asked.confirm)
        asked = replace(asked, blocks=(*asked.blocks, block))
    told = verdict.of(measured())
    launches = sum(len(block.arms) * block.rounds for block in asked.blocks)
    return Ended(told.confirmed, told.values, done, launches)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=100)
    parser.add_argument("--search", default="effects,tpe,random", help="comma-separated")
    parser.add_argument("--blocks", type=int, default=8, help="of six rounds each, at most")
    parser.add_argument("sessions", nargs="*", type=Path)
    asked = parser.parse_args(arguments)
    series = np.concatenate(noise(asked.sessions or [FOLDER / name for name in REFERENCE], SAMPLES))
    rows, worst = [], 0
    for search in asked.search.split(","):
        false = [race(no_effect, series, search, seed, asked.blocks) for seed in range(asked.races)]
        real = [race(planted, series, search, seed, asked.blocks) for seed in range(asked.races)]
        hard = [race(several, series, search, seed, asked.blocks, LARGE) for seed in range(asked.races)]
        gained = float(np.mean([several(one.winner) for one in hard])) / sum(GOOD.values())
        winners = sum(one.confirmed for one in false)
        found = sum(one.winner.get(PLANTED[0]) == PLANTED[1] for one in real)
        worst = max(worst, winners)
        launches = int(np.median([one.launches for one in real]))
        rows.append(
            [search, f"{winners} of {asked.races}", f"{found} of {asked.races}", launches, f"{100 * gained:.0f} %"]
        )
    head = ["proposals", "A/A races with a winner", "planted optimum found", "its launches (median)", "of three gains"]
    print("\n".join(markdown(head, rows)))
    return 1 if worst > most_false(asked.races) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
