# SPDX-License-Identifier: BSD-3-Clause
"""./bench engine-costs: what the engine costs on this machine, against its budgets.

The ping-pong is the study of the group `costs`; the engine's own benchmarks, which send nothing, leave their numbers in
the same session.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from analysis.documents.budgets import BASE, CALL_VARIANTS, PARTS
from harness.base.errors import Failure, UsageError
from harness.base.mpis import MPIS
from harness.base.steps import say
from harness.commands import options, tables
from harness.commands.run import describe, execute, usable
from harness.job.benchmarks import CountedPart, Part
from harness.sessions import run as runs
from harness.sessions import session as sessions
from harness.sessions.facts import Costs
from harness.sessions.request import Request, choose_mpis, from_facts, parse_list
from harness.setup import build, packages
from harness.sites import systems
from reframe_checks import catalogue

GROUP = "costs"
BENCHMARKS = {
    "core": Part("core", "engine_core_costs", ("",)),
    "calls": Part("calls", "engine_call_costs", (BASE, *CALL_VARIANTS)),
    "instructions": CountedPart("instructions", "engine_call_costs", (BASE, *CALL_VARIANTS)),
}
LAUNCHES = 6  # of a benchmark, where none are named
OWN = ("vcluster", "local")  # systems that are this machine: where the harness's own builds run


def engine_costs(
    context: typer.Context,
    part: Annotated[str, typer.Option("--part", metavar="P,...", help=f"Of {', '.join(PARTS)}; default: all.")] = "",
    mpi: options.Mpis = "",
    system: options.System = "local",
    scale: tables.Scale = "quick",
    launches: tables.Launches = None,
    seed: options.Seed = 1,
    resume: tables.Resume = "",
    force: tables.Force = False,
    table: tables.TableOf = "",
    out: tables.Out = None,
) -> int:
    """Measure the engine's costs and write the table of its budgets, as Markdown. Exit status 1 if a launch failed.

    Example: ./bench engine-costs --part calls,ping-pong --mpi mpich --out costs.md
    """
    tables.check_call(context, table, resume, out)
    if table:
        return _tell(tables.named(table), out)
    if resume:
        session = sessions.load(resume)
        request, costs = from_facts(session.facts), _costs(session)
    else:
        chosen = _system(system)
        costs = Costs(_parts(part), launches or LAUNCHES)
        request = Request(
            studies=catalogue.by_names([GROUP]) if "ping-pong" in costs.parts else [],
            system=chosen,
            mpis=choose_mpis(mpi, chosen),
            variants=[],
            scale=scale,
            settings={"launches": str(launches)} if launches else {},
            seed=seed,
            all_mpis=bool(mpi),
        )
    usable(request.system)
    _set_up(request, costs.parts)
    with runs.measuring(request.system, "engine-costs"):
        if resume:
            session = runs.resumed_session(request, session, force)
        else:
            session = runs.new_session(request, "engine-costs", sys.argv[1:])
            session.facts.costs = costs
            session.save()
        with _interrupted(session):
            _run_benchmarks(request, costs, session)
        status = _run_study(request, session)
    _tell([session.path], out)
    return status


def _system(name: str) -> systems.System:
    chosen = systems.by_name(name)
    if chosen.name not in OWN:
        raise UsageError(f"./bench engine-costs runs on {' or '.join(OWN)}, not on {chosen.name}.")
    return chosen


def _parts(text: str) -> list[str]:
    parts = parse_list(text) or list(PARTS)
    for name in parts:
        if name not in PARTS:
            raise UsageError(f"There is no part '{name}'. There are: {', '.join(PARTS)}.")
    if "instructions" in parts:
        try:
            packages.ensure("instruction counts")
        except Failure as failure:
            if text:
                raise
            say(f"{failure}\nInstructions are not counted.")
            parts.remove("instructions")
    return parts


def _costs(session: sessions.Session) -> Costs:
    if session.facts.costs is None:
        raise UsageError(f"Session {session.name} is none of ./bench engine-costs.")
    return session.facts.costs


def _set_up(request: Request, parts: list[str]) -> None:
    runs.set_up(request)
    for name in request.mpis if set(parts) & set(BENCHMARKS) else []:
        build.ensure(MPIS[name], "progress_engine/all", "engine_benchmarks")


@contextlib.contextmanager
def _interrupted(session: sessions.Session) -> Iterator[None]:
    """Nobody else runs the session meanwhile, and whatever ends it early is written down."""
    with session.alone():
        try:
            yield
        except BaseException:
            session.finish("interrupted")
            raise


def _run_benchmarks(request: Request, costs: Costs, session: sessions.Session) -> None:
    from analysis.documents.costs import FOLDER  # noqa: PLC0415 - a second of imports

    for name, part in BENCHMARKS.items():
        if name not in costs.parts:
            continue
        for mpi in request.mpis if any(part.variants) else request.mpis[:1]:
            say(f"measuring {name}{f' on {mpi}' if any(part.variants) else ''} ...")
            part.keep(MPIS[mpi], costs.launches, request.seed, session.path / FOLDER)


def _run_study(request: Request, session: sessions.Session) -> int:
    if not request.studies:
        session.finish("complete")
        say(f"session: {session.path}")
        return 0
    say(describe(request))
    return execute(request, session)


def _tell(paths: list[Path], out: Path | None) -> int:
    from analysis.documents.costs import document, pieces  # noqa: PLC0415 - a second of imports

    evidence = tables.evidence_of(paths)
    if not pieces(evidence):
        raise UsageError(f"{', '.join(path.name for path in paths)}: no part of ./bench engine-costs was run there.")
    tables.write(document(evidence), out)
    return 0
