# SPDX-License-Identifier: BSD-3-Clause
"""What an MPI sees of the engine, and a fault of an MPI that the program does not see: a library below it looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, Launcher, compiled, lines

pytestmark = pytest.mark.mpi


def observed(mpi: Mpi, what: str, folder: Path, variant: str = "offload") -> list[str]:
    """What the program prints under the engine, which must be what it prints bare."""
    program = Launcher(mpi, compiled(mpi, "observed.c", folder, "-ldl"))
    observer = compiled(mpi, "observer.c", folder, "-ldl", library="observer.so")
    bare = program.run(what)
    preload = ("env", f"PROGRESS_ENGINE={variant}", f"LD_PRELOAD={program.engine}:{observer}")
    ended = program.run(what, prefix=preload)
    assert (ended.returncode, ended.stderr) == (bare.returncode, bare.stderr) == (0, "")
    assert lines(ended.stdout) == lines(bare.stdout)
    return lines(ended.stdout)


# Open MPI alone minds such polls: src/mpi/requests.hpp says how.
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_no_poll_before_a_partition_is_ready_for_a_test_that_came_before_the_start(mpi: Mpi, tmp_path: Path) -> None:
    assert observed(mpi, "started", tmp_path) == ["rank 0: 0 polls before a partition was ready"]


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_a_freed_partitioned_request_is_polled_for_at_once(mpi: Mpi, tmp_path: Path) -> None:
    for rank, line in enumerate(observed(mpi, "freed", tmp_path)):
        assert line == f"rank {rank}: 100 of 100 freed requests are polled for at once"


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_probe_is_never_cancelled(mpi: Mpi, tmp_path: Path) -> None:
    said = [f"rank {rank}: received {1 - rank}, cancelled 0, matched: cancelled 0" for rank in range(2)]
    assert observed(mpi, "probed", tmp_path) == said


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_the_mpi_is_asked_once_a_communicator_which_of_its_ranks_are_near(mpi: Mpi, tmp_path: Path) -> None:
    said = [f"rank {rank}: asked 0 times" for rank in range(2)]
    assert observed(mpi, "communicators", tmp_path, "adaptive") == said
