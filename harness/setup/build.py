# SPDX-License-Identifier: BSD-3-Clause
"""The builds: the engine and the workloads once for each MPI, out of tree and incremental (CMakePresets.json)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from harness.mpis import Mpi
from harness.paths import BUILD_DIR, ROOT, VENV
from harness.setup import mpi as mpi_setup
from harness.setup import packages
from harness.setup.steps import run_step, setup_lock


def _environment(mpi: Mpi | None) -> dict[str, str]:
    # cmake and ninja come with .venv: a distribution's may be too old for the presets
    path = os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", os.defpath)])
    # relative paths are the same for each MPI: what includes no mpi.h, generated headers or not, is compiled once
    cache = {
        "CCACHE_DIR": str(BUILD_DIR / "ccache"),
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_SLOPPINESS": "pch_defines,time_macros",  # without them it caches nothing that has precompiled headers
    }
    return (mpi.environment() if mpi else {}) | {"PATH": path} | cache


def _up_to_date(folder: str, targets: Sequence[str], environment: dict[str, str]) -> bool:
    command = [str(VENV / "bin" / "ninja"), "-C", folder, "-n", *targets]
    look = subprocess.run(command, env=dict(os.environ) | environment, capture_output=True, text=True, check=False)
    return look.returncode == 0 and "no work to do" in look.stdout


def build_preset(preset: str, mpi: Mpi | None = None, targets: Sequence[str] = ("all",)) -> None:
    """Configure (the first time) and build a preset of CMakePresets.json, or some `targets` of it."""
    packages.ensure("build")
    environment = _environment(mpi)
    folder = BUILD_DIR / preset
    cmake = str(VENV / "bin" / "cmake")
    with setup_lock():
        if not (folder / "build.ninja").exists():
            run_step(f"configuring build/{preset}", [cmake, "--preset", preset], environment)
        if not _up_to_date(str(folder), targets, environment):
            command = [cmake, "--build", "--preset", preset, "--target", *targets]
            run_step(f"building build/{preset}", command, environment, 60)


def ensure(mpi: Mpi, *targets: str) -> None:
    """Have `mpi` installed, and the engine and the workloads (or only these `targets`) built for it."""
    mpi_setup.ensure(mpi)
    build_preset(mpi.name, mpi, targets or ("all",))
