# SPDX-License-Identifier: BSD-3-Clause
"""Who goes on after each block of a search, and why the others do not.

Every contender is held against the leader over the rounds that both ran, by Wilcoxon's signed-rank test and with Holm's
correction over all that search: who is shown to be worse is out. So is what fails, what is shown to break a bound, and
what has had its rounds without leading. The default cannot be put out; where nothing is better, it leads. Where it
breaks a bound itself, the best of those that keep all bounds leads, even if its objective is worse than the default's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analysis.statistics.interval import holm
from analysis.statistics.ranks import Middle, fewest, middle, p_above, p_below
from analysis.tuning.search_records import DEFAULT, Block, Measured, Score

ERROR = 0.1  # of an elimination, after Holm, at one block's end: a good setting that is lost costs time, nothing more
INTERVAL = 0.025  # of either side of an interval
PATIENCE = 3  # blocks after which who does not lead makes room
Scores = Mapping[str, Mapping[int, Score]]


@dataclass(frozen=True)
class Standing:
    """A contender: over how many rounds it was held against the default, by how much it is better, what of it is
    bounded. `out`: why it does not go on; empty if it does."""

    name: str
    rounds: int
    gain: Middle
    bounds: Mapping[str, Middle] = field(default_factory=dict)
    out: str = ""


@dataclass(frozen=True)
class State:
    """After the last block: every contender that ran, those that go on, and who leads."""

    standings: Mapping[str, Standing]
    alive: Sequence[str]
    leader: str


def state(found: Measured) -> State:
    """What is known after all blocks of the search itself."""
    out: dict[str, str] = {}
    alive: list[str] = []
    seen: set[str] = set()
    blocks: Counter[str] = Counter()  # in how many that count
    leader = DEFAULT
    for block in found.asked.searched:
        alive += [name for name in block.sides if name in found.asked.contenders and name not in seen]
        seen.update(alive)
        blocks.update(alive if _counts(block, found.scores) else ())
        scores = _until(found.scores, block)
        for name, why in _broken(alive, block, found, scores).items():
            out[name] = why
        alive = [name for name in alive if name not in out]
        leader = _leader(alive, found, scores)
        out |= _worse(alive, leader, scores)
        out |= _tired(alive, leader, blocks, out)
        alive = [name for name in alive if name not in out]
    ran = [name for name in found.asked.contenders if name in seen]
    return State({name: standing(name, found, out.get(name, "")) for name in ran}, alive, leader)


def fewest_rounds(settings: int) -> int:
    """The rounds in which one of so many settings can be shown to be worse at all, after Holm: with fewer none goes out
    behind its first block."""
    return fewest(ERROR / settings)


def standing(name: str, found: Measured, out: str = "", against: str = DEFAULT, level: float = INTERVAL) -> Standing:
    """Of a side, over all rounds in which it and `against` were measured. `level`: of either side of its intervals."""
    gains = differences(name, against, found.scores)
    bounds = bounds_of(name, found.scores, found.asked.bounds, level)
    return Standing(name, len(gains), middle(gains, level), bounds, out)


def differences(name: str, against: str, scores: Scores) -> list[float]:
    """By how much a side is better than another in each round that has both."""
    mine, theirs = scores.get(name, {}), scores.get(against, {})
    return [mine[round_].value - theirs[round_].value for round_ in sorted(mine) if round_ in theirs]


def bounds_of(name: str, scores: Scores, wanted: Mapping[str, float], level: float = INTERVAL) -> dict[str, Middle]:
    """What is bounded, of a side over all its rounds; nothing where it has none."""
    mine = scores.get(name, {})
    return {word: middle([one.bounds[word] for one in mine.values()], level) for word in wanted} if mine else {}


def broken(bounds: Mapping[str, Middle], wanted: Mapping[str, float]) -> list[str]:
    """The bounds that the middles break."""
    return [word for word, most in wanted.items() if word in bounds and not bounds[word].value <= most]


def broken_by_default(found: Measured) -> list[str]:
    """The bounds that the default breaks in the search itself: its objective is then none to be held against."""
    return broken(bounds_of(DEFAULT, found.scores, found.asked.bounds), found.asked.bounds)


def _until(scores: Scores, block: Block) -> dict[str, dict[int, Score]]:
    """What was known when this block was over."""
    end = block.round_numbers.stop
    return {side: {round_: one for round_, one in rounds.items() if round_ < end} for side, rounds in scores.items()}


def _counts(block: Block, scores: Scores) -> bool:
    """Whether any launch of the block has a value. None has where the reference failed in all of its rounds: they say
    nothing of the settings, which go on as if these rounds had not been run."""
    return any(round_ in scores.get(side, {}) for side in block.sides for round_ in block.round_numbers)


def _broken(alive: Sequence[str], block: Block, found: Measured, scores: Scores) -> dict[str, str]:
    """Those that fail, and those that are shown to break a bound."""
    by_now = [name for name in found.failures if found.failed_in.get(name, block.first) < block.round_numbers.stop]
    out = {name: f"failed: {found.failures[name]}" for name in alive if name in by_now and name in block.sides}
    for name in (name for name in alive if name not in out):
        mine = scores.get(name, {})
        if not mine:
            out |= {name: "failed: nothing was measured"} if _counts(block, scores) else {}
            continue
        for word, most in found.asked.bounds.items():
            values = [score.bounds[word] for score in mine.values()]
            if float(p_above(values, most)) <= ERROR / max(1, len(alive)):
                shown = middle(values, INTERVAL)
                out[name] = f"{word} is {shown.value:.3g} and may be {most:g} at most"
    return out


def _leader(alive: Sequence[str], found: Measured, scores: Scores) -> str:
    """Who is best of those that keep the bounds, as far as is known; the default where there is nobody better."""
    wanted = found.asked.bounds
    allowed = not broken(bounds_of(DEFAULT, scores, wanted), wanted)
    best, leader = 0.0 if allowed else -math.inf, DEFAULT
    for name in alive:
        gains = differences(name, DEFAULT, scores)
        if len(gains) >= found.asked.block_rounds and not broken(bounds_of(name, scores, wanted), wanted):
            value = middle(gains, INTERVAL).value
            best, leader = (value, name) if value > best else (best, leader)
    return leader


def _worse(alive: Sequence[str], leader: str, scores: Scores) -> dict[str, str]:
    """Those that are shown to be worse than the leader."""
    rivals = [name for name in alive if name != leader]
    series = [differences(name, leader, scores) for name in rivals]
    chances = [float(p_below(np.array(values), 0.0)) if values else 1.0 for values in series]
    found = {}
    for name, values, adjusted in zip(rivals, series, holm(chances), strict=True):
        if adjusted <= ERROR:
            found[name] = f"worse than {leader} in {len(values)} rounds (p {adjusted:.2g})"
    return found


def _tired(alive: Sequence[str], leader: str, blocks: Mapping[str, int], out: Mapping[str, str]) -> dict[str, str]:
    """Those that had their rounds and do not lead: what is not told from the leader is worth no more of them."""
    return {
        name: f"not shown to be better than {leader} in {PATIENCE} blocks"
        for name in alive
        if name != leader and name not in out and blocks[name] >= PATIENCE
    }
