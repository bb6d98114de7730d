# SPDX-License-Identifier: BSD-3-Clause
"""What the line between two nodes really lets pass: single messages after a pause, and a stream. Standard library only.

One TCP connection. The nodes are namespaces on one kernel, so that CLOCK_MONOTONIC is one clock on all of them: a time
is that from the call that sends to the last byte received. The receiver asks again and again, as an MPI does.
"""

from __future__ import annotations

import json
import socket
import statistics
import struct
import sys
import time
from collections.abc import Iterator

MESSAGES = {"message_32kb_bits_per_s": 32768, "message_64kb_bits_per_s": 65536}
PAUSE_S = 0.001
REPETITIONS = 21
STREAM_S = 0.25
PATIENCE_S = 30.0  # of each side for the other
SHORTEST_STREAM, LONGEST_STREAM = 1 << 20, 64 << 20
_HEADER = struct.Struct("<Qd")  # bytes that follow, when they were sent; 0 bytes: the end
_ELAPSED = struct.Struct("<d")
_BUFFER = bytearray(1 << 18)  # of what is received


def serve() -> None:
    """Print the port, take one connection, and answer each message with the seconds that it took."""
    with socket.create_server(("", 0)) as listener:
        listener.settimeout(PATIENCE_S)
        print(listener.getsockname()[1], flush=True)
        connection, _ = listener.accept()
    with connection:
        set_up(connection)
        while True:
            size, sent = _HEADER.unpack(_received(connection, _HEADER.size))
            if size == 0:
                return
            _received(connection, size)
            connection.sendall(_ELAPSED.pack(time.monotonic() - sent))


def measure() -> None:
    """argv: host, port, the line's bits/s. What single messages and a stream reach, as JSON on stdout."""
    host, port, rate = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with socket.create_connection((host, port), timeout=PATIENCE_S) as connection:
        set_up(connection)
        size = int(min(max(rate / 8 * STREAM_S, SHORTEST_STREAM), LONGEST_STREAM))
        transfer(connection, size)  # empties the bucket, and opens TCP's windows: a first stream reaches 0.9 of 1 Gb/s
        stream = transfer(connection, size)
        found = {
            name: statistics.median(messages(connection, size, PAUSE_S, REPETITIONS)) for name, size in MESSAGES.items()
        }
        end(connection)
    print(json.dumps(found | {"stream_bits_per_s": stream}))


def messages(connection: socket.socket, size: int, pause_s: float, count: int) -> Iterator[float]:
    """The bits/s of `count` messages, each after a pause in which this side computes."""
    for _ in range(count):
        until = time.monotonic() + pause_s
        while time.monotonic() < until:
            pass
        yield transfer(connection, size)


def transfer(connection: socket.socket, size: int) -> float:
    """The bits/s of one message, header included."""
    data = bytearray(_HEADER.size + size)
    _HEADER.pack_into(data, 0, size, time.monotonic())
    connection.sendall(data)
    (elapsed_s,) = _ELAPSED.unpack(_received(connection, _ELAPSED.size))
    return 8 * len(data) / float(elapsed_s)


def end(connection: socket.socket) -> None:
    """Tell the other side that no message follows."""
    connection.sendall(_HEADER.pack(0, 0.0))


def set_up(connection: socket.socket) -> None:
    """Of either side, before the first message."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(PATIENCE_S)


def _received(connection: socket.socket, size: int) -> memoryview:
    """What fits into the buffer is whole. Of a stream the last bytes: the pages of a new buffer would cost time."""
    view, got = memoryview(_BUFFER), 0
    deadline = time.monotonic() + PATIENCE_S
    while got < size:
        at = got % len(view)
        try:
            part = connection.recv_into(view[at : at + size - got], 0, socket.MSG_DONTWAIT)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError("nothing came") from None
            continue
        if part == 0:
            raise ConnectionError("the other side is gone")
        got += part
    return view[:size]
