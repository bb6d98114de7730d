# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes, or links between them, are slower than the others.

`measured`: what -> place -> round -> seconds, where a place is a node or "a and b", two of them. In each round a place
is held against the middle of the others of that round, so what slows all of them down says nothing, and Wilcoxon's test
over the rounds says whether it is slower by more than a margin: one long launch names nobody.

`read`: what a session of the study node-pairs says of each node and each pair of nodes.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.errors import UsageError
from analysis.gate.outcome import SlowPart
from analysis.records.load import Records, load
from analysis.statistics.ranks import fewest, middle, p_above
from analysis.text_table import json_text, markdown

Array = npt.NDArray[np.float64]
Parts = Mapping[str, Mapping[int, float]]
NODE_MARGIN = 0.05  # a node that is less slower than this is none that somebody has to look at
NODE_ERROR = 0.001  # the chance that any node or link of an allocation is named which is as the others
BETWEEN = " and "


class Common(NamedTuple):
    """Places that were measured together in these rounds."""

    parts: Parts
    rounds: list[int]


def rounds_wanted(tests: int) -> int:
    """The fewest rounds in which a place can be named by one of so many tests."""
    return fewest(_level(tests))


def tests(measured: Mapping[str, Parts]) -> int:
    """How many tests share the error: of every place in everything that is measured of several."""
    return sum(len(parts) for parts in measured.values() if len(parts) > 1)


def _level(tests: int) -> float:
    return NODE_ERROR / max(1, tests)


def compared(measured: Mapping[str, Parts]) -> dict[str, Common]:
    """What of all that is measured is held against each other."""
    return {what: _common(parts) for what, parts in measured.items()}


def slow_parts(measured: Mapping[str, Parts]) -> list[SlowPart]:
    """Those that are slower than the others; where all links of a node are, the node's."""
    here = compared(measured)
    level = _level(tests({what: common.parts for what, common in here.items()}))
    return [
        one
        for what, common in here.items()
        for one in _by_node(what, measured[what], _slower(what, common.parts, common.rounds, level))
    ]


def _slower(what: str, parts: Parts, round_numbers: Sequence[int], level: float) -> list[SlowPart]:
    if len(parts) < 2 or len(round_numbers) < fewest(level):
        return []
    logs = np.log([[rounds[round_] for round_ in round_numbers] for rounds in parts.values()])
    found = []
    for index, where in enumerate(parts):
        mine = logs[index] - np.median(np.delete(logs, index, axis=0), axis=0)
        if p_above(mine, math.log1p(NODE_MARGIN)) <= level:
            one = middle(mine, level)
            found.append(SlowPart(where, what, math.exp(one.value), math.exp(one.low)))
    return found


def _common(parts: Parts) -> Common:
    """The places that most rounds have, and those rounds: an allocation that is given anew may be of other nodes."""
    of_round: dict[int, list[str]] = {}
    for where, rounds in parts.items():
        for round_ in rounds:
            of_round.setdefault(round_, []).append(where)
    often = Counter(map(tuple, of_round.values())).most_common(1)
    here = often[0][0] if often else ()
    round_numbers = sorted(round_ for round_, known in of_round.items() if tuple(known) == here)
    return Common({where: parts[where] for where in here}, round_numbers)


def _by_node(what: str, parts: Parts, found: Sequence[SlowPart]) -> list[SlowPart]:
    """One for a node in place of all its links, where it has several."""
    ends = {one: tuple(one.where.split(BETWEEN)) for one in found}
    nodes = dict.fromkeys(end for pair in ends.values() if len(pair) == 2 for end in pair)
    links = {node: sum(node in where.split(BETWEEN) for where in parts) for node in nodes}
    mine = {node: [one for one, pair in ends.items() if node in pair] for node in nodes}
    whole = [node for node in nodes if 2 <= links[node] == len(mine[node])]
    named = [
        SlowPart(node, what, float(np.median([one.ratio for one in mine[node]])), min(one.low for one in mine[node]))
        for node in whole
    ]
    return named + [one for one, pair in ends.items() if not set(pair) & set(whole)]


def words(one: SlowPart) -> str:
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


STUDY = "node-pairs"
Measured = dict[str, dict[str, dict[int, float]]]


