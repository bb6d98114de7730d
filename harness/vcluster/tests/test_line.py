# SPDX-License-Identifier: BSD-3-Clause
"""The line of a virtual node is what its rate says: single messages, streams, both directions, several senders.

No machine is too busy for an upper bound: what others take makes a message slower. A lower bound is the best of some.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.errors import Failure, UsageError
from harness.tests.waiting import eventually
from harness.vcluster import cluster, line_meter, network, support
from harness.vcluster.cluster import Cluster
from harness.vcluster.line import Line
from harness.vcluster.tests.vcluster_fixtures import brought_up

pytestmark = pytest.mark.vcluster

ROOT = Path(__file__).resolve().parents[3]
CLIENT = """
import json, socket, statistics, sys, time
from harness.vcluster import line_meter as meter

host, port, sends = *sys.argv[1:3], json.loads(sys.argv[3])
with socket.create_connection((host, int(port)), timeout=meter.PATIENCE_S) as connection:
    meter.set_up(connection)
    meter.transfer(connection, 65536)
    found, began = [], time.monotonic()
    for size, pause_s in sends:
        single = pause_s is not None
        rates = meter.messages(connection, size, pause_s, 15) if single else [meter.transfer(connection, size)]
        found.append(statistics.median(rates))
    print(json.dumps([found, began, time.monotonic()]))
    meter.end(connection)
