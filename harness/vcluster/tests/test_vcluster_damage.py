# SPDX-License-Identifier: BSD-3-Clause
"""Where there can be no virtual cluster, a sentence says why and what would help; and of one of which somebody removed
or killed something, or who brought it up, nothing stays."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.base import mpis
from harness.base.errors import Failure
from harness.base.mpis import Mpi, Where
from harness.tests.waiting import PATIENCE_S, eventually, lives
from harness.vcluster import cluster, first_process, support
from harness.vcluster.cluster import Cluster
from harness.vcluster.cluster_settings import Settings
from harness.vcluster.tests.vcluster_fixtures import (
    as_unprivileged,
    build_exchange,
    leftovers,
    namespaces,
    namespaces_of,
    owned,
    owner,
    processes,
    run,
)

ROOT = Path(__file__).resolve().parents[3]
ASK = "from harness.vcluster.cluster import supported; print(supported())"

pytestmark = pytest.mark.vcluster


def fake_tool(folder: Path, name: str, words: str) -> None:
    """A program that says something on stderr and fails."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
    path.chmod(0o755)


def test_the_question_leaves_no_trace() -> None:
    before = Path("/proc/net/dev").read_text().count("\n"), Path("/proc/self/mountinfo").read_text()
    cluster.supported()
    assert (Path("/proc/net/dev").read_text().count("\n"), Path("/proc/self/mountinfo").read_text()) == before


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(support, "search_path", lambda: str(tmp_path))
    sentence = cluster.supported()
    assert sentence == "A virtual cluster needs ip and tc, which the Debian package iproute2 has."


@pytest.mark.parametrize(("tool", "module"), [("ip", "bridge"), ("tc", "sch_htb")])
def test_missing_kernel_modules_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tool: str, module: str
) -> None:
    if cluster.supported():
        pytest.skip("no virtual cluster here anyway")
    fake_tool(tmp_path, tool, "Unknown device type.")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    sentence = cluster.supported()
    assert sentence
    assert "Unknown device type." in sentence
    assert module in sentence


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare (util-linux) is not installed")
def test_forbidden_namespaces_are_explained() -> None:
    """As in a container: root by name, without rights, and no more user namespaces to be had."""
    with as_unprivileged() as (folder, python):
        forbid = 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all "$@"'
        inside = ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh", python[-1], "-c", ASK]
        done = subprocess.run(
            [*python[:-1], *inside], capture_output=True, text=True, check=False, timeout=120, cwd=folder,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    if "unshare failed" in done.stderr:
        pytest.skip("the machine forbids user namespaces altogether")
    assert done.stdout.startswith("A virtual cluster is not possible here: user namespace refused ("), done.stderr
    assert "or be root" in done.stdout
    assert done.stdout.count("\n") == 1


def test_up_says_why_not_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: Path) -> None:
    """Also of a network that fails halfway: the third call of ip does."""
    lacking, real = cluster.supported(), shutil.which("ip", path=support.search_path())
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    fake_tool(tmp_path, "ip", "no")
    with pytest.raises(Failure, match="not possible here"):
        cluster.up()
    count = tmp_path / "count"
    third = f'echo >> {count}\n[ $(wc -l < {count}) -lt 3 ] && exec {real} "$@"\necho boom >&2; exit 1\n'
    (tmp_path / "ip").write_text(f"#!/bin/sh\n{third}")
    if not lacking:
        with pytest.raises(Failure, match="ip failed: boom"):
            cluster.up()
    assert not place.exists()


def test_a_client_without_streams_still_runs(virtual: Cluster, tmp_path: Path) -> None:
    line = virtual.command("vc1", ["sh", "-c", f"cat; echo $? > {tmp_path}/out; exit 4"])
    done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *line], check=False, timeout=120)
    assert (done.returncode, (tmp_path / "out").read_text()) == (4, "0\n")


def processes_of(virtual: Cluster) -> list[Path]:
    """Every process of it as its folder in /proc. Not its namespaces: the kernel gives their numbers to the next."""
    spaces = namespaces_of(virtual) | namespaces(str(first_process.listener_pid(virtual.directory / "switch.sock")))
    return [process for process in Path("/proc").glob("[0-9]*") if namespaces(process.name) & spaces]


def gone(processes: list[Path]) -> bool:
    return eventually(lambda: not any(lives(process.name) for process in processes))


SOME_LOST = ("exec", "cluster.json")  # the others with --full
LOST = [*SOME_LOST, *(pytest.param(name, marks=pytest.mark.full) for name in ("rsh", "vc1.sock", "switch.sock", "."))]


