# SPDX-License-Identifier: BSD-3-Clause
"""Whole searches with a real MPI: a planted optimum of one's own program, settings that give wrong results, hang,
crash it or are refused, and a search that was stopped."""

from __future__ import annotations

import json
import runpy
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.base import settings_file
from harness.base.mpis import MPIS
from harness.base.paths import ROOT
from harness.setup import build
from harness.tests.sessions import Running, bench, facts, latest

pytestmark = [pytest.mark.mpi, pytest.mark.full, pytest.mark.alone]
FAST, WRONG = "MPIR_CVAR_ASYNC_PROGRESS", "MPIR_CVAR_BCAST_INTRA_ALGORITHM"
PROGRAM = f"""
import os, time
time.sleep(0.05 if os.environ.get("{FAST}") == "1" else 0.3)
print("result", 2 if "{WRONG}" in os.environ else 1)
"""


HANGS, CRASHES = "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"
OF_MPI = f"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {{
  MPI_Init(&argc, &argv);
  if (getenv("{HANGS}")) sleep(60);
  if (getenv("{CRASHES}")) abort();
  usleep(getenv("{FAST}") ? 50000 : 500000);
  puts("result 1");
  MPI_Finalize();
}}
"""


@pytest.fixture
def call(tmp_path: Path) -> list[str]:
    """A program that is fast under one variable of MPICH, wrong under another, and one that MPICH does not have."""
    program, space = tmp_path / "program.py", tmp_path / "space.yaml"
    program.write_text(PROGRAM)
    space.write_text(f"mpi: {{{FAST}: [1], {WRONG}: [binomial], MPIR_CVAR_NO_SUCH: [1]}}\n")
    options = ["--system", "local", "--mpi", "mpich", "--variant", "bare", "--space", str(space), "--search", "grid"]
    bounded = ["--places", "3", "--minutes", "1", "-n", "1", "--check", "result.*"]
    return ["tune", *options, *bounded, "--", sys.executable, str(program)]


def told(session: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((session / "tuning" / "tuning.json").read_text())
    return found


def test_what_is_best_is_found_and_what_is_wrong_is_named(
    call: list[str], results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = bench(*call)
    assert done.returncode == 0, done.stderr
    assert "beats the default: time better by" in done.stdout
    assert "left out: MPIR_CVAR_NO_SUCH, not shown to have taken effect" in done.stderr
    session = latest(results)
    assert facts(session)["state"] == "complete"
    assert settings_file.of_mpi(session / "tuning" / "tuned-mpi.env") == {FAST: "1"}
    outs = {tuple(one["values"]): one["out"] for one in told(session)["settings"].values()}
    assert all("its result is not that of bare" in why for values, why in outs.items() if WRONG in values)
    assert (session / "tuning" / "figures" / "tuning_search.png").stat().st_size > 1000
    monkeypatch.setenv("OVERLAP_BENCH_SESSION", str(session))
    runpy.run_path(str(ROOT / "notebooks" / "tuning.py"))
    assert "beats the default: time better by" in capsys.readouterr().out, "the notebook tells it as well"


def test_what_hangs_crashes_or_is_refused_is_out_with_its_reason_and_the_search_goes_on(
    tmp_path: Path, results: Path
) -> None:
    source, program, space = tmp_path / "program.c", tmp_path / "program", tmp_path / "space.yaml"
    source.write_text(OF_MPI)
    build.ensure_mpis(MPIS["mpich"])
    subprocess.run([str(MPIS["mpich"].mpicc), str(source), "-o", str(program)], check=True)
    space.write_text(f"engine: {{wait: [sometimes]}}\nmpi: {{{FAST}: [1], {HANGS}: [brucks], {CRASHES}: [ring]}}\n")
    options = ["--system", "local", "--mpi", "mpich", "--variant", "adaptive", "--space", str(space)]
    bounded = ["--search", "grid", "--places", "4", "--minutes", "2", "-n", "1", "--timeout", "5"]
    done = bench("tune", *options, *bounded, "--", str(program))
    assert done.returncode == 0, done.stderr
    session = latest(results)
    alone = {
        next(iter(one["values"])): one["out"] for one in told(session)["settings"].values() if len(one["values"]) == 1
    }
    assert alone[HANGS].startswith("failed: did not end within 5 s")
    assert alone[CRASHES].startswith("failed: exit status ") and "ended by signal 6 (Aborted)" in alone[CRASHES]
    assert "wait=sometimes is not valid: it must be one of" in alone["wait"]
    assert told(session)["verdict"]["confirmed"] is True and told(session)["verdict"]["values"] == {FAST: "1"}
    reasons = (session / "tuning" / "tuning.md").read_text()
    assert all(why in reasons for why in (alone[HANGS], alone[CRASHES], alone["wait"]))


def test_a_search_that_was_stopped_goes_on(call: list[str], results: Path) -> None:
    running = Running(*call)
    running.wait_for("mpich 4/")
    running.process.send_signal(signal.SIGINT)
    assert running.ended() == 130
    session = latest(results)
    assert f"./bench tune --resume {session.name} goes on with it" in running.said
    assert facts(session)["state"] == "interrupted"
    before = {path.name for path in (session / "records").iterdir()}
    again = bench("tune", "--resume", session.name)
    assert again.returncode == 0, again.stderr
    assert before <= {path.name for path in (session / "records").iterdir()}
    assert told(session)["verdict"]["confirmed"] is True and facts(session)["state"] == "complete"
