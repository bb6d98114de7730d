# SPDX-License-Identifier: BSD-3-Clause
"""A small MPI program such as a user has, for the commands that run one."""

from __future__ import annotations

import subprocess

import pytest

from harness.base.mpis import MPIS

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
