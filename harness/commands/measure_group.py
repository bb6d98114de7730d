# SPDX-License-Identifier: BSD-3-Clause
"""What the commands share that measure one group of studies and end with a table of it: one way from request to table.

A command says what its group is: who has such a session, and the table (`Group`). The options are in tables.py.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import UsageError
from harness.base.steps import say
from harness.commands import tables
from harness.commands.run import describe, execute, usable
from harness.job import session as sessions
from harness.job.session import Facts
from harness.sessions import run as runs
from harness.sessions.request import Request, from_facts

Tell = Callable[[list[Path]], tuple[str, int]]
Plan = Callable[[Request], str]


@dataclass(frozen=True)
class Group:
    """`command`: what measures it; `tell`: the table of such sessions, and the exit status that it makes; `has`: is a
    session one of it?; `first`: measures what is no study, before those; `report`: a session has the report, too."""

    command: str
    tell: Tell
    has: Callable[[Facts], bool] = lambda _: False
    first: Callable[[Request, sessions.Session], None] | None = None
    report: bool = True

    def run(
        self,
        asked: Callable[[], Request],
        table: str,
        resume: str,
        force: bool,
        out: Path | None,
        plan: Plan | None = None,
    ) -> int:
        """Measure what is `asked` for, or what a session lacks, and write the table of it; or the `table` of sessions
        alone, or the `plan`. The exit status."""
        if table:
            return self.told(tables.named(table), out)
        session = self._going_on(resume) if resume else None
        request = from_facts(session.facts) if session else asked()
        if plan:
            print(plan(request))
            return 0
        path, status = self.measure(request, session, force)
        told = self.told([path], out)  # the table is written whatever failed
        return status or told

    def told(self, paths: list[Path], out: Path | None) -> int:
        """Write the table; its exit status."""
        text, status = self.tell(paths)
        tables.write(text, out)
        return status

    def _going_on(self, name: str) -> sessions.Session:
        session = sessions.load(name)
        if not self.has(session.facts):
            goes_on = f"{runs.resuming(session)} goes on with it"
            raise UsageError(f"Session {session.name} is none of ./bench {self.command}: {goes_on}.")
        return session

    def measure(
        self, request: Request, session: sessions.Session | None = None, force: bool = False, hint: str = ""
    ) -> tuple[Path, int]:
        """Measure in a new session or in the one that goes on: where it is, and the exit status."""
        usable(request.system)
        runs.set_up(request)
        hint = hint or self.command
        with runs.measuring(request.system, hint):
            if session:
                session = runs.resumed_session(request, session, force)
            else:
                session = runs.new_session(request, hint, sys.argv[1:])
            if self.first:
                with _interrupted(session):
                    self.first(request, session)
            if not request.studies:
                session.finish("complete")
                say(f"session: {session.path}")
                return session.path, 0
            if not request.program:  # of which nobody knows how long it takes
                say(describe(request))
            return session.path, execute(request, session, self.report)


@contextlib.contextmanager
def _interrupted(session: sessions.Session) -> Iterator[None]:
    """Nobody else runs the session meanwhile, and whatever ends it early is written down."""
    with session.alone():
        try:
            yield
        except BaseException:
            session.finish("interrupted")
            raise
