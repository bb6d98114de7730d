# SPDX-License-Identifier: BSD-3-Clause
"""Runs a request: sets up, brings the system up, lets ReFrame run one job a study and MPI, writes down how it ended."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil

from harness.base import mpis, process, steps, variants
from harness.base.errors import Failure, UsageError, meant
from harness.base.paths import ROOT, STATE_DIR, VENV, python
from harness.base.steps import say
from harness.job import session as sessions
from harness.job.launch import salvage
from harness.job.program import CALLERS_PYTHONPATH
from harness.job.records import trouble
from harness.job.session import Resumed, Session, State
from harness.sessions import missing_launches
from harness.sessions.progress import Progress, counted, estimate, watch
from harness.sessions.request import Request
from harness.setup.environment import ensure_mpis
from harness.sites.systems import Opened, System
from reframe_checks import catalogue
from reframe_checks import jobs as planning
from reframe_checks.study import Study
from spack_env import site_environment as spack

REFRAME_DB = STATE_DIR / "reframe.db"
STOP_GRACE_S = 15.0
ANSWER_LIMIT_S = 30.0
LOG_TAIL = 15
LOOK_S, BUSY = 0.5, 50.0  # how long a busy machine is looked at, and per cent of a CPU that others may take of it
OF_GROUPS = ("engine-costs", "harm", "nodes")  # the commands that go on with sessions of their own
WRONG_USE = 2  # the status of progress-run for settings that cannot be


def set_up(request: Request) -> None:
    """Have every MPI that is run on installed, and the engine and what its studies run built for it."""
    if request.system.own_mpis:
        ensure_mpis(*map(mpis.by_name, request.programs()))
    programs = request.programs()
    request.system.set_up(programs, request.may_offload())
    for mpi in programs:
        check_settings(request.asked.variants, request.system.programs_of(mpi))


def check_settings(names: Iterable[str], programs: Path) -> None:
    """UsageError with what progress-run says of these variants' settings, rather than in each launch of a session."""
    for name in names:
        how = variants.recipe(name, programs / "progress-run", {})
        if ":" not in name or isinstance(how, str):
            continue
        done = process.answer([*how.prefix, "true"], ANSWER_LIMIT_S)
        if done.status == WRONG_USE:
            why = done.err.strip().removeprefix("progress-run: ")
            unknown = re.match(r"unknown setting '(\w+)'", why)
            near = meant(unknown[1], (one.key for one in variants.settings())) if unknown else ""
            raise UsageError(f"Variant '{name}': {near}{why}")


def new_session(request: Request, hint: str, command: list[str]) -> Session:
    """A new session for `request`; what it runs with must be built already."""
    facts = {"command": command, **request.facts(), "identity": request.identity(), "spack": _spack_facts(request)}
    return sessions.create(hint, facts)


def _spack_facts(request: Request) -> dict[str, Any] | None:
    """Which Spack built what, where one did."""
    used = {name: request.system.spack[name].lock() for name in request.programs() if name in request.system.spack}
    return {"version": spack.version(), "environments": used} if used else None


def take_work(session: Session, model: Session) -> None:
    """Give `session` the calibration of `model`: sessions that are compared do the same work."""
    kept = sorted(model.folders.calibration.glob("*.json"))
    for path in kept:
        shutil.copy(path, session.folders.calibration)
    session.facts.work_of = (model.facts.work_of or model.name) if kept else None
    session.save()


def resumed_session(request: Request, session: Session, force: bool) -> Session:
    """The same session, to go on with; UsageError if what would run now is not what ran then."""
    found = planning.differences(session.facts.identity, request.identity())
    if found and not force:
        alone = (
            request.asked.search or request.asked.gate
        )  # whose commands have no --force: what they compare is not mixed
        raise UsageError(
            f"Session {session.name} cannot be resumed: {'; '.join(found)}. Start a new one"
            f"{'.' if alone else ', or mix them with --force.'}"
        )
    with session.alone():
        session.facts.resumed.append(Resumed(sessions.utc_now().isoformat(), found))
        session.facts.state = "running"
        session.save()
    return session


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
    return steps.machine_alone(what) if system.exclusive else contextlib.nullcontext()


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
    planning.write(jobs, session.path)
    progress = Progress({(job.study.name, job.mpi): estimate(job, request)[0] for job in jobs})
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
