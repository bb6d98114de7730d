# SPDX-License-Identifier: BSD-3-Clause
"""./bench engine-costs: what the engine costs on this machine, against its budgets.

The ping-pong is the study of the group `costs`; the engine's own benchmarks, which send nothing, leave their numbers in
the same session.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from analysis.budgets import BASE, CALL_VARIANTS, PARTS, PROFILED
from harness.base.errors import Failure, UsageError, there_are
from harness.base.mpis import MPIS
from harness.base.steps import say
from harness.commands import options, tables
from harness.commands.tables import Group
from harness.job import session as sessions
from harness.job.benchmarks import CountedPart, Part
from harness.job.session import Costs
from harness.sessions.request import Request, choose_mpis, parse_list
from harness.setup import build, environment
from harness.sites import systems
from reframe_checks import catalogue, jobs

GROUP = "costs"
BENCHMARKS = {
    "core": Part("core", "engine_core_costs", ("",)),
    "calls": Part("calls", "engine_call_costs", (BASE, *CALL_VARIANTS), PROFILED),
    "instructions": CountedPart("instructions", "engine_call_costs", (BASE, *CALL_VARIANTS), PROFILED),
}
LAUNCHES = 6  # of a benchmark, where none are named
OWN = ("vcluster", "local")  # systems that are this machine: where the harness's own builds run


def engine_costs(
    context: typer.Context,
    part: Annotated[str, typer.Option("--part", metavar="P,...", help=f"Of {', '.join(PARTS)}; default: all.")] = "",
    mpi: options.Mpis = "",
    system: options.System = "local",
    scale: tables.Scale = "quick",
    launches: options.Launches = None,
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
    costs = Costs([] if table or resume else _parts(part), launches or LAUNCHES)

    def asked() -> Request:
        chosen = _system(system)
        mpis = choose_mpis(mpi, chosen)
        _can_count(costs.parts, named=bool(part))
        return Request.of(
            studies=catalogue.by_names([GROUP]) if "ping-pong" in costs.parts else [],
            system=chosen,
            mpis=mpis,
            variants=[],
            scale=scale,
            settings={"launches": str(launches)} if launches else {},
            seed=seed,
            all_mpis=bool(mpi),
        )

    return replace(COSTS, first=partial(_run_benchmarks, costs)).run(asked, table, resume, force, out)


def _system(name: str) -> systems.System:
    chosen = systems.by_name(name)
    if chosen.name not in OWN:
        raise UsageError(f"./bench engine-costs runs on {' or '.join(OWN)}, not on {chosen.name}.")
    return chosen


def _parts(text: str) -> list[str]:
    parts = parse_list(text) or list(PARTS)
    for name in parts:
        if name not in PARTS:
            raise UsageError(f"There is no part '{name}'. {there_are(name, PARTS)}")
    return parts


def _can_count(parts: list[str], named: bool) -> None:
    """Have what counts instructions installed; where that fails, they are no part, unless they were `named`."""
    if "instructions" not in parts:
        return
    try:
        environment.ensure_packages("instruction counts")
    except Failure as failure:
        if named:
            raise
        say(f"{failure}\nInstructions are not counted.")
        parts.remove("instructions")


def _run_benchmarks(asked: Costs, request: Request, session: sessions.Session) -> None:
    from analysis.studies.costs import FOLDER  # noqa: PLC0415 - a second of imports

    session.facts.costs = costs = session.facts.costs or asked
    session.save()
    for mpi in request.mpis if set(costs.parts) & set(BENCHMARKS) else []:
        build.ensure(MPIS[mpi], "progress_engine/all", "engine_benchmarks", jobs.PROFILER)
    for name, part in BENCHMARKS.items():
        if name not in costs.parts:
            continue
        for mpi in request.mpis if any(part.variants) else request.mpis[:1]:
            say(f"measuring {name}{f' on {mpi}' if any(part.variants) else ''} ...")
            part.keep(MPIS[mpi], costs.launches, request.asked.seed, session.path / FOLDER)


def _tell(paths: list[Path]) -> tuple[str, int]:
    from analysis.studies.costs import document, pieces  # noqa: PLC0415 - a second of imports

    evidence = tables.evidence_of(paths)
    if not pieces(evidence):
        raise UsageError(f"{', '.join(path.name for path in paths)}: no part of ./bench engine-costs was run there.")
    return document(evidence), 0


COSTS = Group("engine-costs", _tell, lambda facts: facts.costs is not None)
