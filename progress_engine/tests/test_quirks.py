# SPDX-License-Identifier: BSD-3-Clause
"""What one MPI cannot bear is done for it alone, by what its library says that it is when it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, Launcher, compiled, lines, said_by_engine

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
    return Launcher(mpi, compiled(mpi, "polled.c", tmp_path_factory.mktemp("polled")))


def described(program: Launcher, preset: str, description: str, folder: Path) -> tuple[str, ...]:
    """What goes before a program whose MPI shall call itself so."""
    library = compiled(program.mpi, "description.c", folder, "-ldl", library="description.so")
    preload = f"LD_PRELOAD={program.engine}:{library}"
    return ("env", f"PROGRESS_ENGINE={preset}", preload, f"DESCRIPTION={description}")


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize(
    ("what", "preset"),
    [
        ("partitioned", "thread"),
        *(pytest.param(*x, marks=pytest.mark.full) for x in (("file", "thread"), ("partitioned", "offload"))),
    ],
)
@pytest.mark.parametrize("description", DESCRIPTIONS)
def test_only_open_mpi_is_left_alone_with_partitions_and_files(
    polled: Launcher, what: str, preset: str, description: str, tmp_path: Path
) -> None:
    """An MPI that is not Open MPI takes polls whatever it is called; it is not tried with Open MPI, which does not."""
    expected = DESCRIPTIONS[description]
    if expected and polled.mpi.family == "openmpi":
        pytest.skip("it may hang or crash")
    words = described(polled, preset, description, tmp_path)
    limits = (f"SECONDS={60 if expected else 0.2}", f"FILE={tmp_path}/file")
    result = polled.run(what, prefix=(*words, *limits), limit=100)
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == [f"rank 0: moved {int(expected)}"]


# What MPI_ERROR is after MPI_Recv and MPI_Sendrecv_replace, and whether MPI_Testsome is called beside error handlers.
CALLS = ("MPI_Recv", "MPI_Sendrecv_replace")
UNDER_OFFLOAD = {
    "MPICH Version: 5.0.2": (["kept"], ["success"], False),
    "Intel(R) MPI Library 2021.18": (["success"], ["success"], False),
    "Open MPI v5.0.11": (["kept"], ["kept"], True),
}


@pytest.mark.parametrize("mpi", ["mpich", pytest.param("intel-mpi", marks=pytest.mark.full)], indirect=True)
@pytest.mark.parametrize(
    "description",
    [pytest.param(x, marks=pytest.mark.full) if x.startswith("Intel") else x for x in UNDER_OFFLOAD],
)
def test_offload_asks_the_library_that_runs_what_it_is(mpi: Mpi, description: str, tmp_path: Path) -> None:
    """One engine serves all MPIs of an ABI, whichever it was compiled with."""
    statuses = Launcher(mpi, compiled(mpi, "statuses.c", tmp_path))
    words = described(statuses, "offload", description, tmp_path)
    said = statuses.run(prefix=words).stdout
    errors = [re.findall(rf"^{call}, itself: .* error (\w+)$", said, re.MULTILINE) for call in CALLS]
    handlers = Launcher(mpi, compiled(mpi, "error_handlers.c", tmp_path))
    by_testsome = "PMPI_Testsome is called" in handlers.run("returns", prefix=words).stderr
    assert (*errors, by_testsome) == UNDER_OFFLOAD[description], said


@pytest.mark.parametrize("handler", ["fatal", "returns"])
@pytest.mark.parametrize(
    "preset", ["adaptive", *(pytest.param(x, marks=pytest.mark.full) for x in ("explicit", "offload"))]
)
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
def test_a_window_refused_at_the_raised_level_gets_a_sentence(
    mpi: Mpi, preset: str, handler: str, tmp_path: Path
) -> None:
    """Open MPI 4 ends such a program, coarray Fortran's too, and nothing said that it was the level."""
    program = Launcher(mpi, compiled(mpi, "window_refused.c", tmp_path))
    words = described(program, preset, "Open MPI v4.1.4, package: Debian OpenMPI", tmp_path)
    result = program.run(handler, prefix=words)
    refused = preset == "adaptive"
    assert (result.returncode != 0) == (refused and handler == "fatal"), result.stderr
    said = [line for line in said_by_engine(result.stderr) if "refuses windows at MPI_THREAD_MULTIPLE" in line]
    assert len(said) == int(refused)
    windows = "none" if refused else "one"
    if result.returncode == 0:
        assert lines(result.stdout) == [f"rank {rank}: {windows}, handler kept" for rank in range(2)]
