# SPDX-License-Identifier: BSD-3-Clause
"""What one MPI cannot bear is done for it alone, by what its library says that it is when it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, Launcher, compiled, lines

pytestmark = pytest.mark.mpi

DESCRIPTIONS = {
    "MPICH Version: 5.0.2 Device: ch4:ucx": True,
    "Open MPI v5.0.11, package: Open MPI": False,
    "IBM Spectrum MPI, 10.4.0.6": False,
}


@pytest.fixture(scope="module")
def polled(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    if mpi.name == "debian-openmpi":
        pytest.skip(f"{mpi.title} 4 has no partitioned operations")
    return Launcher(mpi, compiled(mpi, "polled.c", tmp_path_factory.mktemp("polled"), "-ldl"))


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("what", ["partitioned", "file"])
@pytest.mark.parametrize("description", DESCRIPTIONS)
def test_only_open_mpi_is_left_alone_with_partitions_and_files(
    polled: Launcher, what: str, description: str, tmp_path: Path
) -> None:
    """An MPI that is not Open MPI takes polls whatever it is called; it is not tried with Open MPI, which does not."""
    expected = DESCRIPTIONS[description]
    if expected and polled.mpi.family == "openmpi":
        pytest.skip("it may hang or crash")
    library = compiled(polled.mpi, "description.c", tmp_path, "-shared", "-fPIC")
    words = ("PROGRESS_ENGINE=thread", f"LD_PRELOAD={polled.engine}:{library}", f"DESCRIPTION={description}")
    limits = (f"SECONDS={60 if expected else 0.2}", f"FILE={tmp_path}/file")
    result = polled.run(what, prefix=("env", *words, *limits), tasks=1)
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == [f"rank 0: polled {int(expected)}"]
