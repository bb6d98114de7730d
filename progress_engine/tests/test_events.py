# SPDX-License-Identifier: BSD-3-Clause
"""What announces traffic: sockets, UCX's workers or libfabric's completion queues, each alone, without a doorbell. That
messages move beside computation says little, since the timer moves them, too; who woke the engine is counted."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.mpis import MPIS, Mpi

from .conftest import TIME_LIMIT, compiled, reports

pytestmark = pytest.mark.mpi

UNAIDED = ("doorbell=none", "rest_us=0")
OFI = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}
PATIENCE_S = "20"  # for a message to move beside the computation


@dataclass(frozen=True)
class Case:
    mpi: str
    events: str
    environment: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.mpi}-{self.events}"


def run(
    mpi: Mpi, program: Path, case: Case, *settings: str, arguments: tuple[str, ...] = (), tasks: int = 2
) -> subprocess.CompletedProcess[str]:
    sets = [word for setting in (f"events={case.events}", *settings) for word in ("--set", setting)]
    engine = [str(mpi.build_dir / "bin" / "progress-run"), "--variant", "adaptive", *sets, "--"]
    launch = ["timeout", "-k", "2", str(TIME_LIMIT), *mpi.launch_command(tasks, tasks)]
    command = [*launch, *engine, str(program), *arguments]
    environment = os.environ | mpi.environment("tcp") | dict(case.environment)
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def installed(name: str) -> Mpi:
    mpi = MPIS[name]
    if not mpi.installed() or not (mpi.build_dir / "bin" / "progress-run").exists():
        pytest.skip(f"the engine is not built for {mpi.title}")
    return mpi


@pytest.mark.parametrize(
    "case",
    [
        Case("mpich", "sockets"),
        Case("mpich", "ucx"),
        Case("mpich", "libfabric", tuple(OFI.items())),
        Case("intel-mpi", "libfabric"),  # asks dlvsym for it
        Case("mpich", "none"),
    ],
    ids=str,
)
def test_each_source_alone_wakes_the_engine(case: Case, tmp_path: Path) -> None:
    mpi = installed(case.mpi)
    settings = (*UNAIDED, f"report_file={tmp_path}/report.%r")
    result = run(mpi, compiled(mpi, "late_partner.c", tmp_path), case, *settings, arguments=(PATIENCE_S,))
    assert result.returncode == 0, result.stderr
    # Windows are another matter: on some MPIs they have queues of their own.
    for kind in ("point_to_point", "persistent", "collective"):
        assert f"rank 0: {kind} 1" in result.stdout, result.stdout
    computing = reports(tmp_path)[0]["events"]
    assert computing["sources"] == ([] if case.events == "none" else [case.events])
    assert computing["lack"] == ""
    for source, wakes in computing["wakes"].items():
        assert (wakes > 0) is (source == case.events), computing


def test_a_library_that_the_mpi_does_not_use_announces_nothing(tmp_path: Path) -> None:
    mpi = installed("mpich")
    program = compiled(mpi, "late_finalize.c", tmp_path)
    case = Case("mpich", "ucx", tuple(OFI.items()))
    lack = "events=ucx: the MPI made no worker of UCX's that the engine saw"
    result = run(mpi, program, case, "report=full", tasks=1)
    assert (result.returncode, f"traffic announced by nothing: {lack}" in result.stderr) == (0, True), result.stderr
    result = run(mpi, program, case, "strict=1", tasks=1)
    assert result.returncode != 0
    assert f"progress engine: {lack}" in result.stderr
