# SPDX-License-Identifier: BSD-3-Clause
"""./bench where: a program is run, its calls are told; and the same of a folder of profiles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.tests.sessions import bench, facts, latest

pytestmark = pytest.mark.mpi


def test_a_program_is_told_which_of_its_calls_wait(program: str, results: Path, tmp_path: Path) -> None:
    out = tmp_path / "where.md"
    done = bench("where", "--mpi", "mpich", "--system", "local", "-n", "2", "--out", str(out), "--", program)
    assert done.returncode == 0, done.stderr
    said = out.read_text()
    assert "can be won by progress" in said.splitlines()[0]
    assert "| MPI_Irecv main() app | MPI_Waitall main() app | 1 x 1 MB |" in said
    session = latest(results)
    assert facts(session)["state"] == "complete"
    again = bench("where", "--json", str(session / "profiles"))
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert [rank["rank"] for rank in told["ranks"]] == [0, 1]
    assert all(rank["elapsed_s"] >= 0.05 for rank in told["ranks"])


@pytest.mark.full
@pytest.mark.usefixtures("results")
def test_a_program_that_fails_is_not_told_of() -> None:
    done = bench("where", "--mpi", "mpich", "--system", "local", "--", "false")
    assert done.returncode == 1
    assert "exit status 1" in done.stderr
    assert "Traceback" not in done.stderr
