# SPDX-License-Identifier: BSD-3-Clause
"""The virtual cluster on real namespaces: up and down, commands, network, as root and without."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.tests.waiting import eventually
from harness.vcluster import cluster, cluster_folder, first_process
from harness.vcluster import cluster_settings as settings
from harness.vcluster.client import split_ssh_arguments
from harness.vcluster.cluster import Cluster
from harness.vcluster.cluster_settings import Settings
from harness.vcluster.tests.vcluster_fixtures import brought_up, leftovers, namespaces_of, processes, run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

pytestmark = pytest.mark.vcluster


@pytest.fixture(scope="module")
def shared() -> Iterator[Cluster]:
    """Two nodes for tests that leave them as they were."""
    with brought_up(nodes=2) as nodes:
        yield nodes


def test_down_leaves_nothing(virtual: Cluster, place: Path) -> None:
    spaces = namespaces_of(virtual)
    assert len(spaces) == 3 * 5  # none is shared among the nodes
    virtual.down()
    assert leftovers(place, spaces) == []
    assert Cluster.load() is None
    assert cluster.down() is False
    virtual.down()  # once more is no error


def test_up_twice_keeps_a_healthy_cluster_and_replaces_another(virtual: Cluster) -> None:
    virtual.down()
    first = cluster.up()
    second = cluster.up()
    assert (first.created, second.created) == (True, False)
    assert first.node_pid("vc1") == second.node_pid("vc1")
    other = cluster.up(nodes=3)
    assert other.created
    assert other.hosts == ["vc1", "vc2", "vc3"]
    other.kill_node("vc3")
    assert not other.healthy()
    assert cluster.up(nodes=3).created


def test_a_node_is_a_machine_of_its_own(shared: Cluster) -> None:
    place = shared.directory
    script = "hostname; echo $TMPDIR; ls /sys/class/net; cat /etc/hosts; pgrep -c .; nproc; touch $TMPDIR/x /dev/shm/x"
    lines = run(shared, "vc1", "sh", "-c", script).stdout.splitlines()
    assert lines[:2] == ["vc1", str(place / "tmp")]
    assert "eth0" in lines
    assert "10.77.0.2 vc2" in lines
    assert int(lines[-1]) == len(shared.settings.cpus["vc1"])
    assert run(shared, "vc2", "sh", "-c", "ls $TMPDIR /dev/shm | grep ^x$").returncode == 1
    assert not (place / "tmp" / "x").exists()


def test_a_node_has_its_files_where_the_machine_has_none(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare image of Debian has no /etc/hosts, without which MPICH's ranks do not find their launcher."""
    if reason := cluster.supported():
        pytest.skip(reason)
    what_nodes_see = first_process._what_nodes_see

    def more(directory: Path, settings: Settings) -> dict[str, dict[str, str]]:
        seen = what_nodes_see(directory, settings)
        seen["binds"]["/etc/no-such-file-here"] = seen["binds"]["/etc/hosts"]
        return seen

    monkeypatch.setattr(first_process, "_what_nodes_see", more)
    virtual = cluster.up(nodes=2, tied=True)
    assert run(virtual, "vc1", "cat", "/etc/no-such-file-here").stdout == (place / "hosts").read_text()
    assert run(virtual, "vc1", "getent", "hosts", "vc2").returncode == 0
    assert not Path("/etc/no-such-file-here").exists(), "on this machine"
    virtual.down()


