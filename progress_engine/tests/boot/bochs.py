# SPDX-License-Identifier: BSD-3-Clause
"""A machine of two emulated processors that runs one small program and nothing else, and says what that wrote.

Bochs 3.0 executes UMWAIT and MWAITX; Debian 13 has it, and Debian 12 an older one. So its package and all that it
needs, down to the C library (60 MB), are unpacked into a folder and started by that folder's own loader: nothing of
this machine changes.
"""

from __future__ import annotations

import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from harness.base import debian
from harness.base.errors import Failure

RELEASE = debian.Release(("trixie",))
PACKAGE = "bochs"
SECTORS_A_CYLINDER = 16 * 63

BOCHSRC = """\
plugin_ctrl: voodoo=0, speaker=0, gameport=0, iodebug=0
display_library: rfb, options="timeout=0"
cpu: model={model}, count=2, ips=10000000, quantum=5, reset_on_triple_fault=0
megs: 64
romimage: file={data}/BIOS-bochs-latest
vgaromimage: file={data}/VGABIOS-lgpl-latest
ata0-master: type=disk, path={image}, mode=flat, cylinders=1, heads=16, spt=63
boot: disk
com1: enabled=1, mode=file, dev={serial}
clock: sync=none, time0=utc
panic: action=fatal
error: action=report
log: {log}
"""
COMPILE = (
    "g++ -std=c++20 -O2 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-stack-protector -fno-pic -no-pie "
    "-fno-asynchronous-unwind-tables -mno-red-zone -U_FORTIFY_SOURCE -nostdlib -static -Wl,--oformat,binary "
    "-Wl,--build-id=none"
)


def emulator(cache: Path) -> Path | None:
    """The folder of the unpacked packages, below `cache`; None where they cannot be had."""
    root = cache / f"bochs-{RELEASE.suites[0]}"
    if not root.exists():
        try:
            debian.unpack(RELEASE, [PACKAGE], cache / "packages", root)
        except Failure:
            return None
    return root


def build(engine: Path, workloads: Path, folder: Path) -> Path:
    """A disk that boots boot/wait_machine.cpp with the wait functions of the engine and of a workload."""
    here, image = engine / "tests" / "boot", folder / "disk"
    waits = [engine / "src" / "wait" / "user_wait.cpp", workloads / "interference" / "mwait.cpp"]
    sources = [here / "machine.S", here / "wait_machine.cpp", *waits]
    command = [
        *COMPILE.split(),
        f"-I{engine / 'src'}",
        f"-I{workloads}",
        f"-Wl,-T,{here / 'machine.ld'}",
        "-o",
        str(image),
        *map(str, sources),
    ]
    subprocess.run(command, check=True)
    with image.open("r+b") as disk:
        disk.truncate(SECTORS_A_CYLINDER * 512)
    return image


@dataclass(frozen=True)
class Boot:
    """What an emulated machine said: on its serial line and, if something went wrong with it, in Bochs' log."""

    serial: str
    log: str


def boot(root: Path, image: Path, model: str, folder: Path, last_words: str, limit_s: float) -> Boot:
    """Boot `image` until the serial line holds `last_words`, or for `limit_s`; then end the emulator."""
    serial, log, config, commands = (folder / name for name in ("serial", "log", "bochsrc", "commands"))
    data, libraries = root / "usr/share/bochs", root / debian.LIBRARIES
    plugins = libraries / "bochs" / "plugins"
    config.write_text(BOCHSRC.format(model=model, data=data, image=image, serial=serial, log=log))
    commands.write_text("continue\n")  # its debugger stops before the first step
    bochs = debian.program(root, "usr/bin/bochs-bin", [plugins])
    command = [*bochs, "-q", "-f", str(config), "-rc", str(commands)]
    environment = {"LTDL_LIBRARY_PATH": str(plugins), "BXSHARE": str(data), "HOME": str(folder)}
    end, none = time.monotonic() + limit_s, subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=none, stdout=none, stderr=none) as running:
        try:
            while last_words not in _text(serial) and running.poll() is None and time.monotonic() < end:
                time.sleep(0.2)
        finally:
            running.kill()
    return Boot(_text(serial), _text(log))


def results(serial: str) -> dict[str, str]:
    return dict(re.findall(r"wait-loop: (\S+) (\S+)", serial))


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
