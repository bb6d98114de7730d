# SPDX-License-Identifier: BSD-3-Clause
"""./bench gate under a real Slurm on four virtual nodes: one allocation, and whatever ends it before its time.

A node that dies, a job that is cancelled, the time limit: the gate says that it cannot tell, with status 3, or comes to
its verdict; what was measured is kept, and --resume completes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.job import records
from harness.sites.virtual import virtual_slurm_supported
from harness.tests.sessions import Running, bench, latest, reasons, results, state
from harness.tests.waiting import eventually
from harness.vcluster import cluster as virtual
from harness.vcluster import slurm
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests.vcluster_fixtures import processes, run

__all__ = ["results", "state"]  # fixtures
pytestmark = [pytest.mark.long, pytest.mark.mpi, pytest.mark.vcluster, pytest.mark.slurm, pytest.mark.timeout(900)]

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
    running, nodes = measuring("1.5")
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
    running, _ = measuring("1.5")
    session = latest(results)
    running.process.kill()
    running.process.wait(120)
    assert eventually(lambda: running.nothing_left(state))
    before = finished(session)
    assert before
    goes_on(session, before)


# ./bench gate under a real Slurm that takes its four nodes away for a job of a higher priority tier.
# A requeued job waits until its credential has expired: 120 s where nothing is said.
TIERS = {
    "AuthInfo=": "AuthInfo=cred_expire=5,",
    "SelectType=": "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nSelectType=",
    "PartitionName=main ": "PartitionName=urgent Nodes=$node_list State=UP PriorityTier=10 PreemptMode=OFF\n"
    "PartitionName=main PriorityTier=1 ",
}
URGENT_S = 20
Tiers = Callable[[int], Cluster]


@pytest.fixture
def tiers(state: Path, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tiers:
    """Brings up four nodes with a second partition, whose jobs take the nodes of the first one's; the argument: is a
    job that was preempted put back into the queue?"""
    del state, results
    if reason := virtual_slurm_supported():
        pytest.skip(reason)

    def up(requeue: int) -> Cluster:
        text = slurm._TEMPLATE.read_text()
        for ours, theirs in {**TIERS, "JobRequeue=0": f"JobRequeue={requeue}"}.items():
            assert text.count(f"\n{ours}") == 1, ours
            text = text.replace(f"\n{ours}", f"\n{theirs}")
        (tmp_path / "slurm.conf.in").write_text(text)
        monkeypatch.setattr(slurm, "_TEMPLATE", tmp_path / "slurm.conf.in")
        return virtual.up(nodes=4, slurm=True)

    return up


def jobs(nodes: Cluster, what: str = "%i") -> list[str]:
    """Those that wait or run."""
    return run(nodes, "vc0", "squeue", "--noheader", f"--format={what}").stdout.split()


def preempted(nodes: Cluster, folder: Path) -> tuple[Running, str, set[str]]:
    """A gate whose nodes a job of the higher tier has: its job, and what it had finished before."""
    running = Running(*GATE, "--minutes", "2")
    running.wait_for("mpich 9/", 180)
    (mine,) = jobs(nodes)
    before = finished(latest(folder))
    words = ["sbatch", "--parsable", "--partition=urgent", "--nodes=4", "--exclusive", "--output=/dev/null"]
    urgent = run(nodes, "vc0", *words, f"--wrap=sleep {URGENT_S}").stdout.strip()
    assert eventually(lambda: f"{urgent} R" in " ".join(jobs(nodes, "%i %t"))), jobs(nodes, "%i %t %r")
    assert eventually(lambda: not any(processes(nodes, host, "microbench") for host in nodes.hosts))
    return running, mine, before


def test_a_gate_that_is_requeued_goes_on(tiers: Tiers, results: Path) -> None:
    nodes = tiers(1)
    running, mine, before = preempted(nodes, results)
    assert mine in jobs(nodes), "it waits for its nodes"
    assert running.ended(700) in STATUSES, running.said
    told = run(nodes, "vc0", "scontrol", "--oneliner", "show", "job", mine).stdout
    (restarts,) = re.findall(r" Restarts=(\d+) ", told)
    # Slurm may end what it has just begun anew, with the signals that it sends the job's first life again
    assert int(restarts) >= 1 and " JobState=COMPLETED " in told, told
    assert running.said.count("overlap-ratio on mpich: ") == 1 + int(restarts), "it began as often"
    session = latest(results)
    found = verdict(session)
    assert before and before <= finished(session) and not twice(session)
    assert found["rounds"] >= 5 and found["verdict"] != "commit", found["sentence"]


def test_a_gate_that_is_preempted_and_not_requeued_ends_and_is_resumed(tiers: Tiers, results: Path) -> None:
    """Slurm says PREEMPTED of it for ever, which ReFrame takes for a job that waits."""
    nodes = tiers(0)
    running, mine, before = preempted(nodes, results)
    assert running.ended(300) == NOT_TOLD, running.said
    told = run(nodes, "vc0", "scontrol", "--oneliner", "show", "job", mine).stdout
    assert " Restarts=0 " in told and " JobState=PREEMPTED " in told, told
    session = latest(results)
    assert before and before <= finished(session)
    assert any("the batch job was preempted (PREEMPTED)" in why for why in reasons(session).values())
    assert verdict(session)["verdict"] == "undecided"
    goes_on(session, before)
