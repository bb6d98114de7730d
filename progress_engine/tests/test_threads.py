# SPDX-License-Identifier: BSD-3-Clause
"""Where the engine's threads may run: wherever the process may, though OpenMP has bound the thread that makes them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, PROGRAMS, TIME_LIMIT, Launcher, compiled, lines, reports
from .third_party.mpi4py_suite import environment

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


# User-level threads that end their call on another kernel thread than they began it on, without `offload`.
# By how they go on.
SAYS = {
    "beside": "rank 0: received 168, polled while one was inside 0, afterwards 1, 4 operations",
    "elsewhere": "rank 0: received 168, polled while one was inside 0, afterwards 1, 4 operations",
    "between": "rank 0: received 84, polled while one was inside 0, afterwards 1, 4 operations",
    "often": r"rank 0: polled afterwards 1, (\d+) operations",
}


def moved(mpi: Mpi, how: str, folder: Path, preset: str) -> tuple[str, str]:
    """What the program says on its two streams, over an MPI that suspends user-level threads."""
    program = Launcher(mpi, compiled(mpi, "moving.c", folder, "-lpthread", "-ldl", "-rdynamic"))
    suspending = compiled(mpi, "moving.c", folder, "-DSTAND_IN", "-ldl", library="suspending.so")
    settings = (
        f"PROGRESS_ENGINE={preset}",
        "PROGRESS_ENGINE_REST_US=0",
        "PROGRESS_ENGINE_EAGER_BYTES=0",
        f"PROGRESS_ENGINE_REPORT_FILE={folder}/report.%r",
        f"LD_PRELOAD={program.engine}:{suspending}",
    )
    result = program.run(how, prefix=("env", *settings), tasks=1)
    return "".join(lines(result.stdout)), result.stderr


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("preset", ["adaptive", "idle"])
def test_who_waits_lets_others_run_on_its_kernel_thread(mpi: Mpi, preset: str, tmp_path: Path) -> None:
    """`idle` waits for the MPI: not where the thread that would sleep carries other user-level threads."""
    said, complained = moved(mpi, "waiting", tmp_path, preset)
    assert said == "rank 0: received 42", complained


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("how", [pytest.param("beside", marks=pytest.mark.full), *list(SAYS)[1:]])
def test_who_is_inside_is_known_whichever_kernel_thread_goes_on(mpi: Mpi, how: str, tmp_path: Path) -> None:
    said, complained = moved(mpi, how, tmp_path, "adaptive")
    assert re.fullmatch(SAYS[how], said), complained
    (report,) = reports(tmp_path, 1)
    assert (f"{report['tracked']} operations", report["pending"]) == (said.rpartition(", ")[2], 0)


# Python under the engine: a reduction with a Python function, which may run on the engine's thread.
def sums(mpi: Mpi, variant: str | None, place: Path) -> tuple[list[str], int]:
    """The ranks' results, and how many threads other than the program's own called the function."""
    place.mkdir()
    engine = [str(mpi.build_dir / "bin" / "progress-run"), "--variant", variant, "--"] if variant else []
    command = [*mpi.launch_command(2, 2), *engine, sys.executable, str(PROGRAMS / "python_op.py")]
    ended = subprocess.run(
        ["timeout", "-k", "2", str(TIME_LIMIT), *command], env=os.environ | environment(mpi), capture_output=True,
        text=True, check=False, stdin=subprocess.DEVNULL, cwd=place,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = re.findall(r"(rank \d: sum \d+), other threads (\d+)", ended.stdout)
    return sorted(words for words, _ in found), sum(int(threads) for _, threads in found)


@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("preset", ["thread", *(pytest.param(x, marks=pytest.mark.full) for x in ("adaptive", "idle"))])
def test_a_python_function_reduces(mpi: Mpi, preset: str, tmp_path: Path) -> None:
    bare, own_threads = sums(mpi, None, tmp_path / "bare")
    assert len(bare) == 2
    assert own_threads == 0
    with_engine, others = sums(mpi, preset, tmp_path / preset)
    assert with_engine == bare
    assert others > 0 or preset != "thread", "the function never ran on the engine's thread: nothing was tested"
