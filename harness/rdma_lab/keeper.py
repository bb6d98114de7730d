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
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from harness.base import process
from harness.base.errors import Failure
from harness.rdma_lab import qemu, shell
from harness.rdma_lab.settings import BOOT_LIMIT_S, NODES, OPENMPI, UCX, Settings
from harness.rdma_lab.state import State, write_whole

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
        self.machines = [qemu.Machine(index, port, sockets) for index, port in enumerate(ports)]
        self.sockets = sockets

    def run(self) -> None:
        """Boot them and keep them until somebody ends them; Failure if one does not boot, or ends by itself."""
        started = time.monotonic()
        with contextlib.ExitStack() as stack:
            for machine in self.machines:
                command = qemu.command(self.state, self.settings, machine)
                environment = qemu.environment(self.state)
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

    def _booted(self, machine: qemu.Machine) -> bool:
        console = self.state.console(machine.node)
        return console.exists() and LAST_WORDS in console.read_text(errors="replace")

    def _connected(self, stack: contextlib.ExitStack, machine: qemu.Machine) -> bool:
        """sshd says that it runs a moment before it listens: who comes too early tries again."""
        if (self.sockets / f"ssh{machine.index}").exists():
            return True
        name = f"{machine.node}.ssh"
        if name not in self.masters or self.masters[name].poll() is not None:
            command = shell.master(self.state, self.sockets, machine.node, machine.port)
            self.masters[name] = self._start(stack, name, command, {"PATH": "/usr/bin:/bin"})
        return False

    def _wait_for(self, condition: Callable[[qemu.Machine], bool], started: float) -> None:
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
    lines = (f"{tag} {'rw' if write else 'ro'} {path}\n" for tag, path, write in qemu.share_tags(settings.shares))
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
