# SPDX-License-Identifier: BSD-3-Clause
"""What a cluster is asked to be, checked, and kept as cluster.json in its directory."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness.base.errors import UsageError

from . import cpus as machine
from . import linux

MOST_NODES = 64
_SHORTEST_MTU, _LONGEST_MTU = 576, 65535  # RFC 791's minimum; veth's maximum
_ETHERNET_HEADER = 14
_RATE = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)bit")
_BURST = re.compile(r"(\d+)(kb|mb|b)?")
_BITS_PER_S = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_BYTES = {"kb": 1024, "mb": 1024**2, "b": 1, None: 1}


@dataclass(frozen=True)
class Settings:
    """`cpus` by node, vc0 first. `management`: with a second network, which nothing limits. `user`: uid and gid of a
    rootless cluster, None where root needs no user namespace."""

    nodes: int
    rate: str | None
    burst: str
    mtu: int
    tied: bool
    slurm: bool
    management: bool
    cpus: dict[str, list[int]]
    user: tuple[int, int] | None

    @classmethod
    def make(
        cls, nodes: int, rate: str | None, burst: str, mtu: int, *, tied: bool, slurm: bool, management: bool = False
    ) -> Settings:
        """Checked; raises UsageError."""
        if not 1 <= nodes <= MOST_NODES:
            raise UsageError(f"a virtual cluster has 1 to {MOST_NODES} compute nodes, not {nodes}")
        if not _SHORTEST_MTU <= mtu <= _LONGEST_MTU:
            raise UsageError(f"an MTU is {_SHORTEST_MTU} to {_LONGEST_MTU} bytes, not {mtu}")
        user = None if linux.privileged() else (os.geteuid(), os.getegid())
        return cls(nodes, rate, burst, mtu, tied, slurm, management, machine.split(nodes), user)._checked()

    def changed(self, rate: str | None, burst: str) -> Settings:
        """With another limit of the network; raises UsageError."""
        return replace(self, rate=rate, burst=burst)._checked()

    def _checked(self) -> Settings:
        if self.rate is not None and not _RATE.fullmatch(self.rate):
            raise UsageError(f"a rate is like 100mbit, 1gbit or 2.5gbit, not {self.rate!r}")
        if not _BURST.fullmatch(self.burst):
            raise UsageError(f"a burst is like 64000, 128kb or 1mb, not {self.burst!r}")
        if self.burst_bytes < self.mtu + _ETHERNET_HEADER:
            raise UsageError(
                f"the burst {self.burst} is shorter than a packet of MTU {self.mtu}, which then would never be sent"
            )
        return self

    @property
    def burst_bytes(self) -> int:
        """What passes at once after a pause."""
        match = _BURST.fullmatch(self.burst)
        return int(match[1]) * _BYTES[match[2]] if match else 0

    @property
    def bucket_s(self) -> float:
        """How long after a message the limiter is as it was before it, seconds; 0 without a limit."""
        match = _RATE.fullmatch(self.rate or "")
        return self.burst_bytes * 8 / (float(match[1]) * _BITS_PER_S[match[2]]) if match else 0.0

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
