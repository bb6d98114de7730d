# SPDX-License-Identifier: BSD-3-Clause
"""How a set-up step runs: announced, logged, timed, with its output shown only when it fails."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.base import process
from harness.base.errors import Failure
from harness.base.paths import ROOT, STATE_DIR

LAST_LINES = 25


def say(text: str) -> None:
    """One line of progress, on stderr: stdout is for what a command answers."""
    print(text, file=sys.stderr, flush=True)


def run_step(
    title: str, command: Sequence[str], environment: Mapping[str, str] | None = None, about_s: int = 0
) -> None:
    """Run `command` in the repository's root; raise Failure with the end of its output if it fails.

    `about_s`: how long it takes on two cores and a good line, for the user; 0 for next to nothing.
    """
    say(f"{title}{f' (about {about_s} s)' if about_s else ''} ...")
    started = time.monotonic()
    done = process.answer(command, None, dict(os.environ) | dict(environment or {}), cwd=ROOT, merged=True)
    elapsed = time.monotonic() - started
    if done.status is None:
        raise Failure(f"{title}: {done.err}.")
    if done.status:
        tail = "\n".join(done.out.splitlines()[-LAST_LINES:])
        raise Failure(f"{title} failed with status {done.status}: {' '.join(command)}\n{tail}")
    say(f"{title}: done in {elapsed:.0f} s")


@contextlib.contextmanager
def setup_lock() -> Iterator[None]:
    """Let one process at a time change the set-up; a second one waits and says so."""
    STATE_DIR.mkdir(parents=True, exist_ok=True)
    with (STATE_DIR / "setup.lock").open("w") as lock:
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
