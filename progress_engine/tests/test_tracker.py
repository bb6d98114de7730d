# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of operation: the same results with and without the engine, each counted once; and it moves meanwhile."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, Launcher, compiled, lines, reports

pytestmark = pytest.mark.mpi
# Presets that wait in ways of their own; the others track alike, and run with --full.
PRESETS = [
    "adaptive",
    *(pytest.param(name, marks=pytest.mark.full) for name in ("idle", "explicit", "thread", "timer")),
]

Program = Callable[..., Launcher]


@pytest.fixture(scope="module")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("tracker")

    def build(source: str) -> Launcher:
        path = folder / f"{Path(source).stem}-{mpi.name}"
        return Launcher(mpi, path if path.exists() else compiled(mpi, source, folder, "-lpthread"))

    return build


KINDS = ("collectives", "neighbours", "persistent_collectives", "partitioned", "both_ways", "large_counts", "windows",
         "files", "generalised", "communicators")  # fmt: skip


def groups_that_run(launcher: Launcher, kinds: tuple[str, ...]) -> dict[str, list[str]]:
    """What the ranks print of all kinds at once if this MPI runs them without the engine, else by halves; of a kind
    that never runs a warning is left. (Intel MPI 2021.18 crashes when one process goes through all of them.)"""
    bare = launcher.run(",".join(kinds))
    if bare.returncode == 0:
        return {",".join(kinds): lines(bare.stdout)}
    if len(kinds) == 1:
        warnings.warn(f"{launcher.mpi.title} does not run {kinds[0]} without the engine", stacklevel=1)
        return {}
    half = len(kinds) // 2
    return groups_that_run(launcher, kinds[:half]) | groups_that_run(launcher, kinds[half:])


@pytest.fixture(scope="module")
def bare_operations(program: Program) -> dict[str, list[str]]:
    """Of each group of kinds, what the ranks print."""
    return groups_that_run(program("operations.c"), KINDS)


@pytest.mark.elsewhere(preset="adaptive")
@pytest.mark.parametrize("preset", PRESETS)
def test_every_operation_counts_once(
    program: Program, bare_operations: dict[str, list[str]], preset: str, tmp_path: Path
) -> None:
    assert bare_operations
    sleeps = 0
    for group, bare in bare_operations.items():
        result = program("operations.c").run(group, variant=preset, settings=(f"report_file={tmp_path}/report.%r",))
        assert result.returncode == 0, result.stderr
        assert lines(result.stdout) == bare
        started = [int(number) for number in re.findall(r"rank \d: operations (\d+)", result.stdout)]
        for report in reports(tmp_path):
            assert [report["tracked"]] * 2 == started
            assert (report["pending"], report["progress_users"]) == (0, 0)
            sleeps += report["managed_sleeps"]
    assert (sleeps > 0) is (preset == "idle")


def moved(launcher: Launcher, seconds: float, *more: str, **how: Any) -> dict[str, bool]:
    """Kind of operation -> whether it moved while the partner computed, for so many seconds at most."""
    ended = launcher.run(str(seconds), *more, **how)
    assert ended.returncode == 0, ended.stderr
    return {kind: came == "1" for kind, came in re.findall(r"rank 0: (\w+) ([01])", ended.stdout)}


IN_VAIN_S = 0.3
PATIENCE_S = 20  # a kind


def test_operations_move_while_the_partner_computes(program: Program) -> None:
    """Bare, they wait for the partner's next call; the window's accumulate is no operation of the partner's at all."""
    partner = program("late_partner.c")
    bare = moved(partner, IN_VAIN_S)
    assert not bare["point_to_point"], bare
    with_engine = moved(partner, PATIENCE_S, variant="adaptive")
    assert with_engine.keys() == bare.keys() >= {"point_to_point", "persistent", "collective", "passive_target"}
    assert all(with_engine.values()), with_engine


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_pcontrol_switches_it_off_where_the_user_wants_that(program: Program) -> None:
    switched_off = moved(program("late_partner.c"), IN_VAIN_S, "0", variant="adaptive", settings=("pcontrol=1",))
    assert not switched_off["point_to_point"], switched_off
    nobody_may = moved(program("late_partner.c"), PATIENCE_S, "0", variant="adaptive")
    assert all(nobody_may.values()), nobody_may


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_window_that_it_did_not_see_made_or_shared_is_none_of_its_users(program: Program, tmp_path: Path) -> None:
    settings = (f"report_file={tmp_path}/report.%r",)
    ended = program("calls.c:unseen_window").run(variant="adaptive", settings=settings, tasks=1)
    if "OSC pt2pt component does not support MPI_THREAD_MULTIPLE" in ended.stderr:
        pytest.skip("Open MPI 4 has no windows here at the thread level that the engine needs")
    assert lines(ended.stdout) == ["rank 0: freed, users 0 1 0"], ended.stderr
    assert reports(tmp_path, 1)[0]["progress_users"] == 0
