# SPDX-License-Identifier: BSD-3-Clause
"""./bench where: a program is run, its calls are told; and the same of a folder of profiles."""

from __future__ import annotations

import importlib
import json
import subprocess
from pathlib import Path

import pytest

from harness.base.mpis import MPIS
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
    html = tmp_path / "where.html"
    again = bench("where", "--json", "--html", str(html), str(session / "profiles"))
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert "can be won by progress" in html.read_text()
    assert [rank["rank"] for rank in told["ranks"]] == [0, 1]
    assert all(rank["elapsed_s"] >= 0.05 for rank in told["ranks"])


@pytest.mark.full
@pytest.mark.usefixtures("results")
def test_a_program_that_fails_is_not_told_of() -> None:
    done = bench("where", "--mpi", "mpich", "--system", "local", "--", "false")
    assert done.returncode == 1
    assert "exit status 1" in done.stderr
    assert "Traceback" not in done.stderr


IDLE = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double begin = MPI_Wtime();
  while (MPI_Wtime() < begin + 0.2) {
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("time: %g s\\n", MPI_Wtime() - begin);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.full
def test_what_has_nothing_to_win_is_not_compared(results: Path, tmp_path: Path) -> None:
    (tmp_path / "idle.c").write_text(IDLE)
    mpi = MPIS["mpich"]
    subprocess.run([str(mpi.mpicc), "idle.c", "-o", "idle"], cwd=tmp_path, check=True)
    words = ("--mpi", "mpich", "--system", "local", "--time-from", "time: (.*) s")
    done = bench("compare-program", *words, "--", str(tmp_path / "idle"))
    assert done.returncode == 0, done.stderr
    assert "an engine is not worth having here" in done.stdout
    assert "Nothing was compared: --launches 6 does it all the same." in done.stdout
    assert [path.name.endswith("-where") for path in results.glob("2*")] == [True]


@pytest.mark.parametrize(("waited", "stops"), [(0.01, True), (0.5, False)])
def test_a_bound_below_two_per_cent_is_nothing(tmp_path: Path, waited: float, stops: bool) -> None:
    site = {"call": "MPI_Irecv", "file": "/nowhere", "offset": 16, "symbol": "f"}
    row = {"start": site, "completion": site, "count": 1, "bytes": 8, "inside_s": 0, "computed_s": 1,
           "waited_s": waited, "winnable_s": waited, "then_computed_s": 0}  # fmt: skip
    profile = {"version": 1, "rank": 0, "world_size": 1, "elapsed_s": 10, "inside_s": 1, "began_ns": 0,
               "operations": [row], "numbers_receives": True, "streams": [], "waits": []}  # fmt: skip
    (tmp_path / "profile.h.1.json").write_text(json.dumps(profile))
    compare_program = importlib.import_module("harness.commands.compare_program")
    said, worth = compare_program._bound(tmp_path)
    assert worth is not stops
    assert stops or "1 call site: MPI_Irecv f (nowhere+0x10)" in said
