# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes, or links between them, are slower than the others.

`measured`: what -> place -> round -> seconds, where a place is a node or "a and b", two of them. In each round a place
is held against the middle of the others of that round, so what slows all of them down says nothing, and Wilcoxon's test
over the rounds says whether it is slower by more than a margin: one long launch names nobody.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.gate.verdict import Odd
from analysis.statistics.signed_rank import fewest, middle, p_above

Array = npt.NDArray[np.float64]
Places = Mapping[str, Mapping[int, float]]
NODE_MARGIN = 0.05  # a node that is less slower than this is none that somebody has to look at
NODE_ERROR = 0.001  # the chance that any node or link of an allocation is named which is as the others
BETWEEN = " and "


class Common(NamedTuple):
    """Places that were measured together in these rounds."""

    places: Places
    rounds: list[int]


def rounds_wanted(tests: int) -> int:
    """The fewest rounds in which a place can be named by one of so many tests."""
    return fewest(_level(tests))


def tests(measured: Mapping[str, Places]) -> int:
    """How many tests share the error: of every place in everything that is measured of several."""
    return sum(len(places) for places in measured.values() if len(places) > 1)


def _level(tests: int) -> float:
    return NODE_ERROR / max(1, tests)


def compared(measured: Mapping[str, Places]) -> dict[str, Common]:
    """What of all that is measured is held against each other."""
    return {what: _common(places) for what, places in measured.items()}


def odd(measured: Mapping[str, Places]) -> list[Odd]:
    """Those that are slower than the others; where all links of a node are, the node's."""
    here = compared(measured)
    level = _level(tests({what: common.places for what, common in here.items()}))
    return [
        one
        for what, common in here.items()
        for one in _together(what, measured[what], _slower(what, common.places, common.rounds, level))
    ]


def _slower(what: str, places: Places, turns: Sequence[int], level: float) -> list[Odd]:
    if len(places) < 2 or len(turns) < fewest(level):
        return []
    logs = np.log([[rounds[turn] for turn in turns] for rounds in places.values()])
    found = []
    for index, where in enumerate(places):
        mine = logs[index] - np.median(np.delete(logs, index, axis=0), axis=0)
        if p_above(mine, math.log1p(NODE_MARGIN)) <= level:
            one = middle(mine, level)
            found.append(Odd(where, what, math.exp(one.value), math.exp(one.low)))
    return found


def _common(places: Places) -> Common:
    """The places that most rounds have, and those rounds: an allocation that is given anew may be of other nodes."""
    of_turn: dict[int, list[str]] = {}
    for where, rounds in places.items():
        for turn in rounds:
            of_turn.setdefault(turn, []).append(where)
    often = Counter(map(tuple, of_turn.values())).most_common(1)
    here = often[0][0] if often else ()
    turns = sorted(turn for turn, known in of_turn.items() if tuple(known) == here)
    return Common({where: places[where] for where in here}, turns)


def _together(what: str, places: Places, found: Sequence[Odd]) -> list[Odd]:
    """One for a node in place of all its links, where it has several."""
    ends = {one: tuple(one.where.split(BETWEEN)) for one in found}
    nodes = dict.fromkeys(end for pair in ends.values() if len(pair) == 2 for end in pair)
    links = {node: sum(node in where.split(BETWEEN) for where in places) for node in nodes}
    mine = {node: [one for one, pair in ends.items() if node in pair] for node in nodes}
    whole = [node for node in nodes if 2 <= links[node] == len(mine[node])]
    named = [
        Odd(node, what, float(np.median([one.ratio for one in mine[node]])), min(one.low for one in mine[node]))
        for node in whole
    ]
    return named + [one for one, pair in ends.items() if not set(pair) & set(whole)]


def words(one: Odd) -> str:
    """In a sentence's part."""
    of_a_node = one.what.startswith(COMPUTATION)
    detail = one.what.removeprefix(COMPUTATION if of_a_node else TRANSFER).strip()
    if of_a_node:
        named = f"node {one.where} computes"
    else:
        named = f"the link of {one.where} is" if BETWEEN in one.where else f"the links of {one.where} are"
    least = f"at least {100 * (one.low - 1):.0f} %"
    return f"{named} {100 * (one.ratio - 1):.0f} % slower than the others ({'; '.join(filter(None, [detail, least]))})"


COMPUTATION, TRANSFER = "computation", "transfer"  # with which what is measured begins
