# SPDX-License-Identifier: BSD-3-Clause
"""Runs a request: brings the system up, lets ReFrame run one job a study and MPI, tells how far it is, and writes down
how it ended.

Progress is told by the jobs themselves after each launch through a fifo in the session's folder. On a terminal it is a
bar, and lines of what went wrong above it; elsewhere a line a launch. The reader sleeps in read(): nothing here polls,
draws or wakes while a timed launch runs.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import psutil

from harness.base import process
from harness.base.errors import Failure, UsageError
from harness.base.paths import ROOT, STATE_DIR, VENV, python
from harness.base.process import say
from harness.job.program import CALLERS_PYTHONPATH
from harness.job.records import EXPECTED, UNEXPECTED, Folders, trouble
from harness.job.session import Session, State, salvage
from harness.sessions import missing_launches
from harness.sites.systems import Opened, Request, System
from reframe_checks import catalogue
from reframe_checks.catalogue import Study
from reframe_checks.jobs import write

REFRAME_DB = STATE_DIR / "reframe.db"
STOP_GRACE_S = 15.0
LOG_TAIL = 15
LOOK_S, BUSY = 0.5, 50.0  # how long a busy machine is looked at, and per cent of a CPU that others may take of it
OF_GROUPS = ("engine-costs", "harm", "nodes")  # the commands that go on with sessions of their own


def resuming(session: Session) -> str:
    """The command that goes on with a session."""
    asked, called = session.facts.request, session.facts.command[:1]
    command = "tune" if asked and asked.search else "gate" if asked and asked.gate else "run"
    if called and called[0] in OF_GROUPS:
        command = called[0]
    told = f" && ./bench where {session.path}" if called == ["where"] else ""  # which a run does not tell
    return f"./bench {command} --resume {session.name}{told}"


def measuring(system: System, what: str) -> contextlib.AbstractContextManager[None]:
    """Have this machine alone, once it is free, where the system is on this machine."""
    return process.machine_alone(what) if system.exclusive else contextlib.nullcontext()


def run(request: Request, session: Session) -> bool:
    """Run everything of `request` that `session` lacks; True if every point ended ok or skipped.

    Raises KeyboardInterrupt after everything is down and what was finished is kept, and Failure where the session's
    folder does not take records any more.
    """
    state: State = "interrupted"
    with session.alone() as lock:
        try:
            salvage(session.folders)
            with contextlib.ExitStack() as stack:
                _run_studies(request, session, lambda: _open(request, session, stack), lock)
            state = "complete" if not request.missing(session.folders) else "incomplete"
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{resuming(session)} goes on with it") from None
        except OSError as error:
            raise _unwritable(session, error) or error from error
        finally:
            _close(session, state)
    return state == "complete"


def _open(request: Request, session: Session, stack: contextlib.ExitStack) -> Opened:
    opened = stack.enter_context(request.system.open(request.asked.nodes))
    if opened.note:
        say(opened.note)
    before = session.facts.network
    if before and before != opened.network:
        raise UsageError(
            f"Session {session.name} was begun on another network: {before}. Now there is: {opened.network}. Its "
            "launches cannot be held against each other: bring the first network up again, or begin a new session."
        )
    session.facts.network, session.facts.network_measured = opened.network, dict(opened.measured)
    session.save()
    return opened


def _close(session: Session, state: State) -> None:
    """The end of a run, however it ended; a second Ctrl-C does not leave it half done."""
    with _deaf():
        try:
            salvage(session.folders)
            session.finish(state)
        except OSError as error:
            raise _unwritable(session, error) or error from error


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _unwritable(session: Session, error: OSError) -> Failure | None:
    """What to say where records cannot be written; None if the error has another cause."""
    if not (why := trouble(session.path)):
        return None
    return Failure(
        f"The results in {session.path} cannot be written any more ({why}; {error.strerror}): what was finished before "
        f"is kept. When the folder is as it was, with room in it: {resuming(session)}"
    )


def _run_studies(request: Request, session: Session, bring_up: Callable[[], Opened], lock: int) -> None:
    """One ReFrame a study. A launch that its job did not come to gets a record that says why."""
    opened = bring_up()
    if request.system.exclusive and (words := busy(psutil.cpu_percent(LOOK_S, percpu=True))):
        say(words)
    jobs = request.jobs()
    write(jobs, session.path)
    progress = Progress(
        {(job.study.name, job.mpi): job.learnt_s(request.system.name, request.scale)[0] for job in jobs}
    )
    with watch(session.path, progress):
        for study in request.studies:
            if not opened.alive():
                say(f"the nodes of {request.system.name} are gone: making new ones")
                opened = bring_up()
            mpis = [job.mpi for job in jobs if job.study is study]
            command = opened.login([*reframe_command(request, study, mpis, session.path), *_extras(session)])
            report = _report(session.path, study.name)
            report.unlink(missing_ok=True)
            complaint = _reframe(command, report.with_suffix(".log"), lock)
            if complaint and not trouble(session.path):  # else the sentence on the folder says why
                say(complaint)
            salvage(session.folders)
            for job in jobs:
                if job.study is study:
                    count, why = missing_launches.record(job, session, report)
                    if count:
                        say(f"{study.name} on {job.mpi}: {counted(count, 'launch')} not run: {why}")


def busy(cpus: list[float]) -> str:
    """What to say of a machine where something else runs, before anything is measured; empty if nothing does. `cpus`:
    per cent of each."""
    taken = sum(share > BUSY for share in cpus)
    if not taken:
        return ""
    where = f"{taken} of {len(cpus)} CPUs of this machine"
    return f"something else runs on {where}: what is measured beside it may decide nothing"


def _prefix(session: Path) -> Path:
    return session / "reframe"


def _report(session: Path, study: str) -> Path:
    return _prefix(session) / f"{study}.json"


def reframe_command(request: Request, study: Study, mpis: list[str], session: Path) -> list[str]:
    """ReFrame's command line for one study of the request on these MPIs."""
    return [
        *python(str(VENV / "bin" / "reframe")),
        *("--nocolor", "--exec-policy=serial", "--run"),
        *("-C", str(request.system.config)),
        *(("--system", f"{request.system.name}:{request.system.partition}") if request.system.partition else ()),
        "--skip-system-check",  # what cannot be measured here leaves records that say so
        *("-c", str(catalogue.file_of(study.name)), "-n", f"^{study.check_name}\\b"),
        *("--prefix", str(_prefix(session)), "--report-file", str(_report(session, study.name))),
        *("-p", f"^({'|'.join(map(re.escape, mpis))})$"),
        *("-P", f"scale={request.scale}", "-S", f"session_dir={session}"),  # which says what else is asked for
    ]


