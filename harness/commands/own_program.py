# SPDX-License-Identifier: BSD-3-Clause
"""A person's own program: ./bench where, which calls of it wait; ./bench compare-program, does the engine help it?"""

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
from harness.base.variants import WITHOUT_ENGINE, choose_variants
from harness.commands import measuring, options, program_options, results
from harness.commands.measuring import Group
from harness.job import addresses
from harness.job.program import Program
from harness.job.records import Folders
from harness.sites import systems
from harness.sites.systems import Request, System, choose_mpis
from reframe_checks import catalogue

if TYPE_CHECKING:
    from analysis.where import Where
import math

from harness.base.process import say
from harness.base.variants import polls, with_settings
from harness.commands.results import write
from harness.job import records
from harness.job.program import PRINTED, WHOLE
from harness.sessions import run as runs

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
        str, typer.Option("--regions", metavar="HOW", help="names or levels: what the program's MPI_Pcontrol means.")
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
    out: measuring.Out = None,
) -> int:
    """Say which calls of a program wait, and how much of that progress could win at most.

    The program runs twice: as it is, to be tried, and profiled. Without --mpi it is told of a folder of profiles, as
    progress-run --profile FOLDER leaves them on a cluster. A call site has its file and line where the program was
    compiled with -g.

    Example: ./bench where --mpi mpich -n 4 -- ./app input
    """
    results.check(out)
    results.check(trace, "--trace")
    results.check(html, "--html")
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

    return of_profiles.read(folder, addresses.source_lines)


def tell(folder: Path, as_json: bool, out: Path | None, trace: Path | None, html: Path | None) -> None:
    """Write it: the table, and the timeline and the page where they are wanted."""
    from analysis import where as of_profiles  # noqa: PLC0415 - a second of imports

    found = read(folder)
    text = json.dumps(of_profiles.as_json(found), indent=1) if as_json else of_profiles.document(found)
    results.write_table(text, out)
    if trace:
        from analysis.report.where_page import timeline  # noqa: PLC0415 - another second

        results.write_whole(json.dumps(timeline(found.profiles, found.names)), trace, "--trace")
    if html:
        from analysis.report.where_page import page  # noqa: PLC0415 - another second

        results.write_whole(page(found), html, "--html")


BASE = "bare"
TURNS = 24  # off and on, that a launch has at least, or it is not compared with itself
ITERATIONS = 20  # of the program in a turn at least: one is longer by what was pending when the turn before ended
SHORTEST_MS, LONGEST_MS = 100, 60_000  # a turn
MATTERS = 0.1  # of what can be won most: the calls of which that can be won tell how long an iteration is
LAUNCHES = 6  # of a variant, which make a verdict


