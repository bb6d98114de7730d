# SPDX-License-Identifier: BSD-3-Clause
"""Each MPI across two virtual nodes: ranks, hosts and bytes on the interfaces, as whoever we are and without rights.

And what it does when a rank dies, a node dies, or a cable is pulled in mid-message.

A dead rank or node ends the launch by itself; a pulled cable hangs it for good, which is why each launch has a timeout
that kills. After all of them reaping finds the nodes clean.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.base import mpis
from harness.base.mpis import Mpi, Where
from harness.tests.waiting import PATIENCE_S, eventually
from harness.vcluster import cluster, state
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests.vcluster_fixtures import as_unprivileged, build_exchange, processes, run

HERE = Path(__file__).resolve().parent

pytestmark = [pytest.mark.vcluster, pytest.mark.mpi]


@pytest.fixture(scope="session")
def programs() -> Iterator[dict[str, str]]:
    """exchange.c, built for each MPI wheel that is installed: name -> path, readable by everybody."""
    if reason := cluster.supported():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="obt-", dir="/tmp") as parent:
        Path(parent).chmod(0o755)
        yield {mpi.name: str(build_exchange(mpi, Path(parent))) for mpi in mpis.installed() if mpi.wheels}


def check_trial(facts: dict[str, Any], programs: dict[str, str]) -> None:
    """What vcluster_trial.py must have seen, whoever ran it."""
    assert facts["hostnames"] == {name: name for name in ("vc0", "vc1", "vc2")}
    assert facts["exit"] == 7
    assert facts["shell"].splitlines()[0] == "vc2"
    for name in programs:
        seen = facts["exchanges"][name]
        assert (seen["status"], seen["lines"]) == (0, [["0", "2", "vc1", "2"], ["1", "2", "vc2", "1"]]), seen["errors"]
        assert all(4 << 20 <= count < 5 << 20 for count in seen["bytes"])


def trial(python: list[str], place: Path, programs: dict[str, str]) -> dict[str, Any]:
    """Run vcluster_trial.py with a cluster in `place`."""
    done = subprocess.run(
        [*python, str(HERE / "vcluster_trial.py"), *(f"{name}={path}" for name, path in programs.items())],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", state.VARIABLE: str(place)},
        capture_output=True, text=True, check=False, timeout=120, cwd="/",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def test_each_mpi_exchanges_across_the_nodes(programs: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory(prefix="obt-", dir="/tmp") as folder:
        facts = trial([sys.executable], Path(folder, "vc"), programs)
    check_trial(facts, programs)
    assert facts["uid"] == str(os.geteuid())


def test_rootless_is_the_same(programs: dict[str, str]) -> None:
    with as_unprivileged() as (folder, python):
        facts = trial(python, folder / "vc", programs)
        check_trial(facts, programs)
        assert facts["status"]["rootless"] is True
        assert facts["uid"] == str(folder.stat().st_uid) != "0"
        assert list(folder.iterdir()) == []


MPICH_FIRST = [
    pytest.param(mpi, id=name, marks=[] if name == "mpich" else pytest.mark.full)
    for name, mpi in mpis.MPIS.items()
    if mpi.wheels
]


@pytest.fixture
def launch(virtual: Cluster, tmp_path: Path) -> Iterator[Callable[[Mpi], subprocess.Popen[bytes]]]:
    """Starts an exchange without end and returns its launcher once messages flow; none outlives the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(mpi: Mpi) -> subprocess.Popen[bytes]:
        if not mpi.installed():
            pytest.skip(f"{mpi.title} is not installed")
        where = Where(hosts=tuple(virtual.hosts), remote_shell=virtual.remote_shell)
        program = [str(build_exchange(mpi, tmp_path).rename(tmp_path / "exchange")), "1000000"]
        line = [*mpi.launch_command(2, 1, where), *program]
        before = received(virtual)
        started.append(subprocess.Popen(virtual.command("vc0", line), env={**os.environ, **mpi.environment("tcp")}))
        assert eventually(lambda: received(virtual) > before + 20_000_000)
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def received(virtual: Cluster) -> int:
    """Bytes that have come to vc1."""
    return int(run(virtual, "vc1", "cat", "/sys/class/net/eth0/statistics/rx_bytes").stdout)


@pytest.mark.parametrize("mpi", MPICH_FIRST)
def test_a_dead_rank_ends_the_launch(
    virtual: Cluster, launch: Callable[[Mpi], subprocess.Popen[bytes]], mpi: Mpi
) -> None:
    process = launch(mpi)
    assert run(virtual, "vc2", "pkill", "-KILL", "-x", "exchange").returncode == 0
    assert process.wait(PATIENCE_S) != 0
    assert eventually(lambda: processes(virtual, "vc1", "exchange") == 0)


@pytest.mark.parametrize("mpi", MPICH_FIRST)
def test_a_dead_node_ends_the_launch(
    virtual: Cluster, launch: Callable[[Mpi], subprocess.Popen[bytes]], mpi: Mpi
) -> None:
    process = launch(mpi)
    virtual.kill_node("vc2")
    process.wait(PATIENCE_S)  # Open MPI's mpirun sometimes says 0: records are judged by their end line
    virtual.reap("vc1")
    assert processes(virtual, "vc1", "exchange") == 0


@pytest.mark.full  # by default test_faults pulls one
@pytest.mark.parametrize("mpi", MPICH_FIRST)
def test_a_pulled_cable_hangs_until_killed_and_reaped(
    virtual: Cluster, launch: Callable[[Mpi], subprocess.Popen[bytes]], mpi: Mpi
) -> None:
    process = launch(mpi)
    virtual.link("vc2", "down")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2)
    process.kill()  # as the timeout of a launch does in the end
    process.wait()
    for node in virtual.hosts:
        virtual.reap(node)
        assert processes(virtual, node, "exchange") == 0
    virtual.link("vc2", "up")
    assert all((virtual.directory / "log" / f"{node}.log").read_text() == "" for node in virtual.hosts)
    assert virtual.healthy()
