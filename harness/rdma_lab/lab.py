# SPDX-License-Identifier: BSD-3-Clause
"""The emulated machines' interface.

    lab = up()                                             # fetches and makes what is missing, boots lab1 and lab2
    lab.execute("lab1", ["ibv_devinfo"])
    lab.down()

One pair a checkout; any process of the same user can load() it. UsageError for a bad argument, Failure for what did not
work.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.base import debian, process
from harness.base.errors import Failure, UsageError
from harness.base.paths import ROOT, python
from harness.base.process import say, setup_lock
from harness.rdma_lab import fetch, image, keeper, shell
from harness.rdma_lab.lab_folder import State, shares, state
from harness.rdma_lab.lab_settings import DATA_INTERFACE, DEVICE, NODES, Settings

MEMORY_MB = 1536
SLOW = "100mbit"  # at which moving data takes the emulated CPUs little of their time
ROOM_MB = 512  # that this machine keeps for itself
ANSWER_LIMIT_S = 60.0
DOWN_LIMIT_S = 20.0
LOOK_S = 0.1
COUNTERS = f"""
for file in /sys/class/infiniband/{DEVICE}/ports/1/hw_counters/*; do
  [ "${{file##*/}}" = lifespan ] || echo "${{file##*/}} $(cat "$file")" # which is a setting
done
for name in tx_bytes rx_bytes tx_dropped; do
  echo "{DATA_INTERFACE}_$name $(cat /sys/class/net/{DATA_INTERFACE}/statistics/$name)"
done
"""
# Ranks, which have their launch's mark in the environment, and what launched them.
REAP = """
killed=0
for file in $(grep -lzE "^$1=" /proc/[0-9]*/environ 2> /dev/null); do
  pid=${file#/proc/}
  kill -KILL "${pid%/environ}" 2> /dev/null && killed=$((killed + 1))
done
pkill -KILL -x 'orted|hydra_pmi_proxy'
echo "$killed"
"""


@dataclass(frozen=True)
class Lab:
    """A running pair. `created`: by this call of up(), and not found running."""

    state: State
    settings: Settings
    ports: dict[str, int]
    seconds: float
    created: bool = False

    def command(
        self,
        node: str,
        argv: Sequence[str],
        environment: Mapping[str, str] | None = None,
        attended: bool = False,
        terminal: bool = False,
    ) -> list[str]:
        """A command line that runs `argv` on the node; its exit status is the command's, 255 where the node is gone.

        It runs in the folder of the call where the guests have that, and with the guests' environment besides
        `environment`. `attended`: it reads nothing, and ends with its whole session when stdin does.
        """
        if node not in NODES:
            raise UsageError(f"there is no emulated machine {node!r}; there are {' and '.join(NODES)}")
        if not argv:
            raise UsageError(f"there is no command to run on {node}")
        ssh = shell.ssh(self.state, self.state.sockets.resolve(), node, self.ports[node])
        here = str(Path.cwd())
        shared = any(Path(here).is_relative_to(path) for path in self.settings.shares)
        return [
            *ssh[:-1],
            *(["-t"] if terminal else []),
            ssh[-1],
            shell.remote(argv, environment or {}, here if shared else "/root", attended),
        ]

    def execute(self, node: str, argv: Sequence[str]) -> int:
        """Run a command on a node in the foreground, with this stdin and terminal; its exit status."""
        terminal = sys.stdin is not None and sys.stdin.isatty()
        return process.attended(self.command(node, argv, terminal=terminal))

    def answer(self, node: str, argv: Sequence[str], limit_s: float = ANSWER_LIMIT_S) -> process.Answer:
        """What a command on a node says."""
        return process.answer(self.command(node, argv), limit_s)

    def counters(self, node: str) -> dict[str, int]:
        """What the node's RDMA device and its data interface have counted since it booted."""
        done = self.answer(node, ["sh", "-c", COUNTERS])
        if done.status != 0:
            raise Failure(f"{node} does not answer: {done.last_line}")
        return {name: int(value) for name, value in re.findall(r"^(\w+) (-?\d+)$", done.out, re.MULTILINE)}

    def reap(self, node: str, mark: str) -> int:
        """Kill the processes on a node that have the environment variable `mark`; how many."""
        done = self.answer(node, ["sh", "-c", REAP, "sh", mark])
        if done.status != 0:
            raise Failure(f"{node} does not answer: {done.last_line}")
        return int(done.out.split()[-1])

    def healthy(self) -> bool:
        """Do both answer?"""
        return all(self.answer(node, ["true"]).status == 0 for node in NODES)

    @property
    def network_description(self) -> str:
        """The network in words, for the records."""
        versions = fetch.versions(self.state, ("qemu-system-x86", "libucx0"))
        rate = f"limited by htb to {self.settings.rate} (bucket 16 KB)" if self.settings.rate else "not limited"
        return (
            f"two emulated machines of 1 CPU (QEMU {versions['qemu-system-x86']}, TCG), soft-RoCE (rdma_rxe of Linux "
            f"{self.state.kernel_version()}) {rate}, UCX {versions['libucx0']} rc: no time here is hardware's"
        )

    def status(self) -> dict[str, Any]:
        """What runs, where its files are, and what each node counts."""
        return {
            "folder": str(self.state.folder),
            "booted_in_s": self.seconds,
            "settings": asdict(self.settings),
            "network": self.network_description,
            "nodes": {node: {"port": self.ports[node], "counters": self.counters(node)} for node in NODES},
        }

    def down(self) -> None:
        down()


def supported(memory_mb: int = MEMORY_MB) -> str | None:
    """None, or the sentence why there can be no emulated machines of so much memory here. Changes nothing."""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return f"The RDMA laboratory is for x86-64 Linux; this is {sys.platform} on {platform.machine()}."
    if shutil.which("setpriv") is None:
        return "The RDMA laboratory needs setpriv, which the Debian package util-linux has."
    free = _free_memory_mb()
    if free < 2 * memory_mb + ROOM_MB and load() is None:
        return f"The RDMA laboratory needs {2 * memory_mb + ROOM_MB} MB of memory, and {free} MB are free."
    return None if made(state()) else debian.why_not()


def _free_memory_mb() -> int:
    found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return int(found[1]) // 1024 if found else 0


def made(where: State) -> bool:
    """Is everything there that a boot needs?"""
    return fetch.done(where) and image.done(where)


def ensure(where: State) -> None:
    """Have everything that a boot needs."""
    if made(where):
        return
    with setup_lock():
        fetch.ensure(where)
        image.ensure(where)


def load() -> Lab | None:
    """The running pair of this checkout, or None."""
    where = state()
    if where.keeper() is None:
        return None
    facts, settings = where.facts(), where.running_settings()
    if facts is None or settings is None:
        return None
    return Lab(where, settings, facts["ports"], facts["seconds"])


def up(rate: str | None = None, memory_mb: int = MEMORY_MB, *, tied: bool = False) -> Lab:
    """Boot both; at once where they run already with these settings.

    `tied`: they end by themselves when this process does, however that happens.
    """
    settings, running = _asked(rate, memory_mb)
    if running:
        return running
    where = state()
    ensure(where)
    read_end, tie = os.pipe()
    os.set_inheritable(tie, False)
    command = python("-m", keeper.__name__, str(where.folder), json.dumps(asdict(settings)))
    log = where.folder / "keeper.log"
    say("booting two emulated machines (about 15 s on two idle cores) ...")
    with log.open("wb") as output:
        started: subprocess.Popen[bytes] = subprocess.Popen(
            command, stdin=read_end, stdout=output, stderr=output, start_new_session=True, cwd="/",
            env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    os.close(read_end)
    try:
        _wait_until_ready(where, started, log)
        if not tied:
            os.write(tie, keeper.KEEP)
    except BaseException:
        os.close(tie)  # they end
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(DOWN_LIMIT_S)
        raise
    if not tied:
        os.close(tie)
    found = load()
    if found is None:
        raise Failure(f"the emulated machines ended at once; the end of {log}: {process.last_line(log)}")
    say(f"lab1 and lab2 answer after {found.seconds:.0f} s")
    return Lab(where, settings, found.ports, found.seconds, created=True)


def check(rate: str | None, memory_mb: int) -> None:
    """Raises what up() would raise of what is asked for, before anything takes long."""
    _asked(rate, memory_mb)


def _asked(rate: str | None, memory_mb: int) -> tuple[Settings, Lab | None]:
    """What is asked for, and the pair that is so and runs; UsageError where there can be none."""
    settings = Settings.make(rate, memory_mb, shares())
    running = load()
    if running and running.settings != settings:
        raise UsageError(f"Emulated machines are up, with {_differs(running.settings, settings)}: "
                         f"./bench rdma-lab down ends them.")  # fmt: skip
    if not running and (reason := supported(memory_mb)):
        raise UsageError(reason)
    return settings, running


def _wait_until_ready(where: State, started: subprocess.Popen[bytes], log: Path) -> None:
    while (where.facts() or {}).get("pid") != started.pid:
        if started.poll() is not None:
            console = " and ".join(str(where.console(node)) for node in NODES)
            raise Failure(f"the emulated machines did not boot: {process.last_line(log)}; see {console}")
        time.sleep(LOOK_S)


def _differs(running: Settings, wanted: Settings) -> str:
    before, now = asdict(running), asdict(wanted)
    return " and ".join(f"{name} {before[name]} instead of {now[name]}" for name in before if before[name] != now[name])


def down() -> bool:
    """End the pair of this checkout; False where none runs."""
    where = state()
    if (pid := where.keeper()) is None:
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):  # of SIGKILL both machines die, too: their parent is gone
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        end = time.monotonic() + DOWN_LIMIT_S
        while time.monotonic() < end:
            if where.keeper() is None:
                return True
            time.sleep(LOOK_S)
    raise Failure(f"the emulated machines do not end: process {pid} keeps them")


@contextlib.contextmanager
def open_(rate: str | None = SLOW) -> Iterator[Lab]:
    """The pair that is up and answers, or one for as long as the body lives."""
    running = load()
    if running and not running.healthy():
        running.down()
        running = None
    lab = running or up(rate, tied=True)
    if lab.settings.shares != shares():
        raise UsageError("The emulated machines that are up do not have this results folder: ./bench rdma-lab down.")
    try:
        yield lab
    finally:
        if lab.created:
            lab.down()
