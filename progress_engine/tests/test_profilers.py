# SPDX-License-Identifier: BSD-3-Clause
"""A profiler below the engine gets what the program tells it: MPI_Pcontrol has variable arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, Launcher, compiled, lines


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_profiler_gets_the_names_of_regions(mpi: Mpi, tmp_path: Path) -> None:
    program = Launcher(mpi, compiled(mpi, "regions.c", tmp_path))
    tool = compiled(mpi, "tool.c", tmp_path, library="tool.so")

    def told(*variant: str) -> list[str]:
        libraries = ":".join([str(program.engine)] * len(variant) + [str(tool)])
        settings = [f"PROGRESS_ENGINE={name}" for name in variant]
        result = program.run(prefix=("env", *settings, f"LD_PRELOAD={libraries}"), tasks=1)
        assert result.returncode == 0, result.stderr
        return lines(result.stdout)

    bare = told()
    assert any("level 2, region solver, 1, 2, 3, 4, 0.5, 1.5" in line for line in bare)
    for variant in ("off", "adaptive", "offload"):
        assert told(variant) == bare, variant
