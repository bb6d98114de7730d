# SPDX-License-Identifier: BSD-3-Clause
"""The sessions of a ReFrame that was started by itself (`reframe -r`), where no ./bench has made one.

All checks of one ReFrame run that were asked for alike share a session; a check that is run again, by --repeat say,
takes another one, so that nothing measured before is taken for new. harness.sessions.direct writes them, in a process
of its own: sessions stand above the checks.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from harness.base import process
from harness.base.errors import Failure
from harness.base.paths import ROOT


@dataclass(frozen=True)
class Asked:
    """What is the same for all checks of a session. `config`: ReFrame's file of the system."""

    config: str
    system: str
    partition: str
    scale: str
    variants: list[str]
    settings: dict[str, str]
    seed: int
    nodes: int
    slowdown: float
    program: str = ""  # as JSON
    mpi_environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """One check on one MPI. `programs`: the folder they are in; `spack`: what they were built from, if Spack did."""

    study: str
    mpi: str
    programs: str
    network: str
    spack: dict[str, Any]


@dataclass
class _Open:
    """A session of this process. Its lock is held for as long as the process lives: that is what running means."""

    asked: Asked
    path: Path
    jobs: list[Job] = field(default_factory=list)
    lock: IO[str] | None = None

    def takes(self, asked: Asked, job: Job) -> bool:
        return self.asked == asked and (job.study, job.mpi) not in {(done.study, done.mpi) for done in self.jobs}


_OPEN: list[_Open] = []


def folder_for(asked: Asked, job: Job) -> Path:
    """The session in which `job` measures. Failure with the sentence if there can be none."""
    mine = next((session for session in _OPEN if session.takes(asked, job)), None)
    if mine is None:
        mine = _Open(asked, Path(_tell("new", asked, [job])), [job])
        mine.lock = (mine.path / "lock").open("w")
        fcntl.flock(mine.lock, fcntl.LOCK_EX)
        _OPEN.append(mine)
    else:
        _tell("join", asked, [*mine.jobs, job], mine.path)
        mine.jobs.append(job)
    return mine.path


@atexit.register
def _end() -> None:
    """However this ReFrame ended, its sessions say so."""
    for session in _OPEN:
        try:
            _tell("end", session.asked, session.jobs, session.path)
        except Failure as error:
            print(f"{session.path}: {error}", file=sys.stderr)


def _tell(what: str, asked: Asked, jobs: list[Job], session: Path | None = None) -> str:
    said = {"session": str(session) if session else None, "command": sys.argv, "asked": asdict(asked)}
    told = json.dumps(said | {"jobs": [asdict(job) for job in jobs]})
    command = [sys.executable, "-m", "harness.sessions.direct", what]
    done = process.answer(command, None, dict(os.environ) | {"PYTHONPATH": str(ROOT)}, told=told)
    if done.status != 0:
        raise Failure(done.err.strip() or f"the session cannot be kept: status {done.status}")
    return done.out.strip()
