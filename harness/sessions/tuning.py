# SPDX-License-Identifier: BSD-3-Clause
"""The blocks of a race in its session: planned, written down, run. Who goes on the analysis says, in between."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.base import process, settings_file, variants
from harness.base.errors import Failure, UsageError
from harness.job import program_launch, read_back
from harness.job.plan import INTENTIONS, Block, Point
from harness.job.program import Program
from harness.job.race import (
    COMPARED,
    CONFIRM,
    DEFAULT,
    REFERENCE,
    Contender,
    Race,
    arm_of,
    engine_of,
)
from harness.job.session import Session
from harness.sessions import run as runs
from harness.sessions import space
from harness.sessions.request import Request
from reframe_checks.study import Study

FOLDER = "tuning"
SETTINGS, VARIABLES = "tuned.conf", "tuned-mpi.env"
SIZE = "size_bytes"
WORD = 8  # bytes
BLOCK_OVERHEAD_S = 8.0  # of a block that is not its launches: ReFrame, the nodes
BARE = "bare"
FOR_OVERLAP = {"pattern": "both", SIZE: "262144,2097152,16777216", "comp_over_comm": "1.0"}


@dataclass(frozen=True)
class Points:
    """`settings`: with which a study has all of them."""

    settings: dict[str, str]
    tuned: list[Point]
    untuned: list[Point]


def points(study: Study, scale: str, settings: Mapping[str, str]) -> Points:
    """The points at which is tuned, and those at which the winner is confirmed: sizes between those, where every point
    has a size, else the same again. UsageError where the study sweeps what is to be tuned."""
    asked = {**(FOR_OVERLAP if study.name == "overlap-ratio" else {}), **settings}
    chosen = study.scale(scale, asked)
    if study.sweep(chosen).axes:
        raise UsageError(f"Study {study.name} sweeps settings of the engine: a search has its own, in --space.")
    tuned = [dict(point) for point in chosen.points()]
    if not tuned or any(SIZE not in point for point in tuned):  # --set gives a size to grids that have none, too
        return Points(asked, tuned, tuned)
    sizes = sorted({int(point[SIZE]) for point in tuned})
    others = between(sizes)
    both = {**asked, SIZE: ",".join(map(str, sorted({*sizes, *others})))}
    every = [dict(point) for point in study.scale(scale, both).points()]
    return Points(both, tuned, [point for point in every if point.get(SIZE) in others])


def between(sizes: Sequence[int]) -> list[int]:
    """A size between each and the next, where there is one; else about half the smallest and twice the largest. None of
    them is one that is tuned. Of sizes that are whole numbers of 8 bytes they are such, too: some studies add doubles.
    """
    unit, low, high = (1 if any(size % WORD for size in sizes) else WORD), min(sizes), max(sizes)
    middles = (round(math.sqrt(first * second)) for first, second in itertools.pairwise(sorted(sizes)))
    inner = {middle // unit * unit for middle in middles}
    found = (inner - {0, *sizes}) or {low // 2 // unit * unit, 2 * high} - {0, *sizes}
    return sorted(found or {high + unit})


def measures_overlap(found: Sequence[Point]) -> bool:
    """Whether computation is weighed against communication at these points, for which a reference is needed."""
    return any(name in point for point in found for name in INTENTIONS)


def recorded(study: Study, programs: Path) -> dict[str, dict[str, Any]] | None:
    """The quantities that a launch of the study records, as a record's header declares them; None where its program in
    `programs` does not tell, as one that runs on the nodes of a site alone."""
    if not study.workload:
        return (study.program or Program([], "", case=study.case)).quantities()
    name, *options = study.workload
    done = process.answer([str(programs / name), *options, "--list-parameters"], runs.ANSWER_LIMIT_S)
    try:
        told = json.loads(done.out)["quantities"] if done.status == 0 else []
    except (ValueError, KeyError):
        told = []
    return {one.pop("name"): one for one in told} or None


def begin(request: Request, race: Race) -> Request:
    """The request with a race whose first block reads the MPI's variables back, and tries a program of one's own."""
    first = [Block([], 0)] if race.probes or request.program else []
    return replace(request, variants=[race.variant], race=replace(race, blocks=first))


def trial_s(request: Request, session: Session) -> float:
    """How long the program took as it is; 0 where a study of a workload is tuned. UsageError with the reason where the
    program cannot be used at all."""
    name = program_launch.trial_name(request.studies[0].name, request.system.name, request.mpis[0])
    if why := program_launch.refused(session.folders, name):
        raise UsageError(f"{why.rstrip('.')}.")
    found = program_launch.kept_trial(session.folders, name)
    return found.seconds if found else 0.0


def taken(race: Race, session: Session, mpi: str) -> dict[str, tuple[bool, str]]:
    """Variable -> whether the MPI took it, and what shows that: of the winner's value, where there is one."""
    return {probe.name: read_back.told(probe, session.folders.logs, mpi) for probe in race.probes}


