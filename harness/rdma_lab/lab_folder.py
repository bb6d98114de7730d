# SPDX-License-Identifier: BSD-3-Clause
"""Where the emulated machines' files are: what is kept, below the state folder, and what a running pair has.

Who runs them holds the lock `running`, in which its PID stands: only a held lock means that they run.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from harness.base.paths import BUILD_DIR, ROOT, STATE_DIR, results_dir
from harness.rdma_lab.lab_settings import Settings

ASKING_S = 1.0  # others hold the lock no longer to see whether somebody has it


@dataclass(frozen=True)
class State:
    """The folders below one place, 2.5 GB when all is made."""

    folder: Path

    @property
    def cache(self) -> Path:
        return self.folder / "packages"

    @property
    def host(self) -> Path:
        """QEMU and the guests' kernel."""
        return self.folder / "host"

    @property
    def guest(self) -> Path:
        """The guests' root; what is built for them is built in it."""
        return self.folder / "guest"

    @property
    def image(self) -> Path:
        return self.folder / "root.img"

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd.img"

    @property
    def keys(self) -> Path:
        return self.folder / "keys"

    @property
    def vm(self) -> Path:
        """What a running pair has: settings, consoles, logs, and what the guests read when they boot."""
        return self.folder / "vm"

    @property
    def shown(self) -> Path:
        """What the guests see as /lab, read-only."""
        return self.vm / "lab"

    @property
    def settings(self) -> Path:
        return self.vm / "settings.json"

    @property
    def ready(self) -> Path:
        """Written when both answer: the keeper, the ports, how long it took."""
        return self.vm / "ready.json"

    @property
    def sockets(self) -> Path:
        """A link to the folder of the sockets, whose own path is short, as a unix socket's must be."""
        return self.vm / "sockets"

    def console(self, node: str) -> Path:
        return self.vm / f"{node}.console"

    def kernel_version(self) -> str:
        return next((self.host / "usr/lib/modules").iterdir()).name

    def kernel(self) -> Path:
        return self.host / "boot" / f"vmlinuz-{self.kernel_version()}"

    def lock(self) -> IO[str] | None:
        """The lock of who runs them, as an open file; None where somebody has it. It waits for those who only ask."""
        end = time.monotonic() + ASKING_S
        while (file := self._locked(fcntl.LOCK_EX)) is None and time.monotonic() < end:
            time.sleep(ASKING_S / 20)
        return file

    def _locked(self, kind: int) -> IO[str] | None:
        self.folder.mkdir(parents=True, exist_ok=True)
        file = (self.folder / "running").open("a+")
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        return file

    def keeper(self) -> int | None:
        """The PID of who runs them, None where nobody does.

        Who asks shares the lock for a moment: two who ask at once must not take each other for the keeper, whose PID
        may be that of one long ago, and another program's by now.
        """
        if lock := self._locked(fcntl.LOCK_SH):
            lock.close()
            return None
        with contextlib.suppress(OSError, ValueError):
            return int((self.folder / "running").read_text())
        return None

    def facts(self) -> dict[str, Any] | None:
        """What stands in `ready`; None while they are not ready."""
        try:
            return dict(json.loads(self.ready.read_text()))
        except (OSError, ValueError):
            return None

    def running_settings(self) -> Settings | None:
        try:
            return Settings.read(self.settings)
        except (OSError, ValueError, TypeError):
            return None


def state() -> State:
    """This checkout's."""
    return State(STATE_DIR / "rdma-lab")


def shares() -> dict[str, bool]:
    """What the guests have of this machine: the project and what is built, and where results are written."""
    results = results_dir().resolve()
    results.mkdir(parents=True, exist_ok=True)
    built = bin_dir("").parent
    built.mkdir(parents=True, exist_ok=True)
    return {str(ROOT): False, str(built): False, str(results): True}


def bin_dir(mpi: str) -> Path:
    """Where the programs for this MPI of the guests are."""
    return BUILD_DIR / "rdma-lab" / mpi / "bin"


def write_whole(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_text(text)
    partial.replace(path)
