# SPDX-License-Identifier: BSD-3-Clause
"""What a study or a point needs of a system beyond MPI, as ReFrame features of its partition.

`smt`, `rdma`, `remote`, `mwait`, `two-sockets` stand in the partition's `features`; `cores>=n` is held against `cores`
of its extras: the cores of one node. A system that says nothing of its cores is taken to have enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

SENTENCES = {
    "smt": "no core here has a second hardware thread",
    "rdma": "no network interface here has RDMA",
    "remote": "all ranks run on one node here",
    "mwait": "the CPU shows neither UMWAIT nor MWAITX here",
    "two-sockets": "a node has one socket here",
}
ALWAYS = ["*"]  # as ReFrame says it
_CORES = re.compile(r"cores>=(\d+)")


@dataclass(frozen=True)
class Need:
    """`feature` is needed by the points that have one of the values of every parameter in `where`; empty: by all."""

    feature: str
    where: Mapping[str, tuple[str | int | float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.feature not in SENTENCES and not _CORES.fullmatch(self.feature):
            raise ValueError(f"no such feature: {self.feature}")

    def concerns(self, point: Mapping[str, object]) -> bool:
        return all(point.get(name) in values for name, values in self.where.items())

    def lacking(self, features: Collection[str], cores: int | None) -> str:
        """Why a system with these features cannot run it; empty if it can."""
        if wanted := _CORES.fullmatch(self.feature):
            least = int(wanted[1])
            return f"{least} cores a node are needed and there are {cores}" if cores and cores < least else ""
        return "" if self.feature in features else SENTENCES[self.feature]


def why_not(needs: Collection[Need], point: Mapping[str, object], features: Collection[str], cores: int | None) -> str:
    """Why `point` cannot be measured on this system, all reasons in one sentence; empty if it can."""
    reasons = [need.lacking(features, cores) for need in needs if need.concerns(point)]
    return "; ".join(dict.fromkeys(filter(None, reasons)))


def valid_systems(needs: Collection[Need]) -> list[str]:
    """What all points need, as ReFrame's valid_systems; how many cores there are it cannot ask for."""
    features = [need.feature for need in needs if not need.where and need.feature in SENTENCES]
    return [" ".join(f"+{feature}" for feature in features)] if features else ALWAYS
