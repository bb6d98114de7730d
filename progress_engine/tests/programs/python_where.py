# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks exchange messages from two functions; each prints by which lines it called what."""

from __future__ import annotations

import inspect
import sys
import time
from types import FrameType
from typing import cast

from mpi4py import MPI

world = MPI.COMM_WORLD
other = 1 - world.rank


def line_before() -> int:
    return cast(FrameType, cast(FrameType, inspect.currentframe()).f_back).f_lineno - 1


def say(words: str) -> None:
    sys.stdout.write(f"rank {world.rank}: {words}\n")  # at once: print writes the end of a line by itself


def exchange(size: int) -> None:
    incoming = bytearray(size)
    request = world.Irecv(incoming, other)
    started = line_before()
    sent = world.Isend(bytearray(size), other)
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass
    MPI.Request.Waitall([request, sent])
    completed = line_before()
    say(f"MPI_Irecv exchange() python_where.py:{started}")
    say(f"MPI_Waitall exchange() python_where.py:{completed}")


def agree() -> None:
    world.Barrier()
    called = line_before()
    say(f"MPI_Barrier agree() python_where.py:{called}")


exchange(1 << 20)
agree()
