# SPDX-License-Identifier: BSD-3-Clause
"""Progress of a run, told by the jobs themselves after each launch through a fifo in the session's folder.

The reader sleeps in read(): nothing here polls, draws or wakes while a timed launch runs (metrics.md).
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from harness.job.runner import PROGRESS


class Progress:
    """Turns the jobs' events into lines with an estimate of the time left."""

    def __init__(self, estimates_s: dict[tuple[str, str], float], out: TextIO | None = None) -> None:
        self._left = dict(estimates_s)
        self._out = out or sys.stderr
        self._launches = 0
        self._done = 0
        self._share = 0.0
        self.failed = 0

    def handle(self, event: dict[str, Any]) -> None:
        """One event of a job's runner."""
        job = (event["study"], event["mpi"])
        if event["event"] == "job":
            self._launches, self._done, self._share = event["launches"], 0, self._left.get(job, 0.0)
            about = f", about {_time(self._share)}" if self._share else ""
            self._say(f"{event['study']} on {event['mpi']}: {event['launches']} launches{about}")
        elif event["event"] == "tried":
            self._share = self._left[job] = self._launches * event["seconds"]
            self._say(
                f"  {event['mpi']} once to try it: ok ({event['seconds']:.1f} s, about {_time(self._share)} left)"
            )
        elif event["event"] == "launch":
            self._launch(job, event)
        elif event["event"] == "left out":
            self._say(f"  {event['mpi']}: {event['launches']} launches {event['reason']}")
        elif event["event"] == "end":
            self._left.pop(job, None)

    def _launch(self, job: tuple[str, str], event: dict[str, Any]) -> None:
        self._done += 1
        self._left[job] = self._share * (1 - self._done / max(1, self._launches))
        words = event["status"] if event["status"] == "ok" else f"{event['status']}: {event['reason']}"
        self.failed += event["status"] not in ("ok", "skipped")
        rest = f", about {_time(sum(self._left.values()))} left" if sum(self._left.values()) > 1 else ""
        place = f"{self._done}/{self._launches}"
        self._say(f"  {event['mpi']} {place} {event['variant']}: {words} ({event['seconds']:.1f} s{rest})")

    def _say(self, text: str) -> None:
        stamp = time.strftime("%H:%M:%S")
        print(f"{stamp} {text}", file=self._out, flush=True)


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


@contextlib.contextmanager
def watch(session: Path, progress: Progress) -> Iterator[None]:
    """Follow the session's fifo while the body runs."""
    fifo = session / PROGRESS
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo)
    # read and write: a fifo without a writer would be at its end at once
    descriptor = os.open(fifo, os.O_RDWR)
    reader = threading.Thread(target=_follow, args=(descriptor, progress), daemon=True)
    reader.start()
    try:
        yield
    finally:
        os.write(descriptor, b"\n")  # an empty line: the end
        reader.join(timeout=10)
        os.close(descriptor)
        fifo.unlink(missing_ok=True)


def _follow(descriptor: int, progress: Progress) -> None:
    with os.fdopen(descriptor, closefd=False) as lines:
        for line in lines:
            if not line.strip():
                return
            progress.handle(json.loads(line))
