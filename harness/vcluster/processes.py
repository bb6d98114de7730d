# SPDX-License-Identifier: BSD-3-Clause
"""The processes of a PID namespace, as its own /proc shows them, and how to end sets of them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """One line of /proc/PID/stat, proc(5)."""

    pid: int
    parent: int
    group: int
    session: int
    zombie: bool


def snapshot() -> dict[int, Process]:
    """All processes of the caller's PID namespace."""
    found = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 (os.listdir needs a third of the time)
        if entry.isdigit():
            with contextlib.suppress(OSError):
                found[int(entry)] = _parse(Path(f"/proc/{entry}/stat").read_text(errors="replace"))
    return found


def _parse(stat: str) -> Process:
    head, _, tail = stat.rpartition(")")  # the name in between may hold anything
    state, parent, group, session = tail.split()[:4]
    return Process(int(head.split()[0]), int(parent), int(group), int(session), state == "Z")


def ancestors(pid: int, processes: dict[int, Process]) -> list[Process]:
    """`pid` itself, its parent, and so on, without the first process of the namespace."""
    line = []
    while pid > 1 and pid in processes:
        line.append(processes[pid])
        pid = processes[pid].parent
    return line


def _tree(root: int, processes: dict[int, Process]) -> set[int]:
    """`root`, its descendants, and whatever still is in the session that it leads."""
    members = {p.pid for p in processes.values() if p.session == root} | {root}
    while True:
        children = {p.pid for p in processes.values() if p.parent in members} - members
        if not children:
            return members & processes.keys()
        members |= children


def kill_tree(root: int) -> None:
    """Kill a command with its descendants and its session; stopped first, so that no fork escapes the count."""
    stopped: set[int] = set()
    while found := _tree(root, snapshot()) - stopped:
        _signal(found, signal.SIGSTOP)
        stopped |= found
    _signal(stopped, signal.SIGKILL)


def spared_by_reaping(caller: int) -> set[int]:
    """Whoever asks for it, its ancestors, and their process groups (a pipeline's other ends); empty for caller 0."""
    processes = snapshot()
    line = ancestors(caller, processes)
    groups = {process.group for process in line}
    return {process.pid for process in line} | {p.pid for p in processes.values() if p.group in groups}


def kill_all_but(spared: Iterable[int], collect: Callable[[], None], limit_s: float = 2.0) -> int:
    """Kill every process of the namespace except the first and `spared`; the number of them, once they are gone."""
    spared = {1, *spared}
    killed: set[int] = set()
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        collect()
        left = {p.pid for p in snapshot().values() if not p.zombie} - spared
        if not left:
            break
        _signal(left, signal.SIGKILL)
        killed |= left
        time.sleep(0.002)
    return len(killed)


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
