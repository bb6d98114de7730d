# SPDX-License-Identifier: BSD-3-Clause
"""./bench where: which calls of a person's own program wait, and how much of that progress could win."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base import settings_file
from harness.base.errors import Failure, UsageError
from harness.base.variants import WITHOUT_ENGINE
from harness.commands import options, program_options, tables
from harness.commands.tables import Group
from harness.job import addresses
from harness.job.program import Program
from harness.job.records import Folders
from harness.sessions.request import Request, choose_mpis, choose_variants
from harness.sites import systems
from harness.sites.systems import System
from reframe_checks import catalogue

if TYPE_CHECKING:
    from analysis.where import Where

STUDY = "own-program"
REGIONS = ("names", "levels")
ALL = {"profile_clocks": "1"}  # every process of the launch is profiled


def where(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="FOLDER | -- CMD...", help="The profiles of a run, or the program and its arguments."),
    ] = None,
    mpi: Annotated[str, typer.Option("--mpi", metavar="NAME", help="The MPI that the program is linked to.")] = "",
    variant: Annotated[
        str, typer.Option("--variant", metavar="V", help="off: the MPI as it is; or under a preset of the engine's.")
    ] = "off",
    ranks: program_options.Ranks = None,
    launcher: program_options.Launcher = "",
    depth: Annotated[
        int | None,
        typer.Option("--depth", min=1, max=64, help="Frames that tell a call site: more where a function wraps MPI."),
    ] = None,
    regions: Annotated[
        str,
        typer.Option("--regions", metavar="HOW", help="names or levels: what the program's MPI_Pcontrol means."),
    ] = "",
    mpi_env: options.MpiEnv = None,
    timeout: program_options.Timeout = 600.0,
    system: program_options.SystemOfProgram = "",
    nodes: options.Nodes = 2,
    as_json: Annotated[bool, typer.Option("--json", help="All rows, for a program.")] = False,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="Also a timeline in the trace-event format, for Perfetto."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also a page with the tables and pictures.")
    ] = None,
    out: tables.Out = None,
) -> int:
    """Say which calls of a program wait, and how much of that progress could win at most.

    The program runs twice: as it is, to be tried, and profiled. Without --mpi it is told of a folder of profiles, as
    progress-run --profile FOLDER leaves them on a cluster. A call site has its file and line where the program was
    compiled with -g.

    Example: ./bench where --mpi mpich -n 4 -- ./app input
    """
    tables.check(out)
    tables.check(trace, "--trace")
    tables.check(html, "--html")
    if regions not in ("", *REGIONS):
        raise UsageError(f"--regions {regions}: there are {' and '.join(REGIONS)}.")
    settings = {"profile_depth": str(depth)} if depth else {}
    settings |= {"profile_regions": regions} if regions else {}
    if not mpi:
        if settings:
            raise UsageError("--depth and --regions are of a run: name the MPI (--mpi mpich) and the program.")
        tell(_folder(command), as_json, out, trace, html)
        return 0
    chosen = systems.by_name(program_options.system_name(system, launcher))
    name = program_options.one_mpi(choose_mpis(mpi, chosen), mpi)
    variants = choose_variants(variant)
    if len(variants) != 1 or variants[0].partition(":")[0] in WITHOUT_ENGINE:
        raise UsageError(f"--variant {variant}: name one with the engine's library in it; off changes nothing.")
    if not command:
        raise UsageError("No program is named: put it behind --, as in -- ./app input.")
    program = program_options.named(command, name, chosen, ranks, launcher, "", "")
    environment = settings_file.of_mpi(mpi_env) if mpi_env else {}
    folders, good = profiled(program, chosen, name, variants, timeout, nodes, environment, settings)
    if not good:
        raise Failure(f"The program was not profiled; what it printed is in {folders.logs}.")
    tell(folders.profiles, as_json, out, trace, html)
    return 0


def profiled(
    program: Program,
    system: System,
    mpi: str,
    variants: list[str],
    timeout: float,
    nodes: int,
    mpi_environment: dict[str, str],
    settings: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Folders, bool]:
    """Run it as it is, and once under the only one of `variants` with the profiler, with these `settings` of it. Where
    its profiles, record and output are, and whether all went well."""
    (study,) = catalogue.by_names([STUDY])
    request = Request.of(
        studies=[replace(study, program=replace(program, profiled={**ALL, **settings}))],
        system=system,
        mpis=[mpi],
        variants=variants,
        settings={"launches": "1", "timeout_s": str(timeout)},
        nodes=nodes,
        mpi_environment=mpi_environment,
    )
    path, status = Group("where", lambda _: ("", 0), report=False).measure(request)
    return Folders(path), not status


def _folder(given: list[str] | None) -> Path:
    if not given or len(given) != 1:
        raise UsageError("Name the MPI that the program is linked to (--mpi mpich), or one folder of profiles.")
    of_session = Folders(Path(given[0])).profiles
    return of_session if of_session.is_dir() else Path(given[0])


def read(folder: Path) -> Where:
    """What the profiles in a folder say."""
    from analysis import where as of_profiles  # noqa: PLC0415 - a second of imports

    return of_profiles.read(folder, addresses.places)


def tell(folder: Path, as_json: bool, out: Path | None, trace: Path | None, html: Path | None) -> None:
    """Write it: the table, and the timeline and the page where they are wanted."""
    from analysis import where as of_profiles  # noqa: PLC0415 - a second of imports

    found = read(folder)
    text = json.dumps(of_profiles.as_json(found), indent=1) if as_json else of_profiles.document(found)
    tables.write(text, out)
    if trace:
        from analysis.report.where_page import timeline  # noqa: PLC0415 - another second

        tables.write_whole(json.dumps(timeline(found.profiles, found.names)), trace, "--trace")
    if html:
        from analysis.report.where_page import page  # noqa: PLC0415 - another second

        tables.write_whole(page(found), html, "--html")
