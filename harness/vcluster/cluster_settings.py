# SPDX-License-Identifier: BSD-3-Clause
"""What a cluster is asked to be, checked, and kept as cluster.json in its directory."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness.base.errors import UsageError
from harness.base.machine import available_cores

from . import linux
from .line import Line

MOST_NODES = 64
_SHORTEST_MTU, _LONGEST_MTU = 576, 65535  # RFC 791's minimum; veth's maximum


def split(nodes: int, cores: list[list[int]] | None = None) -> dict[str, list[int]]:
    """Node -> CPU numbers: the login node vc0 has all, each compute node its share, whole cores where there are enough.

    Fewer cores than nodes: hardware threads of one core go to different nodes; fewer of those, too: nodes share.
    """
    cores = available_cores() if cores is None else cores
    everything = [cpu for core in cores for cpu in core]
    if len(cores) < nodes:
        cores = [[cpu] for cpu in everything]
    shares = {"vc0": sorted(everything)}
    for node in range(nodes):
        if len(cores) < nodes:
            mine = [cores[node % len(cores)]]
        else:
            mine = cores[node * len(cores) // nodes : (node + 1) * len(cores) // nodes]
        shares[f"vc{node + 1}"] = sorted(cpu for core in mine for cpu in core)
    return shares


@dataclass(frozen=True)
class Settings:
    """`cpus` by node, vc0 first. `management`: with a second network, which nothing limits. `user`: uid and gid of a
    rootless cluster, None where root needs no user namespace."""

    nodes: int
    rate: str | None
    mtu: int
    tied: bool
    slurm: bool
    management: bool
    cpus: dict[str, list[int]]
    user: tuple[int, int] | None

    def __post_init__(self) -> None:
        if not 1 <= self.nodes <= MOST_NODES:
            raise UsageError(f"a virtual cluster has 1 to {MOST_NODES} compute nodes, not {self.nodes}")
        if not _SHORTEST_MTU <= self.mtu <= _LONGEST_MTU:
            raise UsageError(f"an MTU is {_SHORTEST_MTU} to {_LONGEST_MTU} bytes, not {self.mtu}")
        _ = self.line  # which checks the rate

    @classmethod
    def make(
        cls, nodes: int, rate: str | None, mtu: int, *, tied: bool, slurm: bool, management: bool = False
    ) -> Settings:
        """For this machine and user; raises UsageError."""
        user = None if linux.privileged() else (os.geteuid(), os.getegid())
        return cls(nodes, rate, mtu, tied, slurm, management, split(nodes), user)

    def changed(self, rate: str | None) -> Settings:
        """With another limit of the network; raises UsageError."""
        return replace(self, rate=rate)

    @property
    def line(self) -> Line | None:
        """Of each compute node; None without a limit."""
        return Line(self.rate, self.mtu) if self.rate is not None else None

    @property
    def names(self) -> list[str]:
        """All nodes, the login node first."""
        return list(self.cpus)

    @property
    def shared_cpus(self) -> bool:
        """Do compute nodes share CPUs, because there are fewer of them than nodes?"""
        shares = [cpu for name in self.names[1:] for cpu in self.cpus[name]]
        return len(shares) != len(set(shares))

    def same_cluster(self, other: Settings) -> bool:
        """May a cluster with these settings stand for one with `other`? A tied one is its owner's alone."""
        return not self.tied and self == replace(other, tied=self.tied)

    def write(self, directory: Path) -> None:
        """Atomically into cluster.json."""
        temporary = directory / f"cluster.json.{os.getpid()}"
        temporary.write_text(json.dumps(asdict(self)))
        temporary.replace(directory / "cluster.json")

    @classmethod
    def read(cls, directory: Path) -> Settings:
        """From cluster.json; raises OSError, ValueError or TypeError where that is not one of this version's."""
        values = json.loads((directory / "cluster.json").read_text())
        values["user"] = values["user"] and tuple(values["user"])
        return cls(**values)
