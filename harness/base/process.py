# SPDX-License-Identifier: BSD-3-Clause
"""Every program that is started and waited for here: one way to start it, one way to end it whole. Standard library.

A program is in a process group of its own, and when whoever waits for it goes on (it ended, took too long, a signal,
an exception) nothing of that group is left, also what ignores SIGTERM. What leaves the group is a launch's alone to
reap, by its mark (harness.job.reap), or a node's, which ends with all that runs on it (harness.vcluster).
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base import failure_reason

KILL_AFTER_S = 2.0
NOTE_TIMEOUT_S = 30.0

Running = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Exit:
    """How a process ended: its status (None: given up after its timeout), its wall time, the end of its output."""

    status: int | None
    seconds: float
    last_line: str


@dataclass(frozen=True)
class Answer:
    """What a program said. `status` None: it could not be started or did not end in time, and `err` says which."""

    status: int | None
    out: str
    err: str

    @property
    def last_line(self) -> str:
        return failure_reason.of(self.err) or failure_reason.of(self.out)


@contextlib.contextmanager
def group(
    command: Sequence[str],
    first: signal.Signals = signal.SIGTERM,
    grace_s: float = KILL_AFTER_S,
    tie: signal.Signals = signal.SIGKILL,
    **how: Any,
) -> Iterator[Running]:
    """A program while the body runs; `how`: as subprocess.Popen takes it, no stdin unless it is there. Nothing of its
    group is left afterwards.

    What still runs then gets the signal `first`, and SIGKILL after `grace_s`. `tie`: the signal that the kernel sends
    the program if this process is killed, and so cannot.
    """
    tied = ["setpriv", "--pdeathsig", tie.name.removeprefix("SIG"), "--"] if shutil.which("setpriv") else []
    with _can_be_interrupted() if first is signal.SIGINT else contextlib.nullcontext():
        options: dict[str, Any] = {"stdin": subprocess.DEVNULL} | how
        process: Running = subprocess.Popen([*tied, *command], start_new_session=True, **options)
    try:
        yield process
    finally:
        _end(process, first, grace_s)


def _end(process: Running, first: signal.Signals, grace_s: float) -> None:
    """End what is left of a process group: politely, then not, also if a second stop comes in between."""
    try:
        if process.poll() is None:
            _signal(process, first)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(grace_s)
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: Running, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


@contextlib.contextmanager
def _can_be_interrupted() -> Iterator[None]:
    """Processes started in the body can be told to stop by SIGINT, also where this one ignores it (a script's `&`).

    A child inherits an ignored signal as ignored, and a handled one with its default. Main thread only.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    timeout_s: float,
    cwd: Path | None = None,
    errors: Path | None = None,
) -> Exit:
    """Run `command` with its output in `log` and `environment` beside this process's own. What it writes to stderr is
    in `errors`, if that is given, else in `log` as well."""
    started = time.monotonic()
    whole = dict(os.environ) | dict(environment)
    with log.open("ab") as out, (errors or log).open("ab") as err:
        with group(command, env=whole, cwd=cwd, stdout=out, stderr=err) as process:
            status = wait_for(process, timeout_s)
        seconds = time.monotonic() - started
    return Exit(status, seconds, last_line(*filter(None, (log, errors))))


def answer(
    command: Sequence[str],
    timeout_s: float | None,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    merged: bool = False,
    told: str = "",
) -> Answer:
    """What `command` says. `environment`: all of it, else this process's; `merged`: `out` holds stderr as well; `told`:
    what it reads from stdin.

    Files and no pipes: whatever the command leaves behind with its output open keeps nobody waiting.
    """
    if shutil.which(command[0], path=(environment or os.environ).get("PATH")) is None:
        return Answer(None, "", f"there is no program {command[0]}")
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(told.encode())
        given.seek(0)
        how: dict[str, Any] = {"stdin": given, "stdout": out, "stderr": out if merged else err}
        try:
            with group(command, env=environment, cwd=cwd, **how) as process:
                status = wait_for(process, timeout_s)
        except OSError as error:
            return Answer(None, "", f"{command[0]}: {error.strerror}")
        said, complained = (_read(file) for file in (out, err))
    if status is None:
        complained = f"{complained.rstrip()}\n{command[0]} did not end within {timeout_s:g} s".lstrip()
    return Answer(status, said, complained)


def _read(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode(errors="replace"))


def wait_for(process: Running, timeout_s: float | None) -> int | None:
    """Its status once it has ended, None after the timeout. With a timeout Popen.wait asks every 50 ms whether it has
    ended, too seldom for who measures how long it ran; the kernel tells at once (pidfd_open, Linux 5.3)."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:  # an older kernel
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout_s)
        return None
    ended = select.poll()  # no select: it takes no descriptor above 1023
    ended.register(descriptor, select.POLLIN)
    try:
        if not ended.poll(None if timeout_s is None else 1000 * timeout_s):
            return None
    finally:
        os.close(descriptor)
    return process.wait()


def attended(command: Sequence[str], environment: Mapping[str, str] | None = None, cwd: Path | None = None) -> int:
    """The status of a program that has this terminal: in this process's group, for only that reads its keyboard.

    A stop is passed on first: mpiexec, killed, could leave its ranks behind.
    """
    with subprocess.Popen(command, env=environment, cwd=cwd) as process:
        try:
            return process.wait()
        except BaseException:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(KILL_AFTER_S)
            process.kill()
            raise


def last_line(*logs: Path) -> str:
    """The last words of what is in these files: mostly they say what went wrong."""
    try:
        return failure_reason.of("\n".join(log.read_text(errors="replace") for log in logs))
    except OSError:
        return ""


def note(command: Sequence[str], log: Path, timeout_s: float = NOTE_TIMEOUT_S) -> None:
    """Run a command whose failure is noted in the log and ends nothing."""
    try:
        run(command, {}, log, timeout_s)
    except OSError as error:
        with contextlib.suppress(OSError), log.open("a") as stream:
            stream.write(f"{command[0]}: {error}\n")
