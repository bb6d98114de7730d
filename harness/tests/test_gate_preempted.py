# SPDX-License-Identifier: BSD-3-Clause
"""./bench gate under a real Slurm that takes its four nodes away for a job of a higher priority tier.

Where the site requeues what it preempts, the gate's job begins anew and goes on with what it has; where it does not,
the gate says so with status 3, and --resume completes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.sites.virtual import virtual_slurm_supported
from harness.tests.sessions import Running, latest, reasons, results, state
from harness.tests.test_gate_on_slurm import GATE, NOT_TOLD, STATUSES, finished, goes_on, twice, verdict
from harness.tests.waiting import eventually
from harness.vcluster import cluster as virtual
from harness.vcluster import slurm
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests.vcluster_fixtures import processes, run

__all__ = ["results", "state"]  # fixtures
pytestmark = [
    pytest.mark.full,
    pytest.mark.mpi,
    pytest.mark.vcluster,
    pytest.mark.slurm,
    pytest.mark.timeout(900),
]

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
    running = Running(*GATE, "--minutes", "3")
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
