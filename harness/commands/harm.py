# SPDX-License-Identifier: BSD-3-Clause
"""./bench harm: every workload under every preset, with the engine on and paused. A short way to the group `harm`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.base.errors import UsageError
from harness.base.steps import say
from harness.base.variants import polls
from harness.commands import options, tables
from harness.commands.run import describe
from harness.commands.tables import Group
from harness.job.session import Facts
from harness.sessions.request import Request, choose_mpis, choose_variants, from_facts
from harness.sites import systems
from reframe_checks import catalogue
from reframe_checks.study import Study

GROUP = "harm"
BASE, ADAPTIVE = "bare", "adaptive"


def harm(
    context: typer.Context,
    mpi: options.Mpis = "",
    variant: Annotated[
        str,
        typer.Option(
            "--variant",
            metavar="V,...",
            help="Default: the presets that poll. With settings: V:key=value:key=value.",
        ),
    ] = "",
    only: Annotated[str, typer.Option("--only", metavar="WORDS", help="Workloads whose names hold these words.")] = "",
    system: options.System = "vcluster",
    scale: tables.Scale = "quick",
    launches: options.Launches = None,
    seed: options.Seed = 1,
    list_only: Annotated[bool, typer.Option("--list", help="The plan with its points; run nothing.")] = False,
    resume: tables.Resume = "",
    force: tables.Force = False,
    table: tables.TableOf = "",
    out: tables.Out = None,
) -> int:
    """Does the engine slow workloads down? Each launch pauses it in one of each two repetitions and is compared with
    itself; where it does not poll, launches are compared with those of bare. Exit status 1 if adaptive harms a workload
    or a launch failed, 3 if of some it cannot be told.

    It is `./bench run harm` with a table at its end: a session like any other, which can be resumed and reported.

    Example: ./bench harm --mpi mpich --variant adaptive --only overlap
    """
    tables.check_call(context, table, resume, out)

    def asked() -> Request:
        chosen, names = systems.by_name(system), choose_variants(variant)
        return Request.of(
            studies=_chosen(only),
            system=chosen,
            mpis=choose_mpis(mpi, chosen),
            variants=names if all(map(polls, names)) else list(dict.fromkeys([BASE, *names])),
            scale=scale,
            settings={"launches": str(launches)} if launches else {},
            seed=seed,
            all_mpis=bool(mpi),
        )

    return HARM.run(asked, table, resume, force, out, _plan if list_only else None)


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
        " ".join(study.workload): [dict(point) for point in study.scale(request.scale, request.asked.settings).points()]
        for study in request.studies
    }
    return "\n".join([*(f"{name}: {', '.join(map(str, found))}" for name, found in points.items()), describe(request)])


def _tell(paths: list[Path]) -> tuple[str, int]:
    """The table; status 1 if adaptive harms a workload, 3 if of some it cannot be told."""
    from analysis.studies.harm import document, harmed, together, undecided  # noqa: PLC0415 - a second of imports
    from analysis.tables import rows  # noqa: PLC0415

    evidence = tables.evidence_of(paths)
    measured = rows(evidence)
    if not measured:
        raise UsageError(f"{', '.join(path.name for path in paths)}: no workload of ./bench harm was run there.")
    found = harmed(measured, ADAPTIVE)
    for name in found:
        say(f"{ADAPTIVE} harms {name}")
    if over_all := together(measured, ADAPTIVE):
        say(f"{ADAPTIVE}: {over_all}")
    if left := undecided(measured, ADAPTIVE):
        say(f"{ADAPTIVE}: {left}")
    return document(evidence), 1 if found else 3 if left else 0


def _has(facts: Facts) -> bool:
    return all(study.group == GROUP for study in from_facts(facts).studies)


HARM = Group("harm", _tell, _has)
