# SPDX-License-Identifier: BSD-3-Clause
"""Objective against its cost, what is bounded first, else inflation: which settings nothing else beats in both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analysis.metrics.formulas import METRICS
from analysis.tuning.asked import CONFIRM, DEFAULT
from analysis.tuning.measured import Measured, costs, metric_name


@dataclass(frozen=True)
class Place:
    """An arm: the medians of the objective as it is and of its cost. `front`: nothing is better in both."""

    name: str
    value: float
    gain: float
    cost: float
    front: bool = False


def front(found: Measured) -> list[Place]:
    """Every arm of the race by its cost; nothing where the objective has none."""
    word = cost(found)
    if not word:
        return []
    known = [DEFAULT, *found.asked.contenders]
    arms = [name for name in known if found.scores.get(name) and not name.startswith(CONFIRM)]
    rows = []
    for name in arms:
        scores = found.scores[name]
        value = float(np.median([found.plain[name][turn] for turn in scores]))
        gain = float(np.median([one.value for one in scores.values()]))
        rows.append(Place(name, value, gain, float(np.median([one.bounds[word] for one in scores.values()]))))
    places = [replace(row, front=not any(_beats(other, row) for other in rows)) for row in rows]
    return sorted(places, key=lambda place: place.cost)


def _beats(one: Place, other: Place) -> bool:
    """At least as good in both, better in one."""
    better = one.gain > other.gain or one.cost < other.cost
    return better and one.gain >= other.gain and one.cost <= other.cost


def cost(found: Measured) -> str:
    """The metric that the objective is weighed against; empty if there is none."""
    return next(iter(costs(found.asked)), "")


def cost_title(found: Measured) -> str:
    """The same in words, for an axis."""
    return METRICS[metric_name(cost(found))].title
