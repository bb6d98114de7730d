# SPDX-License-Identifier: BSD-3-Clause
"""What breaks under a run: ranks, nodes, cables, batch jobs. Each ends in time as failed points that say why.

Every fault is done to a real run from outside, nothing in the product plays a part. Afterwards nothing is left of the
nodes, and --resume completes the session.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.cli import main
from harness.sites.virtual import virtual_slurm_supported
from harness.tests.sessions import Running, completes, could_be_completed, facts, latest, reasons, results, state
from harness.tests.waiting import eventually
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests.vcluster_fixtures import processes, run

__all__ = ["results", "state"]  # fixtures
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.vcluster,
    pytest.mark.slow,
    pytest.mark.timeout(300),
]

LIMIT_S = 20  # a launch takes two or three
RUN = [
    *("run", "overlap-ratio", "--mpi", "mpich", "--scale", "test", "--set", f"timeout_s={LIMIT_S}"),
    *("--set", "min_samples=6", "--set", "max_samples=6"),
]
UNDER_SLURM = ("--system", "vcluster-slurm")


def in_mid_message(nodes: Cluster) -> None:
    """Wait until the next launch moves messages: 10 MB have come to the second node."""
    counter = ("cat", "/sys/class/net/eth0/statistics/rx_bytes")
    assert eventually(lambda: processes(nodes, "vc2", "microbench") == 1)
    start = int(run(nodes, "vc2", *counter).stdout)
    assert eventually(lambda: int(run(nodes, "vc2", *counter).stdout) > start + 10_000_000)


def to_rank(nodes: Cluster, signal: str) -> None:
    in_mid_message(nodes)
    assert run(nodes, "vc2", "pkill", signal, "-x", "microbench").returncode == 0


@pytest.mark.full
def test_a_killed_rank_and_a_pulled_cable(results: Path, state: Path) -> None:
    running = Running(*RUN)
    running.wait_for("1/4")
    nodes = running.nodes()
    to_rank(nodes, "-KILL")
    running.wait_for("2/4")
    in_mid_message(nodes)
    nodes.link("vc2", "down")
    running.wait_for("3/4")
    nodes.link("vc2", "up")
    assert running.ended() == 1
    assert running.nothing_left(state)
    session = latest(results)
    why = reasons(session)
    assert sorted(why) == [1, 2], running.said
    assert why[1].startswith("exit status")
    assert why[2].startswith(f"did not end within {LIMIT_S} s")
    assert facts(session)["state"] == "incomplete"
    could_be_completed(session)


@pytest.mark.full
def test_a_rank_that_never_ends(results: Path, state: Path) -> None:
    running = Running(*RUN)
    running.wait_for("1/4")
    to_rank(running.nodes(), "-STOP")
    assert running.ended() == 1
    assert running.nothing_left(state)
    session = latest(results)
    why = reasons(session)
    assert sorted(why) == [1], running.said
    assert why[1].startswith(f"did not end within {LIMIT_S} s")
    completes(session)


@pytest.mark.full
def test_a_killed_node(results: Path, state: Path) -> None:
    running = Running(*RUN)
    running.wait_for("1/4")
    nodes = running.nodes()
    in_mid_message(nodes)
    nodes.kill_node("vc2")
    assert running.ended() == 1
    assert running.nothing_left(state)
    session = latest(results)
    assert sorted(reasons(session)) == [1, 2, 3], "what no node is left for fails, too"
    completes(session)


@pytest.mark.full
def test_nodes_that_are_taken_away_are_made_anew_for_the_next_study(results: Path, state: Path) -> None:
    long = [
        *("--variant", "bare"),
        *("--set", "launches=2"),
        *("--set", "min_samples=20"),
        *("--set", "max_samples=20"),
    ]
    running = Running("run", "overlap-ratio", "send-time", "--mpi", "mpich", "--scale", "test", *long)
    running.wait_for("1/2")
    in_mid_message(running.nodes())
    assert main(["vcluster", "down", "--force"]) == 0
    running.wait_for("the nodes of vcluster are gone: making new ones")
    assert running.ended() == 1, running.said
    assert running.nothing_left(state)
    failed = [
        record for record in (latest(results) / "records").iterdir() if '"status": "failed"' in record.read_text()
    ]
    assert len(failed) == 1, running.said
    assert failed[0].name.startswith("overlap-ratio")
    could_be_completed(latest(results))


@pytest.fixture
def _slurm() -> None:
    if reason := virtual_slurm_supported():
        pytest.skip(reason)


def second_launch_under_slurm(*more: str) -> tuple[Running, Cluster]:
    running = Running(*RUN, *UNDER_SLURM, *more)
    running.wait_for("1/")
    nodes = running.nodes()
    in_mid_message(nodes)
    return running, nodes


def ends_as(running: Running, results: Path, state: Path, words: str) -> None:
    """Each launch but the first has a record; those that the job never came to say how it ended."""
    assert running.ended() == 1, running.said
    assert running.nothing_left(state)
    session = latest(results)
    why = reasons(session)
    launches = len(facts(session)["expected"])
    assert sorted(why) in ([*range(1, launches)], [*range(2, launches)]), running.said
    assert all(why[order] == f"not run: {words}" for order in range(2, launches)), why
    assert facts(session)["state"] == "incomplete"
    could_be_completed(session)


@pytest.mark.full
@pytest.mark.slurm
@pytest.mark.usefixtures("_slurm")
def test_a_cancelled_job(results: Path, state: Path) -> None:
    running, nodes = second_launch_under_slurm()
    assert run(nodes, "vc0", "sh", "-c", "scancel $(squeue --noheader --format=%A)").returncode == 0
    ends_as(running, results, state, "the batch job was cancelled (CANCELLED)")


@pytest.mark.slurm
@pytest.mark.full
@pytest.mark.usefixtures("_slurm")
@pytest.mark.parametrize("node", ["vc1", "vc2"])
def test_a_node_of_the_batch_job_dies(results: Path, state: Path, node: str) -> None:
    running, nodes = second_launch_under_slurm("--set", "launches=12")
    nodes.kill_node(node)
    assert running.ended() == 1, running.said
    why = reasons(latest(results))
    assert "not run: a node of the batch job died (NODE_FAIL)" in why.values(), why
    assert running.nothing_left(state)
    completes(latest(results))


@pytest.mark.slurm
@pytest.mark.full
@pytest.mark.usefixtures("_slurm")
def test_slurmd_dies_during_a_job(results: Path, state: Path) -> None:
    """The processes go on until the controller gives the node up, which ends the job as NODE_FAIL."""
    running, nodes = second_launch_under_slurm("--set", "launches=20")
    pid = nodes.services("vc1")["slurmd"]
    assert run(nodes, "vc1", "kill", "-KILL", str(pid)).returncode == 0
    assert running.ended() == 1, running.said
    assert "not run: a node of the batch job died (NODE_FAIL)" in reasons(latest(results)).values()
    assert running.nothing_left(state)
    completes(latest(results))


@pytest.mark.slurm
@pytest.mark.full
@pytest.mark.usefixtures("_slurm")
def test_a_job_reaches_its_time_limit(results: Path, state: Path) -> None:
    """None of its launches ends by itself, however fast the machine. Those of --resume must all end within a minute."""
    running, nodes = second_launch_under_slurm("--set", "launches=9", "--set", "time_limit_s=60")
    hold = ["sh", "-c", "while pkill -STOP -x microbench; sleep 0.2; do :; done"]
    with subprocess.Popen(nodes.command("vc2", hold), stdin=subprocess.DEVNULL) as holding:
        assert running.ended(240) == 1, running.said
        holding.kill()
    session = latest(results)
    why = reasons(session)
    assert "not run: the batch job reached its time limit (TIMEOUT)" in why.values(), why
    assert running.nothing_left(state)
    completes(session)
