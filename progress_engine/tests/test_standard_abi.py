# SPDX-License-Identifier: BSD-3-Clause
"""One engine, made with the header of the standard's ABI, serves one binary on MPICH's and Intel MPI's libraries of it.

With --full the modules that conftest.py names run on MPICH's, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import ALL, STANDARD, Launcher, compiled, lines, reports, said_by_engine
from .test_offload import usable
from .test_tracker import KINDS, groups_that_run

pytestmark = pytest.mark.mpi

# A thread that waits for events, the one that makes all calls; with --full what waits otherwise, and the program's own.
PRESETS = ("adaptive", "offload", *(pytest.param(x, marks=pytest.mark.full) for x in ("thread", "idle", "explicit")))
SONAME = "libmpi_abi.so.1"


@pytest.fixture(scope="module", params=STANDARD)
def library(request: pytest.FixtureRequest) -> str:
    usable(request.param)
    return str(request.param)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each is made once, by MPICH's wrapper."""
    folder, (maker, *_) = tmp_path_factory.mktemp("abi"), STANDARD.values()
    for source, *flags in (("operations.c", "-lpthread"), ("calls.c:request_handles", "-ldl")):
        compiled(maker, source, folder, *flags)
    compiled(maker, "early.cpp", folder, "-DHOW=1", library="libearly.so")
    compiled(maker, "early.cpp", folder, "-DPROGRAM", str(folder / "libearly.so"), f"-Wl,-rpath,{folder}")
    return folder


@pytest.fixture(scope="module")
def operations(library: str, programs: Path) -> tuple[Launcher, dict[str, list[str]]]:
    """In C: every kind of operation, by groups that the library runs in one process, and what each then prints."""
    program = Launcher(STANDARD[library], programs / "operations-standard-abi")
    return program, groups_that_run(program, KINDS)


def with_and_without(
    program: Launcher, bare: list[str], preset: str, folder: Path, *words: str
) -> list[dict[str, Any]]:
    """The reports of a run, which must have printed what one without the engine prints, and say what ran."""
    result = program.run(*words, variant=preset, settings=("report=full", f"report_file={folder}/report.%r"))
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == bare != []
    of_ranks = [line for line in said_by_engine(result.stderr) if line.startswith("progress engine: rank ")]
    assert len(of_ranks) == 2
    assert all(f" by {SONAME}" in line and program.mpi.library in line for line in of_ranks)
    found = reports(folder)
    for report in found:
        assert (report["active"], report["reason"], report["pending"]) == (True, "", 0)
        assert (report["abi"], report["preset"]) == (SONAME, preset)
        assert program.mpi.library in report["mpi"]
        assert report["tracked"] > 0 or report["offload"]["commands"] > 0
    return found


@pytest.mark.parametrize("preset", PRESETS)
def test_every_operation_is_seen(
    operations: tuple[Launcher, dict[str, list[str]]], preset: str, tmp_path: Path
) -> None:
    program, groups = operations
    assert groups
    for group, bare in groups.items():
        with_and_without(program, bare, preset, tmp_path, group)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_program_in_cpp_that_begins_before_main(library: str, programs: Path, preset: str, tmp_path: Path) -> None:
    program = Launcher(STANDARD[library], programs / "early-standard-abi")
    with_and_without(program, lines(program.run().stdout), preset, tmp_path)


@pytest.mark.parametrize("variant", ["off", "offload"])
def test_requests_become_integers_and_come_back(library: str, programs: Path, variant: str) -> None:
    """Ours do; the library's own as without the engine (Intel MPI's do not)."""
    program = Launcher(STANDARD[library], programs / "request_handles-standard-abi")
    result = program.run(variant=variant)
    ours = [f"rank {rank}: requests are the same again" for rank in (0, 1)]
    assert lines(result.stdout) == (ours if variant == "offload" else lines(program.run().stdout)) != [], result.stderr


PAIR = ("mpich", "standard-abi of mpich")


@pytest.mark.parametrize(("engine", "of_program"), [PAIR, PAIR[::-1]])
def test_an_engine_of_another_abi_does_nothing_and_says_why(engine: str, of_program: str, tmp_path: Path) -> None:
    """Preloaded past progress-run."""
    preload = Launcher(usable(engine), tmp_path).engine
    program = Launcher(ALL[of_program], compiled(ALL[of_program], "operations.c", tmp_path, "-lpthread"))
    bare = program.run("both_ways")
    result = program.run("both_ways", prefix=("env", "PROGRESS_ENGINE=adaptive", f"LD_PRELOAD={preload}"))
    assert (bare.returncode, result.returncode) == (0, 0), result.stderr
    assert lines(result.stdout) == lines(bare.stdout) != []
    assert "and this engine was built for" in result.stderr
