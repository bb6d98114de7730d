# SPDX-License-Identifier: BSD-3-Clause
"""Every program that is started and waited for here: one way to start it, one way to end it whole; how a step of the
set-up runs: announced, logged, timed, with its output shown only when it fails; and the locks by which one ./bench
waits for another: of the set-up, and of the machine. Standard library.

A program is in a process group of its own, and when whoever waits for it goes on (it ended, took too long, a signal,
an exception) nothing of that group is left, also what ignores SIGTERM. What leaves the group is a launch's alone to
reap, by its mark (harness.job.reap), or a node's, which ends with all that runs on it (harness.vcluster).

A measurement has the machine alone, a person's own programs may share it. The virtual nodes belong to whoever has it,
so nobody takes them from under somebody else. A lock ends with its process, however that ends.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from harness.base.errors import Failure, UsageError
from harness.base.failure_reason import failure_reason
from harness.base.paths import ROOT, STATE_DIR

KILL_AFTER_S = 2.0
NOTE_TIMEOUT_S = 30.0

Running = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Exit:
    """How a process ended: its status (None: given up after its timeout), its wall time, the end of its output."""

    status: int | None
    seconds: float
    said: str

    @property
    def last_line(self) -> str:
        return failure_reason(self.said)


@dataclass(frozen=True)
class Answer:
    """What a program said. `status` None: it could not be started or did not end in time, and `err` says which."""

    status: int | None
    out: str
    err: str

    @property
    def last_line(self) -> str:
        return failure_reason(self.err) or failure_reason(self.out)


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
    return Exit(status, seconds, _said(*filter(None, (log, errors))))


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
    return failure_reason(_said(*logs))


def _said(*logs: Path) -> str:
    try:
        return "\n".join(log.read_text(errors="replace") for log in logs)
    except OSError:
        return ""


def note(command: Sequence[str], log: Path, timeout_s: float = NOTE_TIMEOUT_S) -> None:
    """Run a command whose failure is noted in the log and ends nothing."""
    try:
        run(command, {}, log, timeout_s)
    except OSError as error:
        with contextlib.suppress(OSError), log.open("a") as stream:
            stream.write(f"{command[0]}: {error}\n")


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


def _has_ended(step: Step, output: IO[bytes], run: Running, elapsed_s: float) -> None:
    if run.returncode:
        output.seek(0)
        tail = "\n".join(output.read().decode(errors="replace").splitlines()[-LAST_LINES:])
        raise Failure(f"{step.title} failed with status {run.returncode}: {' '.join(step.command)}\n{tail}")
    say(f"{step.title}: done in {elapsed_s:.0f} s")


def _started(step: Step, output: IO[bytes]) -> contextlib.AbstractContextManager[Running]:
    environment = dict(os.environ) | dict(step.environment)
    if shutil.which(step.command[0], path=environment.get("PATH")) is None:
        raise Failure(f"{step.title}: there is no program {step.command[0]}.")
    return group(step.command, env=environment, cwd=ROOT, stdout=output, stderr=output)


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
        return "" if _try(file, fcntl.LOCK_EX) else _holder(file)


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
        say(f"waiting for another ./bench on this machine ({_holder(file)}) ...")
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


def _holder(file: IO[str]) -> str:
    file.seek(0)
    return file.read().strip() or "just starting"
