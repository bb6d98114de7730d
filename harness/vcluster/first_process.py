# SPDX-License-Identifier: BSD-3-Clause
"""Starting and ending the cluster's first process from outside. The lock of cluster_folder.py must be held for both."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
from pathlib import Path

from harness.base.errors import Failure

from . import client, cluster_folder, network, slurm, support
from .cluster_settings import Settings
from .switch import SWITCH_NAME

PROGRAMS = ("exec", "rsh")  # client.py by its two names
_LIMIT_S = 20.0


def listener_pid(path: Path) -> int | None:
    """The PID of the process that listens on a unix socket, as this PID namespace has it (0: not in it).

    None: nobody listens. The kernel answers, so the PID is neither stale nor another's.
    """
    try:
        with client.connect(str(path)) as connection:
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    except OSError:
        return None
    return int(struct.unpack("3i", peer)[0])


def kill_and_wait(pid: int) -> None:
    """Kill the first process of a PID namespace; the kernel ends all the others before this one counts as ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        if not select.select([descriptor], [], [], _LIMIT_S)[0]:
            raise Failure(f"process {pid} of the virtual cluster does not end, though killed {_LIMIT_S:.0f} s ago")
    finally:
        os.close(descriptor)


def first_processes(directory: Path) -> set[int]:
    """The clusters' first processes of this directory: also those whose sockets somebody has removed from there."""
    found = {pid for pid in [listener_pid(directory / "switch.sock")] if pid}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "comm").read_text() == f"{SWITCH_NAME}\n" and _is_of(process, directory):
                found.add(int(process.name))
    return found


def _is_of(process: Path, directory: Path) -> bool:
    """Of this directory, and started from this PID namespace: a container's own may have the same name."""
    arguments = (process / "cmdline").read_bytes().split(b"\0")
    status = (process / "status").read_text()
    depth = next((len(line.split()) - 1 for line in status.splitlines() if line.startswith("NSpid:")), 0)
    return os.fsencode(directory) in arguments and depth == 2


def take_down(directory: Path) -> None:
    """End the cluster in `directory`, whatever its state, and remove the directory."""
    for pid in first_processes(directory):
        kill_and_wait(pid)
    cluster_folder.remove(directory)


def start(directory: Path, settings: Settings, lock: int) -> socket.socket:
    """Make the directory and start the cluster's first process; the tie to it, see switch.py.

    Closing the tie takes the cluster down again, unless KEEP was sent. Where it does not start nothing is left.
    """
    try:
        _fill(directory, settings)
        return _first_process(directory, lock)
    except BaseException:  # an interrupt, too
        take_down(directory)
        raise


def _fill(directory: Path, settings: Settings) -> None:
    cluster_folder.make_empty(directory)
    settings.write(directory)
    (directory / "hosts").write_text(network.hosts_file(settings.names, management=settings.management))
    (directory / "resolv.conf").touch()  # no name server can be reached; asking one would only take time
    for name in PROGRAMS:
        support.install_program(directory / name, Path(client.__file__))
    (directory / "nodes.json").write_text(json.dumps(_what_nodes_see(directory, settings)))


def _first_process(directory: Path, lock: int) -> socket.socket:
    tie, theirs = socket.socketpair()
    tie.settimeout(_LIMIT_S)
    try:
        with theirs, (directory / "log" / "switch.log").open("wb") as log:
            process = subprocess.Popen(
                [*support.python("switch", "main"), str(directory), str(theirs.fileno()), str(lock)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", env=support.environment(),
                pass_fds=(theirs.fileno(), lock), start_new_session=True,
            )  # fmt: skip
            process.wait(_LIMIT_S)
        _expect_ready(tie, directory)
    except BaseException:
        tie.close()
        raise
    return tie


def _expect_ready(tie: socket.socket, directory: Path) -> None:
    try:
        answer = client.receive(tie)
    except OSError as error:
        raise Failure(f"the virtual cluster did not come up within {_LIMIT_S:.0f} s ({error})") from error
    if answer is None:
        last = (directory / "log" / "switch.log").read_text(errors="replace").strip().splitlines()
        raise Failure(f"the virtual cluster did not come up: {last[-1] if last else 'its first process ended'}")
    if "error" in answer:
        raise Failure(f"the virtual cluster did not come up: {answer['error']}")


def _what_nodes_see(directory: Path, settings: Settings) -> dict[str, dict[str, str]]:
    """Files mounted over others (target -> source), and variables of every command."""
    binds = {f"/etc/{name}": str(directory / name) for name in ("hosts", "resolv.conf")}
    variables = network.off_management() if settings.management else {}
    if settings.slurm:
        more_binds, more_variables = slurm.prepare(directory, settings)
        binds |= more_binds
        variables |= more_variables
    return {"binds": binds, "variables": variables}