"""
Flow = tuple[str, str]  # sender, receiver
Send = tuple[int, float | None]  # bytes, and seconds of pause before each of some messages; None: a stream


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    with brought_up(nodes=3) as made:
        yield made


def flows(virtual: Cluster, wanted: list[Flow], sends: list[Send]) -> list[tuple[list[float], float, float]]:
    """For each flow, all at once: the bits/s of each of its sends, when it began, when it ended."""
    servers, clients, environment = [], [], support.environment() | {"PYTHONPATH": str(ROOT)}
    try:
        for _, receiver in wanted:
            serve = virtual.command(receiver, support.python("line_meter", "serve"))
            servers.append(subprocess.Popen(serve, env=environment, stdout=subprocess.PIPE, text=True))
        for (sender, receiver), server in zip(wanted, servers, strict=True):
            assert server.stdout
            port = server.stdout.readline().strip()
            ask = virtual.command(sender, [sys.executable, "-c", CLIENT, receiver, port, json.dumps(sends)])
            clients.append(subprocess.Popen(ask, env=environment, stdout=subprocess.PIPE, text=True))
        return [json.loads(client.communicate(timeout=100)[0]) for client in clients]
    finally:
        for process in [*clients, *servers]:
            process.kill()
            process.wait()


def most(limit: Line, size: int) -> float:
    """The bits/s that a message of `size` bytes may reach: 2 % over the rate, and a full bucket that leaves at once."""
    return 1.02 * limit.bits_per_s * size / (size - limit.ahead_bytes)


def streams(virtual: Cluster, wanted: list[Flow], size: int) -> tuple[list[float], float]:
    """Bits/s of each flow, and of all from the first one's begin to the last one's end."""
    found = flows(virtual, wanted, [(size, None)])
    took_s = max(end for _, _, end in found) - min(began for _, began, _ in found)
    return [rates[0] for rates, _, _ in found], 8 * size * len(found) / took_s


# By the MTU, up to 1 Gb/s: what leaves until the bucket is empty, the last packet whole. Of 1500 bytes they vary in
# length.
AHEAD = {1500: 24576, 9000: 2 * 9014, 65000: 65014}


@pytest.mark.parametrize("mtu", list(AHEAD))
@pytest.mark.parametrize(
    "rate", ["1gbit", *(pytest.param(x, marks=pytest.mark.full) for x in ("100mbit", "2.5gbit", "10gbit"))]
)
def test_a_message_after_a_pause_is_ahead_of_the_line_by_a_bucketful_at_most(
    nodes: Cluster, rate: str, mtu: int
) -> None:
    virtual = cluster.up(nodes=2, rate=rate, mtu=mtu, tied=True, directory=nodes.directory.with_name("mtu"))
    try:
        limit = Line(rate, mtu)
        packets = {node["packet"] for node in virtual.status()["nodes"].values()}
        assert packets == {limit.packet_bytes}, "in the kernel's words"
        ahead = AHEAD[mtu] if limit.bucket_bytes == 16384 else limit.ahead_bytes
        assert ahead <= limit.ahead_bytes
        sends: list[Send] = [(times * ahead, pause_s) for times in (2, 4, 8) for pause_s in (0.0002, 0.001, 0.005)]
        ((found, *_),) = flows(virtual, [("vc1", "vc2")], sends)
        for (size, pause_s), reached in zip(sends, found, strict=True):
            assert reached < 1.1 * limit.bits_per_s * size / (size - ahead), (size, pause_s)
    finally:
        virtual.down()


@pytest.mark.parametrize(
    ("rate", "least"),
    [
        ("100mbit", 0.98),
        ("1gbit", 0.5),
        *(pytest.param(*x, marks=pytest.mark.full) for x in (("2.5gbit", 0.3), ("10gbit", 0.05))),
    ],
)
def test_a_stream_keeps_the_rate(nodes: Cluster, rate: str, least: float) -> None:
    """Within 2 % at a rate that takes next to no CPU; how near the others come depends on what else runs here."""
    keeps_the_rate(nodes, rate, least)


@pytest.mark.full
@pytest.mark.parametrize("mtu", [1500, 9000])
def test_a_stream_of_short_frames_keeps_the_rate_less_their_headers(nodes: Cluster, mtu: int) -> None:
    headers = 14 + 20 + 32  # Ethernet's, IP's and TCP's with time stamps
    virtual = cluster.up(nodes=2, rate="100mbit", mtu=mtu, tied=True, directory=nodes.directory.with_name("mtu"))
    try:
        keeps_the_rate(virtual, "100mbit", 0.98 * (mtu + 14 - headers) / (mtu + 14))
    finally:
        virtual.down()


def keeps_the_rate(virtual: Cluster, rate: str, least: float) -> None:
    virtual.set_rate(rate)
    limit = Line(rate, virtual.settings.mtu)
    size = int(limit.bits_per_s / 8 * 0.25)

    def kept() -> bool:
        (found,), _ = streams(virtual, [("vc1", "vc2")], size)
        assert found < most(limit, size)
        return found > least * limit.bits_per_s

    assert eventually(kept)


def test_a_stream_is_received_without_memory_of_its_length() -> None:
    """The pages of 64 MB take 30 ms, more than a twentieth of what the stream takes at 1 Gb/s."""
    size = line_meter.LONGEST_STREAM
    ours, theirs = socket.socketpair()
    sender = threading.Thread(target=theirs.sendall, args=(bytes(size),))
    sender.start()
    tracemalloc.start()
    try:
        with ours, theirs:
            line_meter._received(ours, size)
            sender.join()
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.alone
def test_both_directions_have_the_rate_at_once(nodes: Cluster) -> None:
    nodes.set_rate("100mbit")
    limit = Line("100mbit", nodes.settings.mtu)

    def kept() -> bool:
        found, together = streams(nodes, [("vc1", "vc2"), ("vc2", "vc1")], 6_000_000)
        assert max(found) < most(limit, 6_000_000)
        return together > 1.7e8

    assert eventually(kept)


def test_senders_into_one_node_share_its_line(nodes: Cluster) -> None:
    nodes.set_rate("100mbit")
    limit = Line("100mbit", nodes.settings.mtu)

    def kept() -> bool:
        found, together = streams(nodes, [("vc1", "vc3"), ("vc2", "vc3")], 3_000_000)
        assert together < most(limit, 6_000_000)
        return min(found) < 0.8e8 and together > 0.85e8

    assert eventually(kept)


def test_without_a_limit_there_is_none(nodes: Cluster) -> None:
    nodes.set_rate(None)
    assert eventually(lambda: streams(nodes, [("vc1", "vc2")], 50_000_000)[0][0] > 1.2e9)
    assert "not limited" in nodes.network_description
    loaded = cluster.load(nodes.directory)
    assert loaded and loaded.settings.rate is None


def test_what_the_line_lets_pass_is_measured_once_a_rate(nodes: Cluster) -> None:
    nodes.set_rate("100mbit")
    first = nodes.measured()
    assert nodes.measured() == first
    assert first["stream_bits_per_s"] < most(Line("100mbit", nodes.settings.mtu), int(12.5e6 * line_meter.STREAM_S))
    nodes.set_rate("200mbit")
    assert nodes.measured() != first
    words = network.measured_words(
        {"message_32kb_bits_per_s": 1.9e9, "message_64kb_bits_per_s": 1.05e9, "stream_bits_per_s": 9.8e7}
    )
    assert words == "after a pause 32 KB at 1.9 Gb/s and 64 KB at 1.05 Gb/s, a stream at 0.098 Gb/s"
    assert first["ahead_bytes"] == 16384 + 65000
    assert "up to 81384 bytes are ahead" in network.measured_words(first)


def test_what_a_rate_means() -> None:
    """A bucket is 16 KB up to 1 Gb/s, then what passes while a timer is late; a packet is as long, or as the MTU."""
    meant = {"100mbit": (16384, 16384), "1gbit": (16384, 16384), "10gbit": (131250, 65536)}
    for rate, (bucket, packet) in meant.items():
        limit = Line(rate, 1500)
        assert (limit.bucket_bytes, limit.packet_bytes) == (bucket, packet)
        assert Line(rate, 65000).packet_bytes == max(packet, 65000)
    for wrong in ("fast", "0gbit"):
        with pytest.raises(UsageError, match="a rate is like"):
            Line(wrong, 1500)


def test_a_line_that_cannot_be_measured_is_a_sentence(nodes: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes.set_rate("1gbit")
    nodes.link("vc3", "down")
    monkeypatch.setattr(cluster, "_LIMIT_S", 1.0)
    try:
        with pytest.raises(Failure, match="from vc1 to vc3 cannot be measured"):
            nodes.measured()
    finally:
        nodes.link("vc3", "up")
