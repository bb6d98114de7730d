# SPDX-License-Identifier: BSD-3-Clause
"""Copies of the sources that a test may change, and what Python finds in them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from harness.base.paths import ROOT

FOLDERS = (
    "analysis", "harness", "progress_engine", "reframe_checks", "results/schema", "simulator", "spack_env", "workloads",
)  # fmt: skip
FILES = ("uv.lock", "pyproject.toml", "CMakeLists.txt", "CMakePresets.json", "cmake/mpi_without_cxx.cmake")


def _left_out(folder: str, names: list[str]) -> set[str]:
    built = shutil.ignore_patterns("build-linux-*", "__pycache__")(folder, names)
    return built | ({"sites"} if Path(folder) == ROOT / "spack_env" else set())


def copy_to(folder: Path) -> Path:
    """The sources without what is built and measured."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=_left_out)
    for name in FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def python(tree: Path, code: str) -> str:
    """What this code prints there."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tree, env={"PYTHONPATH": str(tree)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def studies(tree: Path) -> list[str]:
    """The names of the studies, in their order."""
    return python(tree, "from reframe_checks import catalogue; print(*catalogue.studies())").split()