@pytest.mark.parametrize("step", ["_what_nodes_see", "_expect_ready"])
def test_an_interrupted_start_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Before the first process is there, and while it makes the nodes."""
    if reason := cluster.supported():
        pytest.skip(reason)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(first_process, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        cluster.up(nodes=2, tied=True)
    assert eventually(lambda: leftovers(place, set()) == [])


def test_a_management_network_stands_beside_the_limited_one(virtual: Cluster) -> None:
    virtual.down()
    made = cluster.up(management=True)
    assert run(made, "vc1", "getent", "hosts", "vc2-mgmt").stdout.split() == ["10.78.0.2", "vc2-mgmt"]
    sent = ("cat", "/sys/class/net/eth1/statistics/tx_packets")
    before = int(run(made, "vc1", *sent).stdout)
    script = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('vc2-mgmt', 9))"
    assert run(made, "vc1", sys.executable, "-c", script).returncode == 0
    assert int(run(made, "vc1", *sent).stdout) > before
    assert "htb" not in run(made, "vc1", "tc", "qdisc", "show", "dev", "eth1").stdout
    assert run(made, "vc1", "printenv", "FI_TCP_IFACE").stdout == "eth0\n"
    assert not made.settings.same_cluster(cluster.up().settings)


def test_execute_passes_streams_status_and_environment(shared: Cluster, tmp_path: Path) -> None:
    done = run(shared, "vc1", "sh", "-c", "cat; echo $FOO; pwd; echo bad >&2; exit 5", input="in", cwd=tmp_path,
               env={"FOO": "é bar", "PATH": os.environ["PATH"]})  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (5, f"iné bar\n{tmp_path}\n", "bad\n")
    assert shared.execute("vc2", ["true"]) == 0
    missing = run(shared, "vc1", "no-such-program")
    assert (missing.returncode, missing.stderr) == (127, "vc1: no-such-program: No such file or directory\n")
    assert run(shared, "vc1", "/etc/hosts").returncode == 126
    assert run(shared, "vc1", "sh", "-c", "kill -SEGV $$").returncode == 128 + signal.SIGSEGV
    big = run(shared, "vc1", "sh", "-c", "echo ${#BIG}", env={"BIG": "x" * 100_000, "PATH": os.environ["PATH"]})
    assert big.stdout == "100000\n"


def test_remote_shell_is_like_ssh(shared: Cluster) -> None:
    done = run(shared, "vc0", shared.remote_shell, "-x", "-l", "me", "vc2", "hostname;", "echo", "$SECRET", "*none*",
               env={"SECRET": "1", "HOME": "/"})  # fmt: skip
    assert done.stdout == "vc2\n*none*\n"
    assert run(shared, "vc0", shared.remote_shell, "vc9", "true").returncode == 255
    for words, host, command in (
        ("vc1 a -b", "vc1", ["a", "-b"]),
        ("-x -oFoo=1 -p 22 me@vc1.cluster a", "vc1", ["a"]),
        ("-n -o Foo=1 vc2", "vc2", []),
    ):
        assert split_ssh_arguments(words.split()) == (host, command)


def test_signals_reach_the_command_and_its_group(shared: Cluster) -> None:
    script = "trap 'echo got; exit 9' TERM; sleep 1000 & wait"
    with subprocess.Popen(shared.command("vc1", ["bash", "-c", script]), stdout=subprocess.PIPE, text=True) as client:
        assert eventually(lambda: processes(shared, "vc1", "sleep") == 1)
        client.send_signal(signal.SIGTERM)
        assert client.communicate(timeout=120)[0] == "got\n"
    assert client.returncode == 9
    assert eventually(lambda: processes(shared, "vc1", "sleep") == 0)


def test_hang_up_kills_the_command_with_its_descendants(shared: Cluster) -> None:
    # One process ignores all it can, one has a session of its own, one is on another node behind the remote shell.
    script = f"trap '' TERM HUP INT; setsid sleep 1000 & {shared.remote_shell} vc2 sleep 1000 & sleep 1000"
    with subprocess.Popen(shared.command("vc1", ["bash", "-c", script])) as client:
        assert eventually(lambda: processes(shared, "vc1", "sleep") == 2 and processes(shared, "vc2", "sleep") == 1)
        client.kill()
    assert eventually(lambda: processes(shared, "vc1", "sleep") + processes(shared, "vc2", "sleep") == 0)


COMMAND_AND_CLIENT_END_AT_ONCE = """
import os, pathlib, socket, subprocess, sys
from harness.vcluster.init import Init
init = Init("node", pathlib.Path(sys.argv[1], "s"), {})
ours, theirs = socket.socketpair()
child = subprocess.Popen(["true"])
init._jobs[child.pid] = ours
os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
theirs.close()
init._collect()
init._from_client(ours, child.pid)  # select() reported both
"""


def test_a_command_and_its_client_may_end_at_once(place: Path) -> None:
    command = [sys.executable, "-c", COMMAND_AND_CLIENT_END_AT_ONCE, str(place.parent)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_reaping_spares_services_and_the_caller(virtual: Cluster) -> None:
    virtual.start_service("vc1", "daemon", ["sleep", "2000"])
    left = "(setsid sleep 1000 >/dev/null 2>&1 &); (trap '' TERM; sleep 1000) >/dev/null 2>&1 &"
    assert run(virtual, "vc1", "bash", "-c", left).returncode == 0
    assert eventually(lambda: processes(virtual, "vc1", "sleep") == 3)
    assert virtual.reap("vc1") >= 2
    assert processes(virtual, "vc1", "sleep") == 1
    assert list(virtual.services("vc1")) == ["daemon"]
    inside = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from harness.vcluster import cluster; "
    inside += "print(cluster.load().reap('vc1'))"
    both = "until [ $(pgrep -c -x sleep) = 2 ]; do :; done"
    command = f'(setsid sleep 1000 &) >/dev/null 2>&1; {both}; {sys.executable} -c "{inside}" | cat; echo still here'
    assert run(virtual, "vc1", "bash", "-c", command).stdout == "1\nstill here\n"
    assert processes(virtual, "vc1", "sleep") == 1


def ping(virtual: Cluster, source: str, target: str) -> bool:
    """Does a TCP connection come about? (The target refuses it at once, which is an answer as well.)"""
    code = f"import socket; socket.create_connection(({target!r}, 9), 0.5)"
    return "refused" in run(virtual, source, sys.executable, "-IS", "-c", code).stderr


def test_link_down_cuts_the_node_off_and_up_brings_it_back(shared: Cluster) -> None:
    assert eventually(lambda: ping(shared, "vc1", "vc2"))
    shared.link("vc2", "down")
    assert shared.status()["nodes"]["vc2"]["link"] == "down"
    assert shared.status()["nodes"]["vc1"]["link"] == "up"
    assert not ping(shared, "vc1", "vc2")
    shared.link("vc2", "up")
    assert eventually(lambda: ping(shared, "vc1", "vc2"))


def test_description_states_what_the_kernel_says(shared: Cluster) -> None:
    words = shared.network_description
    for fact in ("2 virtual nodes", "htb to 1Gbit/s", "MTU 65000", "TCP reno", "vc1: "):
        assert fact in words
    assert ("share CPUs" in words) == shared.settings.shared_cpus


def test_bad_arguments_nodes_and_places_are_a_sentence(
    shared: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory of something else is never removed."""
    (tmp_path / "thesis.tex").write_text("years of work")
    for call, words in (
        (lambda: shared.execute("vc7", ["true"]), "vc7"),
        (lambda: shared.execute("vc1", []), "command"),
        (lambda: shared.link("vc1", "sideways"), "sideways"),  # type: ignore[arg-type]
        (lambda: cluster.up(nodes=0), "compute nodes"),
        (lambda: cluster.up(rate="fast"), "rate"),
        (lambda: cluster.up(mtu=100_000), "MTU"),
        (lambda: cluster.up(directory=tmp_path), r"thesis\.tex"),
    ):
        with pytest.raises(UsageError, match=words):
            call()
    assert (tmp_path / "thesis.tex").exists()
    monkeypatch.setenv(cluster_folder.VARIABLE, "/tmp/" + "x" * 80)
    with pytest.raises(UsageError, match="at most"):
        cluster.up()


@pytest.mark.parametrize(
    ("cores", "nodes", "shares"),
    [
        ([[0], [1]], 2, [[0], [1]]),
        ([[0, 2], [1, 3]], 2, [[0, 2], [1, 3]]),  # hardware threads stay together
        ([[0, 2], [1, 3]], 4, [[0], [2], [1], [3]]),
        ([[0], [1]], 5, [[0], [1], [0], [1], [0]]),
        ([[0], [1], [2], [3], [4]], 2, [[0, 1], [2, 3, 4]]),
    ],
)
def test_cpus_are_split_by_cores(cores: list[list[int]], nodes: int, shares: list[list[int]]) -> None:
    found = settings.split(nodes, cores)
    assert found.pop("vc0") == sorted(cpu for core in cores for cpu in core)
    assert [found[f"vc{index + 1}"] for index in range(nodes)] == shares