def without_untaken(race: Race, found: Mapping[str, tuple[bool, str]]) -> Race:
    """The race without the variables that are not shown to act; Failure where nothing is left."""
    axes = [axis for axis in race.space if not axis.of_mpi or found[axis.name][0]]
    if not axes:
        first = next(iter(found.items()))
        raise Failure(f"No variable is shown to have taken effect, so none is tuned: of {first[0]}, {first[1][1]}.")
    return replace(race, space=axes)


def with_block(race: Race, alive: Sequence[str], new: Sequence[dict[str, str]]) -> Race:
    """Another block: the default, those that go on, new settings; and the reference, where there is one."""
    first = len(race.contenders) + 1
    fresh = [Contender(f"s{first + place:03d}", dict(values), race.search) for place, values in enumerate(new)]
    arms = list(race.arms)
    if not arms:
        arms.append(arm_of(race, DEFAULT, {}, race.points))
        arms += [arm_of(race, REFERENCE, {}, race.points, engine=False)] if race.reference else []
    arms += [arm_of(race, one.name, one.values, race.points) for one in fresh]
    fixed = [DEFAULT, REFERENCE] if race.reference else [DEFAULT]
    block = Block([*fixed, *alive, *(one.name for one in fresh)], race.block_rounds)
    return replace(race, contenders=[*race.contenders, *fresh], arms=arms, blocks=[*race.blocks, block])


def with_probes(race: Race, winner: str) -> Race:
    """The race that asks the MPI of the values of its winner, too: before, it was asked of one value a variable."""
    values = next(one.values for one in race.contenders if one.name == winner)
    of_mpi = {axis.name: values[axis.name] for axis in race.space if axis.of_mpi and axis.name in values}
    return replace(race, probes=[*race.probes, *space.probes_of(of_mpi)])


def with_confirmation(race: Race, winner: str) -> Race:
    """The last block: the winner and the default afresh, at points that were not tuned, and each factor alone."""
    values = next(one.values for one in race.contenders if one.name == winner)
    of_mpi = {axis.name: axis.of_mpi for axis in race.space}
    engine = {name: value for name, value in values.items() if not of_mpi[name]}
    variables = {name: value for name, value in values.items() if of_mpi[name]}
    fresh = [
        arm_of(race, f"{CONFIRM}{DEFAULT}", {}, race.untuned),
        arm_of(race, f"{CONFIRM}tuned", values, race.untuned),
    ]
    with_engine = race.variant != BARE
    if with_engine or race.reference:
        fresh.append(arm_of(race, f"{CONFIRM}{REFERENCE}", {}, race.untuned, engine=False))
    if with_engine and variables:
        fresh.append(arm_of(race, f"{CONFIRM}tuned-mpi", variables, race.untuned, engine=False))
    if variables and engine:
        fresh.append(arm_of(race, f"{CONFIRM}tuned-engine", engine, race.untuned))
    block = Block([arm.name for arm in fresh], race.confirm)
    return replace(race, arms=[*race.arms, *fresh], blocks=[*race.blocks, block])


def with_more_rounds(race: Race) -> Race:
    """The confirmation goes on, with those arms that decide it."""
    arms = [name for name in race.blocks[-1].arms if name in _deciding(race)]
    return replace(race, blocks=[*race.blocks, Block(arms, race.confirm)])


def _deciding(race: Race) -> list[str]:
    """The arms by which a confirmation is decided: the two that are compared, and what metrics are taken against."""
    return [*COMPARED, f"{CONFIRM}{REFERENCE}"] if race.reference else [*COMPARED]


def confirming(race: Race) -> bool:
    """Whether the last block is the confirmation."""
    return bool(race.blocks and race.blocks[-1].arms and race.blocks[-1].arms[0].startswith(CONFIRM))


