# SPDX-License-Identifier: BSD-3-Clause
"""The engine under real MPI programs: the same results as without it, nothing left pending, no hang at any end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, PRESETS, Launcher, compiled, lines, reports

pytestmark = pytest.mark.mpi

# How it polls hardly matters when a process ends.
QUICK = ("idle", "adaptive")  # the others with --full
ENDING = ["adaptive", *(pytest.param(preset, marks=pytest.mark.full) for preset in ("thread", "idle"))]

# What one rank of `scenarios all` starts: counted by hand from scenarios.c.
POINT_TO_POINT = 12 * 2 + 3
OPERATIONS = 3 * POINT_TO_POINT + 8 * 2 + 4 + 4 * 2 + 1 + 50 * 2


@pytest.fixture(scope="module")
def bare_results(launcher: Launcher) -> list[str]:
    result = launcher.run("all")
    assert result.returncode == 0, result.stderr
    assert len(lines(result.stdout)) == 14
    return lines(result.stdout)


@pytest.fixture(scope="module")
def bare_transport(launcher: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the MPI chooses at the program's own thread level: the engine is there and does nothing."""
    folder = tmp_path_factory.mktemp("off")
    launcher.run("all", variant="off", settings=(f"report_file={folder}/report.%r",))
    return [report["transport"] for report in reports(folder)]


@pytest.mark.elsewhere(preset="adaptive")
@pytest.mark.parametrize("preset", [pytest.param(x, marks=[] if x in QUICK else pytest.mark.full) for x in PRESETS])
def test_results_and_transport_are_those_of_the_bare_program(
    launcher: Launcher, bare_results: list[str], bare_transport: Any, preset: str, tmp_path: Path
) -> None:
    result = launcher.run("all", variant=preset, settings=(f"report_file={tmp_path}/report.%r",))
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == bare_results
    assert "progress" not in result.stderr  # silent unless asked
    assert [report["transport"] for report in reports(tmp_path)] == bare_transport
    assert all(transport["libraries"] or transport["component"] or transport["tcp"] for transport in bare_transport)
    for report in reports(tmp_path):
        active = preset != "off"
        assert report["active"] is active
        assert (report["reason"] == "") is active
        assert report["pending"] == 0
        assert report["tracked"] == (OPERATIONS if active else 0)
        level = "serialized" if preset in ("off", "explicit") else "multiple"
        assert report["thread_level"] == {"asked": "serialized", "provided": level}
        threads = {"off": 0, "explicit": 0, "idle": 2}.get(preset, 1)
        assert len(report["threads"]) == threads
        assert all(thread["tid"] > 0 for thread in report["threads"])
        assert (report["polls"] > 0) is active
        assert sum(report["wake_sources"].values()) == report["wakes"]
        assert (report["advice"] != "") is active
        waits = ("umwait-c0.2", "mwaitx-c1", "wfe", "pause-futex") if preset == "mwait" else (None,)
        assert report["wait_instruction"] in waits


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("driver", [pytest.param("test", marks=pytest.mark.full), "auto"])
def test_drivers(launcher: Launcher, bare_results: list[str], driver: str, tmp_path: Path) -> None:
    settings = (f"driver={driver}", f"report_file={tmp_path}/report.%r")
    result = launcher.run("all", variant="thread", settings=settings)
    assert lines(result.stdout) == bare_results
    assert all(report["productive_polls"] > 0 for report in reports(tmp_path))


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_the_mpi_chooses_the_same_transport_under_offload(
    launcher: Launcher, bare_transport: Any, tmp_path: Path
) -> None:
    launcher.run("all", variant="offload", settings=(f"report_file={tmp_path}/report.%r",))
    assert [report["transport"] for report in reports(tmp_path)] == bare_transport


@pytest.mark.elsewhere(asked=1)
@pytest.mark.parametrize("asked", [-1, 1, 3, *(pytest.param(level, marks=pytest.mark.full) for level in (0, 2))])
def test_the_program_sees_the_thread_level_it_asked_for(launcher: Launcher, asked: int) -> None:
    bare = launcher.run("level", str(asked))
    with_engine = launcher.run("level", str(asked), variant="adaptive")
    assert bare.returncode == with_engine.returncode == 0
    assert lines(with_engine.stdout) == lines(bare.stdout) != []


@pytest.mark.parametrize("preset", ENDING)
def test_exit_without_finalize_neither_hangs_nor_crashes(launcher: Launcher, preset: str) -> None:
    # One rank: with two, some launchers kill the second when the first is gone, as they do without the engine.
    bare = launcher.run("exit", tasks=1)
    result = launcher.run("exit", variant=preset, tasks=1)
    assert result.returncode == bare.returncode  # not 0 on Open MPI, whose launcher minds the missing MPI_Finalize
    assert "Segmentation" not in result.stderr


@pytest.mark.parametrize("preset", ENDING)
def test_abort_ends_the_program(launcher: Launcher, preset: str) -> None:
    result = launcher.run("abort", variant=preset)
    assert result.returncode not in (0, 124, 137)
    assert "Segmentation" not in result.stderr


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_on_one_rank_only(launcher: Launcher, bare_results: list[str], tmp_path: Path) -> None:
    rank = {"mpich": "PMI_RANK", "intel": "PMI_RANK", "openmpi": "OMPI_COMM_WORLD_RANK"}[launcher.mpi.family]
    script = tmp_path / "one_rank"
    script.write_text(f'#!/bin/sh\n[ "${rank}" = 1 ] && export LD_PRELOAD={launcher.engine}\nexec "$@"\n')
    script.chmod(0o755)
    result = launcher.run("all", prefix=("env", "PROGRESS_ENGINE=adaptive", "PROGRESS_ENGINE_REPORT=1", str(script)))
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == bare_results
    assert result.stderr.count("progress engine: adaptive on rank 1 of 2: ") == 1
    assert "on rank 0" not in result.stderr


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_bad_setting_in_a_plain_preload_makes_it_inactive(launcher: Launcher, bare_results: list[str]) -> None:
    preload = ("env", f"LD_PRELOAD={launcher.engine}", "PROGRESS_ENGINE=nope", "PROGRESS_ENGINE_REPORT=1")
    result = launcher.run("all", prefix=preload)
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == bare_results
    assert "inactive: unknown variant 'nope'" in result.stderr


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_many_processes_one_after_the_other(launcher: Launcher) -> None:
    for _ in range(4):
        result = launcher.run("none", variant="idle")
        assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_the_type_of_an_empty_message_is_not_asked_for(mpi: Mpi, tmp_path: Path) -> None:
    """MPICH takes MPI_DATATYPE_NULL there; whoever asks for its size ends the program."""
    program = Launcher(mpi, compiled(mpi, "cases.c:nothing_of_no_type", tmp_path))
    for variant in ("off", "adaptive", "mwait", "offload"):
        result = program.run(variant=variant)
        assert (result.returncode, result.stderr) == (0, ""), variant
        assert lines(result.stdout) == ["rank 0: done", "rank 1: done"]


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_failed_call_that_the_programs_handler_lets_pass_is_no_error_of_the_engines(mpi: Mpi, tmp_path: Path) -> None:
    """On MPICH such a call returns MPI_SUCCESS, with a rank that the communicator does not have."""
    program = Launcher(mpi, compiled(mpi, "cases.c:wrong_rank", tmp_path))
    bare = program.run(limit=20)
    result = program.run(variant="adaptive")
    assert (result.returncode, result.stderr) == (bare.returncode, bare.stderr) == (0, "")
    assert lines(result.stdout) == lines(bare.stdout) != []
