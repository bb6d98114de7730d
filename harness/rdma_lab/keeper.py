# SPDX-License-Identifier: BSD-3-Clause
"""The process that both machines are children of: `python -m harness.rdma_lab.keeper FOLDER`.

They end with it, however it ends. And it ends with who started it, unless that has said KEEP on the pipe that is its
stdin. It holds the lock `running` for as long as it lives, writes `ready` when both machines answer, and gives up when
they do not in time.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from harness.base import debian, process
from harness.base.errors import Failure
from harness.rdma_lab import shell
from harness.rdma_lab.lab_folder import State, write_whole
from harness.rdma_lab.lab_settings import BOOT_LIMIT_S, NODES, OPENMPI, UCX, Settings

KEEP = b"k"
LAST_WORDS = "it answers"  # guest/init's on the console
LOOK_S = 0.2


class _Ended(Exception):  # noqa: N818 - it is no error
    """Whoever wanted the machines is gone, or told them to end."""


class Keeper:
    """One pair of machines, from their start to their end."""

    def __init__(self, state: State, settings: Settings, sockets: Path) -> None:
        self.state = state
        self.settings = settings
        self.kept = False
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        self.masters: dict[str, subprocess.Popen[bytes]] = {}
        ports = _free_ports(len(NODES))
        self.machines = [Machine(index, port, sockets) for index, port in enumerate(ports)]
        self.sockets = sockets

    def run(self) -> None:
        """Boot them and keep them until somebody ends them; Failure if one does not boot, or ends by itself."""
        started = time.monotonic()
        with contextlib.ExitStack() as stack:
            for machine in self.machines:
                command = qemu_command(self.state, self.settings, machine)
                environment = qemu_environment(self.state)
                self.children[machine.node] = self._start(stack, machine.node, command, environment)
            self._wait_for(self._booted, started)
            self._wait_for(lambda machine: self._connected(stack, machine), started)
            self.children |= self.masters
            facts = {
                "pid": os.getpid(),
                "seconds": round(time.monotonic() - started, 1),
                "ports": {machine.node: machine.port for machine in self.machines},
            }
            write_whole(self.state.ready, json.dumps(facts))
            while True:
                self._look()

    def _start(
        self, stack: contextlib.ExitStack, name: str, command: list[str], environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        log = stack.enter_context((self.state.vm / f"{name}.log").open("wb"))
        how: dict[str, Any] = {"env": environment, "stdout": log, "stderr": log, "cwd": self.state.vm}
        return stack.enter_context(process.group(command, **how))

    def _booted(self, machine: Machine) -> bool:
        console = self.state.console(machine.node)
        return console.exists() and LAST_WORDS in console.read_text(errors="replace")

    def _connected(self, stack: contextlib.ExitStack, machine: Machine) -> bool:
        """sshd says that it runs a moment before it listens: who comes too early tries again."""
        if (self.sockets / f"ssh{machine.index}").exists():
            return True
        name = f"{machine.node}.ssh"
        if name not in self.masters or self.masters[name].poll() is not None:
            command = shell.master(self.state, self.sockets, machine.node, machine.port)
            self.masters[name] = self._start(stack, name, command, {"PATH": "/usr/bin:/bin"})
        return False

    def _wait_for(self, condition: Callable[[Machine], bool], started: float) -> None:
        while waiting := [machine.node for machine in self.machines if not condition(machine)]:
            self._look()
            if time.monotonic() - started > BOOT_LIMIT_S:
                raise Failure(f"{' and '.join(waiting)} did not answer within {BOOT_LIMIT_S:.0f} s")

    def _look(self) -> None:
        """A moment's pause; raises where it is over."""
        if self.kept:
            time.sleep(LOOK_S)
        elif select.select([0], [], [], LOOK_S)[0]:
            if os.read(0, 1) != KEEP:
                raise _Ended
            self.kept = True
        for name, child in self.children.items():
            if child.poll() is not None:
                words = process.last_line(self.state.vm / f"{name}.log")
                raise Failure(f"{name} ended with status {child.returncode}: {words or 'without a word'}")


def _free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on now."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [int(listener.getsockname()[1]) for listener in found]


def prepare(state: State, settings: Settings) -> None:
    """What the guests read when they boot; nothing of an earlier pair is left."""
    with contextlib.suppress(OSError):
        shutil.rmtree(state.sockets.resolve(strict=True))
    shutil.rmtree(state.vm, ignore_errors=True)
    shutil.copytree(Path(__file__).resolve().parent / "guest", state.shown)
    shutil.copytree(state.keys, state.shown, dirs_exist_ok=True)
    lines = (f"{tag} {'rw' if write else 'ro'} {path}\n" for tag, path, write in share_tags(settings.shares))
    (state.shown / "shares").write_text("".join(lines))
    with (state.shown / "sshd_config").open("a") as config:  # so what Open MPI and MPICH start over ssh has them, too
        config.write(f"SetEnv {' '.join(f'{name}={value}' for name, value in {**UCX, **OPENMPI}.items())}\n")
    settings.write(state.settings)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Ended


