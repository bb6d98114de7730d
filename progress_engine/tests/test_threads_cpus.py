# SPDX-License-Identifier: BSD-3-Clause
"""Where the engine's threads may run: wherever the process may, though OpenMP has bound the thread that makes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, Launcher, compiled, lines, reports

pytestmark = pytest.mark.mpi

CPUS = sorted(os.sched_getaffinity(0))
BOUND = ("env", "OMP_PLACES=threads", "OMP_PROC_BIND=close")


@pytest.fixture(scope="module")
def hybrid(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    if len(CPUS) < 2:
        pytest.skip("needs two CPUs")
    return Launcher(mpi, compiled(mpi, "hybrid.c", tmp_path_factory.mktemp("hybrid"), "-fopenmp"))


def cpus_of_threads(
    hybrid: Launcher, tmp_path: Path, preset: str, *settings: str, prefix: tuple[str, ...]
) -> list[list[int]]:
    """Of all ranks; none of them got the program's own mask by chance."""
    result = hybrid.run(variant=preset, settings=(f"report_file={tmp_path}/report.%r", *settings), prefix=prefix)
    assert result.returncode == 0, result.stderr
    assert [line.partition(":")[2] for line in lines(result.stdout)] == [f" 1 CPUs, {len(CPUS)} places"] * 2
    found = [thread["cpus_allowed"] for report in reports(tmp_path) for thread in report["threads"]]
    assert found
    return found


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("preset", ["adaptive", "idle", "offload"])
def test_they_may_run_where_the_process_may(hybrid: Launcher, preset: str, tmp_path: Path) -> None:
    for cpus in cpus_of_threads(hybrid, tmp_path, preset, prefix=BOUND):
        assert cpus == CPUS


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("preset", ["adaptive", "idle", "offload"])
def test_a_list_of_cpus_holds_for_all(hybrid: Launcher, preset: str, tmp_path: Path) -> None:
    last = CPUS[-1]
    for cpus in cpus_of_threads(hybrid, tmp_path, preset, "placement=list", f"cpus={last}", prefix=BOUND):
        assert cpus == [last]


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
@pytest.mark.parametrize("preset", ["adaptive", "offload"])
def test_spare_cpus_are_found_beside_threads_that_are_bound(hybrid: Launcher, preset: str, tmp_path: Path) -> None:
    """Two threads that compute leave none of two CPUs; one, on one rank, leaves all but its own."""
    settings = (f"report_file={tmp_path}/report.%r", "placement=spare")
    bound = (*BOUND, "OMP_NUM_THREADS=1")
    result = hybrid.run(variant=preset, settings=settings, prefix=bound, tasks=1)
    assert result.returncode == 0, result.stderr
    (report,) = reports(tmp_path, 1)
    assert [thread["cpus_allowed"] for thread in report["threads"]] == [CPUS[1:]]
