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
    "often": r"rank 0: polled afterwards 1, (\d+) operations",
}


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPICH_FIRST, indirect=True)
@pytest.mark.parametrize("how", SAYS)
def test_who_is_inside_is_known_whichever_kernel_thread_goes_on(mpi: Mpi, how: str, tmp_path: Path) -> None:
    program = Launcher(mpi, compiled(mpi, "moving.c", tmp_path, "-lpthread", "-ldl", "-rdynamic"))
    suspending = tmp_path / "suspending.so"
    compiled(mpi, "moving.c", tmp_path, "-DSTAND_IN", "-shared", "-fPIC", "-ldl", "-o", str(suspending))
    settings = (
        "PROGRESS_ENGINE=adaptive",
        "PROGRESS_ENGINE_REST_US=0",
        "PROGRESS_ENGINE_EAGER_BYTES=0",
        f"LD_PRELOAD={program.engine}:{suspending}",
    )
    result = program.run(how, prefix=("env", *settings, f"PROGRESS_ENGINE_REPORT_FILE={tmp_path}/report.%r"), tasks=1)
    (said,) = lines(result.stdout)
    assert re.fullmatch(SAYS[how], said), result.stderr
    (report,) = reports(tmp_path, 1)
    assert (f"{report['tracked']} operations", report["pending"]) == (said.rpartition(", ")[2], 0)
