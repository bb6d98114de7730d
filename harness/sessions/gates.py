# SPDX-License-Identifier: BSD-3-Clause
"""The request of a gate: its sides made ready, and as many rounds as its minutes allow."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from harness.base import process, variants
from harness.base.errors import UsageError
from harness.base.mpis import MPIS
from harness.base.variants import LIMIT, WITHOUT_ENGINE, polls
from harness.job.plan import Gate, Side, launch_estimate_s
from harness.job.program import another_mpi
from harness.job.read_back import Probe
from harness.sessions import sides, space
from harness.sites import systems
from harness.sites.systems import Request, choose_mpis
from reframe_checks.catalogue import Study

MOST_ROUNDS = 200
FASTER = 2  # than estimated a launch may be: the minutes end a gate, and not the rounds
HELP_LIMIT_S = 30.0
SAYS = "progress-run: "
TOLD_BY_NAME = ("mpi_t", "ucx", "intel")  # ways in which each variable of a library is told, also one in no table
# The check run: some milliseconds of computation alone and a message alone, under no engine.
CHECK_RUN = Side(
    "check",
    "bare",
    workload=["microbench", "overlap"],
    points=[{"pattern": "both", "size_bytes": 262144, "work_units": 20000}],
    samples=3,
)


def planned(
    request: Request, asked: tuple[str, str], minutes: float, least: Callable[[int], int], on_off: bool = False
) -> int:
    """How many rounds the minutes allow; UsageError where they are fewer than `least` of so many points."""
    for study in request.studies:
        if study.sweep(study.scale(request.scale, request.asked.settings)).axes:
            raise UsageError(f"Study {study.name} sweeps settings of the engine: a gate has its own.")
        if (ranks := check_run_ranks(study, request.asked.nodes)) % 2:
            way = "another study" if study.nodes else f"--nodes {request.asked.nodes + 1}"
            raise UsageError(
                f"The check run of {study.name} would have {ranks} rank{'s' if ranks != 1 else ''}, and each of them "
                f"needs another one to send to: an even number is wanted, as by {way}."
            )
    for text in asked:
        if sides.parse(text).variant == LIMIT:
            raise UsageError("Variant limit is no engine and no MPI: a gate has nothing to hold against it.")
        if on_off and (sides.parse(text).kind == "mpi" or not polls(sides.parse(text).variant)):
            raise UsageError(f"Side '{text}': --on-off compares engines that poll, on one MPI: name two of those.")
        if request.asked.program and sides.parse(text).kind == "mpi":
            raise UsageError(f"Side '{text}': a program of one's own is linked to one MPI, and runs on no other.")
    jobs = request.jobs()
    if any(not job.study.workload for job in jobs):
        return MOST_ROUNDS  # of somebody else's program nothing is known: the minutes end the gate
    sampler = jobs[0].sampler
    round_s = sum(3 * job.launch_estimate_s() + launch_estimate_s(CHECK_RUN.points, sampler, 0) for job in jobs)
    rounds = int(60 * minutes / round_s)
    wanted = least(len(jobs) * max(len(job.scale.points()) for job in jobs))  # see gate_records.Measurement
    if rounds < wanted:
        raise UsageError(
            f"{minutes:g} minutes allow {max(0, rounds)} rounds of about {round_s:.0f} s, and {wanted} are wanted at "
            f"least: give more --minutes, or fewer points with --set."
        )
    return min(MOST_ROUNDS, FASTER * rounds)


def check_run_ranks(study: Study, nodes: int) -> int:
    """How many ranks the check run beside a study has; 0 where a launcher of the user's own decides."""
    if study.program and study.program.launcher:
        return 0
    return study.tasks_per_node * (study.nodes or nodes)


def with_sides(request: Request, asked: tuple[str, str], new_options: Sequence[str], gate: Gate) -> Request:
    """The request with its three sides: the engines of the two that are asked for are built and fit the MPI."""
    (mpi,) = request.mpis
    baseline, candidate = (_ready(text, name, request) for text, name in zip(asked, ("base", "new"), strict=True))
    candidate = replace(candidate, options=list(new_options))
    every = [baseline, replace(baseline, name="control"), candidate]
    names = list(dict.fromkeys((baseline.variant, candidate.variant)))
    whole = request.but(variants=names, gate=replace(gate, sides=every))
    systems.set_up(whole.but(variants=[]))
    for text, side in zip(asked, (baseline, candidate), strict=True):
        _fits(text, side, whole, side.mpi or mpi)
    return whole


def _ready(text: str, name: str, request: Request) -> Side:
    """The side that these words ask for; UsageError if it cannot be had."""
    source, (mpi,) = sides.parse(text), request.mpis
    found = sides.ready(source, MPIS[mpi] if request.system.own_mpis else None)
    (other,) = choose_mpis(source.where, request.system) if source.kind == "mpi" else (mpi,)
    on = other if other != mpi else ""
    return Side(name, source.variant, found.progress_run, environment=found.environment, mpi=on, probes=_probes(source))


def _probes(source: sides.Source) -> list[Probe]:
    """Those of the variables that somebody wrote down for the MPI: what modules set besides need not be its own."""
    return [probe for probe in space.probes_of(source.environment) if probe.how in TOLD_BY_NAME]


def _fits(text: str, side: Side, request: Request, mpi: str) -> None:
    """UsageError where the engine does not take the side's settings or is of another MPI, or its modules bring one.

    A site's programs may not start where this runs: there each launch tells whether its engine and MPI are the right
    ones.
    """
    programs = request.system.programs_of(mpi)
    tool = Path(side.progress_run) if side.progress_run else programs / "progress-run"
    variants.check_settings([side.variant], tool.parent)
    if not request.system.own_mpis:
        return
    workload = str(programs / [*request.studies[0].workload, *CHECK_RUN.workload][0])
    environment = dict(os.environ) | MPIS[mpi].environment() | side.environment
    if wrong := another_mpi(workload, MPIS[mpi].library, environment):
        raise UsageError(f"Side '{text}' does not run with {mpi}: {wrong}.")
    if side.variant.partition(":")[0] in WITHOUT_ENGINE:
        return
    how = variants.recipe(side.variant, tool, {})
    assert not isinstance(how, str)
    done = process.answer([*how.prefix, workload, "--help"], HELP_LIMIT_S, environment)
    complaint = next((line for line in done.err.splitlines() if line.startswith(SAYS)), "")
    if done.status != 0 or complaint:  # it would run the workload without the engine, and say so
        why = complaint.removeprefix(SAYS) or done.last_line
        raise UsageError(f"Side '{text}' does not run with {mpi}: {why or f'status {done.status}'}")
