# SPDX-License-Identifier: BSD-3-Clause
"""The blocks of a search in its session: planned, written down, run. Who goes on the analysis says, in between."""

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
from harness.job.search import COMPARED, CONFIRM, DEFAULT, REFERENCE, Contender, Search, engine_of, side_of
from harness.job.session import Session
from harness.sessions import run as runs
from harness.sessions import space
from harness.sites.systems import Request
from reframe_checks.catalogue import Study

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
    """A size between each and the next, where there is one; else half as much again as the largest, and twice that.
    None of them is one that is tuned, nor a shorter one: an MPI may send that in another way. Of sizes that are whole
    numbers of 8 bytes they are such, too: some studies add doubles.
    """
    unit, high = (1 if any(size % WORD for size in sizes) else WORD), max(sizes)
    middles = (round(math.sqrt(first * second)) for first, second in itertools.pairwise(sorted(sizes)))
    inner = {middle // unit * unit for middle in middles}
    found = (inner - {0, *sizes}) or {3 * high // 2 // unit * unit, 2 * high} - {0, *sizes}
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
    done = process.answer([str(programs / name), *options, "--list-parameters"], variants.ANSWER_LIMIT_S)
    try:
        told = json.loads(done.out)["quantities"] if done.status == 0 else []
    except (ValueError, KeyError):
        told = []
    return {one.pop("name"): one for one in told} or None


def begin(request: Request, search: Search) -> Request:
    """The request with a search whose first block reads the MPI's variables back, and tries a program of one's own."""
    first = [Block([], 0)] if search.probes or request.asked.program else []
    return request.but(variants=[search.variant], search=replace(search, blocks=first))


def trial_s(request: Request, session: Session) -> float:
    """How long the program took as it is; 0 where a study of a workload is tuned. UsageError with the reason where the
    program cannot be used at all."""
    name = program_launch.trial_name(request.studies[0].name, request.system.name, request.mpis[0])
    if why := program_launch.refused(session.folders, name):
        raise UsageError(f"{why.rstrip('.')}.")
    found = program_launch.kept_trial(session.folders, name)
    return found.seconds if found else 0.0


def taken(search: Search, session: Session, mpi: str) -> dict[str, tuple[bool, str]]:
    """Variable -> whether the MPI took it, and what shows that: of the winner's value, where there is one."""
    return {probe.name: read_back.told(probe, session.folders.logs, mpi) for probe in search.probes}


def without_untaken(search: Search, found: Mapping[str, tuple[bool, str]]) -> Search:
    """The search without the variables that are not shown to act; Failure where nothing is left."""
    axes = [axis for axis in search.space if not axis.of_mpi or found[axis.name][0]]
    if not axes:
        first = next(iter(found.items()))
        raise Failure(f"No variable is shown to have taken effect, so none is tuned: of {first[0]}, {first[1][1]}.")
    return replace(search, space=axes)


def with_block(search: Search, alive: Sequence[str], new: Sequence[dict[str, str]]) -> Search:
    """Another block: the default, those that go on, new settings; and the reference, where there is one."""
    first = len(search.contenders) + 1
    fresh = [Contender(f"s{first + place:03d}", dict(values), search.method) for place, values in enumerate(new)]
    sides = list(search.sides)
    if not sides:
        sides.append(side_of(search, DEFAULT, {}, search.points))
        sides += [side_of(search, REFERENCE, {}, search.points, engine=False)] if search.reference else []
    sides += [side_of(search, one.name, one.values, search.points) for one in fresh]
    fixed = [DEFAULT, REFERENCE] if search.reference else [DEFAULT]
    block = Block([*fixed, *alive, *(one.name for one in fresh)], search.block_rounds)
    return replace(search, contenders=[*search.contenders, *fresh], sides=sides, blocks=[*search.blocks, block])


def with_probes(search: Search, winner: str) -> Search:
    """The search that asks the MPI of the values of its winner, too: before, it was asked of one value a variable."""
    values = next(one.values for one in search.contenders if one.name == winner)
    of_mpi = {axis.name: values[axis.name] for axis in search.space if axis.of_mpi and axis.name in values}
    return replace(search, probes=[*search.probes, *space.probes_of(of_mpi)])


def with_confirmation(search: Search, winner: str) -> Search:
    """The last block: the winner and the default afresh, at points that were not tuned, and each factor alone."""
    values = next(one.values for one in search.contenders if one.name == winner)
    of_mpi = {axis.name: axis.of_mpi for axis in search.space}
    engine = {name: value for name, value in values.items() if not of_mpi[name]}
    variables = {name: value for name, value in values.items() if of_mpi[name]}
    fresh = [
        side_of(search, f"{CONFIRM}{DEFAULT}", {}, search.untuned),
        side_of(search, f"{CONFIRM}tuned", values, search.untuned),
    ]
    with_engine = search.variant != BARE
    if with_engine or search.reference:
        fresh.append(side_of(search, f"{CONFIRM}{REFERENCE}", {}, search.untuned, engine=False))
    if with_engine and variables:
        fresh.append(side_of(search, f"{CONFIRM}tuned-mpi", variables, search.untuned, engine=False))
    if variables and engine:
        fresh.append(side_of(search, f"{CONFIRM}tuned-engine", engine, search.untuned))
    block = Block([side.name for side in fresh], search.confirm)
    return replace(search, sides=[*search.sides, *fresh], blocks=[*search.blocks, block])


def with_more_rounds(search: Search) -> Search:
    """The confirmation goes on, with those sides that decide it."""
    sides = [name for name in search.blocks[-1].sides if name in _deciding(search)]
    return replace(search, blocks=[*search.blocks, Block(sides, search.confirm)])


def _deciding(search: Search) -> list[str]:
    """The sides by which a confirmation is decided: the two that are compared, and what metrics are taken against."""
    return [*COMPARED, f"{CONFIRM}{REFERENCE}"] if search.reference else [*COMPARED]


def confirming(search: Search) -> bool:
    """Whether the last block is the confirmation."""
    return bool(search.blocks and search.blocks[-1].sides and search.blocks[-1].sides[0].startswith(CONFIRM))


def run_block(request: Request, session: Session) -> Request:
    """Write the search down and run its last block; the request with the time that it took. What fails has its record,
    and the search goes on: the session stays one that is running. Raises KeyboardInterrupt with what was finished kept.
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
    assert request.asked.search is not None
    spent = request.asked.search.spent_s + time.monotonic() - started
    request = request.but(search=replace(request.asked.search, spent_s=spent))
    state = session.facts.state
    store(request, session)
    if state == "interrupted":
        session.finish(state)
    return request


def store(request: Request, session: Session) -> None:
    """The search as it is planned now, in the session's facts, where its jobs read it."""
    search = request.asked.search
    assert search is not None
    (study,) = request.studies
    stem = f"{study.name}.{request.system.name}.{request.mpis[0]}"
    session.facts.request = request.asked
    blocks = search.in_rounds().schedule(stem, request.asked.seed)
    session.facts.expected = [launch.identity for block in blocks for launch in block]
    session.facts.state = "running"
    session.save()


def fits(search: Search, launch_s: float, sides: int, with_hangs: float = 0.0) -> bool:
    """Whether another block of so many sides, and the confirmation behind it, still fit into the minutes. `with_hangs`:
    how long a launch takes in the mean, if some hang: so many may hang in the block, too, and not in what is proved."""
    block = block_s(search, max(launch_s, with_hangs), sides)
    return search.spent_s + block + confirmation_s(search, launch_s, search.looks) <= 60 * search.minutes


def more_rounds_fit(search: Search, launch_s: float) -> bool:
    """Whether the confirmation may go on."""
    needed = confirmation_s(search, launch_s, 2) - confirmation_s(search, launch_s, 1)
    return search.spent_s + needed <= 60 * search.minutes


def too_short(search: Search, launch_s: float) -> str:
    """What to say where not even one whole block and the confirmation fit into the minutes; empty if they do."""
    sides = 1 + search.reference + search.at_once
    needed = block_s(search, launch_s, sides) + confirmation_s(search, launch_s)
    if search.spent_s + needed <= 60 * search.minutes:
        return ""
    passed = f", and {search.spent_s / 60:.1f} have passed" if search.spent_s else ""
    fewer = ", or fewer points with --set" if len(search.points) > 1 else ""
    return (
        f"{search.minutes:g} minutes are too few for a block of {sides} settings and the confirmation, which take "
        f"about {needed / 60:.1f}{passed}: give more --minutes, fewer --places{fewer}."
    )


def block_s(search: Search, launch_s: float, sides: int) -> float:
    return BLOCK_OVERHEAD_S + search.block_rounds * sides * launch_s


def confirmation_s(search: Search, launch_s: float, looks: int = 1) -> float:
    """How long it takes if it is looked at so many times."""
    longer = len(search.untuned) / max(1, len(search.points))
    with_engine, of_mpi = search.variant != BARE, any(axis.of_mpi for axis in search.space)
    alone = (with_engine and of_mpi) + (of_mpi and any(not axis.of_mpi for axis in search.space))
    alone += with_engine and not search.reference  # bare, beside which the engine is seen and nothing is decided
    sides = looks * len(_deciding(search)) + alone
    return looks * BLOCK_OVERHEAD_S + search.confirm * sides * launch_s * longer


def write_result(
    search: Search, session: Session, values: Mapping[str, str], sentence: str, notes: Mapping[str, str]
) -> tuple[Path, Path]:
    """The two files that a person goes on with: the engine's settings, and the MPI's variables."""
    folder = session.path / FOLDER
    folder.mkdir(exist_ok=True)
    of_mpi = {axis.name: axis.of_mpi for axis in search.space}
    preset = search.variant.partition(":")[0]
    engine = {settings_file.VARIANT: preset} if preset not in variants.WITHOUT_ENGINE else {}
    engine |= engine_of(search, dict(values))
    variables = {name: value for name, value in values.items() if of_mpi[name]}
    heading = f"Found by ./bench tune, session {session.name}.\n{sentence}"
    files = (folder / SETTINGS, folder / VARIABLES)
    for file, pairs in zip(files, (engine, variables), strict=True):
        partial = file.with_suffix(".part")
        partial.write_text(settings_file.text(pairs, heading, notes))
        partial.replace(file)
    return files
