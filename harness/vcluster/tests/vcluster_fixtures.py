# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the virtual cluster share: nodes, looking for leftovers, running as somebody without rights."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.base.mpis import Mpi
from harness.tests.waiting import eventually
from harness.vcluster import cluster, cluster_folder, slurm
from harness.vcluster.cluster import Cluster

HERE = Path(__file__).resolve().parent
UNPRIVILEGED = 54321  # no account has to exist for it


def run(virtual: Cluster, node: str, *argv: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """A command on a node, its output captured."""
    command = virtual.command(node, argv)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)


def processes(virtual: Cluster, node: str, name: str) -> int:
    """How many processes of this name run on the node."""
    return int(run(virtual, node, "pgrep", "-c", "-x", name).stdout or 0)


def namespaces(pid: int | str) -> set[str]:
    """The namespaces of a process in which it is not together with this one."""
    found = set()
    for kind in ("mnt", "net", "pid", "uts", "ipc"):
        try:
            name = os.readlink(f"/proc/{pid}/ns/{kind}")  # noqa: PTH115 (the target is no path)
        except OSError:
            continue
        if name != os.readlink(f"/proc/self/ns/{kind}"):  # noqa: PTH115
            found.add(name)
    return found


def namespaces_of(virtual: Cluster) -> set[str]:
    """All namespaces of the cluster's nodes."""
    pids = [virtual.node_pid(node) for node in (virtual.login, *virtual.hosts)]
    return set().union(*(namespaces(pid) for pid in pids if pid))


def leftovers(place: Path, spaces: set[str]) -> list[str]:
    """What is left of a cluster: processes in its namespaces, mounts, sockets, files."""
    found = [str(entry) for entry in place.parent.glob(place.name + "*")]
    for table in ("/proc/self/mountinfo", "/proc/net/unix"):
        found += [line for line in Path(table).read_text().splitlines() if f"{place}/" in line]
    for process in Path("/proc").glob("[0-9]*"):
        if namespaces(process.name) & spaces:
            found.append(f"process {process.name}")
    return found


@contextlib.contextmanager
def brought_up(**settings: Any) -> Iterator[Cluster]:
    """Nodes of a test's own, of which nothing is left afterwards. Where there can be none the test is left out."""
    if reason := cluster.supported() or (slurm.missing() if settings.get("slurm") else None):
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="obt-", dir="/tmp") as parent, pytest.MonkeyPatch.context() as patch:
        patch.setenv(cluster_folder.VARIABLE, f"{parent}/vc")
        nodes = cluster.up(tied=True, **settings)
        spaces = namespaces_of(nodes)
        yield nodes
        cluster.down()
        # what a repaired cluster was before: the kernel ends a PID namespace with its init, but not in an instant
        assert eventually(lambda: not leftovers(Path(parent, "vc"), spaces)), leftovers(Path(parent, "vc"), spaces)


def build_exchange(mpi: Mpi, folder: Path) -> Path:
    """exchange.c, built with the MPI into a folder."""
    program = folder / f"exchange.{mpi.name}"
    command = [str(mpi.mpicc), "-o", str(program), str(HERE / "exchange.c")]
    subprocess.run(command, check=True, env={**os.environ, **mpi.environment()}, timeout=120)
    return program


@contextlib.contextmanager
def as_unprivileged() -> Iterator[tuple[Path, list[str]]]:
    """A folder of somebody who is not root, and a Python run by them; where we are not root, of ourselves."""
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or "python3"
    with tempfile.TemporaryDirectory(prefix="obu-", dir="/tmp") as name:
        command = [python]
        if os.geteuid() == 0:
            os.chown(name, UNPRIVILEGED, UNPRIVILEGED)
            command = ["setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups", python]
        probe = [*command, "-c", f"open({str(HERE / 'exchange.c')!r})"]
        if subprocess.run(probe, check=False, capture_output=True, cwd="/").returncode != 0:
            pytest.skip("somebody without rights can read neither this checkout nor a Python")
        yield Path(name), command


UP_AND_WAIT = """
from harness.vcluster import cluster
virtual = cluster.up(tied={})
print(virtual.node_pid("vc1"), flush=True)
input()
"""


def owner(tied: bool) -> subprocess.Popen[str]:
    """Another process, which brings a cluster up and then waits."""
    return subprocess.Popen(
        [sys.executable, "-c", UP_AND_WAIT.format(tied)],
        cwd=HERE.parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@contextlib.contextmanager
def owned() -> Iterator[tuple[subprocess.Popen[str], Cluster]]:
    """A cluster that is tied to another process, and that process."""
    with owner(tied=True) as process:
        assert process.stdout
        process.stdout.readline()
        running = Cluster.load()
        assert running
        yield process, running
