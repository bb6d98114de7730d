# SPDX-License-Identifier: BSD-3-Clause
"""The sessions of a ReFrame that was started by itself (`reframe -r`), where no ./bench has made one.

All checks of one ReFrame run that were asked for alike share a session; a check that is run again, by --repeat say,
takes another one, so that nothing measured before is taken for new. The session can then be reported, compared and
resumed like any other.
"""

from __future__ import annotations

import atexit
import fcntl
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from harness.job import session as sessions
from harness.job.session import Asked, Session, salvage
from reframe_checks.catalogue import Study
from reframe_checks.jobs import Request, write
from spack_env import site_environment as spack

HINT = "reframe"


@dataclass(frozen=True)
class Wanted:
    """What is the same for all checks of a session."""

    asked: Asked
    scale: str
    system: str
    emulated: bool
    model: Mapping[str, str]


@dataclass(frozen=True)
class Check:
    """One check on one MPI. `programs`: the folder they are in; `spack`: what they were built from, if Spack did."""

    study: Study
    mpi: str
    programs: Path
    network: str
    spack: dict[str, Any]


@dataclass(frozen=True)
class _Here:
    """Where this ReFrame runs, as jobs.OnSystem has it."""

    name: str
    config: Path
    partition: str
    emulated: bool
    files: Mapping[str, str]
    programs: Mapping[str, Path]

    def model(self) -> Mapping[str, str]:
        return self.files

    def programs_of(self, mpi: str) -> Path:
        return self.programs[mpi]


@dataclass
class _Open:
    """A session of this process. Its lock is held for as long as the process lives: that is what running means."""

    wanted: Wanted
    checks: list[Check] = field(default_factory=list)
    session: Session | None = None
    lock: IO[str] | None = None

    def takes(self, wanted: Wanted, check: Check) -> bool:
        done = {(done.study.name, done.mpi) for done in self.checks}
        return self.wanted == wanted and (check.study.name, check.mpi) not in done

    def take(self, check: Check) -> Path:
        """A check more: its session is made, or says so."""
        checks = [*self.checks, check]
        facts = self._facts(checks)
        if self.session is None:
            self.session = sessions.create(HINT, {"command": sys.argv, **facts})
            self.lock = (self.session.path / "lock").open("w")
            fcntl.flock(self.lock, fcntl.LOCK_EX)
        else:
            self.session.facts = replace(self.session.facts, **facts)
            self.session.save()
        write(self.request(checks).jobs(), self.session.path)
        self.checks = checks
        return self.session.path

    def request(self, checks: list[Check]) -> Request[_Here]:
        """Every study on every MPI, as ./bench is asked for the same."""
        wanted, programs = self.wanted, {check.mpi: check.programs for check in checks}
        asked, studies = wanted.asked, {check.study.name: check.study for check in checks}
        here = _Here(wanted.system, Path(asked.config), asked.partition, wanted.emulated, wanted.model, programs)
        return Request(list(studies.values()), here, list(programs), asked, wanted.scale)

    def _facts(self, checks: list[Check]) -> dict[str, Any]:
        request = self.request(checks)
        built = {check.mpi: check.spack for check in checks if check.spack}
        return {
            **request.facts(),
            "mpis": sessions.mpi_facts(request.mpis),
            "identity": request.identity(),
            "network": checks[0].network,
            "spack": {"version": spack.version(), "environments": built} if built else None,
        }

    def end(self) -> None:
        """Complete if every point of its jobs is measured, or known to be impossible here."""
        assert self.session is not None
        salvage(self.session.folders)
        lacking = self.request(self.checks).missing(self.session.folders)
        self.session.finish("incomplete" if lacking else "complete")


_OPEN: list[_Open] = []


def folder_for(wanted: Wanted, check: Check) -> Path:
    """The session in which the check measures. UsageError with the sentence if there can be none."""
    mine = next((session for session in _OPEN if session.takes(wanted, check)), None)
    if mine:
        return mine.take(check)
    mine = _Open(wanted)
    path = mine.take(check)
    _OPEN.append(mine)
    return path


@atexit.register
def _end() -> None:
    """However this ReFrame ended, its sessions say so."""
    for one in _OPEN:
        try:
            one.end()
        except OSError as error:
            print(f"{one.session and one.session.path}: {error}", file=sys.stderr)
