# SPDX-License-Identifier: BSD-3-Clause
"""User-level threads that end their call on another kernel thread than they began it on, without `offload`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.base.mpis import Mpi

from .conftest import MPICH_FIRST, Launcher, compiled, lines, reports

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
