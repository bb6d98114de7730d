# SPDX-License-Identifier: BSD-3-Clause
"""./bench gate under a real Slurm on four virtual nodes: one allocation, and whatever ends it before its time.

A node that dies, a job that is cancelled, the time limit: the gate says that it cannot tell, with status 3, or comes to
its verdict; what was measured is kept, and --resume completes it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.job import records
from harness.sites.virtual import virtual_slurm_supported
from harness.tests.sessions import Running, bench, latest, reasons, results, state
from harness.tests.waiting import eventually
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests.vcluster_fixtures import run

__all__ = ["results", "state"]  # fixtures
pytestmark = [
    pytest.mark.full,
    pytest.mark.mpi,
    pytest.mark.vcluster,
    pytest.mark.slurm,
    pytest.mark.timeout(900),
]

POINT = ("--set", "size_bytes=65536", "--set", "comp_over_comm=1.0", "--set", "pattern=both")
GATE = ("gate", "--base", "off", "--new", "off", "--system", "vcluster-slurm", "--nodes", "4", *POINT)
NOT_TOLD = 3
STATUSES = (0, NOT_TOLD)  # of the same program twice


@pytest.fixture(autouse=True)
def _slurm() -> None:
    if reason := virtual_slurm_supported():
        pytest.skip(reason)


def finished(session: Path) -> set[str]:
    """Names of the records that have a good point."""
    files = (session / "records").glob("*.jsonl")
    return {path.name for path in files if any(p["status"] == "ok" for p in records.read(path).points)}


def twice(session: Path) -> set[str]:
    """Names of the launches one of whose points was measured more than once."""
    folder, found = session / "records", set()
    for identity in json.loads((session / "session.json").read_text())["expected"]:
        lines = [line for path in records.attempts(folder, identity) for line in records.read(path).points]
        good = [(records.key(line["point"]), line["rank"]) for line in lines if line["status"] == "ok"]
        found |= {identity} if len(good) != len(set(good)) else set()
    return found


def verdict(session: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((session / "gate" / "gate.json").read_text())
    return found


def measuring(minutes: str) -> tuple[Running, Cluster]:
    """A gate that has measured a round and more."""
    running = Running(*GATE, "--minutes", minutes)
    running.wait_for("mpich 9/", 180)
    return running, running.nodes()


def goes_on(session: Path, before: set[str]) -> None:
    """--resume measures what is missing, and comes to an end by itself."""
    again = bench("gate", "--resume", session.name, timeout=600)
    assert again.returncode in STATUSES, again.stderr
    assert before <= finished(session)
    found = verdict(session)
    assert found["rounds"] >= 5 and found["verdict"] != "commit", found["sentence"]


@pytest.mark.usefixtures("state")
def test_a_gate_is_one_allocation_of_many_launches(results: Path) -> None:
    running = Running(*GATE, "--minutes", "1")
    running.wait_for("mpich 5/", 180)
    nodes = running.nodes()
    jobs = run(nodes, "vc0", "squeue", "--noheader", "--format=%i %D").stdout.split()
    assert jobs[1:] == ["4"], "one job, on four nodes"
    assert running.ended(300) in STATUSES, running.said
    session = latest(results)
    assert verdict(session)["rounds"] >= 5, running.said
    heads = [records.read(path).header for path in (session / "records").glob("*.jsonl")]
    hosts = {len(head["ranks"]) for head in heads if head and head["ranks"]}
    assert hosts == {4}


def test_a_node_dies_in_the_middle(results: Path, state: Path) -> None:
    running, nodes = measuring("2")
    nodes.kill_node("vc3")
    assert running.ended(400) == NOT_TOLD, running.said
    assert running.nothing_left(state)
    session = latest(results)
    before = finished(session)
    assert before and verdict(session)["verdict"] in ("undecided", "node"), running.said
    goes_on(session, before)


def test_the_time_limit(results: Path, state: Path) -> None:
    """Slurm counts it in minutes. Each --resume is a job of its own, which goes on behind what is measured. The margin
    is so narrow that no minute of rounds can show that the two are the same, and end the gate before its limit."""
    running = Running(*GATE, "--minutes", "10", "--margin", "0.1%", "--set", "time_limit_s=60")
    assert running.ended(400) == NOT_TOLD, running.said
    assert running.nothing_left(state)
    session = latest(results)
    before = finished(session)
    assert before and verdict(session)["verdict"] == "undecided", running.said
    assert "not run: the batch job reached its time limit (TIMEOUT)" in reasons(session).values(), running.said
    goes_on(session, before)
    assert before < finished(session) and not twice(session)


def test_a_gate_that_is_killed_goes_on(results: Path, state: Path) -> None:
    running, _ = measuring("2")
    session = latest(results)
    running.process.kill()
    running.process.wait(120)
    assert eventually(lambda: running.nothing_left(state))
    before = finished(session)
    assert before
    goes_on(session, before)
