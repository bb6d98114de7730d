# SPDX-License-Identifier: BSD-3-Clause
"""The sides of a gate or a search in a check, with the programs and launchers of its environment, or of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reframe.core.environments import ProgEnvironment
from reframe.core.exceptions import ReframeError
from reframe.core.runtime import runtime

from harness.job.plan import Launch, Rounds, Side
from reframe_checks.systems.extras import extras_of_environment


def of_check(check: Any) -> Rounds:
    """Those that are asked for, with the programs and launchers of this environment, and of the sides' own."""
    found: Rounds = check.asked.rounds
    sides = [_on_its_mpi(check, side) if side.mpi else side for side in found.sides]
    if not found.around:
        return replace(found, sides=sides)
    program, *arguments = found.around.workload
    workload = [str(Path(check.environ_extras["bin_dir"]) / program), *arguments, *check.settle()]
    around = replace(found.around, workload=workload, platform=_check_runs_platform(check, workload))
    return replace(found, sides=sides, around=around)


def _check_runs_platform(check: Any, workload: list[str]) -> Any:
    """Beside somebody else's program the check run has a rank a node; where their launcher decides, as many as that
    starts. None: the study's own."""
    if check.study.workload:
        return None
    if check.study.program and check.study.program.launcher:
        return replace(check.platform(check.environ_extras, check.study), tasks=0, nodes=0)
    beside = replace(check.study, workload=tuple(workload), program=None, case="", own_threads=False)
    return check.platform(check.environ_extras, beside)


def _on_its_mpi(check: Any, side: Side) -> Side:
    """A side on another MPI than the job's, with that one's launcher, programs and variables."""
    environ = _environ_of(check, side.mpi)
    extras = extras_of_environment(environ)
    shared = extras.get("shared_memory", {}) if check.study.shared_memory else {}
    variables = {name: str(value) for name, value in environ.env_vars.items()} | shared
    return replace(
        side,
        platform=check.platform(extras, check.study),
        workload=check.workload(extras),
        environment=variables | side.environment,
    )


def _environ_of(check: Any, mpi: str) -> ProgEnvironment:
    """Another environment of this partition: ReFrame itself keeps those that are run on alone."""
    config = runtime().site_config
    known = config.get(f"systems/0/partitions/@{check.current_partition.name}/environs")
    what = {name: config.get(f"environments/@{mpi}/{name}") for name in ("modules", "env_vars", "extras")}
    if mpi not in known or what["modules"]:
        why = "its environment loads modules" if mpi in known else f"there are {', '.join(known)}"
        raise ReframeError(f"A side of a gate cannot run on {mpi} beside {check.current_environ.name}: {why}.")
    return ProgEnvironment(mpi, **what)


def known(launches: Sequence[Launch], rounds: Rounds) -> list[Launch]:
    """The launches with what is known of their sides once the job is made."""
    sides = {side.name: side for side in [*rounds.sides, *([rounds.around] if rounds.around else [])]}
    return [replace(launch, side=sides[launch.side.name]) if launch.side else launch for launch in launches]
