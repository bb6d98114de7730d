# SPDX-License-Identifier: BSD-3-Clause
"""What a race is worth: hundreds of simulated ones, decided by the code that decides real ones.

    .venv/bin/python -m analysis.benchmarks.races [--races 500] [--search effects,tpe,random] [SESSION...]

The noise is that of real launches, as analysis.benchmarks.gates draws it from recorded sessions; a race has that of
one point and variant, since some are noisier than others. Three kinds: every setting is a copy of the default (A/A),
where a winner that is confirmed is a false one; one value of one of six parameters is good, where the winner should
have it; and three values of fourteen parameters are good, more are bad and two fail, as where engine and MPI are tuned
together.

Prints how often the first two happened; after how many launches the leader has the planted value and keeps it to the
end, as the median of all races, among which one where it never does counts as infinitely many; and which share of what
there was to gain the settings have that are written in the third. Ends with status 1 unless it is shown (one-sided
95 %) that less than one A/A race in twenty has a winner.
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
from analysis.tuning.proposals import SEARCHES

Array = npt.NDArray[np.float64]
Values = Mapping[str, str]
Gain = Callable[[Values], float]
Launch = Callable[[Values, int], float]  # what a setting measures in a round, more is better; no number: it fails
SPACE = tuple(Axis(f"p{number}", (UNSET, "1", "2", "3")) for number in range(6))
LARGE = tuple(Axis(f"p{number}", (UNSET, "1", "2", "3")) for number in range(14))
PLANTED = ("p3", "2")
EFFECT = 0.08  # of the good value: its logarithm
HARM = 0.05  # of a bad value
GOOD = {("p1", "1"): 0.05, ("p7", "2"): 0.03, ("p9", "1"): 0.03}
BAD = {("p3", "2"): 0.02, ("p4", "2"): 0.02, ("p5", "2"): 0.02}
FAILING = {("p2", "1"), ("p11", "2")}
RACES = 500  # of a kind: enough to tell one false winner in a hundred from ALLOWED
ALLOWED = 0.05  # of A/A races that have a winner
SAMPLES = 20  # of a launch
JITTER = 1e-9  # of a logarithm: what is drawn has ties, real times have none


@dataclass(frozen=True)
class Ended:
    """How a simulated race ended. `leaders`: after each block of the race itself, how many launches there were so far,
    and what the leader changed."""

    confirmed: bool
    winner: Values
    leaders: Sequence[tuple[int, Values]]

    def found_after(self, good: Callable[[Values], bool]) -> float:
        """After how many launches a good setting led, and such ones until the end; infinite if none leads at last."""
        after = math.inf
        for launches, values in reversed(self.leaders):
            if not good(values):
                break
            after = launches
        return after


def upper_95(false: int, races: int) -> float:
    """The upper end of the exact one-sided 95 % interval of the rate of false winners."""
    return float(stats.binomtest(false, races, alternative="less").proportion_ci(0.95, "exact").high)


def has_planted(values: Values) -> bool:
    return values.get(PLANTED[0]) == PLANTED[1]


def no_effect(_values: Values) -> float:
    """Every setting is a copy of the default."""
    return 0.0


def planted(values: Values) -> float:
    """One value is good; each value "3" is bad."""
    good = EFFECT if has_planted(values) else 0.0
    return good - HARM * sum(value == "3" for value in values.values())


def several(values: Values) -> float:
    """Some values are good, some and each value "3" are bad; not a number where a launch fails."""
    if FAILING & set(values.items()):
        return math.nan
    effects = (GOOD.get(pair, 0.0) - BAD.get(pair, 0.0) for pair in values.items())
    return sum(effects) - HARM * sum(value == "3" for value in values.values())


def made_up(gain: Gain, pools: Sequence[Array], seed: int) -> Launch:
    """Launches with these gains, whose noise is drawn from one of these series; a round's own is common to all."""
    rng = np.random.default_rng(seed)
    series = pools[int(rng.integers(len(pools)))]
    common: dict[int, float] = {}

    def launch(values: Values, turn: int) -> float:
        if turn not in common:
            common[turn] = float(rng.choice(series))
        if math.isnan(gain(values)):
            return math.nan
        drawn = float(rng.choice(series)) + float(rng.normal(0, JITTER))
        return gain(values) - drawn - common[turn]

    return launch


