# SPDX-License-Identifier: BSD-3-Clause
"""The line of a virtual node: what a rate means for the kernel's limiter and its packets. Standard library only.

htb at both ends of each cable. After a pause what is in its bucket leaves at once, and of the packet that empties it
the rest, too, since tokens may become negative: so far a message is ahead of its line. A bucket must hold what passes
while a timer is late, 105 us here: one of 1600 bytes loses up to 7 % of 1 Gb/s.

A packet is as long as the MTU; where that is shorter, up to a bucketful of frames go as one (segmentation offload). A
timer's interrupt a packet takes up to 50 us of a CPU in a virtual machine: at 1 Gb/s two nodes that compute hide 0.9 of
4 MB with packets of 64 KB, 0.8 with 32 KB, 0.6 with 16 KB. So who measures messages below 64 KB takes a short MTU, and
pays for it with the CPU.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.base.errors import UsageError

_RATE = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)bit")
_BITS_PER_S = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_LATE_S = 105e-6
_SHORTEST_BUCKET = 16384
LONGEST_OFFLOAD = 65536  # of segmentation offload over IPv4
QUEUE_PACKETS = 10000  # more than the windows of all connections hold: nothing is dropped


@dataclass(frozen=True)
class Line:
    """`rate` as tc has it, 2.5gbit say; `mtu` in bytes."""

    rate: str
    mtu: int

    def __post_init__(self) -> None:
        if not _RATE.fullmatch(self.rate) or self.bits_per_s <= 0:
            raise UsageError(f"a rate is like 100mbit, 1gbit or 2.5gbit, not {self.rate!r}")

    @property
    def bits_per_s(self) -> float:
        """Of whole Ethernet frames."""
        match = _RATE.fullmatch(self.rate)
        return float(match[1]) * _BITS_PER_S[match[2]] if match else 0.0

    @property
    def bucket_bytes(self) -> int:
        """What passes at once after a pause."""
        return max(_SHORTEST_BUCKET, round(self.bits_per_s / 8 * _LATE_S))

    @property
    def offload_bytes(self) -> int:
        """Up to which length several frames go as one packet."""
        return min(LONGEST_OFFLOAD, self.bucket_bytes)

    @property
    def packet_bytes(self) -> int:
        """The longest that leaves at once."""
        return max(self.mtu, self.offload_bytes)

    @property
    def ahead_bytes(self) -> int:
        """What may leave at once after a pause: a bucketful, and the rest of the packet that empties the bucket."""
        return self.bucket_bytes + self.packet_bytes

    @property
    def settle_s(self) -> float:
        """How long after a message the limiter is as it was before it, seconds."""
        return self.ahead_bytes * 8 / self.bits_per_s


def limiter_lines(interface: str, line: Line | None) -> list[str]:
    """For `tc -batch`: what leaves `interface` is limited to the line; None takes the limit away."""
    free = f"qdisc replace dev {interface} root noqueue"
    if line is None:
        return [free]
    limit = f"rate {line.rate} ceil {line.rate} burst {line.bucket_bytes} cburst {line.bucket_bytes} quantum 60000"
    return [
        free,  # htb cannot be changed in place
        f"qdisc replace dev {interface} root handle 1: htb default 1",
        f"class add dev {interface} parent 1: classid 1:1 htb {limit}",
        f"qdisc add dev {interface} parent 1:1 pfifo limit {QUEUE_PACKETS}",
    ]


def offload_line(interface: str, line: Line | None) -> str:
    """For `ip -batch`: up to which length frames go as one packet."""
    return f"link set dev {interface} gso_max_size {line.offload_bytes if line else LONGEST_OFFLOAD}"


def words(limiter: str, packet: int) -> str:
    """A limiter in words, from `tc class show` (class htb 1:1 root rate 1Gbit ceil 1Gbit burst 16Kb ...)."""
    told = limiter.split()
    if "htb" not in told:
        return "not limited in rate"
    rate, bucket = (told[told.index(key) + 1] for key in ("rate", "burst"))
    return f"limited by htb to {rate}/s out of each node and into it (bucket {bucket}, packets up to {packet} bytes)"
