# SPDX-License-Identifier: BSD-3-Clause
"""The cluster's own init: owns all namespaces, builds the network, starts the nodes, and serves `switch.sock`.

Everything hangs under its PID namespace, so when it ends nothing of the cluster is left but files. `up` starts it with
one end of a socket: as long as `up` has not sent KEEP, the end of the other side means that the caller died, and the
cluster takes itself down, directory included.

Operations besides those of init.py: {"operation": "run", "network": "vc1", ...} runs a command in that node's network
namespace, with the rights over it that the node's own user lacks.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from . import linux, network, node
from .init import Init, Request

KEEP = b"k"
SWITCH_NAME = "vc-switch"


class SetupError(Exception):
    """A step of the set-up failed; the text is for the user."""


class Switch:
    """Made in the first process of the cluster's PID namespace, from the settings that `up` wrote."""

    def __init__(self, directory: Path, settings: dict[str, Any], owner: socket.socket) -> None:
        self.directory = directory
        self.settings = settings
        self.owner = owner
        self.seen = json.loads((directory / "nodes.json").read_text())
        self.networks: dict[str, int] = {}

    def build(self) -> None:
        """Nodes first: their cables need a namespace to end in. Waits until all of them answer."""
        linux.set_name(SWITCH_NAME)
        linux.mount_proc_and_sys()
        network.set_sysctls()
        ready_in, ready_out = os.pipe()
        pids = [node.start(self._node(name), ready_out) for name in self.settings["cpus"]]
        os.close(ready_out)
        if all(pids):
            self._build_network(pids)
        self._wait_for_nodes(ready_in, len(pids))

    def _node(self, name: str) -> node.Node:
        user = self.settings["user"] or [None, None]
        return node.Node(name, self.settings["cpus"][name], self.directory, user[0], user[1], **self.seen)

    def _build_network(self, pids: list[int]) -> None:
        self.networks = {
            name: os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            for name, pid in zip(self.settings["cpus"], pids, strict=True)
        }
        management = self.settings["management"]
        batch("ip", network.switch_lines(pids, self.settings["mtu"], management=management))
        for index, descriptor in enumerate(self.networks.values()):
            batch("ip", network.node_lines(index, management=management), descriptor)

    @staticmethod
    def _wait_for_nodes(ready_in: int, count: int) -> None:
        answers = b""
        while part := os.read(ready_in, 4096):
            answers += part
        os.close(ready_in)
        if answers != b"ready" * count:
            raise SetupError(answers.replace(b"ready", b"").decode() or "a node ended while it was set up")

    def serve(self, lock: int) -> NoReturn:
        """Until killed, or until the owner goes without having sent KEEP. Frees the lock once it can be reached."""
        init = Init("switch", self.directory / "switch.sock", {})
        init.before_exec = self._enter_network
        init.watch(self.owner.fileno(), self._from_owner)
        self._init = init
        os.close(lock)
        self.owner.send(json.dumps({"ready": True}).encode() + b"\n")
        init.serve()

    def _enter_network(self, request: Request) -> None:
        if name := request.get("network"):
            linux.enter_network(self.networks[name])

    def _from_owner(self) -> None:
        message = b""
        with contextlib.suppress(OSError):
            message = self.owner.recv(1)
        if message != KEEP:
            self.end()
        self._init.unwatch(self.owner.fileno())
        self.owner.close()

    def end(self) -> NoReturn:
        """Kill everything, remove the directory, leave. The lock keeps an `up` from building there meanwhile."""
        try:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            lock = os.open(self.directory.parent, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            shutil.rmtree(self.directory, ignore_errors=True)
        finally:  # also where somebody has removed the directory's parent
            os._exit(1)


def batch(tool: str, lines: Iterable[str], namespace_fd: int | None = None) -> None:
    """Run `ip -batch -` or `tc -batch -`, in another network namespace where one is given."""
    enter = None if namespace_fd is None else lambda: linux.enter_network(namespace_fd)
    text = "\n".join(lines) + "\n"
    done = subprocess.run(
        [tool, "-batch", "-"], input=text, text=True, capture_output=True, check=False, preexec_fn=enter
    )
    if done.returncode != 0:
        raise SetupError(f"{tool} failed: {' '.join(done.stderr.split())}")


def main() -> NoReturn:
    """argv: the directory, the owner's socket, the lock's descriptor. Forks: the child is the cluster's init."""
    directory = Path(sys.argv[1])
    owner = socket.socket(fileno=int(sys.argv[2]))
    lock = int(sys.argv[3])
    for descriptor in (owner.fileno(), lock):
        os.set_inheritable(descriptor, False)
    try:
        settings = json.loads((directory / "cluster.json").read_text())
        if settings["user"]:
            linux.enter_user_namespace(0, 0)
        linux.enter_namespaces()
    except OSError as error:
        _refuse(owner, f"{error}")
    if os.fork():
        os._exit(0)
    switch = Switch(directory, settings, owner)
    try:
        switch.build()
    except (SetupError, OSError) as error:
        _refuse(owner, f"{error}")
    switch.serve(lock)


def _refuse(owner: socket.socket, sentence: str) -> NoReturn:
    owner.send(json.dumps({"error": sentence}).encode() + b"\n")
    os._exit(1)
