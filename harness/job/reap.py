# SPDX-License-Identifier: BSD-3-Clause
"""Kills what a dead launch left: `python -m harness.job.reap NAME`, on each of its nodes.

Every process of a launch has its name in its environment (MARK), which no process loses by leaving its parent, its
group or its session. The name tells launches of all sessions apart: those of one study are called the same in each, and
sessions of one user may share a node. Where the site has no `reap` of its own, this one runs through the launcher.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

MARK = "OVERLAP_BENCH_LAUNCH"


def marked(name: str) -> Iterator[int]:
    """The processes of this user on this node that belong to the launch, but not the caller and its ancestors."""
    mark = f"{MARK}={name}".encode()
    ours = _with_ancestors()
    for process in Path("/proc").glob("[0-9]*"):
        pid = int(process.name)
        with contextlib.suppress(OSError):  # another user's, or gone
            if pid not in ours and mark in (process / "environ").read_bytes().split(b"\0"):
                yield pid


def _with_ancestors() -> set[int]:
    pid, found = os.getpid(), set[int]()
    while pid and pid not in found:
        found.add(pid)
        stat = Path(f"/proc/{pid}/stat").read_text()
        pid = int(stat.rpartition(")")[2].split()[1])
    return found


def kill(name: str) -> int:
    """Kill them; how many. A stopped process dies of SIGKILL, too."""
    killed = 0
    for pid in list(marked(name)):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed


if __name__ == "__main__":
    print(f"reap: {kill(sys.argv[1])} processes killed")