def race(launch: Launch, search: str, seed: int, blocks: int = 8, space: Sequence[Axis] = SPACE) -> Ended:
    """One race of so many blocks at most."""
    asked = Asked("time", tuple(space), search=search)
    scores: dict[str, dict[int, Score]] = {DEFAULT: {}}
    failures: dict[str, str] = {}
    turn = 0

    def run(arms: Mapping[str, Values], rounds: int) -> Block:
        """A block in which each arm has a launch a round."""
        nonlocal turn
        for here in range(turn, turn + rounds):
            for name, values in arms.items():
                found = launch(values, here)
                if math.isnan(found):
                    failures[name] = "made up"
                    continue
                scores.setdefault(name, {})[here] = Score(found)
        turn += rounds
        return Block(tuple(arms), rounds, turn - rounds)

    def measured() -> Measured:
        plain = {arm: {at: -one.value for at, one in turns.items()} for arm, turns in scores.items()}
        return Measured(asked, scores, failures, plain)

    leaders: list[tuple[int, Values]] = []
    then = step.next_(measured(), seed)
    for _ in range(blocks):
        if then.over:
            break
        fresh = {f"s{len(asked.contenders) + place + 1:03d}": values for place, values in enumerate(then.new)}
        known = {**asked.contenders, **fresh}
        block = run({DEFAULT: {}, **{name: known[name] for name in (*then.alive, *fresh)}}, asked.settle)
        asked = replace(asked, contenders=known, blocks=(*asked.blocks, block))
        then = step.next_(measured(), seed)
        launches = sum(len(one.arms) * one.rounds for one in asked.blocks)
        leaders.append((launches, asked.contenders.get(then.state.leader, {})))
    leader = then.state.leader
    while leader != DEFAULT and (not asked.confirmed or verdict.undecided(measured())):
        block = run({OLD: {}, TUNED: asked.contenders[leader]}, asked.confirm)
        asked = replace(asked, blocks=(*asked.blocks, block))
    told = verdict.of(measured())
    return Ended(told.confirmed, told.values, leaders)


def budget(ended: Sequence[Ended], good: Callable[[Values], bool] = has_planted) -> tuple[str, str]:
    """The median of the launches after which a good setting was found, and the share that never found one."""
    after = [one.found_after(good) for one in ended]
    middle = float(np.quantile(after, 0.5, method="inverted_cdf"))  # of launches that there were; infinity is a value
    never = float(np.mean(np.isinf(after)))
    return ("not in half of them" if math.isinf(middle) else f"{middle:.0f}"), f"{100 * never:.0f} %"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=RACES)
    parser.add_argument("--search", default="effects,tpe,random", help="comma-separated")
    parser.add_argument("--blocks", type=int, default=8, help="of six rounds each, at most")
    parser.add_argument("sessions", nargs="*", type=Path)
    asked = parser.parse_args(arguments)
    searches = asked.search.split(",")
    if unknown := [name for name in searches if name not in SEARCHES]:
        parser.error(f"--search {unknown[0]}: there is no such search. There are: {', '.join(SEARCHES)}.")
    if asked.races < 1:
        parser.error(f"--races {asked.races}: 1 is wanted at least.")
    pools = noise(asked.sessions or [FOLDER / name for name in REFERENCE], SAMPLES)
    seeds, rows, worst = range(asked.races), [], 0
    for search in searches:
        false = [race(made_up(no_effect, pools, seed), search, seed, asked.blocks) for seed in seeds]
        real = [race(made_up(planted, pools, seed), search, seed, asked.blocks) for seed in seeds]
        hard = [race(made_up(several, pools, seed), search, seed, asked.blocks, LARGE) for seed in seeds]
        gained = float(np.mean([several(one.winner) for one in hard])) / sum(GOOD.values())
        winners = sum(one.confirmed for one in false)
        found = sum(has_planted(one.winner) for one in real)
        worst = max(worst, winners)
        of_all = f"of {asked.races}"
        limit = f"{100 * upper_95(winners, asked.races):.1f} %"
        after, never = budget(real)
        rows.append([search, f"{winners} {of_all}", limit, f"{found} {of_all}", after, never, f"{100 * gained:.0f} %"])
    head = [
        "proposals", "A/A races with a winner", "at most (95 %)", "planted optimum found",
        "leads for good after launches (median)", "never leads for good", "of three gains",
    ]  # fmt: skip
    print("\n".join(markdown(head, rows)))
    return 0 if upper_95(worst, asked.races) < ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
