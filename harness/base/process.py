# SPDX-License-Identifier: BSD-3-Clause
"""Every program that is started and waited for here: one way to start it, one way to end it whole. Standard library.

A program is in a process group of its own, and when whoever waits for it goes on (it ended, took too long, a signal,
an exception) nothing of that group is left, also what ignores SIGTERM. What leaves the group is a launch's alone to
reap, by its mark (harness.job.reap), or a node's, which ends with all that runs on it (harness.vcluster).
"""

from __future__ import annotations

import contextlib
import os
import re
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
        return failure_reason("\n".join(log.read_text(errors="replace") for log in logs))
    except OSError:
        return ""


def note(command: Sequence[str], log: Path, timeout_s: float = NOTE_TIMEOUT_S) -> None:
    """Run a command whose failure is noted in the log and ends nothing."""
    try:
        run(command, {}, log, timeout_s)
    except OSError as error:
        with contextlib.suppress(OSError), log.open("a") as stream:
            stream.write(f"{command[0]}: {error}\n")


# Why a program failed, as the end of its output tells: what it said last itself, and the signal that ended it.
#
# When a rank dies, the launcher ends the output with words of its own, a banner and advice that are the same each time.
# What it knows of the rank is kept, the rest is passed over: what the program said stands above. Standard library.

LONGEST = 300  # of a sentence, in characters
LOOKED_AT = 100_000  # of an output that may be long, the last so many characters
# Open MPI frames each of its messages with lines of so many dashes.
FRAMED = re.compile(r"^-{74}\s*\n(.*?)\n-{74}\s*$", re.MULTILINE | re.DOTALL)
# What tells how a rank ended, by what the number in it is. A message that was framed is one line here.
ENDS = (
    r"^= +KILLED BY SIGNAL: (?P<signal>\d+)",  # Intel MPI
    r"^YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .*\(signal (?P<string>\d+)\)",  # Hydra
    r"^= +EXIT CODE: (?P<code>\d+)",  # Hydra
    r" noticed that process rank .* exited on signal (?P<signal>\d+)",  # Open MPI
    r" exited with non-zero status, thus causing the job to be terminated.* Exit code: +(?P<code>\d+)",  # Open MPI
    r"^\[[^\]]+:\d+\] Signal: .*\((?P<signal>\d+)\)$",  # Open MPI, in the rank
    r"\bapplication called MPI_Abort\([^,]+, (?P<abort>-?\d+)\)",  # MPICH, Intel MPI
    r"^MPI_ABORT was invoked on rank .* [Ee]rrorcode:? (?P<abort>-?\d+)",  # Open MPI
)
# What else launchers and MPIs say of it.
ADVICE = (
    r"^[-=*#_~+ ]{8,}$",
    r"^= +(BAD TERMINATION OF ONE OF|RANK \d+ PID \d+|PID \d+ RUNNING|CLEANING UP REMAINING|YOU CAN IGNORE THE BELOW)",
    r"^This typically refers to a problem with your application",
    r"^Please see the FAQ page for debugging suggestions",
    r"^(Intel\(R\) MPI Library troubleshooting guide:|https://software\.intel\.com/)",
    r"^Primary job +terminated normally, but \d+ process",
    r"^a non-zero exit code\. Per user-direction, the job has been aborted",
    r" has exited due to process rank \d+ with PID \d+ ",
    r"^\[[^\]]+:\d+\] +(\*\*\* (Process received signal|End of error message) \*\*\*|Signal|Failing at|\[ *\d+\])",
    r"^\[[^\]]+:\d+\] +\*\*\* +(reported by process|on (a NULL )?communicator|Unknown error|MPI_ERRORS_ARE_FATAL|and )",
    r"^\[[^\]]+:\d+\] +(\d+ more process(es)? ha(s|ve) sent help message|Set MCA parameter .* to see all help)",
    r"^\[(mpiexec|proxy:[\d:]+)@[^\]]+\] .*(assert \(!closed\)|returned error|waiting for|terminated badly|Ctrl-C)",
)
BY_LAUNCHER = re.compile("|".join(re.sub(r"\?P<[a-z]+>", "", one) for one in (*ENDS, *ADVICE)))
# What is sent to a rank because another died or the time was up.
SENT = (signal.SIGINT, signal.SIGKILL, signal.SIGTERM)
FROM_SHELL = 128  # a shell's status of a program that a signal ended: this and the signal's number


def failure_reason(text: str) -> str:
    """The last words of an output; empty if it has none."""
    text = text[-LOOKED_AT:].replace("\0", "")  # PRRTE ends a message with one
    whole = FRAMED.sub(lambda framed: " ".join(framed[1].split()), text)
    lines = [line.strip() for line in whole.splitlines() if line.strip()]
    own = (one for one in reversed(lines) if not BY_LAUNCHER.search(one))
    said, found = next(own, "")[:LONGEST], _numbers(lines)
    if any("srun: Job step creation temporarily disabled" in line for line in lines):
        said = "srun waited for CPUs that a step around it holds: give it --overlap, or call it outside of that step"
    if ended := _ended(found):
        return f"{said}; {ended}" if said else ended
    if said:
        return said
    codes = (code for code in found["code"] if not found["string"])
    return next((f"ended with exit code {code}" for code in codes), "")


def _numbers(lines: list[str]) -> dict[str, list[int]]:
    """The numbers that are told, in their order, by the names that they have in ENDS."""
    found: dict[str, list[int]] = {"signal": [], "string": [], "code": [], "abort": []}
    for line in lines:
        for pattern in ENDS:
            if told := re.search(pattern, line):
                kind, number = told.groupdict().popitem()
                found[kind].append(int(number))
    return found


def _ended(found: dict[str, list[int]]) -> str:
    """How the rank ended with which it began: others are ended for its sake."""
    # Beside its exit string Hydra's exit codes are signals. The string has all ranks' in one, by OR: it comes last.
    codes = [code if found["string"] and code < FROM_SHELL else code - FROM_SHELL for code in found["code"]]
    signals = [one for one in (*found["signal"], *codes, *found["string"]) if one in signal.valid_signals()]
    first = next((one for one in signals if one not in SENT), None)
    if first is None and signals and set(signals) == {signal.SIGKILL}:  # also from a kernel without memory
        first = signal.SIGKILL
    if first is not None:
        return f"ended by signal {int(first)} ({signal.strsignal(first)})"
    if signal.SIGKILL in signals:
        return "ended by a signal"
    return f"ended by MPI_Abort with error code {found['abort'][0]}" if found["abort"] else ""