def main(arguments: list[str]) -> int:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _stop)
    state = State(Path(arguments[0]))
    settings = Settings(**json.loads(arguments[1]))
    lock = state.lock()
    if lock is None:
        print("others of this checkout run already")
        return 1
    with lock, contextlib.suppress(_Ended):
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        prepare(state, settings)
        sockets = Path(tempfile.mkdtemp(prefix="rdma-lab-", dir="/tmp"))
        try:
            state.sockets.symlink_to(sockets)
            Keeper(state, settings, sockets).run()
        except Failure as error:
            print(error)
            return 1
        finally:
            state.ready.unlink(missing_ok=True)
            shutil.rmtree(sockets, ignore_errors=True)
            lock.truncate(0)  # this number may be another program's from now on
    return 0


# QEMU's command line for one of the two machines: emulated, without KVM, with a disk that keeps nothing.
#
# Three networks: the host's (user mode, closed to everything but ssh from 127.0.0.1), control and data. The last two
# are datagrams between two sockets in the file system: no ports, no order of starting, and a full one makes its sender
# wait.

MTU = {"host": 1500, "ctl": 1500, "data": 9000}
CACHE_MB = 256  # of translated code
GUEST_ADDRESS, GUEST_PORT = "10.0.2.15", 22
APPEND = "console=ttyS0 quiet loglevel=4 mitigations=off tsc=reliable random.trust_cpu=on panic=-1"


@dataclass(frozen=True)
class Machine:
    """`sockets`: a folder with a short path, for what is there is a unix socket's; `port`: of ssh on 127.0.0.1."""

    index: int
    port: int
    sockets: Path

    @property
    def node(self) -> str:
        return NODES[self.index]


def escaped(path: Path | str) -> str:
    """As a value among QEMU's options, where a comma would end it."""
    return str(path).replace(",", ",,")


def share_tags(shares: dict[str, bool]) -> list[tuple[str, str, bool]]:
    """(tag, path, may the guests write) of each shared folder, an outer one before what is in it."""
    return [(f"share{index}", path, shares[path]) for index, path in enumerate(sorted(shares))]


def qemu_command(state: State, settings: Settings, machine: Machine) -> list[str]:
    """The whole command line."""
    number = machine.index + 1
    append = f"{APPEND} lab.node={number}" + (f" lab.rate={settings.rate}" if settings.rate else "")
    firmware = [state.host / "usr/share" / name for name in ("qemu", "seabios")]
    return [
        *debian.program(state.host, "usr/bin/qemu-system-x86_64"),
        *("-name", f"rdma-lab-{machine.node}", "-machine", "q35", "-accel", f"tcg,tb-size={CACHE_MB}", "-cpu", "max"),
        *("-smp", "1", "-m", str(settings.memory_mb), "-nodefaults", "-no-reboot", "-display", "none"),
        *("-serial", f"file:{escaped(state.console(machine.node))}"),
        *(word for folder in firmware for word in ("-L", str(folder))),
        *("-kernel", str(state.kernel()), "-initrd", str(state.initrd), "-append", append),
        *("-drive", f"file={escaped(state.image)},format=raw,if=virtio,snapshot=on"),
        *_shared("lab", state.shown, writable=False),
        *(word for tag, path, how in share_tags(settings.shares) for word in _shared(tag, path, how)),
        *_networks(machine),
        *("-device", "virtio-rng-pci"),
    ]


def _shared(tag: str, path: Path | str, writable: bool) -> list[str]:
    how = "" if writable else ",readonly=on"
    return ["-virtfs", f"local,path={escaped(path)},mount_tag={tag},security_model=none,multidevs=remap{how}"]


def _networks(machine: Machine) -> Sequence[str]:
    number, peer = machine.index + 1, 2 - machine.index
    forwarded = f"hostfwd=tcp:127.0.0.1:{machine.port}-{GUEST_ADDRESS}:{GUEST_PORT}"
    words = ["-netdev", f"user,id=host,net=10.0.2.0/24,restrict=on,{forwarded}"]
    for name in ("ctl", "data"):
        ends = (f"{end}.type=unix,{end}.path={escaped(machine.sockets / f'{name}{which}')}"
                for end, which in (("local", number), ("remote", peer)))  # fmt: skip
        words += ["-netdev", f"dgram,id={name},{','.join(ends)}"]
    for index, (name, mtu) in enumerate(MTU.items()):
        card = f"virtio-net-pci,netdev={name},mac=52:54:00:00:0{index}:0{number},romfile=,host_mtu={mtu}"
        words += ["-device", card]
    return words


def qemu_environment(state: State) -> dict[str, str]:
    """QEMU's modules are where its package put them, and the snapshot of its disk beside the image."""
    return {
        "QEMU_MODULE_DIR": str(state.host / debian.LIBRARIES / "qemu"),
        "TMPDIR": str(state.vm),
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
