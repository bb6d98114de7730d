# SPDX-License-Identifier: BSD-3-Clause
"""./bench run: studies over MPIs and variants on a system."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.base import settings_file
from harness.base.errors import UsageError
from harness.base.process import say
from harness.base.validate import parse_settings
from harness.base.variants import choose_variants
from harness.commands import options
from harness.job import session as sessions
from harness.job.session import Session
from harness.sessions import run as runs
from harness.sessions.run import counted, time_text
from harness.sites import systems
from harness.sites.systems import Request, choose_mpis, from_facts
from reframe_checks.catalogue import by_names
from reframe_checks.jobs import differences


def run(
    context: typer.Context,
    studies: Annotated[
        list[str],
        typer.Argument(metavar="STUDY|GROUP...", help="See ./bench list.", autocompletion=options.complete_studies),
    ] = [],  # noqa: B006 - Typer copies it
    system: options.System = "vcluster",
    mpi: options.RunMpis = "",
    variant: options.Variants = "",
    scale: options.Scale = "quick",
    settings: options.Settings = [],  # noqa: B006 - Typer copies it
    launches: options.Launches = None,
    mpi_env: options.MpiEnv = None,
    seed: options.Seed = 1,
    nodes: options.Nodes = 2,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan with its estimated time, run nothing.")
    ] = False,
    resume: Annotated[
        str,
        typer.Option(
            "--resume",
            metavar="SESSION",
            help="Run what is missing or failed in it, and nothing else; with --launches as many of each variant.",
            autocompletion=options.complete_sessions,
        ),
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Resume though what would run has changed.")] = False,
    like: Annotated[
        str,
        typer.Option(
            "--like",
            metavar="SESSION",
            help="The same run with the same work again, to compare them.",
            autocompletion=options.complete_sessions,
        ),
    ] = "",
    inject_slowdown: Annotated[float, typer.Option(min=0.5, max=100, hidden=True)] = 1.0,
) -> int:
    """Run studies and keep every sample in a session folder.

    `quick` is seconds a study: all of them take less than 25 minutes on two cores, most on MPICH alone (./bench list
    --quick-table says which MPIs and launches). `paper` is the papers' own parameters on all MPIs: hours or days.

    Example: ./bench run overlap-ratio --mpi mpich,openmpi --variant bare,adaptive --set size_bytes=4MB
    """
    if resume:
        options.allow_only(context, "resume", "force", "dry_run", "launches")
        return go_on(sessions.load(resume), force, dry_run, launches)
    if like:
        options.allow_only(context, "like", "inject_slowdown", "dry_run", why="repeats what its session was asked for")
        return again(sessions.load(like), inject_slowdown, dry_run)
    if not studies:
        raise UsageError("Which study? ./bench list names them; ./bench run all runs them all.")
    chosen = systems.by_name(system)
    request = Request.of(
        studies=by_names(studies),
        system=chosen,
        mpis=choose_mpis(mpi, chosen),
        variants=choose_variants(variant),
        scale=scale,
        settings=parse_settings(settings) | ({"launches": str(launches)} if launches else {}),
        seed=seed,
        nodes=nodes,
        all_mpis=bool(mpi),
        slowdown=inject_slowdown,
        mpi_environment=settings_file.of_mpi(mpi_env) if mpi_env else {},
    )
    plan = describe(request)
    if dry_run:
        print(plan)
        return 0
    usable(chosen)
    return start(request, "-".join(studies), sys.argv[1:])


def usable(system: systems.System) -> None:
    """UsageError with the sentence why this machine cannot be that system."""
    if reason := system.why_not():
        raise UsageError(f"{reason} --system local runs on this machine without virtual nodes.")


def start(request: Request, hint: str, command: list[str], model: sessions.Session | None = None) -> int:
    """Set up, run and report a request as a new session, with the work of `model` if given; the exit status."""
    systems.set_up(request)
    with runs.measuring(request.system, hint):
        session = new_session(request, hint[:60], command)
        if model:
            session.take_work(model)
        say(describe(request))
        return execute(request, session)


def again(model: sessions.Session, slowdown: float, dry_run: bool) -> int:
    """Run what `model` was asked to run, with its work, as a new session; the exit status."""
    request = from_facts(model.facts).but(slowdown=slowdown)
    usable(request.system)
    if dry_run:
        print(describe(request))
        return 0
    return start(request, "-".join(study.name for study in request.studies), sys.argv[1:], model)


def go_on(session: sessions.Session, force: bool, dry_run: bool, launches: int | None = None) -> int:
    """Run what a session lacks, or of each variant as many launches; the exit status."""
    request = from_facts(session.facts)
    if request.asked.search:
        raise UsageError(f"Session {session.name} is a search of settings: {runs.resuming(session)} goes on with it.")
    if launches:
        request = _with_launches(request, session, launches)
    lacking = request.missing(session.folders)
    say(f"{session.name} lacks points of {counted(len(lacking), 'launch')}")
    if dry_run:
        print("\n".join(lacking))
        return 0
    systems.set_up(request)
    with runs.measuring(request.system, session.name):
        resume_session(request, session, force)
        session.facts.request, session.facts.expected = request.asked, _identities(request)
        session.save()
        return execute(request, session)


def _with_launches(request: Request, session: sessions.Session, launches: int) -> Request:
    """The same with so many launches of each variant; UsageError unless those of the session are the first of them."""
    longer = request.but(settings={**request.asked.settings, "launches": str(launches)})
    if request.asked.gate or not set(session.facts.expected) < set(_identities(longer)):
        raise UsageError(
            f"--launches {launches}: session {session.name} cannot have as many of each variant, by what it was asked "
            f"for. Name more than it has, or begin a new one."
        )
    return longer


def _identities(request: Request) -> list[str]:
    return [launch.identity for job in request.jobs() for launch in job.launches]


def describe(request: Request) -> str:
    """The plan in words: a line a job, and the whole time."""
    lines, total = [], 0.0
    for job in request.jobs():
        seconds, learnt = job.learnt_s(request.system.name, request.scale)
        total += seconds
        variants = sorted({launch.variant for launch in job.launches})
        points = sorted({len(job.points_of(launch)) for launch in job.launches})
        lines.append(
            f"{job.study.name} on {request.system.name}, {job.mpi}: {counted(len(job.launches), 'launch')} of "
            f"{counted(' or '.join(map(str, points)), 'point')} "
            f"({', '.join(variants)}), about {seconds:.0f} s{f', as in {learnt}' if learnt else ''}"
        )
    return "\n".join([*lines, f"in all about {time_text(total)}, beside the set-up"])


def execute(request: Request, session: sessions.Session, with_report: bool = True) -> int:
    """Run what `session` lacks of `request` and write the report; the exit status."""
    try:
        good = runs.run(request, session)
    finally:
        say(f"session: {session.path}")
    if not with_report:
        return 0 if good else 1
    said: list[str] = []

    def tell(words: str) -> None:
        say(words)
        said.append(words)

    from analysis.report.report import build_report  # noqa: PLC0415 - a second of imports

    report = build_report([session.path], tell=tell).path
    runs.tell_reframe(session.path, "\n".join(said[:-1]))  # the last says what is done next
    if outside := outside_of_workload(session.folders.records):
        say(outside)
    if not good:
        lacking = request.missing(session.folders)
        say(f"Points of {counted(len(lacking), 'launch')} failed, for instance {lacking[0]}; the report says why.")
        say(f"./bench run --resume {session.name} tries again.")
    print(report)
    return 0 if good else 1


def _outside_by_mpi(folder: Path) -> dict[str, list[float]]:
    """MPI -> launch_s - elapsed_s, seconds, of each launch in the record files of `folder` that ended well."""
    found: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        try:
            first, *_, last = path.read_text(errors="replace").splitlines()
            mpi, end = json.loads(first)["header"]["context"]["mpi"], json.loads(last)["end"]
            if end["status"] == "ok" and end["launch_s"] > end["elapsed_s"]:  # of a program all is its own
                found.setdefault(mpi, []).append(end["launch_s"] - end["elapsed_s"])
        except (ValueError, KeyError, TypeError):
            continue
    return found


def outside_of_workload(folder: Path) -> str:
    """The time of a launch that is not the workload's (launcher, MPI_Init, end), in words; empty if none ended well."""
    medians = [f"{mpi} {statistics.median(values):.2f} s" for mpi, values in _outside_by_mpi(folder).items()]
    return f"outside of the workload, a launch took (median): {', '.join(medians)}" if medians else ""


def new_session(request: Request, hint: str, command: list[str]) -> Session:
    """A new session for `request`; what it runs with must be built already."""
    facts = {"command": command, **request.facts(), "identity": request.identity(), "spack": _spack_facts(request)}
    return sessions.create(hint, facts)


def _spack_facts(request: Request) -> dict[str, Any] | None:
    """Which Spack built what, where one did."""
    used = {name: request.system.spack[name].lock() for name in request.programs() if name in request.system.spack}
    if not used:
        return None
    from spack_env import site_environment as spack  # noqa: PLC0415 - few systems are built by it

    return {"version": spack.version(), "environments": used}


def resume_session(request: Request, session: Session, force: bool) -> None:
    """Go on with a session; UsageError if what would run now is not what ran then."""
    found = differences(session.facts.identity, request.identity())
    if found and not force:
        asked = request.asked
        alone = asked.search or asked.gate  # whose commands have no --force: what they compare is not mixed
        raise UsageError(
            f"Session {session.name} cannot be resumed: {'; '.join(found)}. Start a new one"
            f"{'.' if alone else ', or mix them with --force.'}"
        )
    session.resume(found)
