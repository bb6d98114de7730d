# SPDX-License-Identifier: BSD-3-Clause
"""./bench compare-program with real MPI programs: a verdict, a record, a figure; and what cannot be compared."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from harness.base.mpis import MPIS
from harness.commands import own_program
from harness.job import records
from harness.job.records import RecordFile
from harness.setup import build
from harness.sites.virtual import virtual_slurm_supported
from harness.tests.compiler import READ
from harness.tests.sessions import BENCH, bench, facts, latest, reasons


def ran_under_the_engine_on_both_nodes(session: Path) -> RecordFile:
    assert facts(session)["state"] == "complete"
    assert {path.name.partition(".")[0] for path in (session / "nodes").iterdir()} == {"vc1", "vc2"}
    (adaptive,) = [records.read(path) for path in (session / "records").glob("*.adaptive.jsonl")]
    assert adaptive.end is not None and adaptive.end["result"] == "energy: -4.6 of 2 ranks"
    assert [rank["engine"]["preset"] for rank in adaptive.end["ranks"]] == ["adaptive"] * 2
    return adaptive


@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.usefixtures("state")
def test_a_program_is_compared_on_two_nodes(program: str, results: Path) -> None:
    done = bench("compare-program", "--mpi", "mpich", "-n", "2", "--launches", "1", *READ, "--", program)
    assert done.returncode == 0, done.stderr
    assert "# app on MPICH" in done.stdout
    assert "adaptive cannot be judged by the spread within one launch (" in done.stdout
    assert "pending while it computed" in done.stdout
    session = latest(results)
    assert facts(session)["request"]["program"]["command"] == [program]
    adaptive = ran_under_the_engine_on_both_nodes(session)
    assert 0.05 <= adaptive.points[0]["samples"]["printed_time"][0] < adaptive.points[0]["samples"]["whole_s"][0]
    assert (session / "figures" / "own_program.png").exists()
    again = bench("run", "--resume", session.name, "--dry-run")
    assert (again.returncode, again.stdout.strip()) == (0, ""), "nothing lacks"
    text, _ = own_program._tell([session], "At most 3 s.")
    assert text.endswith("\n\nProfiled before: At most 3 s.")


@pytest.mark.mpi
def test_with_ones_own_launcher_a_wrong_energy_is_rejected(program: str, results: Path) -> None:
    words = ("--mpi", "mpich", "--launcher", "mpiexec -n 2", "--launches", "1", *READ)
    done = bench("compare-program", *words, "--", program, "wrong")
    assert done.returncode == 1, done.stderr
    rejected = "its result is not that of bare: 'energy: 0 of 2 ranks' instead of 'energy: -4.6 of 2 ranks'"
    assert f"adaptive: rejected, failed: {rejected}." in done.stdout
    assert list(reasons(latest(results)).values()) == [rejected]


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.slurm
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("state")
def test_srun_starts_the_program_on_both_nodes(program: str, results: Path) -> None:
    """--launcher 'srun ...' under a real Slurm: it starts progress-run on each node, and says how many ranks."""
    if reason := virtual_slurm_supported():
        pytest.skip(reason)
    build.ensure(MPIS["mpich"], "progress_engine/all", "mpi_variables")
    assert bench("vcluster", "up", "--nodes", "2", "--slurm").returncode == 0
    words = ("compare-program", "--mpi", "mpich", "--launcher", "srun --mpi=pmi2 -N 2 -n 2", "--launches", "1", *READ)
    libfabric = ("env", "MPIR_CVAR_CH4_NETMOD=ofi", "FI_PROVIDER=tcp")  # over UCX it may not start: how-to/cluster.md
    line = shlex.join([*libfabric, BENCH, *words, "--", program])
    done = bench("vcluster", "exec", "vc0", "--", "bash", "-lc", line)
    assert done.returncode == 0, done.stdout + done.stderr
    ran_under_the_engine_on_both_nodes(latest(results))
