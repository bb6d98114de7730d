# SPDX-License-Identifier: BSD-3-Clause
"""How a command gets to a guest: OpenSSH of the guests' own packages, over one connection a guest that stays open."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base import debian
from harness.rdma_lab.image import HOST_ALIAS
from harness.rdma_lab.lab_folder import State
from harness.rdma_lab.lab_settings import NODES, OPENMPI, UCX

CONNECT_LIMIT_S = 60
GUEST_PATH = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
GUEST_ENVIRONMENT = {"PATH": GUEST_PATH, "HOME": "/root", "LC_ALL": "C.UTF-8", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                     "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **UCX, **OPENMPI}  # fmt: skip


def ssh(state: State, sockets: Path, node: str, port: int) -> list[str]:
    """ssh with its options, up to the remote command."""
    options = {
        "IdentityFile": state.keys / "id",
        "IdentitiesOnly": "yes",
        "StrictHostKeyChecking": "yes",
        "UserKnownHostsFile": state.keys / "known_hosts",
        "HostKeyAlias": HOST_ALIAS,
        "ControlPath": sockets / f"ssh{NODES.index(node)}",
        "ConnectTimeout": CONNECT_LIMIT_S,
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    program = debian.program(state.guest, "usr/bin/ssh")
    return [*program, "-F", "none", "-q", *words, "-p", str(port), "root@127.0.0.1"]


def master(state: State, sockets: Path, node: str, port: int) -> list[str]:
    """The connection that the others go through: a handshake takes a second in emulation."""
    command = ssh(state, sockets, node, port)
    alive = ["-o", "ServerAliveInterval=30", "-o", "ServerAliveCountMax=20"]
    return [*command[:-1], *alive, "-M", "-N", command[-1]]


def remote(argv: Sequence[str], environment: Mapping[str, str], folder: str, attended: bool) -> str:
    """What the guest's shell is told: the command in this folder, with this environment and no other.

    `attended`: it is ended when this end of it is gone (guest/attended), and has no stdin.
    """
    pairs = [f"{name}={value}" for name, value in {**GUEST_ENVIRONMENT, **environment}.items()]
    return shlex.join(["env", "-i", "-C", folder, *pairs, *(["/lab/attended"] if attended else []), *argv])
