# SPDX-License-Identifier: BSD-3-Clause
"""./bench harm: every workload under every preset, against bare. A short way to run the group `harm`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import UsageError
from harness.base.steps import say
from harness.commands import options, tables
from harness.commands.run import describe, execute, usable
from harness.sessions import run as runs
from harness.sessions import session as sessions
from harness.sessions.request import Request, choose_mpis, choose_variants, from_facts
from harness.sites import systems
from reframe_checks import catalogue
from reframe_checks.study import Study

GROUP = "harm"
BASE = "bare"


def harm(
    context: typer.Context,
    mpi: options.Mpis = "",
    variant: Annotated[
        str,
        typer.Option(
            "--variant",
            metavar="V,...",
            help="Beside bare; default: the presets. With settings: V:key=value:key=value.",
        ),
    ] = "",
    only: Annotated[str, typer.Option("--only", metavar="WORDS", help="Workloads whose names hold these words.")] = "",
    system: options.System = "vcluster",
    scale: tables.Scale = "quick",
    launches: tables.Launches = None,
    seed: options.Seed = 1,
    list_only: Annotated[bool, typer.Option("--list", help="The plan with its points; run nothing.")] = False,
    resume: tables.Resume = "",
    force: tables.Force = False,
    table: tables.TableOf = "",
    out: tables.Out = None,
) -> int:
    """Compare every workload under every preset with bare. Exit status 1 if adaptive harms one or a launch failed.

    It is `./bench run harm` with a table at its end: a session like any other, which can be resumed and reported.

    Example: ./bench harm --mpi mpich --variant adaptive --only overlap
    """
    tables.check_call(context, table, resume, out)
    if table:
        return _tell(tables.named(table), out)
    if resume:
        session = sessions.load(resume)
        request = from_facts(session.facts)
        if any(study.group != GROUP for study in request.studies):
            raise UsageError(f"Session {session.name} is none of ./bench harm: ./bench run --resume goes on with it.")
    else:
        chosen = systems.by_name(system)
        names = choose_variants(variant)
        request = Request(
            studies=_chosen(only),
            system=chosen,
            mpis=choose_mpis(mpi, chosen),
            variants=list(dict.fromkeys([BASE, *names])) if names else [],
            scale=scale,
            settings={"launches": str(launches)} if launches else {},
            seed=seed,
            all_mpis=bool(mpi),
        )
    if list_only:
        print(_plan(request))
        return 0
    usable(request.system)
    runs.set_up(request)
    with runs.measuring(request.system, GROUP):
        if resume:
            session = runs.resumed_session(request, session, force)
        else:
            session = runs.new_session(request, GROUP, sys.argv[1:])
        say(describe(request))
        status = execute(request, session)
    return max(status, _tell([session.path], out))


def _chosen(only: str) -> list[Study]:
    """The studies of the group whose workloads' names hold these words."""
    every = catalogue.by_names([GROUP])
    found = [study for study in every if only in " ".join(study.workload)]
    if not found:
        names = ", ".join(" ".join(study.workload) for study in every)
        raise UsageError(f"No workload's name holds '{only}'. There are: {names}.")
    return found


def _plan(request: Request) -> str:
    points = {
        " ".join(study.workload): [dict(point) for point in study.scale(request.scale, request.settings).points()]
        for study in request.studies
    }
    return "\n".join([*(f"{name}: {', '.join(map(str, found))}" for name, found in points.items()), describe(request)])


def _tell(paths: list[Path], out: Path | None) -> int:
    """Write the table; status 1 if adaptive harms a workload."""
    from analysis.documents.harm import document, harmed, rows  # noqa: PLC0415 - a second of imports

    evidence = tables.evidence_of(paths)
    measured = rows(evidence)
    if not measured:
        raise UsageError(f"{', '.join(path.name for path in paths)}: no workload of ./bench harm was run there.")
    tables.write(document(evidence), out)
    found = harmed(measured, "adaptive")
    for name in found:
        say(f"adaptive harms {name}")
    return 1 if found else 0
