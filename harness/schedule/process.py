# SPDX-License-Identifier: BSD-3-Clause
"""One launch as a process: started in a session of its own, given up after its timeout, and swept away whole."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

KILL_AFTER_S = 2.0
NOTE_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Exit:
    """How a process ended: its status (None: given up after its timeout), its wall time, the end of its output."""

    status: int | None
    seconds: float
    last_line: str


class Interrupted(BaseException):
    """The job was told to stop: preemption, time limit, Ctrl-C. Like KeyboardInterrupt, no handler swallows it."""


def run(command: Sequence[str], environment: Mapping[str, str], log: Path, timeout_s: float) -> Exit:
    """Run `command` with its output in `log`. Nothing of its process group is left when this returns or raises."""
    started = time.monotonic()
    # If this runner is killed, its launch must not stay: the kernel ends it then.
    tie = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
    with log.open("ab") as stream:
        process = subprocess.Popen(
            [*tie, *command],
            env=dict(os.environ) | dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status: int | None = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            end_group(process)
    return Exit(status, time.monotonic() - started, last_line(log))


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a process group: politely, then not."""
    if process.poll() is None:
        _signal_group(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(KILL_AFTER_S)
    _signal_group(process, signal.SIGKILL)
    process.wait()


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def last_line(log: Path) -> str:
    """The last words of a log: mostly they say what went wrong."""
    try:
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    except OSError:
        return ""
    return lines[-1][:300] if lines else ""


def note(command: Sequence[str], log: Path, timeout_s: float = NOTE_TIMEOUT_S) -> None:
    """Run a command whose failure is noted in the log and ends nothing."""
    try:
        run(command, {}, log, timeout_s)
    except OSError as error:
        with contextlib.suppress(OSError), log.open("a") as stream:
            stream.write(f"{command[0]}: {error}\n")
