# SPDX-License-Identifier: BSD-3-Clause
"""Some of where.c in Python: what is tested is that a place is the program's own line, not how its times are told."""

from __future__ import annotations

import inspect
import struct
import sys
import time
from pathlib import Path
from types import FrameType
from typing import cast

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK = WORLD.rank
SCHEDULED = Path("/proc/self/schedstat")
OTHER = 1 - RANK
BYTES, ROUNDS = 4 << 20, 5
STAMP = struct.Struct("d")


def delay() -> float:
    """Seconds that this process was ready to run and did not: what stands between two clocks grows by it."""
    return 1e-9 * int(SCHEDULED.read_text().split()[1])


class Known:
    """What is known of a site so far."""

    def __init__(self) -> None:
        self.computed = self.waited = self.whole = self.late = self.began = self.waits = 0.0
        self.delay = delay()

    def begin(self) -> None:
        self.began = time.monotonic()

    def compute(self, seconds: float) -> None:
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            pass
        self.computed += time.monotonic() - begin

    def wait(self) -> None:
        self.waits = time.monotonic()

    def end(self, message: bytearray) -> None:
        """`message`: from the partner, which begins with the time when it was sent."""
        end = time.monotonic()
        self.waited += end - self.waits
        self.whole += end - self.began
        theirs = STAMP.unpack_from(message)[0]
        self.late += max(0.0, min(theirs, end) - self.waits)

    def tell(self, name: str, line: int, count: int, parts: int = 1) -> None:
        spot = cast(FrameType, cast(FrameType, inspect.currentframe()).f_back).f_code.co_name
        words = f"site {RANK} {name} {spot}:{line} count {count} parts {parts} computed {self.computed:.9f}"
        words += f" waited {self.waited:.9f} whole {self.whole:.9f} late {self.late:.9f}"
        words += f" delay {delay() - self.delay:.9f}\n"
        if line > 0:
            sys.stdout.write(words)  # at once: print writes the end of a line by itself
            sys.stdout.flush()
        WORLD.Barrier()


def line_before() -> int:
    return cast(FrameType, cast(FrameType, inspect.currentframe()).f_back).f_lineno - 1


def stamped(message: bytearray) -> bytearray:
    STAMP.pack_into(message, 0, time.monotonic())
    return message


def exchange(out: bytearray, into: bytearray) -> None:
    known, line = Known(), 0
    for _ in range(ROUNDS):
        known.begin()
        received = WORLD.Irecv(into, OTHER, 1)
        line = line_before()
        sent = WORLD.Isend(stamped(out), OTHER, 1)
        known.compute(0.02)
        known.wait()
        MPI.Request.Waitall([received, sent])
        known.end(into)
    known.tell("exchange", line, ROUNDS, 2)


def late() -> None:
    known, line = Known(), 0
    message = bytearray(8)
    for _ in range(ROUNDS):
        WORLD.Barrier()
        if RANK == 0:
            known.compute(0.03)
            WORLD.Send(stamped(message), OTHER, 2)
            continue
        known.begin()
        request = WORLD.Irecv(message, OTHER, 2)
        line = line_before()
        known.compute(0.01)
        known.wait()
        request.Wait()
        known.end(message)
    known.tell("late", line, ROUNDS)


def blocking() -> None:
    known, line = Known(), 0
    message = bytearray(8)
    for _ in range(ROUNDS):
        WORLD.Barrier()
        if RANK == 0:
            known.compute(0.02)
            WORLD.Send(stamped(message), OTHER, 3)
            continue
        known.begin()
        known.wait()
        WORLD.Recv(message, OTHER, 3)
        line = line_before()
        known.end(message)
    known.tell("blocking", line, ROUNDS)


exchange(bytearray(BYTES), bytearray(BYTES))
late()
blocking()
