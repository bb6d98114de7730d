# SPDX-License-Identifier: BSD-3-Clause
"""Runs a request: sets up, brings the system up, lets ReFrame run one job a study and MPI, writes down how it ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from harness import identity
from harness import session as sessions
from harness.errors import Failure, UsageError
from harness.mpis import MPIS
from harness.paths import ROOT, VENV
from harness.progress import Progress, watch
from harness.request import Job, Request
from harness.schedule import records
from harness.schedule.salvage import salvage
from harness.session import Session
from harness.setup import build
from harness.setup.steps import say
from harness.systems import Opened

CHECKS = ROOT / "reframe_checks" / "studies"
SETTING_SEPARATOR = ";"
STOP_GRACE_S = 15.0


def set_up(request: Request) -> None:
    """Have every MPI of the request installed and built for."""
    if request.system.own_mpis:
        for name in request.mpis:
            build.ensure(MPIS[name])


def new_session(request: Request, hint: str, command: list[str]) -> Session:
    """A new session for `request`; what it runs with must be built already."""
    return sessions.create(hint, {"command": command, **request.facts(), "identity": identity.of(request)})


def resumed_session(request: Request, session: Session, force: bool) -> Session:
    """The same session, to go on with; UsageError if what would run now is not what ran then."""
    found = identity.differences(session.facts.get("identity", {}), identity.of(request))
    if found and not force:
        raise UsageError(
            f"Session {session.name} cannot be resumed: {'; '.join(found)}. Start a new one, or mix them with --force."
        )
    session.facts.setdefault("resumed", []).append({"time": sessions.utc_now().isoformat(), "differences": found})
    session.facts["state"] = "running"
    session.save()
    return session


def run(request: Request, session: Session) -> bool:
    """Run everything of `request` that `session` lacks; True if every point ended ok or skipped.

    Raises KeyboardInterrupt after everything is down and what was finished is kept.
    """
    jobs = request.jobs()
    lock = sessions.measuring(session.name) if request.system.exclusive else contextlib.nullcontext()
    state = "interrupted"
    with lock, session.alone():
        try:
            salvage(session.folders)
            with request.system.open(request.nodes) as opened:
                if opened.note:
                    say(opened.note)
                _note_network(session, opened)
                _run_jobs(request, jobs, session, opened)
            state = "complete" if not missing(request, session) else "incomplete"
        finally:
            salvage(session.folders)
            session.finish(state)
    return state == "complete"


def _note_network(session: Session, opened: Opened) -> None:
    session.facts["network"] = opened.network
    session.save()


def _run_jobs(request: Request, jobs: list[Job], session: Session, opened: Opened) -> None:
    progress = Progress({(job.study.name, job.mpi): job.estimate_s() for job in jobs})
    with watch(session.path, progress):
        for study in request.studies:
            command = opened.login(reframe_command(request, study.name, session.path))
            _reframe(command, session.path / "reframe" / f"{study.name}.log")


def reframe_command(request: Request, study: str, session: Path) -> list[str]:
    """ReFrame's command line for one study of the request."""
    prefix = session / "reframe"
    variables = {
        "scale": request.scale,
        "variants": ",".join(request.variants),
        "settings": SETTING_SEPARATOR.join(f"{name}={text}" for name, text in request.settings.items()),
        "seed": str(request.seed),
        "nodes": str(request.nodes),
        "session_dir": str(session),
    }
    return [
        *(str(VENV / "bin" / "reframe"), "--nocolor", "--exec-policy=serial", "--run"),
        *("-C", str(request.system.config)),
        *("-c", str(CHECKS / f"{study.replace('-', '_')}.py")),
        *("--prefix", str(prefix), "--report-file", str(prefix / f"{study}.json")),
        *(("-p", f"^({'|'.join(request.mpis)})$") if request.mpis else ()),
        *(option for name, text in variables.items() if text for option in ("-S", f"{name}={text}")),
    ]


def _reframe(command: list[str], log: Path) -> None:
    """Run ReFrame; its words go to `log`. Its exit status is not ours: the records say what failed, and why."""
    log.parent.mkdir(exist_ok=True)
    environment = dict(os.environ) | {
        "PYTHONPATH": str(ROOT),
        "RFM_ENABLE_RESULTS_STORAGE": "yes",
        "RFM_SQLITE_DB_FILE": str(ROOT / ".bench" / "reframe.db"),
    }
    with log.open("ab") as stream, _stopping(command, environment, stream.fileno()) as process:
        status = process.wait()
    if status not in (0, 1):
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise Failure(f"ReFrame ended with status {status}; the end of {log}:\n{tail}")


@contextlib.contextmanager
def _stopping(command: list[str], environment: dict[str, str], output: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is told to stop, and then made to, when the body is left by an exception."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    try:
        yield process
    except BaseException:
        say("stopping: finished points are kept ...")
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, signal.SIGINT)
            process.wait(STOP_GRACE_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


def missing(request: Request, session: Session) -> list[str]:
    """The launches of the request that have points which are neither ok nor skipped."""
    folder = session.folders.records
    lacking = []
    for job in request.jobs():
        wanted = {records.key(dict(point)) for point in job.scale.points()}
        ranks = request.nodes * job.study.tasks_per_node
        for launch in job.launches:
            done = records.finished(folder, launch.identity, ranks) | records.skipped(folder, launch.identity)
            if not wanted <= done:
                lacking.append(launch.identity)
    return lacking