@pytest.mark.parametrize("lost", LOST)
def test_a_cluster_that_lost_files_is_replaced(virtual: Cluster, place: Path, lost: str) -> None:
    """What cleans /tmp takes some of them, a person all."""
    before = processes_of(virtual)
    assert len(before) == 4, "three nodes and the switch"
    if lost == ".":
        shutil.rmtree(place)
    else:
        (place / lost).unlink()
    damaged = Cluster.load()
    assert damaged is None or not damaged.healthy()
    fresh = cluster.up(nodes=2, tied=True)
    assert run(fresh, "vc1", "true").returncode == 0
    assert Path(fresh.remote_shell).exists()
    assert gone(before)


def test_down_ends_a_cluster_whose_directory_is_gone(virtual: Cluster, place: Path) -> None:
    before = processes_of(virtual)
    shutil.rmtree(place)
    assert cluster.down()
    assert gone(before)
    assert not cluster.down()


def test_a_node_that_goes_while_it_is_asked_is_not_healthy(virtual: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cluster, "node_pid", lambda *_: 1)  # it answered a moment ago
    virtual.down()
    assert not virtual.healthy()


def test_a_command_by_hand_on_a_damaged_cluster_says_what_heals_it(tmp_path: Path) -> None:
    settings = Settings.make(2, "1gbit", 65000, tied=False, slurm=False)
    damaged = Cluster(tmp_path, settings)  # of which every file is gone
    with pytest.raises(Failure, match=r"lost files: \./bench vcluster up makes new nodes"):
        damaged.execute("vc1", ["true"])
    with pytest.raises(Failure, match=r"vc1 .* does not answer \(No such file or directory\): \./bench vcluster up"):
        damaged.services("vc1")


@pytest.mark.parametrize("gone_too", [False, True], ids=["its place is there", "its place is gone"])
def test_a_tied_cluster_goes_with_its_killed_owner(virtual: Cluster, place: Path, gone_too: bool) -> None:
    virtual.down()
    with owned() as (process, running):
        before, spaces = processes_of(running), namespaces_of(running)
        if gone_too:
            shutil.rmtree(place.parent)
        process.kill()
    assert gone(before)
    place.parent.mkdir(mode=0o700, exist_ok=True)
    assert eventually(lambda: leftovers(place, spaces) == [])


def test_an_untied_cluster_outlives_its_killed_owner(virtual: Cluster) -> None:
    virtual.down()
    with owner(tied=False) as process:
        assert process.stdout
        pid = int(process.stdout.readline())
        process.kill()
    running = Cluster.load()
    assert running
    assert running.node_pid("vc1") == pid


@pytest.mark.parametrize(
    "delay_s", [0.06, pytest.param(0.12, marks=pytest.mark.full), 0.18, pytest.param(0.25, marks=pytest.mark.full)]
)
def test_up_killed_at_any_moment_leaves_nothing_or_a_cluster(virtual: Cluster, place: Path, delay_s: float) -> None:
    virtual.down()
    with owner(tied=True) as process:
        time.sleep(delay_s)
        process.kill()
    assert cluster.up(nodes=1, tied=True).healthy()
    cluster.down()
    assert eventually(lambda: leftovers(place, set()) == []), "who is killed dies a moment later"


def test_killing_every_process_of_it_leaves_only_files_which_up_replaces(virtual: Cluster, place: Path) -> None:
    spaces = namespaces_of(virtual)
    for process in Path("/proc").glob("[0-9]*"):
        if namespaces(process.name) & spaces:
            os.kill(int(process.name), signal.SIGKILL)
    first_process.kill_and_wait(first_process.listener_pid(place / "switch.sock") or 2**30)
    assert Cluster.load() is None
    assert cluster.up(tied=True).healthy()


# An exchange over an MPI: a dead rank or node ends the launch by itself, and reaping finds the nodes clean.
MPICH_FIRST = [
    pytest.param(mpi, id=name, marks=[] if name == "mpich" else pytest.mark.full)
    for name, mpi in mpis.MPIS.items()
    if mpi.wheels
]


@pytest.fixture
def exchanging(virtual: Cluster, tmp_path: Path) -> Iterator[Callable[[Mpi], subprocess.Popen[bytes]]]:
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


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPICH_FIRST)
def test_a_dead_rank_ends_the_launch(
    virtual: Cluster, exchanging: Callable[[Mpi], subprocess.Popen[bytes]], mpi: Mpi
) -> None:
    process = exchanging(mpi)
    assert run(virtual, "vc2", "pkill", "-KILL", "-x", "exchange").returncode == 0
    assert process.wait(PATIENCE_S) != 0
    assert eventually(lambda: processes(virtual, "vc1", "exchange") == 0)


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPICH_FIRST)
def test_a_dead_node_ends_the_launch(
    virtual: Cluster, exchanging: Callable[[Mpi], subprocess.Popen[bytes]], mpi: Mpi
) -> None:
    process = exchanging(mpi)
    virtual.kill_node("vc2")
    process.wait(PATIENCE_S)  # Open MPI's mpirun sometimes says 0: records are judged by their end line
    virtual.reap("vc1")
    assert processes(virtual, "vc1", "exchange") == 0
