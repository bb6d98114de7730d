# SPDX-License-Identifier: BSD-3-Clause
"""What a session of the study node-pairs says of each node and each pair of nodes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from analysis.errors import UsageError
from analysis.gate.odd import BETWEEN, COMPUTATION, TRANSFER, Common, compared, odd, rounds_wanted, tests, words
from analysis.gate.verdict import Odd
from analysis.records.load import Records, load
from analysis.text_table import markdown

STUDY = "node-pairs"
Measured = dict[str, dict[str, dict[int, float]]]


@dataclass(frozen=True)
class Nodes:
    """`measured`: see analysis.gate.odd; `nodes`: all that ran, first those of the first launch, in the order of its
    ranks; `failed`: why a launch did not count."""

    nodes: list[str]
    measured: Measured
    odd: list[Odd]
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
        places = {what: common.places for what, common in self.compared.items()}
        return rounds_wanted(tests(places)) if tests(places) else 0

    @property
    def apart(self) -> list[str]:
        """The nodes that are held against no others: few launches ran there."""
        here = {node for common in self.compared.values() for where in common.places for node in where.split(BETWEEN)}
        return [node for node in self.nodes if node not in here]

    @property
    def too_few(self) -> bool:
        """Whether that nobody is named says nothing."""
        return not self.odd and self.rounds < self.wanted

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
        if not self.odd:
            return f"No node and no link is slower than the others by more than 5 %, {over}."
        return f"Slower than the others, {over}: {'; '.join(map(words, self.odd))}."


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
    return Nodes(nodes, found, odd(found), failed)


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
        hosts, turn = list(hosts_of[first["file"]]), int(first["repetition"])
        values = {
            row["quantity"]: float(np.median(records.series_values(row["first"], row["count"])))
            for row in rows.to_dict("records")
        }
        point, me = json.loads(first["point"]), hosts[int(first["rank"])]
        collected.setdefault((f"{COMPUTATION} bound by {point['work']}", me, turn), []).append(values["comp_s"])
        if "transfer_s" in values:
            pair = BETWEEN.join(sorted((me, hosts[int(values["partner"])])))
            of = f"{TRANSFER} of {point['size_bytes']} bytes"
            collected.setdefault((of, pair, turn), []).append(values["transfer_s"])
    found: Measured = {}
    for (what, where, turn), seconds in collected.items():
        value = np.median(seconds) if what.startswith(COMPUTATION) else max(seconds)
        found.setdefault(what, {}).setdefault(where, {})[turn] = float(value)
    return found


def as_markdown(found: Nodes) -> str:
    """The sentence, and for every node its computation and its links, against the middle of all nodes."""
    lines = [found.sentence(), ""]
    columns = [*found.measured]
    medians = {
        what: {where: float(np.median(list(rounds.values()))) for where, rounds in places.items()}
        for what, places in found.measured.items()
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
    return json.dumps(
        {
            "nodes": found.nodes,
            "not_compared": found.apart,
            "odd": [{"where": o.where, "what": o.what, "ratio": o.ratio, "low": o.low} for o in found.odd],
            "launches": found.rounds,
            "wanted": found.wanted,
            "measured_s": found.measured,
            "failed": found.failed,
            "sentence": found.sentence(),
        },
        indent=1,
    )
