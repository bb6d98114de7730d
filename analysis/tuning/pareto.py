# SPDX-License-Identifier: BSD-3-Clause
"""Objective against its cost, what is bounded first, else inflation: which settings nothing else beats in both.

Both are held against the default in the rounds that have both, as those who decide do it: settings ran in different
rounds, and what a round has of its own is no setting's. What failed has no place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.metrics.formulas import METRICS
from analysis.statistics.signed_rank import Middle, middle
from analysis.tuning import decide
from analysis.tuning.asked import DEFAULT
from analysis.tuning.measured import Measured, costs, metric_name


@dataclass(frozen=True)
class Place:
    """A setting: by how much it is better than the default, and its cost. `front`: nothing is better in both; `breaks`:
    a bound, so that it may not lead."""

    name: str
    gain: Middle
    cost: float
    breaks: bool = False
    front: bool = False


def front(found: Measured) -> list[Place]:
    """The default and every setting that ran and did not fail, by cost; nothing where the objective has none."""
    word = cost(found)
    known = [DEFAULT, *(name for name in found.asked.contenders if name not in found.failures)]
    rows = [row for row in (_place(name, word, found) for name in known if word) if row]
    places = [replace(row, front=not any(_beats(other, row) for other in rows)) for row in rows]
    return sorted(places, key=lambda place: place.cost)


def _place(name: str, word: str, found: Measured) -> Place | None:
    """None where no round has both it and the default."""
    mine, base = found.scores.get(name, {}), found.scores.get(DEFAULT, {})
    common = [turn for turn in mine if turn in base]
    if not common:
        return None
    of_default = middle([one.bounds[word] for one in base.values()], decide.INTERVAL).value
    dearer = middle([mine[turn].bounds[word] - base[turn].bounds[word] for turn in common], decide.INTERVAL).value
    wanted = found.asked.bounds
    breaks = bool(decide.broken(decide.bounds_of(name, found.scores, wanted), wanted))
    return Place(name, decide.standing(name, found).gain, of_default + dearer, breaks)


def _beats(one: Place, other: Place) -> bool:
    """At least as good in both, better in one."""
    better = one.gain.value > other.gain.value or one.cost < other.cost
    return better and one.gain.value >= other.gain.value and one.cost <= other.cost


def cost(found: Measured) -> str:
    """The metric that the objective is weighed against; empty if there is none."""
    return next(iter(costs(found.asked)), "")


def cost_title(found: Measured) -> str:
    """The same in words, for an axis."""
    return METRICS[metric_name(cost(found))].title
