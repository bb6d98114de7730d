# SPDX-License-Identifier: BSD-3-Clause
"""A small MPI program such as a user has, for the commands that run one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.base.mpis import MPIS, Mpi
from harness.setup.build import build_variables

# Two ranks exchange 1 MB beside 50 ms of computing, and print time and energy. With "wrong" the energy depends on
# whether the engine is there.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char in[1 << 20], out[1 << 20];
int main(int argc, char** argv) {
  int rank, size;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double begin = MPI_Wtime();
  MPI_Irecv(in, sizeof in, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, sizeof out, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  while (MPI_Wtime() < begin + 0.05) {
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (rank == 0) printf("time: %g s\n", MPI_Wtime() - begin);
  const int wrong = argc > 1 && strcmp(argv[1], "wrong") == 0 && getenv("PROGRESS_ENGINE");
  if (rank == 0) printf("energy: %g of %d ranks\n", wrong ? 0.0 : -4.6, size);
  MPI_Finalize();
  return 0;
}
"""
READ = ("--time-from", r"time: (\S+) s", "--check", "energy: .*")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program of MPICH's."""
    mpi = MPIS["mpich"]
    if not mpi.installed():
        pytest.skip("MPICH (PyPI) is not installed")
    folder = tmp_path_factory.mktemp("program")
    (folder / "app.c").write_text(PROGRAM)
    subprocess.run([str(mpi.mpicc), "app.c", "-o", "app"], cwd=folder, check=True)
    return str(folder / "app")


# Small programs of the tests, compiled by an MPI's wrapper.
_MADE: dict[tuple[Path, Path, bytes, tuple[str, ...]], Path] = {}


def compiled(wrapper: Path, mpi: Mpi, source: Path, made: Path, *flags: str) -> Path:
    """`source` compiled by `wrapper` and linked into `made`, in two steps: ccache, if there is one, keeps the first
    one's. What this process has made before is copied."""
    key = (wrapper, source, source.read_bytes(), flags)
    if key in _MADE and _MADE[key].exists():
        if made != _MADE[key]:
            _forget(made)
            shutil.copy2(_MADE[key], made)
        return made
    _forget(made)
    cache = ["ccache"] if shutil.which("ccache") else []
    environment = os.environ | build_variables(mpi)
    part = f"{made}.o"
    compiler_flags = [flag for flag in flags if flag.startswith(("-D", "-f", "-g"))]
    for command in (
        [*cache, str(wrapper), "-O1", *compiler_flags, "-c", str(source), "-o", part],
        [str(wrapper), part, *flags, "-o", str(made)],
    ):
        subprocess.run(command, check=True, env=environment, cwd=made.parent, timeout=300)
    _MADE[key] = made
    return made


def _forget(file: Path) -> None:
    """It is written over."""
    for key in [key for key, made in _MADE.items() if made == file]:
        del _MADE[key]