@dataclass(frozen=True)
class Nodes:
    """`measured`: see `slow_parts`; `nodes`: all that ran, first those of the first launch, in the order of its
    ranks; `failed`: why a launch did not count."""

    nodes: list[str]
    measured: Measured
    slow: list[SlowPart]
    failed: list[str]

    @cached_property
    def compared(self) -> dict[str, Common]:
        """What is held against each other: the places of most launches, since --resume may have run on other nodes."""
        return compared(self.measured)

    @property
    def rounds(self) -> int:
        """In how many launches all that is held against each other was measured."""
        return min((len(common.rounds) for common in self.compared.values()), default=0)

    @property
    def wanted(self) -> int:
        """The fewest launches in which each node and each link could be named."""
        parts = {what: common.parts for what, common in self.compared.items()}
        return rounds_wanted(tests(parts)) if tests(parts) else 0

    @property
    def apart(self) -> list[str]:
        """The nodes that are held against no others: few launches ran there."""
        here = {node for common in self.compared.values() for where in common.parts for node in where.split(BETWEEN)}
        return [node for node in self.nodes if node not in here]

    @property
    def too_few(self) -> bool:
        """Whether that nobody is named says nothing."""
        return not self.slow and self.rounds < self.wanted

    def sentence(self) -> str:
        """What is said of the nodes, and of which ones nothing is."""
        apart = f" Nothing is said of {', '.join(self.apart)}: the launches that are compared ran on other nodes."
        return f"{self._of_the_others()}{apart if self.apart and self.measured else ''}"

    def _of_the_others(self) -> str:
        if not self.measured:
            return f"Nothing was measured: {self.failed[0] if self.failed else 'there is no record'}."
        if self.too_few:
            return f"Nothing can be said of a node or a link: too few launches, {self.rounds} of {self.wanted} wanted."
        over = f"over {self.rounds} launches on {len(self.nodes) - len(self.apart)} nodes"
        if not self.slow:
            return f"No node and no link is slower than the others by more than 5 %, {over}."
        return f"Slower than the others, {over}: {'; '.join(map(words, self.slow))}."


def read(path: Path) -> Nodes:
    """The nodes of a session; UsageError if it has none of this study."""
    records = load([path])
    if STUDY not in records.sessions[0].get("studies", []):
        raise UsageError(f"{path} is no session of ./bench nodes.")
    if not len(records.points):
        return Nodes([], {}, [], [])
    bad = records.points[~records.points["status"].isin(["ok", "skipped"])]
    failed = list(dict.fromkeys(map(str, bad["reason"])))
    ran = records.launches[records.launches["hosts"].map(len) > 0]
    nodes = list(dict.fromkeys(host for hosts in ran["hosts"] for host in hosts))
    found = _measured(records)
    return Nodes(nodes, found, slow_parts(found), failed)


def _measured(records: Records) -> Measured:
    """Medians of each launch; both sides of a pair measure it, and the slower one counts. What was measured before a
    launch was resumed was measured on the nodes of its own file."""
    ran = records.launches[records.launches["hosts"].map(len) > 0]
    hosts_of = dict(zip(ran["file"], ran["hosts"], strict=True))
    columns = ["file", "repetition", "rank", "status", "point"]
    series = records.series.merge(records.points[columns], left_on="row", right_index=True)
    collected: dict[tuple[str, str, int], list[float]] = {}
    for _, rows in series[series["status"] == "ok"].groupby("row"):
        first = rows.iloc[0]
        hosts, round_ = list(hosts_of[first["file"]]), int(first["repetition"])
        values = {
            row["quantity"]: float(np.median(records.series_values(row["first"], row["count"])))
            for row in rows.to_dict("records")
        }
        point, me = json.loads(first["point"]), hosts[int(first["rank"])]
        collected.setdefault((f"{COMPUTATION} bound by {point['work']}", me, round_), []).append(values["comp_s"])
        if "transfer_s" in values:
            pair = BETWEEN.join(sorted((me, hosts[int(values["partner"])])))
            of = f"{TRANSFER} of {point['size_bytes']} bytes"
            collected.setdefault((of, pair, round_), []).append(values["transfer_s"])
    found: Measured = {}
    for (what, where, round_), seconds in collected.items():
        value = np.median(seconds) if what.startswith(COMPUTATION) else max(seconds)
        found.setdefault(what, {}).setdefault(where, {})[round_] = float(value)
    return found


def as_markdown(found: Nodes) -> str:
    """The sentence, and for every node its computation and its links, against the middle of all nodes."""
    lines = [found.sentence(), ""]
    columns = [*found.measured]
    medians = {
        what: {where: float(np.median(list(rounds.values()))) for where, rounds in parts.items()}
        for what, parts in found.measured.items()
    }
    rows = []
    for node in found.nodes:
        cells = []
        for what in columns:
            mine = [value for where, value in medians[what].items() if node in where.split(BETWEEN)]
            every = float(np.median(list(medians[what].values())))
            cells.append(f"{1e6 * np.median(mine):.1f} us ({np.median(mine) / every:.2f})" if mine else "none")
        rows.append([node, *cells])
    heads = [f"links, {what}" if what.startswith(TRANSFER) else what for what in columns]
    lines += markdown(["node", *heads], rows) if rows else []
    lines += ["", "Medians; in brackets over the middle of all nodes or links."] if rows else []
    return "\n".join([*lines, *(f"- {why}" for why in found.failed)]) + "\n"


def as_json(found: Nodes) -> str:
    """Everything, for programs."""
    return json_text(
        {
            "nodes": found.nodes,
            "not_compared": found.apart,
            "odd": [{"where": o.where, "what": o.what, "ratio": o.ratio, "low": o.low} for o in found.slow],
            "launches": found.rounds,
            "wanted": found.wanted,
            "measured_s": found.measured,
            "failed": found.failed,
            "sentence": found.sentence(),
        }
    )
