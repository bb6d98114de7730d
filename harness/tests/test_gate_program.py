# SPDX-License-Identifier: BSD-3-Clause
"""./bench gate of a program of one's own: named as for compare-program and tune, judged by its time and its results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.gate import store
from harness.base.mpis import MPIS
from harness.job import records
from harness.setup import build
from harness.tests.own_app import READ
from harness.tests.sessions import bench, facts, latest

ARMS = ("--base", "bare", "--new", "adaptive")


def gate(folder: Path, *words: str) -> tuple[int, str]:
    """A short gate of it, and how it ended."""
    build.ensure(MPIS["mpich"], "progress_engine/all", "microbench")
    done = bench("gate", "--mpi", "mpich", *ARMS, "--minutes", "0.3", "--store", str(folder), *READ, *words)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def verdict(results: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((latest(results) / "gate" / "gate.json").read_text())
    return found


@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.full
@pytest.mark.alone
@pytest.mark.usefixtures("state")
def test_a_program_is_judged_by_its_time_on_two_nodes(program: str, results: Path, tmp_path: Path) -> None:
    status, said = gate(tmp_path / "store", "-n", "2", "--", program)
    assert status in (0, 3), said
    (point,) = verdict(results)["points"]
    assert point["name"] == "own-program: app, 2 ranks"
    session = latest(results)
    assert facts(session)["state"] == "complete"
    one = records.read(next((session / "records").glob("*.001.*.jsonl")))
    assert one.end is not None and one.end["result"] == "energy: -4.6 of 2 ranks"
    assert set(one.points[0]["samples"]) == {"whole_s", "printed_time"}
    canary = records.read(next((session / "records").glob("*.000.canary.jsonl")))
    assert canary.header is not None and canary.header["workload"]["name"] == "overlap"
    assert len({rank["host"] for rank in canary.header["ranks"]}) == 2
    (kept,) = store.read(tmp_path / "store")
    assert list(kept.ratios) == ["own-program: app, 2 ranks"]
    again = bench("run", "--resume", session.name, "--dry-run")
    assert (again.returncode, again.stdout.strip()) == (0, ""), "nothing lacks"


@pytest.mark.mpi
@pytest.mark.full
def test_a_candidate_with_other_results_is_not_passed(program: str, results: Path, tmp_path: Path) -> None:
    """With a launcher of one's own, which the canary has, too."""
    status, said = gate(tmp_path / "store", "--launcher", "mpiexec -n 2", "--", program, "wrong")
    assert status == 3, said
    assert "undecided" in said
    assert "its result is not that of bare" in said
    canary = records.read(next((latest(results) / "records").glob("*.000.canary.jsonl")))
    assert canary.end is not None and canary.end["status"] == "ok"
    assert canary.header is not None and canary.header["world_size"] == 2
