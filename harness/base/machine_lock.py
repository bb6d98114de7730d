# SPDX-License-Identifier: BSD-3-Clause
"""Whose turn it is on this machine: a measurement has it alone, a person's own programs may share it.

The virtual nodes belong to whoever has the turn, so nobody takes them from under somebody else. A turn ends with its
process, however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from typing import IO

from harness.base.paths import STATE_DIR
from harness.base.steps import say


@contextlib.contextmanager
def alone(what: str) -> Iterator[None]:
    """Wait until nobody else has the turn, and keep everybody else waiting: two at once would measure each other."""
    with _file() as file:
        _take(file, fcntl.LOCK_EX, what)
        yield


@contextlib.contextmanager
def together(what: str) -> Iterator[None]:
    """Wait until nobody has the turn alone."""
    with _file() as file:
        _take(file, fcntl.LOCK_SH, what)
        yield


def holder() -> str:
    """Who has the turn, in words; empty where nobody has it."""
    with _file() as file:
        return "" if _try(file, fcntl.LOCK_EX) else _read(file)


def _file() -> IO[str]:
    STATE_DIR.mkdir(parents=True, exist_ok=True)
    return (STATE_DIR / "turn.lock").open("a+")


def _take(file: IO[str], kind: int, what: str) -> None:
    if not _try(file, kind):
        say(f"waiting for another ./bench on this machine ({_read(file)}) ...")
        fcntl.flock(file, kind)
    file.truncate(0)
    file.write(f"{what}, PID {os.getpid()}")
    file.flush()


def _try(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read().strip() or "just starting"