def compare_program(
    command: program_options.Command,
    mpi: options.OneMpi,
    variant: Annotated[
        str,
        typer.Option(
            "--variant",
            metavar="V,...",
            help="What it is compared under, see ./bench list; with settings: V:key=value:key=value.",
        ),
    ] = "bare,adaptive",
    ranks: program_options.Ranks = None,
    launcher: program_options.Launcher = "",
    time_from: program_options.TimeFrom = "",
    check: program_options.Check = "",
    mpi_env: options.MpiEnv = None,
    launches: Annotated[
        int | None,
        typer.Option("--launches", min=1, help="A variant; six make a verdict. Named, all are launched in any case."),
    ] = None,
    timeout: program_options.Timeout = 600.0,
    system: program_options.SystemOfProgram = "",
    nodes: options.Nodes = 2,
    seed: options.Seed = 1,
    out: measuring.Out = None,
) -> int:
    """Compare one's own program under the engine with itself as it is: its time, its results, a verdict.

    It is profiled first (./bench where): where nothing can be won by progress, that is said, and nothing is timed,
    unless --launches is named. Then variants alternate, of a program of many iterations also with an engine that goes
    off and on by turns. What prints another result than bare is rejected, not timed.
    Exit status 1 if a launch failed or was rejected; a verdict of any kind is 0.

    Example: ./bench compare-program --mpi mpich -n 4 --check 'energy.*' --time-from 'time: (.*) s' -- ./app input
    """
    results.check(out)
    variants = list(dict.fromkeys([BASE, *choose_variants(variant)]))
    if len(variants) == 1:
        raise UsageError(f"--variant {variant}: {BASE} alone is compared with nothing; name another one, say adaptive.")
    chosen = systems.by_name(program_options.system_name(system, launcher))
    name = program_options.one_mpi(choose_mpis(mpi, chosen), mpi)
    program = program_options.named(command, name, chosen, ranks, launcher, time_from, check)
    environment = settings_file.of_mpi(mpi_env) if mpi_env else {}
    group = OWN_PROGRAM
    if launches is None:
        folders, good = profiled(program, chosen, name, ["off"], timeout, nodes, environment)
        if not good:
            say(f"It could not be profiled, see {folders.logs}; it is compared all the same.")
        else:
            said, worth, turn_ms = _bound(folders)
            if not worth:
                results.write_table(f"{said} Nothing was compared: --launches {LAUNCHES} does it all the same.", out)
                return 0
            say(said)
            group = replace(group, tell=lambda paths: _tell(paths, said))
            if turn_ms:
                variants += [with_settings(one, [f"trial_ms={turn_ms}"]) for one in variants if polls(one)]
    (study,) = catalogue.by_names([STUDY])
    request = Request.of(
        studies=[replace(study, program=program)],
        system=chosen,
        mpis=[name],
        variants=variants,
        settings={"launches": str(launches or LAUNCHES), "timeout_s": str(timeout)},
        seed=seed,
        nodes=nodes,
        mpi_environment=environment,
    )
    path, status = group.measure(request)
    try:
        return max(status, group.told([path], out))
    finally:
        say(f"report: {write([path], None, tell=lambda _: None)}")  # which has been told


def _bound(folders: Folders) -> tuple[str, bool, int]:
    """What progress could win at most and where; whether that is no less than the least difference that counts, of the
    time that is judged; how many milliseconds a turn is in which the engine is on or off, 0 where too few fit."""
    from analysis.studies.program import LEAST  # noqa: PLC0415 - a second of imports
    from analysis.where import sentence  # noqa: PLC0415

    found = read(folders.profiles)
    printed = _printed_s(folders)
    worst = found.worst
    often = [row.count for row in found.rows if row.winnable_s >= MATTERS * found.rows[0].winnable_s > 0]
    turn_ms = max(SHORTEST_MS, math.ceil(1000 * ITERATIONS * worst.elapsed_s / min(often))) if often else 0
    fits = TURNS * turn_ms <= 1000 * worst.elapsed_s and turn_ms <= LONGEST_MS
    return sentence(found, printed), worst.winnable_s >= LEAST * (printed or worst.elapsed_s), turn_ms if fits else 0


def _printed_s(folders: Folders) -> float | None:
    """The time that the profiled program printed, if that is judged; None also of what is longer than its launch, which
    is in another unit."""
    for path in folders.records.glob("*.jsonl"):
        for point in records.read(path).points:
            samples = point["samples"]
            if PRINTED in samples and samples[PRINTED][0] <= samples[WHOLE][0]:
                return float(samples[PRINTED][0])
    return None


def _tell(paths: list[Path], bound: str = "") -> tuple[str, int]:
    """The table with its verdicts and what the profile said before, or Failure with the reason why there is none."""
    from analysis.studies.program import document, told, unusable  # noqa: PLC0415 - a second of imports

    evidence = measuring.evidence_of(paths)
    if reason := unusable(evidence):
        raise Failure(f"{reason}. What it printed is in {paths[0] / 'logs'}.")
    runs.tell_reframe(paths[0], " ".join(one.sentence for _, found in told(evidence) for one in found))
    return "\n\n".join([document(evidence), *([f"Profiled before: {bound}"] if bound else [])]), 0


OWN_PROGRAM = Group("compare-program", _tell, report=False)