def run_block(request: Request, session: Session) -> Request:
    """Write the race down and run its last block; the request with the time that it took. What fails has its record,
    and the race goes on: the session stays one that is running. Raises KeyboardInterrupt with what was finished kept.
    """
    store(request, session)
    started = time.monotonic()
    try:
        runs.run(request, session)
    except BaseException:
        with contextlib.suppress(OSError):  # a folder that takes nothing more: what is raised says so
            _spent(request, session, started)
        raise
    return _spent(request, session, started)


def _spent(request: Request, session: Session, started: float) -> Request:
    """The request with the time since `started`, which is written down."""
    assert request.race is not None
    spent = request.race.spent_s + time.monotonic() - started
    request = replace(request, race=replace(request.race, spent_s=spent))
    state = session.facts.state
    store(request, session)
    if state == "interrupted":
        session.finish(state)
    return request


def store(request: Request, session: Session) -> None:
    """The race as it is planned now, in the session's facts, where its jobs read it."""
    race = request.race
    assert race is not None
    (study,) = request.studies
    stem = f"{study.name}.{request.system.name}.{request.mpis[0]}"
    session.facts.request = request.asked
    blocks = race.in_rounds().schedule(stem, request.seed)
    session.facts.expected = [launch.identity for block in blocks for launch in block]
    session.facts.state = "running"
    session.save()


def fits(race: Race, launch_s: float, arms: int, with_hangs: float = 0.0) -> bool:
    """Whether another block of so many arms, and the confirmation behind it, still fit into the minutes. `with_hangs`:
    how long a launch takes in the mean, if some hang: so many may hang in the block, too, and not in what is proved."""
    block = block_s(race, max(launch_s, with_hangs), arms)
    return race.spent_s + block + confirmation_s(race, launch_s, race.looks) <= 60 * race.minutes


def more_rounds_fit(race: Race, launch_s: float) -> bool:
    """Whether the confirmation may go on."""
    needed = confirmation_s(race, launch_s, 2) - confirmation_s(race, launch_s, 1)
    return race.spent_s + needed <= 60 * race.minutes


def too_short(race: Race, launch_s: float) -> str:
    """What to say where not even one whole block and the confirmation fit into the minutes; empty if they do."""
    arms = 1 + race.reference + race.at_once
    needed = block_s(race, launch_s, arms) + confirmation_s(race, launch_s)
    if race.spent_s + needed <= 60 * race.minutes:
        return ""
    passed = f", and {race.spent_s / 60:.1f} have passed" if race.spent_s else ""
    fewer = ", or fewer points with --set" if len(race.points) > 1 else ""
    return (
        f"{race.minutes:g} minutes are too few for a block of {arms} settings and the confirmation, which take about "
        f"{needed / 60:.1f}{passed}: give more --minutes, fewer --places{fewer}."
    )


def block_s(race: Race, launch_s: float, arms: int) -> float:
    return BLOCK_OVERHEAD_S + race.block_rounds * arms * launch_s


def confirmation_s(race: Race, launch_s: float, looks: int = 1) -> float:
    """How long it takes if it is looked at so many times."""
    longer = len(race.untuned) / max(1, len(race.points))
    with_engine, of_mpi = race.variant != BARE, any(axis.of_mpi for axis in race.space)
    alone = (with_engine and of_mpi) + (of_mpi and any(not axis.of_mpi for axis in race.space))
    alone += with_engine and not race.reference  # bare, beside which the engine is seen and nothing is decided
    arms = looks * len(_deciding(race)) + alone
    return looks * BLOCK_OVERHEAD_S + race.confirm * arms * launch_s * longer


def write_result(
    race: Race, session: Session, values: Mapping[str, str], sentence: str, notes: Mapping[str, str]
) -> tuple[Path, Path]:
    """The two files that a person goes on with: the engine's settings, and the MPI's variables."""
    folder = session.path / FOLDER
    folder.mkdir(exist_ok=True)
    of_mpi = {axis.name: axis.of_mpi for axis in race.space}
    preset = race.variant.partition(":")[0]
    engine = {settings_file.VARIANT: preset} if preset not in variants.WITHOUT_ENGINE else {}
    engine |= engine_of(race, dict(values))
    variables = {name: value for name, value in values.items() if of_mpi[name]}
    heading = f"Found by ./bench tune, session {session.name}.\n{sentence}"
    files = (folder / SETTINGS, folder / VARIABLES)
    for file, pairs in zip(files, (engine, variables), strict=True):
        partial = file.with_suffix(".part")
        partial.write_text(settings_file.text(pairs, heading, notes))
        partial.replace(file)
    return files
