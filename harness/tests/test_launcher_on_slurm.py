# SPDX-License-Identifier: BSD-3-Clause
"""--launcher 'srun ...' under a real Slurm: the launcher starts progress-run on each node, and says how many ranks."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from harness.base.mpis import MPIS
from harness.job import records
from harness.setup import build
from harness.sites.virtual import virtual_slurm_supported
from harness.tests.own_app import READ, program
from harness.tests.sessions import BENCH, bench, facts, latest, results, state

__all__ = ["program", "results", "state"]  # fixtures
pytestmark = [pytest.mark.full, pytest.mark.mpi, pytest.mark.vcluster, pytest.mark.slurm, pytest.mark.timeout(600)]


@pytest.mark.usefixtures("state")
def test_srun_starts_the_program_on_both_nodes(program: str, results: Path) -> None:
    if reason := virtual_slurm_supported():
        pytest.skip(reason)
    build.ensure(MPIS["mpich"], "progress_engine/all", "mpi_variables")
    assert bench("vcluster", "up", "--nodes", "2", "--slurm").returncode == 0
    words = ("compare-program", "--mpi", "mpich", "--launcher", "srun --mpi=pmi2 -N 2 -n 2", "--launches", "1", *READ)
    line = shlex.join([BENCH, *words, "--", program])
    done = bench("vcluster", "exec", "vc0", "--", "bash", "-lc", line)
    assert done.returncode == 0, done.stdout + done.stderr
    session = latest(results)
    assert facts(session)["state"] == "complete"
    assert {path.name.partition(".")[0] for path in (session / "nodes").iterdir()} == {"vc1", "vc2"}
    (adaptive,) = [records.read(path) for path in (session / "records").glob("*.adaptive.jsonl")]
    assert adaptive.end is not None and adaptive.end["result"] == "energy: -4.6 of 2 ranks"
    assert [rank["engine"]["preset"] for rank in adaptive.end["ranks"]] == ["adaptive"] * 2
