# SPDX-License-Identifier: BSD-3-Clause
"""What makes a process a node: namespaces, CPUs of its own, mounts, a name, and the user who started the cluster."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from . import linux, network
from .init import Init


@dataclass(frozen=True)
class Node:
    """`cpus` are this machine's CPU numbers; `uid` and `gid` None: as the switch (root, without user namespace)."""

    name: str
    cpus: list[int]
    directory: Path
    uid: int | None
    gid: int | None
    binds: dict[str, str]  # path in the node -> path of what is seen there
    variables: dict[str, str]  # for every command, whatever its caller has set


def start(node: Node, keep_open: int) -> int:
    """Start the node; the PID of its init, which writes "ready" or an error's sentence to `keep_open` and closes it.

    A fork for the namespaces and one more for the PID namespace, whose first process the grandchild is. Call it from a
    process with one thread.
    """
    pid_in, pid_out = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _become_node(node, keep_open, pid_out)
        except OSError as error:
            os.write(keep_open, f"node {node.name}: {error}".encode())
        finally:
            os._exit(1)
    os.close(pid_out)
    text = os.read(pid_in, 32)
    os.close(pid_in)
    os.waitpid(child, 0)
    return int(text or b"0")


def _become_node(node: Node, keep_open: int, pid_out: int) -> None:
    os.sched_setaffinity(0, node.cpus)
    linux.enter_namespaces()
    init = os.fork()
    if init:
        os.write(pid_out, str(init).encode())
        os._exit(0)
    os.setsid()
    _serve(node, keep_open)


def _serve(node: Node, keep_open: int) -> NoReturn:
    log = os.open(node.directory / "log" / f"{node.name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in enumerate((nothing, log, log, keep_open)):
        os.dup2(source, target, inheritable=target < 3)
    os.closerange(4, 1024)  # the switch's: sockets, pipes and namespaces of the other nodes
    linux.set_name(f"vc-{node.name}")
    socket.sethostname(node.name)
    _mount(node)
    network.set_sysctls()
    if node.uid is not None and node.gid is not None:
        # Files and processes then belong to the user by name, and programs that give up root (Slurm) need not.
        linux.enter_user_namespace(node.uid, node.gid)
    variables = {
        "TMPDIR": str(node.directory / "tmp"),
        "OVERLAP_BENCH_STATE": str(node.directory),
        "OVERLAP_BENCH_NODE": node.name,
        **node.variables,
    }
    init = Init(node.name, node.directory / f"{node.name}.sock", variables)
    os.write(3, b"ready")
    os.close(3)
    init.serve()


def _mount(node: Node) -> None:
    linux.mount_proc_and_sys()
    private = linux.MS_NOSUID | linux.MS_NODEV
    linux.mount("tmpfs", "/dev/shm", "tmpfs", private, "mode=1777")
    # The same path in every node, other contents: sockets and session directories of one node stay in it.
    linux.mount("tmpfs", node.directory / "tmp", "tmpfs", private, "mode=1777")
    _add([Path(target) for target in node.binds if not Path(target).exists()], node.directory / "tmp" / ".added")
    for target, source in node.binds.items():
        linux.mount(source, os.path.realpath(target), flags=linux.MS_BIND)


def _add(missing: Collection[Path], beside: Path) -> None:
    """Empty files where there are none on this machine, for the node alone: a bare image has no /etc/hosts.

    Their folder is read-only in the node then. Its own files are in one below `beside`, over the machine's.
    """
    for folder in {path.parent for path in missing}:
        over = beside / "-".join(folder.parts[1:])
        over.mkdir(parents=True)
        for path in missing:
            if path.parent == folder:
                (over / path.name).touch()
        linux.mount("overlay", folder, "overlay", options=f"lowerdir={over}:{folder}")
