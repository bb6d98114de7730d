# SPDX-License-Identifier: BSD-3-Clause
"""How a set-up step runs: announced, logged, timed, with its output shown only when it fails. And the locks by which
one ./bench waits for another: of the set-up, and of the machine.

A measurement has the machine alone, a person's own programs may share it. The virtual nodes belong to whoever has it,
so nobody takes them from under somebody else. A lock ends with its process, however that ends.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from harness.base import process
from harness.base.errors import Failure, UsageError
from harness.base.paths import ROOT, STATE_DIR

LAST_LINES = 25
LOOKED_AT = 4096  # bytes of what a step has written last
MACHINE_LOCK = "OVERLAP_BENCH_MACHINE_LOCK"  # names another file for the lock of the machine: tests side by side
LOOK_EVERY_S = 0.02
TELL_EVERY_S = 20.0


def say(text: str) -> None:
    """One line of progress, on stderr: stdout is for what a command answers."""
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Step:
    """A command of the set-up. `about_s`: how long it takes on two cores and a good line, for the user; 0 for next to
    nothing."""

    title: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    about_s: int = 0


def run_step(
    title: str, command: Sequence[str], environment: Mapping[str, str] | None = None, about_s: int = 0
) -> None:
    """Run `command` in the repository's root; raise Failure with the end of its output if it fails."""
    run_steps([Step(title, command, environment or {}, about_s)])


def run_steps(steps: Sequence[Step]) -> None:
    """Run them at the same time. If one fails the others are ended."""
    told = started = time.monotonic()
    with contextlib.ExitStack() as stack:
        running = []
        for step in steps:
            say(f"{step.title}{f' (about {step.about_s} s)' if step.about_s else ''} ...")
            output = stack.enter_context(tempfile.TemporaryFile())
            running.append((step, output, stack.enter_context(_started(step, output))))
        while running:
            for each in [each for each in running if each[-1].poll() is not None]:
                running.remove(each)
                _has_ended(*each, time.monotonic() - started)
            if time.monotonic() - told >= TELL_EVERY_S:
                told = time.monotonic()
                for step, output, _ in running:
                    _tell_how_far(step, output)
            time.sleep(LOOK_EVERY_S)


def _tell_how_far(step: Step, output: IO[bytes]) -> None:
    """Of a build, as Ninja counts. It writes on behind what it has written, so that nothing may be moved to read."""
    size = os.fstat(output.fileno()).st_size
    if counts := re.findall(rb"\[(\d+)/(\d+)\]", os.pread(output.fileno(), LOOKED_AT, max(0, size - LOOKED_AT))):
        say(f"{step.title}: {counts[-1][0].decode()} of {counts[-1][1].decode()}")


def _has_ended(step: Step, output: IO[bytes], run: process.Running, elapsed_s: float) -> None:
    if run.returncode:
        output.seek(0)
        tail = "\n".join(output.read().decode(errors="replace").splitlines()[-LAST_LINES:])
        raise Failure(f"{step.title} failed with status {run.returncode}: {' '.join(step.command)}\n{tail}")
    say(f"{step.title}: done in {elapsed_s:.0f} s")


def _started(step: Step, output: IO[bytes]) -> contextlib.AbstractContextManager[process.Running]:
    environment = dict(os.environ) | dict(step.environment)
    if shutil.which(step.command[0], path=environment.get("PATH")) is None:
        raise Failure(f"{step.title}: there is no program {step.command[0]}.")
    return process.group(step.command, env=environment, cwd=ROOT, stdout=output, stderr=output)


@contextlib.contextmanager
def setup_lock() -> Iterator[None]:
    """Let one process at a time change the set-up; a second one waits and says so."""
    with _ours(STATE_DIR / "setup.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another ./bench that is setting up ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_stamp(stamp: Path, text: str) -> None:
    """Mark a step as done with `text`, atomically."""
    partial = stamp.with_name(stamp.name + ".part")
    partial.write_text(text)
    partial.replace(stamp)


def has_stamp(stamp: Path, text: str) -> bool:
    """Whether the step was done with just this `text`."""
    try:
        return stamp.read_text() == text
    except OSError:
        return False


@contextlib.contextmanager
def machine_alone(what: str) -> Iterator[None]:
    """Wait until nobody else has the machine, and keep everybody else waiting: two at once would measure each other."""
    with _file() as file:
        _take(file, fcntl.LOCK_EX, what)
        yield


@contextlib.contextmanager
def machine_shared(what: str) -> Iterator[None]:
    """Wait until nobody has the machine alone."""
    with _file() as file:
        _take(file, fcntl.LOCK_SH, what)
        yield


def machine_holder() -> str:
    """Who has the machine, in words; empty where nobody has it."""
    with _file() as file:
        return "" if _try(file, fcntl.LOCK_EX) else _read(file)


def _file() -> IO[str]:
    path = Path(os.environ.get(MACHINE_LOCK) or STATE_DIR / "turn.lock")
    return _ours(path, "a+")


def _ours(path: Path, mode: str) -> IO[str]:
    """The file, opened, in a folder made for it. UsageError where that is somebody else's, as in a shared clone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open(mode)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        raise UsageError(
            f"This call makes something in {path.parent}, which you cannot write ({error.strerror}). What only reads "
            "works here all the same (list, report, claims, compare of sessions that there are). For the rest "
            "name a folder of your own in OVERLAP_BENCH_HOME, or make a clone of your own."
        ) from error


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
