# SPDX-License-Identifier: BSD-3-Clause
"""Progress of a run, told by the jobs themselves after each launch through a fifo in the session's folder.

On a terminal it is a bar, and lines of what went wrong above it; elsewhere a line a launch. The reader sleeps in
read(): nothing here polls, draws or wakes while a timed launch runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from harness.base.errors import UsageError
from harness.base.paths import results_dir
from harness.job import session as sessions
from harness.job.records import EXPECTED, UNEXPECTED
from harness.job.runner import PROGRESS
from harness.sessions.request import Request
from reframe_checks.jobs import Job


class Bar:
    """How far the run is, in one line at the terminal's foot; drawn when something ended, and never by a clock."""

    def __init__(self, out: TextIO) -> None:
        from rich import progress as rich  # noqa: PLC0415 - its import takes longer than most commands
        from rich.console import Console  # noqa: PLC0415

        columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TextColumn("{task.fields[rest]}"))
        # Rich knows NO_COLOR, and leaves the terminal as it was
        self._progress = rich.Progress(*columns, console=Console(file=out), auto_refresh=False, transient=True)
        self._task = self._progress.add_task("beginning", total=None, rest="")
        self._began = time.monotonic()

    def show(self, text: str, left_s: float) -> None:
        spent = time.monotonic() - self._began
        rest = f"about {time_text(left_s)} left" if left_s > 1 else ""
        self._progress.update(
            self._task, description=text, completed=spent, total=spent + left_s, rest=rest, refresh=True
        )

    def say(self, text: str) -> None:
        """A line above the bar."""
        self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


def has_bar(out: TextIO) -> bool:
    """Whether a bar can be drawn there."""
    return out.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class Progress:
    """Turns the jobs' events into lines, or a bar, with an estimate of the time left."""

    def __init__(self, estimates_s: dict[tuple[str, str], float], out: TextIO | None = None) -> None:
        self._left = dict(estimates_s)
        self._out = out or sys.stderr
        self._bar = Bar(self._out) if has_bar(self._out) else None
        self._launches = 0
        self._done = 0
        self._share = 0.0
        self._skipped: set[tuple[str, ...]] = set()  # study, MPI and reason, which are said once

    def handle(self, event: dict[str, Any]) -> None:
        """One event of a job's runner."""
        job = (event["study"], event["mpi"])
        if event["event"] == "job":
            self._launches, self._done, self._share = event["launches"], 0, self._left.get(job, 0.0)
            about = f", about {time_text(self._share)}" if self._share else ""
            self._say(f"{event['study']} on {event['mpi']}: {counted(event['launches'], 'launch')}{about}")
        elif event["event"] == "tried":
            self._share = self._left[job] = self._launches * event["seconds"]
            words = f"{event['mpi']} once to try it: ok"
            self._step(words, f"  {words} ({event['seconds']:.1f} s, about {time_text(self._share)} left)")
        elif event["event"] == "launch":
            self._launch(job, event)
        elif event["event"] == "left out":
            self._say(f"  {event['mpi']}: {counted(event['launches'], 'launch')} {event['reason']}")
        elif event["event"] == "end":
            self._left.pop(job, None)

    def _launch(self, job: tuple[str, str], event: dict[str, Any]) -> None:
        self._done += 1
        self._left[job] = self._share * (1 - self._done / max(1, self._launches))
        if event["status"] == "skipped":
            why = (*job, str(event.get("reason")))
            if why in self._skipped:
                return
            self._skipped.add(why)
        known = event.get("reason", "").startswith((EXPECTED, UNEXPECTED))
        words = event["reason"] if known else ": ".join(filter(None, (event["status"], event.get("reason"))))
        left = sum(self._left.values())
        rest = f", about {time_text(left)} left" if left > 1 else ""
        place = f"{event['mpi']} {self._done}/{self._launches} {event['variant']}"
        found = event.get("found", "") if event["status"] == "ok" else ""
        words += f", {found}" if found else ""
        line = f"  {place}: {words} ({event['seconds']:.1f} s{rest})"
        if self._bar and (known or event["status"] not in ("ok", "skipped")):
            self._say(line)
        self._step(f"{event['study']} {place}{found and ': '}{found}", line)

    def _step(self, text: str, line: str) -> None:
        """What went as it should: the bar's, or a line of its own where there is none."""
        if self._bar:
            self._bar.show(text, sum(self._left.values()))
        else:
            self._say(line)

    def _say(self, text: str) -> None:
        line = f"{time.strftime('%H:%M:%S')} {text}"
        if self._bar:
            self._bar.say(line)
        else:
            print(line, file=self._out, flush=True)

    def shown(self) -> contextlib.AbstractContextManager[object]:
        """The bar is on the screen as long as the body runs; what is printed meanwhile goes above it."""
        return self._bar or contextlib.nullcontext()


def counted(number: int | str, what: str) -> str:
    """1 launch, 2 launches, 9 or 14 points."""
    return f"{number} {what}{'' if str(number) == '1' else 'es' if what.endswith('ch') else 's'}"


def time_text(seconds: float) -> str:
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
        with progress.shown():
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


# How long a job takes: as the newest session says that has run the same study on the same system and MPI at the same
# scale, else as the plan reckons.

LOOKED_AT = 20  # sessions, the newest: each is a file to read


def estimate(job: Job, request: Request) -> tuple[float, str]:
    """Seconds, and the name of the session that they are learnt from; empty where they are reckoned."""
    for name in reversed(sessions.names()[-LOOKED_AT:]):
        folder = results_dir() / name
        try:
            facts = sessions.facts_of(folder)
        except (UsageError, OSError):
            continue
        if (facts.system, facts.scale) != (request.system.name, request.scale) or facts.request is None:
            continue
        pattern = f"{job.study.name}.{request.system.name}.{job.mpi}.*.jsonl"
        took = list(_seconds_a_point(sorted((folder / "records").glob(pattern))))
        if took:
            return statistics.median(took) * sum(len(job.points_of(launch)) for launch in job.launches), name
    return job.estimate_s(), ""


def _seconds_a_point(files: list[Path]) -> Iterator[float]:
    """Of each launch that ended well: its launcher, MPI_Init and end count, too."""
    for path in files:
        try:
            _, *points, last = map(json.loads, path.read_text(errors="replace").splitlines())
            if last["end"]["status"] == "ok":
                yield last["end"]["launch_s"] / len({json.dumps(line["point"], sort_keys=True) for line in points})
        except (ValueError, KeyError, TypeError, ZeroDivisionError):
            continue
