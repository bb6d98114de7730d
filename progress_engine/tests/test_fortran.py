# SPDX-License-Identifier: BSD-3-Clause
"""Fortran programs overlap, and each of their operations counts once.

Open MPI's bindings call PMPI_Xxx (mpi_f08 past mpi_xxx_), MPICH's call MPI_Xxx or PMPI_Xxx. With CALLERS of "" alone in
src/generator/generate.py Open MPI's three tests fail (nothing is tracked); with `outer_ + 1` in place of
Call::enter (src/mpi/call.hpp) MPICH's fail (counted twice). Only Debian's MPIs have modules that gfortran reads, so
these tests are for them, and run with --full.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis import where
from harness.base.mpis import MPIS, Mpi
from harness.job import addresses

from .conftest import Launcher, compiled, fortran_compiler, reports
from .known_answers import IN_FORTRAN, check

pytestmark = [pytest.mark.mpi, pytest.mark.full]
DEBIAN = [name for name, mpi in MPIS.items() if mpi.packages]


def result_of(launcher: Launcher, variant: str | None, settings: tuple[str, ...] = ()) -> tuple[int, float]:
    """Operations started by a rank, and the share of the communication that was hidden."""
    result = launcher.run(variant=variant, settings=settings)
    found = re.search(r"operations (\d+) hidden +(-?[\d.]+)", result.stdout)
    # Debian's MPICH over UCX often hangs in MPI_Finalize, with the engine or without; all is said by then.
    assert result.returncode == 0 or launcher.mpi.name == "debian-mpich", result.stdout + result.stderr
    assert found, result.stdout + result.stderr
    return int(found[1]), float(found[2])


@pytest.mark.parametrize("binding", ["MPIF_H", "USE_MPI", "MPI_F08"])
@pytest.mark.parametrize("mpi", DEBIAN, indirect=True)
def test_a_fortran_program_overlaps(mpi: Mpi, binding: str, tmp_path: Path) -> None:
    if not fortran_compiler(mpi).exists():
        pytest.skip(f"{mpi.title} brings no {fortran_compiler(mpi).name}")
    launcher = Launcher(mpi, compiled(mpi, "overlap.F90", tmp_path, f"-D{binding}"))
    pairs = []
    for _ in range(10):  # the machine may be busy: one clear pair of runs is asked for
        bare = result_of(launcher, None)[1]
        operations, hidden = result_of(launcher, "thread", (f"report_file={tmp_path}/report.%r",))
        assert [report["tracked"] for report in reports(tmp_path)] == [operations] * 2
        assert all(report["pending"] == 0 for report in reports(tmp_path))
        pairs.append((bare, hidden))
        if hidden > max(bare, 0) + 0.25:
            return
    pytest.fail(f"no overlap: hidden without and with the engine {pairs}")


@pytest.mark.parametrize("mpi", DEBIAN, indirect=True)
def test_a_fortran_program_has_its_call_sites_profiled(mpi: Mpi, tmp_path: Path) -> None:
    if not fortran_compiler(mpi).exists():
        pytest.skip(f"{mpi.title} brings no {fortran_compiler(mpi).name}")
    launcher = Launcher(mpi, compiled(mpi, "where.F90", tmp_path, "-g", "-fno-inline"))
    done = launcher.run(variant="off", settings=(f"profile={tmp_path}",))
    assert done.returncode == 0 or mpi.name == "debian-mpich", done.stdout + done.stderr  # as in result_of
    assert check(done.stdout, where.read(tmp_path, addresses.source_lines), "where.F90") == IN_FORTRAN
