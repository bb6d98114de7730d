# SPDX-License-Identifier: BSD-3-Clause
"""What the commands share that measure and end with a table: their options, and the table of what sessions hold."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.errors import UsageError
from harness.base.process import say
from harness.base.validate import parse_list, parse_settings
from harness.commands import options, results
from harness.commands.run import describe, execute, new_session, resume_session, usable
from harness.job import session as sessions
from harness.job.session import Facts
from harness.sessions import run as runs
from harness.sessions.model_points import Part
from harness.sites import systems
from harness.sites.systems import Request, from_facts

if TYPE_CHECKING:
    from analysis.evidence import Evidence

Scale = Annotated[str, typer.Option("--scale", metavar="quick|test", help="How much: test is only to try it.")]
Resume = Annotated[
    str, typer.Option("--resume", metavar="SESSION", help="Run what is missing or failed in it, and nothing else.")
]
Force = Annotated[bool, typer.Option("--force", help="Resume though what would run has changed.")]
TableOf = Annotated[
    str, typer.Option("--table", metavar="SESSION,...", help="Measure nothing: only the table of these sessions.")
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", show_default=False, help="Where the table goes; else stdout.")
]


def check_call(
    context: typer.Context, table: str, resume: str, out: Path | None, *, beside: Sequence[str] = ()
) -> None:
    """UsageError before anything is measured: for a table that cannot be written, and for options without an effect,
    beside --table, which measures nothing, and beside --resume, which goes on with what was asked for. `beside`:
    parameters that say how the table is written."""
    results.check(out)
    if table:
        options.allow_only(context, "table", "out", *beside, why="measures nothing")
    elif resume:
        options.allow_only(context, "resume", "force", "list_only", "out", *beside)


def named(names: str) -> list[Path]:
    """The folders of these sessions, UsageError if one is not there."""
    return [session.path for session in sessions.load_all(parse_list(names))]


def evidence_of(paths: Sequence[Path]) -> Evidence:
    """What these sessions hold."""
    from analysis.evidence import Evidence  # noqa: PLC0415 - a second of imports
    from analysis.records.load import load  # noqa: PLC0415

    return Evidence(load(paths))


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
            return self.told(named(table), out)
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
        results.write_table(text, out)
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
        systems.set_up(request)
        hint = hint or self.command
        with runs.measuring(request.system, hint):
            if session:
                resume_session(request, session, force)
            else:
                session = new_session(request, hint, sys.argv[1:])
            if self.first:
                with _interrupted(session):
                    self.first(request, session)
            if not request.studies:
                session.finish("complete")
                say(f"session: {session.path}")
                return session.path, 0
            if not request.asked.program:  # of which nobody knows how long it takes
                say(describe(request))
            return session.path, execute(request, session, self.report)


@contextlib.contextmanager
def _interrupted(session: sessions.Session) -> Iterator[None]:
    """Nobody else runs the session meanwhile, and whatever ends it early is written down."""
    with session.alone():
        try:
            yield
        except BaseException as ends:
            session.finish("interrupted")
            if isinstance(ends, KeyboardInterrupt):
                raise KeyboardInterrupt(f"{runs.resuming(session)} goes on with it") from None
            raise


def measure_parts(parts: Iterable[Part], settings: list[str], hint: str) -> tuple[list[str], int]:
    """Measures a model's points on the virtual cluster, a session a part: the sessions' names, and 1 where one lacks
    points; `settings`: more --set pairs."""
    system = systems.by_name("vcluster")
    usable(system)
    requests = [part.request(system, parse_settings(settings)) for part in parts]
    for request in requests:
        systems.set_up(request)  # nothing is built between two measurements
    names, status = [], 0
    with runs.measuring(system, hint):
        for request in requests:
            session = new_session(request, f"{hint}-{request.asked.nodes}", sys.argv[1:])
            say(describe(request))
            good = runs.run(request, session)
            say(f"session: {session.path}")
            names.append(session.name)
            status = status if good else 1
    return names, status
