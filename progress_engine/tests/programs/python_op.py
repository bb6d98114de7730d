# SPDX-License-Identifier: BSD-3-Clause
"""A reduction whose operation is a Python function, while Python computes: two ranks, a line of results each.

Whoever makes the message progress calls the function: then the engine's thread needs Python's lock, which the computing
thread has. `threads` on the line: those that called the function.
"""

from __future__ import annotations

import threading
import time
from array import array
from typing import Any

from mpi4py import MPI

callers: set[int] = set()


def add(incoming: Any, result: Any, _type: MPI.Datatype) -> None:
    callers.add(threading.get_native_id())
    values, sums = memoryview(incoming).cast("q"), memoryview(result).cast("q")
    for i, value in enumerate(values):
        sums[i] += value


def compute(seconds: float) -> int:
    """In Python, without a call of MPI; the lock is given up as the interpreter likes."""
    end, steps = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        steps += 1
    return steps


def main() -> None:
    world = MPI.COMM_WORLD
    operation = MPI.Op.Create(add, commute=True)
    total = 0
    for count in range(1, 31):
        mine, every = array("q", [world.rank + count] * 1000), array("q", [0] * 1000)
        request = world.Iallreduce([mine, MPI.INT64_T], [every, MPI.INT64_T], op=operation)
        compute(0.02)
        while not request.Test():
            world.Get_size()  # a call that keeps the lock
        total += sum(every)
    operation.Free()
    other = callers - {threading.get_native_id()}
    print(f"rank {world.rank}: sum {total}, other threads {len(other)}", flush=True)


main()
