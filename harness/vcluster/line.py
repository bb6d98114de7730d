# SPDX-License-Identifier: BSD-3-Clause
"""The line of a virtual node: what a rate means for the kernel's limiter and its packets. Standard library only.

htb at both ends of each cable. What is in its bucket leaves at once, and so does the packet that empties it, since
its tokens may become negative: after a pause a message is ahead of its line by one packet. So bucket and packet are as
short as the kernel can keep the rate with. A bucket must hold what passes while a timer is late, 105 us here (a bucket
of 1600 bytes loses up to 14 % of 1 Gb/s); a longer packet than that saves CPU time (16 KB packets reach 0.8 of
2.5 Gb/s). Up to 1 Gb/s both are 16 KB, and a message is ahead by no more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.base.errors import UsageError

_RATE = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)bit")
_BITS_PER_S = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_LATE_S = 105e-6
_SHORTEST_BUCKET = 16384
_LONGEST_PACKET = 65536  # of segmentation offload over IPv4
_HEADERS = 52  # IPv4 (RFC 791), TCP with timestamps (RFC 9293, 7323)
_ETHERNET_HEADER = 14
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
    def payload_share(self) -> float:
        """The part of the rate that is a stream's own bytes; the rest are headers."""
        segment = min(self.mtu, self.packet_bytes) - _HEADERS
        return segment / (segment + _HEADERS + _ETHERNET_HEADER)

    @property
    def bucket_bytes(self) -> int:
        """What passes at once after a pause."""
        return max(_SHORTEST_BUCKET, round(self.bits_per_s / 8 * _LATE_S))

    @property
    def packet_bytes(self) -> int:
        """The longest that a node sends at once, whatever its MTU."""
        return min(_LONGEST_PACKET, self.bucket_bytes)

    @property
    def settle_s(self) -> float:
        """How long after a message the limiter is as it was before it, seconds."""
        return (self.bucket_bytes + self.packet_bytes) * 8 / self.bits_per_s

    @property
    def segment_bytes(self) -> int:
        """What TCP may put into one packet where the MTU allows longer ones; 0: the MTU decides."""
        return self.packet_bytes - _HEADERS if self.mtu > self.packet_bytes else 0


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


def packet_line(interface: str, line: Line | None) -> str:
    """For `ip -batch`: the longest packet that is cut into frames only on its way."""
    return f"link set dev {interface} gso_max_size {line.packet_bytes if line else _LONGEST_PACKET}"


def segment_line(interface: str, subnet: str, own: str, line: Line | None) -> str:
    """For `ip -batch` in a node: the longest segment that its peers may send."""
    return f"route replace {subnet}.0/24 dev {interface} src {own} advmss {line.segment_bytes if line else 0}"


def longest_packet(mtu: int, offload: int, segment: int) -> int:
    """What a node sends at once, from its interface's gso_max_size and its route's advmss (0: none), bytes."""
    return max(min(mtu, segment + _HEADERS) if segment else mtu, offload)


def words(limiter: str, packet: int) -> str:
    """A limiter in words, from `tc class show` (class htb 1:1 root rate 1Gbit ceil 1Gbit burst 16Kb ...)."""
    told = limiter.split()
    if "htb" not in told:
        return "not limited in rate"
    rate, bucket = (told[told.index(key) + 1] for key in ("rate", "burst"))
    return f"limited by htb to {rate}/s out of each node and into it (bucket {bucket}, packets up to {packet} bytes)"
