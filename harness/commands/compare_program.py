# SPDX-License-Identifier: BSD-3-Clause
"""./bench compare-program: does the engine help a person's own program?"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.base import settings_file
from harness.base.errors import Failure, UsageError
from harness.base.steps import say
from harness.base.variants import polls, with_settings
from harness.commands import options, program_options, tables, where
from harness.commands.report import write
from harness.commands.tables import Group
from harness.commands.where import STUDY
from harness.job import records
from harness.job.program import PRINTED, WHOLE
from harness.job.records import Folders
from harness.sessions import run as runs
from harness.sessions.request import Request, choose_mpis, choose_variants
from harness.sites import systems
from reframe_checks import catalogue

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
    out: tables.Out = None,
) -> int:
    """Compare one's own program under the engine with itself as it is: its time, its results, a verdict.

    It is profiled first (./bench where): where nothing can be won by progress, that is said, and nothing is timed,
    unless --launches is named. Then variants alternate, of a program of many iterations also with an engine that goes
    off and on by turns. What prints another result than bare is rejected, not timed.
    Exit status 1 if a launch failed or was rejected; a verdict of any kind is 0.

    Example: ./bench compare-program --mpi mpich -n 4 --check 'energy.*' --time-from 'time: (.*) s' -- ./app input
    """
    tables.check(out)
    variants = list(dict.fromkeys([BASE, *choose_variants(variant)]))
    if len(variants) == 1:
        raise UsageError(f"--variant {variant}: {BASE} alone is compared with nothing; name another one, say adaptive.")
    chosen = systems.by_name(program_options.system_name(system, launcher))
    name = program_options.one_mpi(choose_mpis(mpi, chosen), mpi)
    program = program_options.named(command, name, chosen, ranks, launcher, time_from, check)
    environment = settings_file.of_mpi(mpi_env) if mpi_env else {}
    group = OWN_PROGRAM
    if launches is None:
        folders, good = where.profiled(program, chosen, name, ["off"], timeout, nodes, environment)
        if not good:
            say(f"It could not be profiled, see {folders.logs}; it is compared all the same.")
        else:
            said, worth, turn_ms = _bound(folders)
            if not worth:
                tables.write(f"{said} Nothing was compared: --launches {LAUNCHES} does it all the same.", out)
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

    found = where.read(folders.profiles)
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

    evidence = tables.evidence_of(paths)
    if reason := unusable(evidence):
        raise Failure(f"{reason}. What it printed is in {paths[0] / 'logs'}.")
    runs.tell_reframe(paths[0], " ".join(one.sentence for _, found in told(evidence) for one in found))
    return "\n\n".join([document(evidence), *([f"Profiled before: {bound}"] if bound else [])]), 0


OWN_PROGRAM = Group("compare-program", _tell, report=False)