def _extras(session: Session) -> list[str]:
    """By what ReFrame's own database finds the session's runs again: session, commit and engines; see tell_reframe."""
    git = session.facts.git
    commit = f"{git.commit}{'+' * git.dirty}" if git else "unknown"
    engines = [
        f"{name.replace(' ', '_')}={digest}" for name, digest in session.facts.identity.items() if "engine" in name
    ]
    return ["--session-extras", ",".join([f"session={session.name}", f"commit={commit}", *engines])]


def tell_reframe(session: Path, verdict: str) -> None:
    """The verdict beside those extras. It is known once ReFrame has ended, which adds nothing to a run that it keeps;
    braces within the extras it cannot read. Sessions of two folders may have one name: the run is found by its place.
    """
    place = _prefix(session).resolve()
    kept = f"{REFRAME_DB.as_uri()}?mode=rw"  # it is ReFrame that makes the file
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(kept, uri=True)) as database, database:
        ours = database.execute("SELECT uuid, json_blob FROM sessions WHERE json_blob LIKE ?", [f"%{session.name}%"])
        for uuid, text in ours.fetchall():
            report = json.loads(text)
            if Path(report["session_info"]["prefix_output"]).resolve().is_relative_to(place):
                report["session_info"]["verdict"] = verdict.translate(str.maketrans("{}", "()"))
                database.execute("UPDATE sessions SET json_blob = ? WHERE uuid = ?", [json.dumps(report), uuid])


def _reframe(command: list[str], log: Path, lock: int) -> str:
    """Run ReFrame; its words go to `log`. Empty, or what to say of an end that is not one of ReFrame's own.

    That a test failed is not said here: the records say what failed, and why.
    """
    log.parent.mkdir(exist_ok=True)
    environment = dict(os.environ) | {
        "PYTHONPATH": str(ROOT),
        CALLERS_PYTHONPATH: os.environ.get("PYTHONPATH", ""),
        "RFM_ENABLE_RESULTS_STORAGE": "yes",
        "RFM_SQLITE_DB_FILE": str(REFRAME_DB),
        "LOGNAME": _user(),  # ReFrame fails without a name, and a user in a container may have no account
    }
    with log.open("ab") as stream:
        how = {"env": environment, "stdout": stream, "stderr": stream, "pass_fds": [lock]}
        # told to stop as well if this process is killed; it holds the session's lock until it has stopped
        with process.group(command, signal.SIGINT, STOP_GRACE_S, tie=signal.SIGINT, **how) as reframe:
            try:
                status = reframe.wait()
            except BaseException:
                say("stopping: finished points are kept ...")
                raise
    if status in (0, 1):
        return ""
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-LOG_TAIL:])
    return f"ReFrame ended with status {status}; the end of {log}:\n{tail}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user{os.getuid()}"


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
    fifo = Folders(session).progress
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
