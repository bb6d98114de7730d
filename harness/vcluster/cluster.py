# SPDX-License-Identifier: BSD-3-Clause
"""The virtual cluster's interface. Standard library only.

    cluster = up(nodes=2)                                      # vc0 is the login node, vc1 and vc2 compute
    cluster.execute("vc1", ["hostname"])
    subprocess.run(cluster.command("vc0", ["mpiexec", ...]), timeout=60)
    cluster.down()

One cluster a checkout and user, see cluster_folder.py; any process of the same user can load() it, on the machine and
in its nodes. Errors: UsageError for a bad argument, Failure for what did not work. Not thread safe.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.base import process
from harness.base.errors import Failure, UsageError

from . import client, first_process, line, network, support
from . import cluster_folder as state
from . import slurm as slurm_daemons
from .cluster_settings import Settings
from .support import supported
from .switch import KEEP

__all__ = ["Cluster", "down", "load", "supported", "up"]

_LIMIT_S = 20.0
_HEAL = "./bench vcluster up makes new nodes"


@dataclass
class Cluster:
    """A running cluster. `created`: by this call of up(), and not found running with the same settings."""

    directory: Path
    settings: Settings
    created: bool = False
    _tie: socket.socket | None = field(default=None, repr=False)

    @classmethod
    def load(cls) -> Cluster | None:
        """The running cluster of this checkout and user, or None."""
        return load()

    @property
    def login(self) -> str:
        """The node that launches; it runs on all CPUs and its network is not limited."""
        return self.settings.names[0]

    @property
    def hosts(self) -> list[str]:
        """The compute nodes."""
        return self.settings.names[1:]

    @property
    def remote_shell(self) -> str:
        """An executable that MPI launchers can use as ssh or rsh; needs no environment."""
        return str(self.directory / "rsh")

    def command(self, node: str, argv: Sequence[str]) -> list[str]:
        """A command line that runs `argv` on the node, with the descriptors, environment and signals of its process.

        When that process ends, killed or not, the command on the node is killed with all its descendants. The exit
        status is the command's, 128 + signal where one killed it, 255 where the node is down.
        """
        self._check_node(node)
        if not argv:
            raise UsageError("there is no command to run on " + node)
        return [str(self.directory / "exec"), node, *argv]

    def execute(
        self,
        node: str,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> int:
        """Run a command on a node in the foreground; its exit status, see `command`. `env` None: this environment."""
        if not (self.directory / "exec").exists():  # what cleans /tmp takes it
            raise Failure(f"the virtual cluster lost files: {_HEAL}")
        with subprocess.Popen(self.command(node, argv), env=env, cwd=cwd) as process:
            while True:
                try:
                    return process.wait()
                except KeyboardInterrupt:  # the terminal has sent it to the command too, which decides
                    continue

    def link(self, node: str, state: Literal["up", "down"]) -> None:
        """Pull a node's cable or put it back: its interface stays, and has no carrier."""
        self._check_node(node)
        if state not in ("up", "down"):
            raise UsageError(f"a link is set up or down, not {state!r}")
        self._switch(["ip", "link", "set", network.port(self.settings.names.index(node)), state])

    def set_rate(self, rate: str | None) -> None:
        """Limit what enters and leaves each compute node ("1gbit", see line.py); None: as fast as memory."""
        self.settings = self.settings.changed(rate=rate)
        limit = self.settings.line
        for index, node in enumerate(self.settings.names):
            with contextlib.suppress(Failure):  # an older kernel's packets are longer: the status says how long
                self._batch("ip", [line.offload_line(network.INTERFACE, limit)], node)
                self._batch("ip", [line.offload_line(network.port(index), limit)])
            if node != self.login:
                self._batch("tc", line.limiter_lines(network.INTERFACE, limit), node)
                self._batch("tc", line.limiter_lines(network.port(index), limit))
        self._measured_file.unlink(missing_ok=True)
        self.settings.write(self.directory)

    def measured(self) -> dict[str, float]:
        """What the line really lets pass, bits/s: one message of 32 KB and of 64 KB after a pause, and a stream; and
        `ahead_bytes` of a line with a rate.

        Measured at the first call after a change of the rate, in about a second, between the first node and the
        last (of one node, between the login node and it); kept beside cluster.json. Raises Failure.
        """
        with contextlib.suppress(OSError, ValueError):
            return dict(json.loads(self._measured_file.read_text()))
        found = self._measure()
        partial = self._measured_file.with_suffix(f".{os.getpid()}.part")
        partial.write_text(json.dumps(found))
        partial.replace(self._measured_file)
        return found

    @property
    def _measured_file(self) -> Path:
        return self.directory / "line.json"

    def _measure(self) -> dict[str, float]:
        sender, receiver = self.hosts[0] if len(self.hosts) > 1 else self.login, self.hosts[-1]
        serve = self.command(receiver, support.python("line_meter", "serve"))
        environment = support.environment()
        rate = self.settings.line.bits_per_s if self.settings.line else 1e12
        with subprocess.Popen(serve, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            try:
                answers = server.stdout
                ready = answers and select.select([answers], [], [], _LIMIT_S)[0]
                port = answers.readline().decode().strip() if answers and ready else ""
                to = [network.address(self.settings.names.index(receiver)), port or "0", f"{rate:g}"]
                asked = self.command(sender, [*support.python("line_meter", "measure"), *to])
                done = process.answer(asked, _LIMIT_S, environment)
            finally:
                server.kill()
        try:
            found = dict(json.loads(done.out))
        except ValueError:
            why = done.err.strip().splitlines()[-1:] or ["it does not answer"]
            raise Failure(f"the line from {sender} to {receiver} cannot be measured: {why[0]}") from None
        return found | ({"ahead_bytes": self.settings.line.ahead_bytes} if self.settings.line else {})

    def reap(self, node: str) -> int:
        """Kill every process of the node but its init, its services, and, called from within the node, the caller
        with its ancestors and their process groups; the number of processes killed."""
        return int(self._ask(node, {"operation": "reap"})["killed"])

    def start_service(self, node: str, name: str, argv: Sequence[str]) -> int:
        """Start a daemon in the foreground mode that it must have; its output goes to log/NODE.NAME.log.

        It outlives reaping and the caller; the PID in the node.
        """
        request: dict[str, object] = {
            "operation": "service", "name": name, "argv": list(argv), "env": support.environment(), "cwd": "/",
        }  # fmt: skip
        log = self.directory / "log" / f"{node}.{name}.log"
        with log.open("ab") as output, Path(os.devnull).open("rb") as nothing:
            return int(self._ask(node, request, [nothing.fileno(), output.fileno(), output.fileno()])["pid"])

    def services(self, node: str) -> dict[str, int]:
        """The services that run on the node, with their PIDs there."""
        return {name: int(pid) for name, pid in self._ask(node, {"operation": "services"}).items()}

    def node_pid(self, node: str) -> int | None:
        """The PID of the node's init, as the caller's PID namespace has it (0: not visible there); None: it is down."""
        self._check_node(node)
        return first_process.listener_pid(self.directory / f"{node}.sock")

    def kill_node(self, node: str) -> None:
        """The node dies at once, as if without power. It comes back with the next `up`."""
        pid = self.node_pid(node)
        if pid == 0:
            raise UsageError("a node can be killed from outside of the cluster only")
        if pid:
            first_process.kill_and_wait(pid)

    def status(self) -> dict[str, Any]:
        """What the cluster is, and for each node: pid, address, cpus, services, and its network as measured."""
        nodes = {name: self._node_status(index) for index, name in enumerate(self.settings.names)}
        return {
            "directory": str(self.directory),
            "login": self.login,
            "hosts": self.hosts,
            "rootless": self.settings.user is not None,
            "shared_cpus": self.settings.shared_cpus,
            "tied": self.settings.tied,
            "slurm": self.settings.slurm,
            "nodes": nodes,
        }

    @property
    def network_description(self) -> str:
        """The network in words for a record's provenance, from what the nodes' kernels say now."""
        return network.describe(self.status())

    def healthy(self) -> bool:
        """Do all nodes answer, with their daemons running, and can commands be sent to them?"""
        needed = (
            slurm_daemons.daemons(self.settings) if self.settings.slurm else {name: [] for name in self.settings.names}
        )
        if not all((self.directory / name).exists() for name in first_process.PROGRAMS):  # what cleans /tmp takes them
            return False
        try:
            return all(
                self.node_pid(node) is not None and set(names) <= self.services(node).keys()
                for node, names in needed.items()
            )
        except Failure:  # it went down while it was asked
            return False

    def down(self) -> None:
        """End everything in the cluster at once and remove its directory. No error where that happened already."""
        with state.locked(self.directory):
            first_process.take_down(self.directory)
        if self._tie:
            self._tie.close()

    def _check_node(self, node: str) -> None:
        if node not in self.settings.names:
            raise UsageError(f"there is no node {node!r}; the nodes are {', '.join(self.settings.names)}")

    def _node_status(self, index: int) -> dict[str, Any]:
        name = self.settings.names[index]
        fixed = {"address": network.address(index), "cpus": self.settings.cpus[name]}
        pid = self.node_pid(name)
        if pid is None:
            return {"up": False, "pid": None, **fixed}
        asked = self.command(name, ["/bin/sh", "-c", network.PROBE])
        measured = network.parse_probe(process.answer(asked, _LIMIT_S, support.environment()).out)
        return {"up": True, "pid": pid, **fixed, "services": self.services(name), **measured}

    def _ask(self, node: str, request: dict[str, object], descriptors: Sequence[int] = ()) -> dict[str, Any]:
        if node != "switch":
            self._check_node(node)
        try:
            with client.connect(str(self.directory / f"{node}.sock")) as connection:
                connection.settimeout(_LIMIT_S)
                client.send(connection, request, list(descriptors))
                answer = client.receive(connection)
        except OSError as error:
            why = error.strerror or error
            raise Failure(f"node {node} of the virtual cluster does not answer ({why}): {_HEAL}") from error
        if answer is None or "error" in answer:
            raise Failure(f"node {node} of the virtual cluster failed: {(answer or {}).get('error', 'it went down')}")
        return answer

    def _batch(self, tool: str, lines: list[str], network_of: str | None = None) -> None:
        """`ip -batch` or `tc -batch`, in a node's network or the switch's."""
        with tempfile.TemporaryFile() as text:
            text.write("\n".join([*lines, ""]).encode())
            text.seek(0)
            self._switch([tool, "-batch", "-"], network_of, text.fileno())

    def _switch(self, argv: list[str], network_of: str | None = None, stdin: int | None = None) -> None:
        request: dict[str, object] = {"operation": "run", "argv": argv, "cwd": "/", "env": support.environment()}
        if network_of:
            request["network"] = network_of
        read_end, write_end = os.pipe()
        with os.fdopen(read_end, errors="replace") as errors:
            try:
                answer = self._ask("switch", request, [write_end if stdin is None else stdin, write_end, write_end])
            finally:
                os.close(write_end)
            if answer["status"] != 0:
                raise Failure(f"`{' '.join(argv)}` failed: {' '.join(errors.read().split())}")


def load(directory: Path | None = None) -> Cluster | None:
    """The running cluster of this checkout and user, or the one in `directory`; or None."""
    directory = directory or state.directory()
    if first_process.listener_pid(directory / "switch.sock") is None:
        return None
    try:
        return Cluster(directory, Settings.read(directory))
    except (OSError, ValueError, TypeError):  # it is going down, or another version's
        return None


def up(
    nodes: int = 2,
    rate: str | None = "1gbit",
    mtu: int = 65000,
    *,
    tied: bool = False,
    slurm: bool = False,
    management: bool = False,
    directory: Path | None = None,
) -> Cluster:
    """Bring up a cluster of `nodes` compute nodes and a login node; at once where it already runs with these settings.

    A cluster with other settings or with a dead node is replaced, as are the remains of a killed one. `tied`: it goes
    down by itself when this process ends, however that happens. `slurm`: with a Slurm on it, see slurm.py.
    `management`: with a second network, see network.py. `directory`: where its files are, if it shall not be this
    checkout's one.
    """
    settings = Settings.make(nodes, rate, mtu, tied=tied, slurm=slurm, management=management)
    directory = directory or state.directory()
    if slurm and (reason := slurm_daemons.missing()):
        raise Failure(reason)
    with state.locked(directory) as lock:
        running = load(directory)
        if running and running.settings.same_cluster(settings) and running.healthy():
            return running
        first_process.take_down(directory)
        if reason := supported():
            raise Failure(reason)
        tie = first_process.start(directory, settings, lock)
        try:
            cluster = Cluster(directory, settings, created=True)
            cluster.set_rate(rate)
            if slurm:
                slurm_daemons.start(directory, settings, cluster.start_service)
            if tied:
                cluster._tie = tie
            else:
                tie.send(KEEP)
        finally:
            if not tied:
                tie.close()
    return cluster


def measured_here(rate: str = "1gbit") -> dict[str, float]:
    """What the line of two nodes lets pass on this machine, see Cluster.measured. The nodes are up for about a second,
    beside the cluster that may be running. Raises Failure."""
    own = state.directory()
    virtual = up(rate=rate, tied=True, directory=own.with_name(f"{own.name[:8]}-{os.getpid()}"))
    try:
        return virtual.measured()
    finally:
        virtual.down()


def down() -> bool:
    """Take down the cluster of this checkout and user, or the remains of one; False where there was nothing."""
    directory = state.directory()
    if not directory.exists() and not first_process.first_processes(directory):
        return False
    with state.locked(directory):
        first_process.take_down(directory)
    return True
