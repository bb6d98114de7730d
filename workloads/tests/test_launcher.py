# SPDX-License-Identifier: BSD-3-Clause
"""Launches of these tests: what is given up is gone. Its ranks, which call no MPI for minutes, would slow every test
after it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psutil
import pytest

from harness.tests.waiting import eventually

from .conftest import built_launcher, full

pytestmark = pytest.mark.mpi
IN_THE_COMPUTATION_S = 3.0  # before it Open MPI's ranks end by themselves: they are in MPI_Init


def ranks_that_write_to(folder: Path) -> list[int]:
    """By the record that they were told to write."""
    found = psutil.process_iter(["cmdline"])
    return [
        rank.pid for rank in found if any(word.startswith(f"--output={folder}") for word in rank.info["cmdline"] or ())
    ]


@pytest.mark.parametrize("mpi", ["openmpi", full("mpich"), full("intel-mpi")])
def test_a_launch_that_is_given_up_leaves_no_ranks(mpi: str, tmp_path: Path) -> None:
    launcher = built_launcher(mpi, tmp_path).within(IN_THE_COMPUTATION_S)
    with pytest.raises(subprocess.TimeoutExpired):
        launcher.run(2, "overlap", "--point=pattern=both,size_bytes=8,work_units=1000000000")
    assert eventually(lambda: not ranks_that_write_to(tmp_path))
