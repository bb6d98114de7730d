# SPDX-License-Identifier: BSD-3-Clause
"""The builds: the engine and the workloads once for each MPI, out of tree and incremental (CMakePresets.json)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from harness.base import process
from harness.base.mpis import Mpi
from harness.base.paths import BUILD_DIR, ROOT, VENV
from harness.base.steps import run_step, setup_lock
from harness.setup import mpi as mpi_setup
from harness.setup import packages


def environment(mpi: Mpi | None, root: Path = ROOT) -> dict[str, str]:
    """What a build of the sources in `root` has beside the environment of the call."""
    # cmake and ninja come with .venv: a distribution's may be too old for the presets
    path = os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", os.defpath)])
    # relative paths are the same for each MPI: what includes no mpi.h, generated headers or not, is compiled once
    cache = {
        "CCACHE_DIR": str(BUILD_DIR / "ccache"),
        "CCACHE_BASEDIR": str(root),
        "CCACHE_SLOPPINESS": "pch_defines,time_macros",  # without them it caches nothing that has precompiled headers
    }
    return (mpi.environment() if mpi else {}) | {"PATH": path} | cache


def _up_to_date(folder: str, targets: Sequence[str], environment: dict[str, str]) -> bool:
    command = [str(VENV / "bin" / "ninja"), "-C", folder, "-n", *targets]
    look = process.answer(command, None, dict(os.environ) | environment)
    return look.status == 0 and "no work to do" in look.out


def build_preset(preset: str, mpi: Mpi | None = None, targets: Sequence[str] = ("all",)) -> None:
    """Configure (the first time) and build a preset of CMakePresets.json, or some `targets` of it."""
    packages.ensure("build")
    variables = environment(mpi)
    folder = BUILD_DIR / preset
    cmake = str(VENV / "bin" / "cmake")
    with setup_lock():
        if not (folder / "build.ninja").exists():
            # the presets have these below the sources, where an installed package has nothing to write
            places = ["-B", str(folder), *([f"-DMPI_C_COMPILER={mpi.mpicc}"] if mpi else [])]
            run_step(f"configuring build/{preset}", [cmake, "--preset", preset, *places], variables)
        if not _up_to_date(str(folder), targets, variables):
            command = [cmake, "--build", str(folder), "--target", *targets]
            run_step(f"building build/{preset}", command, variables, 60)


def build_simulator(targets: Sequence[str] = ("simulate",)) -> None:
    """Configure (the first time) and build the simulator: a project of its own, which needs SimGrid and no MPI."""
    _build_with_simgrid("simulated", ROOT / "workloads" / "simulated", [], targets)


def build_smpi(targets: Sequence[str]) -> None:
    """Configure (the first time) and build these workloads for SMPI: without the engine, which does not know it."""
    options = ["OVERLAP_BENCH_SMPI=ON", "MPI_C_COMPILER=smpicc", "OVERLAP_BENCH_TESTS=OFF"]
    as_for_others = ["CMAKE_BUILD_TYPE=Release", "OVERLAP_BENCH_FAST_BUILD=ON"]
    _build_with_simgrid("smpi", ROOT / "workloads", options + as_for_others, targets)


def _build_with_simgrid(name: str, source: Path, options: Sequence[str], targets: Sequence[str]) -> None:
    packages.ensure("build", "simulator")
    variables = environment(None)
    folder, cmake = BUILD_DIR / name, str(VENV / "bin" / "cmake")
    with setup_lock():
        if not (folder / "build.ninja").exists():
            configure = [cmake, "-G", "Ninja", "-S", str(source), "-B", str(folder), *(f"-D{one}" for one in options)]
            run_step(f"configuring build/{name}", configure, variables)
        if not _up_to_date(str(folder), targets, variables):
            command = [cmake, "--build", str(folder), "--target", *targets]
            run_step(f"building build/{name}", command, variables, 60)


def ensure(mpi: Mpi, *targets: str) -> None:
    """Have `mpi` installed, and the engine and the workloads (or only these `targets`) built for it."""
    mpi_setup.ensure(mpi)
    build_preset(mpi.name, mpi, targets or ("all",))
